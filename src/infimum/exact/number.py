"""Exact constants: numbers that stay what they were written as.

``pi``, ``e``, ``exact("0.1")``, ``exact(1, 3)``, ``exact(np.arange(1, n + 1))`` are symbolic and stay exact under
arithmetic and NumPy functions with each other and with ints, floats and Fractions. Beside an Interval they become
the tightest interval around them; ``float()`` gives the nearest double.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import ExactDomainError, ShapeMismatch, UnsupportedValue
from infimum.exact import form as exact_form
from infimum.exact import rules as exact_rules
from infimum.exact import value as exact_value
from infimum.exact.columns import columns as exact_columns
from infimum.exact.columns import rules as exact_columns_rules
from infimum.exact.columns import value as exact_columns_value
from infimum.exact.columns.columns import Columns, Unfit
from infimum.exact.form import Terms
from infimum.interval import Interval
from infimum.interval.operators import UfuncOperators
from infimum.interval.outward import FloatArray, fraction
from infimum.interval.reading import describe, ends
from infimum.interval.text import read_fraction

_Objects = npt.NDArray[np.object_]


class Exact(UfuncOperators):
    """One real number, kept as an expression in rationals, pi, e and elementary functions."""

    __slots__ = ("_terms",)
    __array_priority__ = 900.0

    _terms: Terms

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    @property
    def form(self) -> Terms:
        """The canonical form (exact_form)."""
        return self._terms

    def as_fraction(self) -> Fraction | None:
        """Be the rational number this is, or None."""
        return exact_form.as_rational(self._terms)

    def as_rational_multiple_of_pi(self) -> Fraction | None:
        """Be the q with which this is q * pi, or None."""
        return exact_form.multiple_of_pi(self._terms)

    def enclose(self) -> Interval:
        """Be the tightest interval: the number itself if it is a double, else the two doubles next to it.

        Where 6,144 bits do not decide on which side of a double the number lies, both neighbours stay inside.
        """
        return Interval(*exact_value.enclosure(self._terms))

    def __interval__(self) -> tuple[FloatArray, FloatArray]:
        lo, hi = exact_value.enclosure(self._terms)
        return np.asarray(lo), np.asarray(hi)

    def __float__(self) -> float:
        return exact_value.nearest_double(self._terms)

    def __floor__(self) -> int:
        return exact_value.floor(self._terms)

    def __ceil__(self) -> int:
        return -exact_value.floor(exact_form.neg(self._terms))

    def __trunc__(self) -> int:
        return exact_rules.trunc(self._terms)

    __int__ = __trunc__

    def __bool__(self) -> bool:
        return exact_value.sign(self._terms) != 0

    def __repr__(self) -> str:
        q = self.as_fraction()
        if q is None:
            return exact_form.text(self._terms)
        return f"exact({q})" if q.denominator == 1 else f"exact('{q}')"

    def __hash__(self) -> int:
        q = self.as_fraction()
        return hash(self._terms) if q is None else hash(q)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _ufunc(ufunc, method, inputs, kwargs)


class ExactArray(UfuncOperators):
    """Exact constants in an array; functions act on each of them.

    They are held in columns where they have such (exact_columns), and each as an int, a Fraction or an Exact where not;
    an element that is asked for is made on demand.
    """

    __slots__ = ("_columns", "_elements", "_tried")
    __array_priority__ = 900.0
    # As for NumPy's arrays, equality is an array of answers.
    __hash__ = None  # type: ignore[assignment]

    _columns: Columns | None
    _elements: _Objects | None
    _tried: bool

    def __init__(self, values: _Objects | Columns) -> None:
        self._columns = values if isinstance(values, Columns) else None
        self._elements = None if isinstance(values, Columns) else values
        self._tried = isinstance(values, Columns)

    @property
    def columns(self) -> Columns | None:
        """The constants in columns, where they have such."""
        if not self._tried:
            self._tried = True
            assert self._elements is not None
            try:
                forms = map(_form, self._elements.ravel().tolist())
                self._columns = exact_columns.of_forms(forms, self._elements.shape)
            except Unfit:
                pass
        return self._columns

    @property
    def _values(self) -> _Objects:
        """The constants one by one, each as an int, a Fraction or an Exact."""
        if self._elements is None:
            assert self._columns is not None
            self._elements = _filled(list(map(_value, self._columns.elements()))).reshape(self._columns.shape)
        return self._elements

    @property
    def shape(self) -> tuple[int, ...]:
        """As of a NumPy array."""
        return self._values.shape if self._columns is None else self._columns.shape

    @property
    def size(self) -> int:
        """The number of constants."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def reshape(self, *shape: Any) -> ExactArray:
        """Be the same constants in another shape."""
        if self._columns is None:
            return ExactArray(self._values.reshape(*shape))
        return ExactArray(self._columns.each(lambda column: column.reshape(*shape)))

    def sum(self) -> Exact:
        """Be the sum of all constants, exactly."""
        if self.columns is not None and not self.columns.q.ndim and not self.columns.has_roots:
            whole = sum(self.columns.spread()[0].ravel().tolist())
            return Exact(exact_form.scale(((self.columns.factor, Fraction(1)),), Fraction(whole, int(self.columns.q))))
        total = exact_form.ZERO
        for value in self._values.ravel().tolist():
            total = exact_form.add(total, _form(value))
        return Exact(total)

    def enclose(self) -> Interval:
        """Be the tightest interval around each constant."""
        return Interval(*self.__interval__())

    def __interval__(self) -> tuple[FloatArray, FloatArray]:
        return ends(self._values) if self.columns is None else exact_columns_value.enclosures(self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype).kind == "f":
            return _nearest(self).astype(dtype)  # type: ignore[no-any-return]
        elements = _filled([Exact(_form(value)) for value in self._values.ravel().tolist()])
        return elements.reshape(self.shape).astype(dtype or object)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Exact | ExactArray:
        if self._elements is None and self._columns is not None:
            return _picked(self._columns, range(len(self))[index] if type(index) is int else index)
        return self._at(self._values[index])

    def __iter__(self) -> Iterator[Exact | ExactArray]:
        return (self._at(found) for found in self._values)

    @staticmethod
    def _at(found: Any) -> Exact | ExactArray:
        return ExactArray(found) if isinstance(found, np.ndarray) else Exact(_form(found))

    def __repr__(self) -> str:
        texts = np.array([exact_form.text(_form(v)) for v in self._values.ravel()], dtype=object)
        shown = np.array2string(texts.reshape(self.shape), separator=", ", formatter={"all": str})
        return f"exact({shown})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.shape, np.ndim, np.size):
            return getattr(self, function.__name__)
        if function is np.sum and len(args) == 1 and not kwargs:
            return self.sum()
        if any(not issubclass(kind, (ExactArray, np.ndarray)) for kind in types):
            return NotImplemented
        raise UnsupportedValue(
            f"np.{function.__name__} is not offered for exact constants. Apply it to x.enclose(), "
            "or to np.array(x, dtype=float) for the nearest doubles."
        )


