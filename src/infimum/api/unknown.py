"""Options that minimize does not have: each is refused with the name that was meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from infimum.errors import UnknownOption
from infimum.interval.reading import describe

_NO_CHANCE = "Leave it out: nothing here is random, and the same search gives the same result."
_NO_LUCK = "Leave it out: the whole domain is searched, not a population or a path of points."

# What SciPy's minimize, differential_evolution, basinhopping, dual_annealing, shgo, direct and brute call it.
_MEANT = {
    **dict.fromkeys(
        ("tol", "rtol", "f_tol", "f_min_rtol", "gtol", "eps"),
        "Write ftol for the gap between the bounds of the minimum relative to it, fatol for the same in the units of "
        "the function, or xtol for the width of the boxes around the minimisers.",
    ),
    **dict.fromkeys(("atol", "fabstol"), "Write fatol for the gap between the bounds in the units of the function."),
    **dict.fromkeys(
        ("xatol", "x_tol", "xabstol", "vol_tol", "len_tol"),
        "Write xtol for the width of the boxes around the minimisers, or xrtol relative to the bounds.",
    ),
    **dict.fromkeys(("maxiter", "niter", "iters", "max_iterations"), "Write max_iter=…, a number of iterations."),
    **dict.fromkeys(
        ("maxfun", "maxfev", "max_nfev", "nfev", "niter_success"),
        "Write max_iter=… or time_limit=… (seconds): evaluations of boxes are not counted as those of points are.",
    ),
    **dict.fromkeys(
        ("memory", "max_memory", "maxmem", "mem_limit"), "Write memory_limit=…, in bytes, such as 4 * 2**30."
    ),
    **dict.fromkeys(("timeout", "maxtime", "max_time", "time"), "Write time_limit=…, in seconds."),
    "options": "Write what is in it as options of their own, such as max_iter=100, ftol=1e-6.",
    "minimizer_kwargs": _NO_LUCK,
    "constraints": "Constraints are not supported yet: only bounds are.",
    "integrality": "Variables that are whole numbers are not supported yet.",
    **dict.fromkeys(
        ("hess", "hessp", "hessian"),
        "Leave it out: derivatives come from the function itself. A gradient in a better form may be given as jac.",
    ),
    **dict.fromkeys(("gradient", "grad", "fprime"), "Write jac=…, or leave it out: the gradient is derived anyway."),
    **dict.fromkeys(("disp", "verbose", "verbosity", "iprint"), "Write progress=True for a live line."),
    **dict.fromkeys(("workers", "n_jobs", "nthreads"), "Write threads=…, a number."),
    **dict.fromkeys(("seed", "rng", "random_state"), _NO_CHANCE),
    **dict.fromkeys(
        (
            "popsize", "mutation", "recombination", "strategy", "polish", "init", "updating", "vectorized", "T",
            "stepsize", "take_step", "accept_test", "interval", "target_accept_rate", "initial_temp", "visit", "accept",
            "restart_temp_ratio", "no_local_search", "locally_biased", "sampling_method", "Ns", "finish", "full_output",
            "f_min",
        ),
        _NO_LUCK,
    ),
    **dict.fromkeys(("fun", "func", "f", "objective"), "Give the function as the first argument: minimize(f, bounds)."),
    **dict.fromkeys(("lb", "ub", "ranges", "domain", "box"), "Write bounds=…, a pair (lo, hi) for each variable."),
    **dict.fromkeys(("maximise", "sense"), "Write maximize=True."),
    **dict.fromkeys(("start", "initial", "guess"), "Write x0=…, a point that is tried first."),
}  # fmt: skip


# What SciPy's curve_fit and least_squares call it, and minimize's options that a fit has under another name.
_MEANT_BY_A_FIT = {
    "x0": "Write p0=…, a starting point.",
    "p_init": "Write p0=…, a starting point.",
    "args": "Fix them in the model: functools.partial(model, name=value), or a lambda.",
    "kwargs": "Fix them in the function: functools.partial(function, name=value), or a lambda.",
    "maximize": "Leave it out: a fit is the least sum of squares.",
    "jac": "Leave it out: derivatives come from the model itself.",
    "method": "Write method='auto' or method='paper', or leave it out: SciPy's are local methods.",
    **dict.fromkeys(("weights", "w", "yerr", "dy"), "Write sigma=…, the standard deviations of ydata."),
    **dict.fromkeys(("check_finite", "nan_policy"), "Leave rows out that are not finite: keep = np.isfinite(ydata)."),
    "full_output": "Leave it out: the fit has it all, fit.result the rest.",
    **dict.fromkeys(
        ("loss", "f_scale"),
        "Sums of squares alone are fitted here. Give another loss to infimum.minimize as a function of its own.",
    ),
    **dict.fromkeys(("x_scale", "diff_step", "tr_solver", "tr_options", "jac_sparsity"), _NO_LUCK),
}


def refuse(unknown: dict[str, Any], known: Iterable[str], of_a_fit: bool = False) -> None:
    """Refuse what was given under a name that is no option."""
    for name, value in unknown.items():
        advice = _MEANT_BY_A_FIT.get(name) if of_a_fit else None
        raise UnknownOption(f"There is no option {name}={describe(value)}. {advice or _advice(name, sorted(known))}")


def refuse_more(more: tuple[Any, ...], call: str) -> None:
    """Refuse arguments beyond those that have their places in a call, in SciPy's order as it may be."""
    if more:
        raise UnknownOption(f"{describe(more[0])} stands where nothing is expected. Write {call}, all else by name.")


def _advice(name: str, known: list[str]) -> str:
    plain = name.lower()
    if name in _MEANT or plain in _MEANT:
        return _MEANT.get(name) or _MEANT[plain]
    near = get_close_matches(plain, known, 1, 0.6) or get_close_matches(plain.replace("_", ""), known, 1, 0.6)
    if near:
        return f"Did you mean {near[0]}?"
    other = get_close_matches(plain, _MEANT, 1, 0.8)
    return _MEANT[other[0]] if other else f"There are {', '.join(known)}."
