"""A function on one box that moves: facts, what masks read and the gradient, computed once after each move."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.concurrency import cached_property
from infimum.fractions import at_fraction
from infimum.function.jacobian import intersection
from infimum.graph.node import Node
from infimum.passes.lowering.lower import lower

FloatArray = npt.NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]


class Nodes(NamedTuple):
    """The function's expressions."""

    gradient: Node
    facts: tuple[Node, Node]  # defined, smooth
    extras: tuple[Node, ...]  # what partial derivatives read of the whole box
    given: tuple[Node, Node] | None  # the user's own gradient, and whether it is certainly defined


class OnBox:
    """What is known of a function on the box [lo, hi]. Guarantee: the bits of Function's own methods on that box."""

    def __init__(self, nodes: Nodes, lo: FloatArray, hi: FloatArray, moves: Callable[[], int]) -> None:
        self._nodes = nodes
        self._box = lo, hi
        self._moves = moves
        self._light_at = self._whole_at = -1

    # ------------------------------------------------------------------------------------------ runs
    @cached_property
    def _light(self) -> core.Standing:
        return _standing([*self._nodes.facts, *self._nodes.extras], *self._box)

    @cached_property
    def _whole(self) -> core.Standing:
        return _standing([*self._nodes.facts, *self._nodes.extras, self._nodes.gradient], *self._box)

    @cached_property
    def _given(self) -> core.Standing:
        assert self._nodes.given is not None
        return _standing(self._nodes.given, *self._box)

    def _known(self, with_gradient: bool = False) -> core.Standing:
        """Return a run for what the box is now; the gradient's run holds all that the other one does."""
        now = self._moves()
        if self._whole_at == now:
            return self._whole
        if with_gradient:
            self._whole.run()
            self._whole_at = now
            return self._whole
        if self._light_at != now:
            self._light.run()
            self._light_at = now
        return self._light

    # ------------------------------------------------------------------------------------------ what is known
    @property
    def facts(self) -> tuple[bool, bool]:
        """Return whether the function is certainly defined on the box, and certainly smooth around it."""
        return _facts(self._known())

    def extras(self) -> Pair | None:
        """Return what partial derivatives read of the whole box, in a row."""
        if not self._nodes.extras:
            return None
        lo, hi = self._known().ends
        last = 2 + sum(node.size for node in self._nodes.extras)
        return lo[2:last].copy(), hi[2:last].copy()

    @property
    def whole(self) -> core.Standing | None:
        """Return the run that finds facts, extras and gradient at once; None where the user gave a gradient too."""
        return self._whole if self._nodes.given is None else None

    def has_run(self) -> None:
        """Note that others have run `whole` on the box as it is now."""
        self._whole_at = self._moves()

    def gradient(self) -> Pair:
        """Return the ends (n,) of the gradient, until the next call; empty where a slope exists nowhere on the box."""
        whole = self._known(with_gradient=True)
        if self._nodes.given is None:
            return whole.outputs[-1]
        self._given.run()
        return _met(whole, self._given, *self._box)

    @cached_property
    def _middle(self) -> tuple[FloatArray, core.Standing, core.Standing]:
        assert self._nodes.given is not None
        x = np.empty(self._box[0].size)
        return x, _standing([*self._nodes.facts, self._nodes.gradient], x, x), _standing(self._nodes.given, x, x)

    def check_jacobian(self) -> None:
        """Refuse a formula of the user's that is wrong in the middle of the box, if the function is smooth there."""
        if self._nodes.given is None:
            return
        x, derived, given = self._middle
        x[:] = at_fraction(*self._box, 0.5)
        derived.run()
        given.run()
        _met(derived, given, x, x)


def _standing(outputs: Iterable[Node], lo: FloatArray, hi: FloatArray) -> core.Standing:
    return core.standing(lower(list(outputs), lo.size).tape, lo, hi)


def _facts(run: core.Standing) -> tuple[bool, bool]:
    (defined, _), (smooth, _) = run.outputs[:2]
    return bool(defined[0] == 1.0), bool(smooth[0] == 1.0 and defined[0] == 1.0)


def _met(run: core.Standing, given: core.Standing, lo: FloatArray, hi: FloatArray) -> Pair:
    """Return the derived gradient, a run's last output, met with the given one where that is sure to be one."""
    low, high = run.outputs[-1]
    nowhere = low > high
    if nowhere.any():  # a slope that exists nowhere may be anything
        low, high = np.where(nowhere, -np.inf, low), np.where(nowhere, np.inf, high)
    (given_lo, given_hi), (surely, _) = given.outputs
    sure = np.array([_facts(run)[1] and surely[0] == 1.0])
    bottom, top = intersection((lo[None], hi[None]), (low[None], high[None]), (given_lo[None], given_hi[None]), sure)
    return bottom[0], top[0]
