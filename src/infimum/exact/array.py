"""Exact constants in arrays, in columns of integers where they have such."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import ShapeMismatch, UnsupportedValue
from infimum.exact import form as exact_form
from infimum.exact.columns import columns as exact_columns
from infimum.exact.columns import value as exact_columns_value
from infimum.exact.columns.columns import Columns, Unfit
from infimum.exact.scalar import Exact, ExactOperators, form_of, read_form, simplest
from infimum.interval import Interval
from infimum.interval.outward import FloatArray
from infimum.interval.reading import describe, ends

_Objects = npt.NDArray[np.object_]


class ExactArray(ExactOperators):
    """Exact constants in an array; functions act on each of them.

    They are held in columns where they have such (columns/), and each as an int, a Fraction or an Exact where not;
    an element that is asked for is made on demand.
    """

    __slots__ = ("_columns", "_elements", "_tried")
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
                forms = map(form_of, self._elements.ravel().tolist())
                self._columns = exact_columns.of_forms(forms, self._elements.shape)
            except Unfit:
                pass
        return self._columns

    @property
    def values(self) -> _Objects:
        """The constants one by one, each as an int, a Fraction or an Exact."""
        if self._elements is None:
            assert self._columns is not None
            self._elements = object_array(list(map(simplest, self._columns.elements()))).reshape(self._columns.shape)
        return self._elements

    @property
    def shape(self) -> tuple[int, ...]:
        """As of a NumPy array."""
        return self.values.shape if self._columns is None else self._columns.shape

    @property
    def size(self) -> int:
        """The number of constants."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def reshape(self, *shape: Any) -> ExactArray:
        """Return the same constants in another shape."""
        if self._columns is None:
            return ExactArray(self.values.reshape(*shape))
        return ExactArray(self._columns.each(lambda column: column.reshape(*shape)))

    def sum(self) -> Exact:
        """Return the sum of all constants, exactly."""
        if self.columns is not None and not self.columns.q.ndim and not self.columns.has_roots:
            whole = sum(self.columns.spread()[0].ravel().tolist())
            return Exact(exact_form.scale(((self.columns.factor, Fraction(1)),), Fraction(whole, int(self.columns.q))))
        total = exact_form.ZERO
        for value in self.values.ravel().tolist():
            total = exact_form.add(total, form_of(value))
        return Exact(total)

    def enclose(self) -> Interval:
        """Return the tightest interval around each constant."""
        return Interval(*self.__interval__())

    def __interval__(self) -> tuple[FloatArray, FloatArray]:
        return ends(self.values) if self.columns is None else exact_columns_value.enclosures(self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype).kind == "f":
            return nearest_doubles(self).astype(dtype)  # type: ignore[no-any-return]
        elements = object_array([Exact(form_of(value)) for value in self.values.ravel().tolist()])
        return elements.reshape(self.shape).astype(dtype or object)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Exact | ExactArray:
        if self._elements is None and self._columns is not None:
            return _picked(self._columns, range(len(self))[index] if type(index) is int else index)
        return self._at(self.values[index])

    def __iter__(self) -> Iterator[Exact | ExactArray]:
        return (self._at(found) for found in self.values)

    def __getattr__(self, name: str) -> Any:
        """Refuse what NumPy's arrays have and exact constants have not, with what to write instead."""
        if not name.startswith("_") and hasattr(np.ndarray, name):
            instead = f"np.{name}(a)" if hasattr(np, name) else "np.array(a, float), the nearest doubles"
            raise AttributeError(f".{name} is not offered for exact constants. Write {instead}.")
        raise AttributeError(f"an array of exact constants has no attribute {name!r}")

    @staticmethod
    def _at(found: Any) -> Exact | ExactArray:
        return ExactArray(found) if isinstance(found, np.ndarray) else Exact(form_of(found))

    def __repr__(self) -> str:
        texts = np.array([exact_form.text(form_of(v)) for v in self.values.ravel()], dtype=object)
        shown = np.array2string(texts.reshape(self.shape), separator=", ", formatter={"all": str})
        return f"exact({shown})"

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


def exact_array(values: Any) -> ExactArray:
    """Return an array of the exact numbers given."""
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


def _objects(values: Any) -> _Objects:
    """Return an object array of the exact numbers given, rational ones as int or Fraction."""
    if isinstance(values, ExactArray):
        return values.values
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biu":
            return values.astype(np.int64 if values.dtype.kind == "b" else values.dtype).astype(object)
        flat = [simplest(read_form(v)) for v in values.ravel().tolist()]
        return object_array(flat).reshape(values.shape)
    parts = [
        _objects(v) if isinstance(v, (list, tuple, np.ndarray, ExactArray)) else simplest(read_form(v)) for v in values
    ]
    rows = [part for part in parts if isinstance(part, np.ndarray)]
    if not rows:
        return object_array(parts)
    if len(rows) < len(parts) or len({row.shape for row in rows}) > 1:
        raise ShapeMismatch(f"exact({describe(values)}): the rows differ in shape. Give rows of one length.")
    return np.stack(rows)


def object_array(values: list[Any]) -> _Objects:
    """Return an array of objects; assigning to an empty one keeps NumPy from looking into them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def nearest_doubles(value: Any) -> Any:
    """Return the doubles nearest to exact constants, and any other number as it is."""
    if isinstance(value, ExactArray):
        if value.columns is not None:
            return exact_columns_value.nearest(value.columns)
        return np.array([float(Exact(form_of(v))) for v in value.values.ravel()]).reshape(value.shape)
    return float(value) if isinstance(value, (Exact, Fraction)) else value