def _picked(columns: Columns, index: Any) -> Exact | ExactArray:
    if type(index) is int and len(columns.shape) == 1:
        return Exact(columns.element(index))
    p, q, a, b = (column[index] for column in columns.spread())
    if not isinstance(p, np.ndarray):
        return Exact(columns.element(index))
    if not p.size:
        return ExactArray(np.empty(p.shape, object))
    return ExactArray(exact_columns.reduced(p, q, a, b, columns.factor))


def exact(value: object, denominator: object = None) -> Any:
    """Be the constant that is exactly the given number; an array of constants for an array.

    Text is read as written: exact("0.1") is one tenth, exact("1/3") a third. A float is that very double, so
    exact(0.1) is 0.1000000000000000055...; use the text for the decimal. exact(1, 3) is a third.
    """
    if denominator is not None:
        return _scalar("divide", (_read(value), _read(denominator)))
    if isinstance(value, ExactArray):
        return value
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return _array(value)
    return Exact(_read(value))


def _array(values: Any) -> ExactArray:
    """Be an array of the exact numbers given."""
    if isinstance(values, ExactArray):
        return values
    try:
        if isinstance(values, np.ndarray) and values.dtype.kind in "biu":
            return ExactArray(exact_columns.of_integers(values))
        if isinstance(values, np.ndarray) and values.dtype == np.float64:
            return ExactArray(exact_columns.of_doubles(values))
    except Unfit:
        pass
    return ExactArray(_objects(values))


def _read(value: object) -> Terms:
    """Be the form of a number that is known exactly."""
    if isinstance(value, str):
        return exact_form.rational(read_fraction(value))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, Decimal) and value.is_finite():
        return exact_form.rational(Fraction(value))
    if isinstance(value, (Exact, int, float, Fraction, np.integer, np.floating, np.bool_)):
        return _form(value)
    raise UnsupportedValue(
        f"exact({describe(value)}): {type(value).__name__} is no exact number. "
        "Give an int, a Fraction, a Decimal, a float, text such as '0.1', or an array of such."
    )


def _form(value: Any) -> Terms:
    if isinstance(value, Exact):
        return value._terms
    if isinstance(value, (int, Fraction)):
        return exact_form.rational(value)
    if not np.isfinite(value):
        raise ExactDomainError(f"{value!r} beside an exact constant: it is no real number.")
    if isinstance(value, (np.integer, np.bool_)):
        return exact_form.rational(int(value))
    # Of longer floats NumPy knows the ratio; a double's own bits cannot be flushed to zero on the way.
    q = fraction(float(value)) if value == float(value) else Fraction(*value.as_integer_ratio())
    return exact_form.rational(q)


def _objects(values: Any) -> _Objects:
    """Be an object array of the exact numbers given, rational ones as int or Fraction."""
    if isinstance(values, ExactArray):
        return values._values
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biu":
            return values.astype(np.int64 if values.dtype.kind == "b" else values.dtype).astype(object)
        flat = [_value(_read(v)) for v in values.ravel().tolist()]
        return _filled(flat).reshape(values.shape)
    parts = [_objects(v) if isinstance(v, (list, tuple, np.ndarray, ExactArray)) else _value(_read(v)) for v in values]
    rows = [part for part in parts if isinstance(part, np.ndarray)]
    if not rows:
        return _filled(parts)
    if len(rows) < len(parts) or len({row.shape for row in rows}) > 1:
        raise ShapeMismatch(f"exact({describe(values)}): the rows differ in shape. Give rows of one length.")
    return np.stack(rows)


