"""Numbers that steer a search by the default method, and why each has its value (POLICY).

None of them can make a claim false: another value costs time or memory, or leaves an answer wider.
"""

from __future__ import annotations

# Batches
BATCH, MOST_BATCH = 1024, 2**16  # boxes that an iteration takes, at least and at most: enough for many threads
BATCH_SHARE = 4  # a quarter of the boxes that wait: of more, many would be discarded by an upper bound found soon
BATCH_ENDS = 2**21  # interval ends of a batch, unless it is a single box: 16 MiB, whatever n is
HINTED = 16  # boxes of a batch, at least, where a contractor says where to cut: it costs more than all others together
FEW_BOXES = 128  # that a batch should have, where splitting can make them: a smaller one takes hardly less time

# Guesses
FIRST_GUESS = 1e-7  # above a lower bound, relative, where no ftol says better
LEAST_GUESS, MOST_GUESS = 1e-14, 0.1  # doubles tell no less apart; more says nothing of the minimum
ROUNDS, LATER_ROUNDS = 32, 8  # of guesses: in the first iteration, where one box is all there is, and later
FINER = (1e-3, 1e-6, 1e-8)  # parts of the guess that are tried on a single box
PROBED = 16  # boxes of a batch that are probed: those that may hold the minimum
MANY_VARIABLES = 10_000  # from which a single box is probed, as each probe costs as much as an iteration

# Points
MANY_POINTS = 2**12  # whose values are worth several threads
OFFERED = 2  # of the points looked at, the best in plain doubles: the first may be undefined
DESCENTS = 2  # from the best starts: they often lead to one point
DIVES_FROM = 4  # iterations: before, boxes are too wide for halving
LEAST_STEPS, MOST_STEPS, STEP_NUMBERS = 8, 120, 10_000_000  # of a descent: fewer for many variables, which cost more
RAYS = 4  # boxes without lower bound near which a proof that there is none is looked for
RAY_WORK, RAY_WORK_AFTER = 8_000, 64  # elements looked at, some 0.2 s; as many again for so many iterations

# Exploration
EXPLORE_FROM = 2  # iterations: many searches are over by then
BESIDE = 2**12  # boxes of a batch: a turn takes no longer than it takes to contract them
SHARE = 6.0  # values at points for each box that an iteration takes, which costs 20 to 2,000: at most about a tenth
SHARE_OF_SQUARES = 32.0  # the same for sums of squares, for which boxes are contracted at more length: 100 to 5,000
FIRST_BOXES, LATER = 2**14, 0.25  # beyond so many boxes a smaller share: what many turns did not find is hard to find
TURN = 4000.0  # values: about what a turn costs, so that the first is paid for before it is taken
PATIENCE, DEAREST = 6.0, 10.0  # misses until a turn costs twice as much; how much dearer it can become
FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH = 16, 4, 64  # points that descend side by side: a batch of fewer saves no time
STEP_PAIRS = 24  # about how many numbers a descent keeps for each variable
DESCENT_NUMBERS, START_NUMBERS = 2**20, 2**22  # in the largest arrays of all descents, and of all starts: 8 and 32 MiB
STARTS, TRIES = 16, 4  # for each descent; fewer near the best ends, where the best of many would hardly have moved
STEPS, POLISH_STEPS = 60, 300  # of a descent; of the best point, which may lie in a long valley
POLISH_STEPS_EACH = 2  # or for each variable: along a chain, what is known of one end travels slowly to the other
CASTS = 2  # pairs of points that linear variables are judged by
SQUARES_UP_TO = 64  # variables: beyond, a step by residuals costs more than many by slopes
MEMBERS, LEAST_MEMBERS, MOST_MEMBERS, GENERATIONS = 8, 24, 96, 30  # for each variable; in a turn

# Blocks
MOST_BLOCKS = 4096  # that differ: each is a search of its own
PASSES = 16  # over all blocks, each with a smaller gap, before the answer stays as it is
MOST_ENDS_WHEN_LATE = 2**20  # interval ends that are still written down when time is up
FEW_VARIABLES, ROUNDS_OF_FEW = 8, 4  # so few are hardly worth taking apart: they are tried together for a while

# Rotated boxes
TRIALS = (2**13, 2**16, 2**19)  # cuts after which they are tried: a trial takes as long as some 500 of them
MOST_ROTATED = 30  # variables: the corners of a box that is turned stick out ever farther
TRIED = 32  # points that are followed; twice as many over rotated boxes
LEVELS = 40  # cuts around a point in boxes as they are; most points are discarded after a few
MUCH_FEWER = 16.0  # times fewer boxes: a search that needs only half as many may be seen as 8 times better or worse
