"""Lines through a function's graph: a linear function below it on each box (PROOF).

programs      what is made from an expression, and the way down on arrays of boxes
descent       the way down: node by node from f to x
block_line    a line below a function of one node
sums          sums of doubles with their errors
"""
