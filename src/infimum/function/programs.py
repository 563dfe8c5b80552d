"""The expressions of a function and the Programs that they are lowered to, each made when it is first asked for."""

from __future__ import annotations

from infimum.concurrency import cached_property
from infimum.function.hessians import Hessians
from infimum.function.kinks import KinkPrograms, kink_programs
from infimum.function.linear_parameters import LinearPrograms, RatioPrograms, linear_programs, ratio_programs
from infimum.function.outer import OuterPrograms, outer_programs
from infimum.graph.node import Node
from infimum.graph.payload import is_number
from infimum.passes.contract.contraction import contraction
from infimum.passes.convex.convexity import convexity
from infimum.passes.derive import gradient
from infimum.passes.facts import facts
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.outer.chain import Chain, chains
from infimum.passes.sharper.limits import with_limits
from infimum.passes.sharper.squares import sharper
from infimum.passes.sharper.steps import with_corners
from infimum.passes.simplify import simplify
from infimum.passes.smoother import Smoothed, smoothed, unbounded


class Programs:
    """What is made from one simplified expression of n variables."""

    def __init__(self, output: Node, n: int) -> None:
        self.n = n
        self.build, (self.value_node,) = simplify([output], n)

    # ------------------------------------------------------------------------------------------ expressions
    @cached_property
    def smoothed(self) -> Smoothed:
        """Return the same function in a spelling with fewer kinks, of which slopes and shapes are told."""
        return smoothed(self.build, self._unbounded)

    @cached_property
    def _unbounded(self) -> Node:
        return unbounded(self.build, self.value_node)

    @cached_property
    def gradient_node(self) -> Node:
        return gradient(self.build, self.smoothed.output)

    @cached_property
    def fact_nodes(self) -> tuple[Node, Node]:
        """Return whether the function is defined, and whether it is smooth."""
        defined, smooth = facts(self.build, self.value_node)
        if self.smoothed.output is not self.value_node:
            _, smooth = facts(self.build, self.smoothed.output)
        return defined, smooth

    @cached_property
    def shape_nodes(self) -> tuple[Node, Node]:
        """Return whether the function is convex on a box, and whether it is concave."""
        return convexity(self.build, self.smoothed)

    @cached_property
    def sharp_node(self) -> Node:
        """Return the same values in forms that are enclosed more tightly (passes/sharper)."""
        return with_corners(with_limits(sharper(self.value_node, self.n), self.n), self.n)

    @cached_property
    def is_smooth_everywhere(self) -> bool:
        """Return whether it is defined and smooth on all reals, by its operations alone."""
        return all(is_number(fact, 1.0) for fact in self.fact_nodes)

    @cached_property
    def is_defined_everywhere(self) -> bool:
        """Return whether it is defined on all reals, by its operations alone."""
        return is_number(self.fact_nodes[0], 1.0)

    @cached_property
    def chains(self) -> list[Chain]:
        """Return the ways to see the function as an increasing function of another one."""
        return chains(self.build, self.value_node)

    @cached_property
    def outer(self) -> OuterPrograms | None:
        """Return what is made from the squares that the function adds up, None where it adds up none."""
        return outer_programs(self)

    @cached_property
    def linear_parameters(self) -> LinearPrograms | None:
        """Return what is made from residuals that are affine in some variables, None where they are in none or all."""
        return linear_programs(self.outer)

    @cached_property
    def ratios(self) -> RatioPrograms | None:
        """Return what is made from residuals that are quotients of polynomials, None where they are none."""
        return ratio_programs(self.outer)

    @cached_property
    def kinks(self) -> KinkPrograms | None:
        """Return what is made from the function's kinks, None where no planes can be made of them."""
        return kink_programs(self)

    @cached_property
    def hessians(self) -> Hessians:
        """Return what is made for second derivatives."""
        return Hessians(self.build, self.value_node, self.gradient_node, self.n)

    # ------------------------------------------------------------------------------------------ programs
    @cached_property
    def value(self) -> Program:
        return lower([self.value_node], self.n)

    @cached_property
    def gradient(self) -> Program:
        return lower([self.gradient_node], self.n)

    @cached_property
    def value_and_gradient(self) -> Program:
        """Return what runs in plain doubles: nothing that the user wrote so as not to overflow is rewritten."""
        slope = self.gradient_node
        if self.smoothed.output is not self._unbounded:
            slope = gradient(self.build, self._unbounded)
        return lower([self.value_node, slope], self.n)

    @cached_property
    def facts(self) -> Program:
        return lower(list(self.fact_nodes), self.n)

    @cached_property
    def shape(self) -> Program:
        return lower(list(self.shape_nodes), self.n)

    @cached_property
    def sharp(self) -> Program:
        return self.value if self.sharp_node is self.value_node else lower([self.sharp_node], self.n)

    @cached_property
    def level(self) -> Program:
        """Contract a box to a level of the value: inputs x, then the range that is wanted."""
        return contraction([self.sharp_node], self.n)

    @cached_property
    def slope(self) -> Program:
        """Contract a box to wanted ranges of the gradient."""
        return contraction([self.gradient_node], self.n)