def _value(form: Terms) -> int | Fraction | Exact:
    q = exact_form.as_rational(form)
    if q is None:
        return Exact(form)
    return q.numerator if q.denominator == 1 else q


def _filled(values: list[Any]) -> _Objects:
    # Assigning to an empty array keeps NumPy from looking into the elements.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # | among the inputs                         | result                                          |
    # | an object of another class (Interval)    | left to that class                              |
    # | NumPy's floats, in an array or alone     | NumPy's floats: the function at nearest doubles |
    # | the same, while a function is traced     | exact, as beside Python's floats                |
    # | an array                                 | element by element                              |
    # | numbers only                             | one constant or one answer                      |
    name = ufunc.__name__
    if not all(isinstance(value, _KNOWN) for value in inputs):
        return NotImplemented
    if not _TRACING.get() and name not in exact_rules.ORDER and any(_is_numpy_float(value) for value in inputs):
        return getattr(ufunc, method)(*(_nearest(value) for value in inputs), **kwargs)
    if method != "__call__" or kwargs or not (name in exact_rules.NUMBERS or name in exact_rules.ORDER):
        raise UnsupportedValue(
            f"np.{name}{'' if method == '__call__' else '.' + method} with these arguments is not "
            "offered for exact constants. Apply it to x.enclose()."
        )
    if any(isinstance(value, _ARRAYS) for value in inputs):
        return _elementwise(name, [_array(v if isinstance(v, _ARRAYS) else np.array(v, object)) for v in inputs])
    return _scalar(name, tuple(_form(value) for value in inputs))


_TRACING: ContextVar[bool] = ContextVar("tracing", default=False)


@contextmanager
def staying_exact() -> Iterator[None]:
    """Let constants stay exact beside NumPy's floats: what is traced is meant as it is written."""
    token = _TRACING.set(True)
    try:
        yield
    finally:
        _TRACING.reset(token)


def _is_numpy_float(value: object) -> bool:
    """NumPy's floats are data: beside them an exact constant is its nearest double. Python's floats are exact."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"


def _nearest(value: Any) -> Any:
    if isinstance(value, ExactArray):
        if value.columns is not None:
            return exact_columns_value.nearest(value.columns)
        return np.array([float(Exact(_form(v))) for v in value._values.ravel()]).reshape(value.shape)
    return float(value) if isinstance(value, (Exact, Fraction)) else value


def _scalar(name: str, forms: tuple[Terms, ...]) -> Exact | bool:
    if name in exact_rules.NUMBERS:
        return Exact(exact_rules.NUMBERS[name](*forms))
    # Equal forms are equal numbers, and their difference is the empty form.
    difference = exact_form.add(forms[0], exact_form.neg(forms[1]))
    return bool(exact_rules.ORDER[name](exact_value.sign(difference), 0))


def _elementwise(name: str, operands: list[ExactArray]) -> ExactArray | np.ndarray[Any, Any]:
    try:
        np.broadcast_shapes(*(operand.shape for operand in operands))
    except ValueError as error:
        shapes = " and ".join(str(operand.shape) for operand in operands)
        raise ShapeMismatch(f"np.{name}: the shapes {shapes} do not broadcast. Give equal shapes.") from error
    try:
        return _by_columns(name, [operand.columns for operand in operands])
    except Unfit:
        return _one_by_one(name, np.broadcast_arrays(*(operand._values for operand in operands)))


def _by_columns(name: str, operands: list[Columns | None]) -> ExactArray | np.ndarray[Any, Any]:
    if any(operand is None for operand in operands):
        raise Unfit
    if name in exact_rules.ORDER:
        return np.asarray(exact_rules.ORDER[name](exact_columns_rules.order(*operands), 0))  # type: ignore[arg-type]
    if name not in exact_columns_rules.RULES:
        raise Unfit
    return ExactArray(exact_columns_rules.RULES[name](*operands))


def _one_by_one(name: str, arrays: Any) -> ExactArray | np.ndarray[Any, Any]:
    rows = zip(*(values.ravel().tolist() for values in arrays), strict=True)
    results = [_scalar(name, tuple(_form(value) for value in row)) for row in rows]
    if name in exact_rules.ORDER:
        return np.array(results, dtype=bool).reshape(arrays[0].shape)
    return ExactArray(_filled([_value(_form(value)) for value in results]).reshape(arrays[0].shape))


_ARRAYS = (ExactArray, np.ndarray, list, tuple)
_KNOWN = (*_ARRAYS, Exact, int, float, Fraction, np.number, np.bool_)

pi = Exact(exact_form.of_atom(exact_form.PI))
e = Exact(exact_form.of_atom(exact_form.E))
