"""What can go wrong, each error saying what, where, why, and what to write instead."""

from __future__ import annotations


class InfimumError(Exception):
    """Any refusal by infimum; the message carries the value and a substitute."""


class InvalidInterval(InfimumError, ValueError):
    """The given numbers are not the ends of a set of real numbers."""


class InvalidText(InvalidInterval):
    """The given text denotes no interval or no number."""


class UnsupportedValue(InfimumError, TypeError):
    """The given object cannot stand for real numbers, or an operation is not offered for it."""


class ShapeMismatch(InfimumError, ValueError):
    """The given shapes do not broadcast."""


class AmbiguousComparison(InfimumError, ValueError):
    """The answer would be true for some of the numbers meant and false for others."""


class NotAPoint(InfimumError, ValueError):
    """A single number was asked of an interval that holds many, or none."""


class ExactDomainError(InfimumError, ArithmeticError, ValueError):
    """An exact constant was asked for that is not a real number, or cannot be evaluated."""


class UndefinedOperation(UserWarning):
    """IEEE 1788's signal: a constructor was given what denotes no interval and returned the empty set."""


class TraceError(InfimumError):
    """The user's function cannot be turned into a graph; the message names its line and the substitute."""


class TraceMismatch(TraceError):
    """The traced formula and the user's own function differ at a point: no claim is made about either."""


class TraceIndexError(TraceError, IndexError):
    """The user's function asked for a variable that is not there."""


class ProgramError(InfimumError, ValueError):
    """A program breaks the rules under which backends run it: a fault of infimum itself, never of the user."""


class InvalidBounds(InfimumError, ValueError):
    """The given bounds leave no room for a variable, or are no bounds at all."""


class InvalidData(InfimumError, ValueError):
    """The measurements of a fit are no real numbers, or do not fit together; the message names the row."""


class InvalidOption(InfimumError, ValueError):
    """An option of the search has a value that means nothing; the message names it and the substitute."""


class UnknownOption(InvalidOption, TypeError):
    """An option has a name that means nothing; the message names the right one."""


class InvalidJacobian(InfimumError, ValueError):
    """The given gradient is not the gradient of the given function."""


class InternalError(InfimumError, RuntimeError):
    """Two things were proved that contradict each other: a fault of infimum, to be reported. No claim is made."""


class BackendUnavailable(InfimumError, RuntimeError):
    """The device that was asked for is missing, too old or too small; the message says what to do."""


class UnreachableTolerance(UserWarning):
    """The tolerance asked for is finer than the doubles of the search domain."""
