"""Index maps: what they read, what reads them, and how they compose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.graph.indexmap import (
    Affine,
    Table,
    Window,
    broadcast,
    compose,
    identity,
    is_identity,
    of_indices,
    of_view,
    preimage,
    readers,
)

repeatable = settings(derandomize=True, max_examples=200, deadline=None)


@st.composite
def maps(draw: st.DrawFn, source: int | None = None) -> Any:
    size = source if source is not None else draw(st.integers(1, 12))
    kind = draw(st.sampled_from(["table", "window", "affine", "identity"]))
    if kind == "identity":
        return identity(size)
    if kind == "window":
        return Window(draw(st.integers(1, 12)), draw(st.integers(-5, 12)), draw(st.integers(-2, 2)), size)
    if kind == "table":
        entries = draw(st.lists(st.integers(-1, size - 1), min_size=1, max_size=15))
        return Table(np.array(entries, np.int64).tobytes(), size)
    start, step = draw(st.integers(0, size - 1)), draw(st.sampled_from([-2, -1, 1, 2, 3]))
    view = np.arange(size)[start::step]
    return of_view(view, np.arange(size)) if view.size else identity(size)


@repeatable
@given(maps())
def test_every_entry_is_none_or_in_the_source(m: Any) -> None:
    i = m.indices()
    assert i.size == m.size
    assert np.all((i >= -1) & (i < m.source))


@repeatable
@given(st.integers(1, 10).flatmap(lambda k: maps(k).flatmap(lambda m: st.tuples(st.just(m), maps(m.size)))))
def test_composition_reads_through(pair: Any) -> None:
    inner, outer = pair
    o, i = outer.indices(), inner.indices()
    expected = np.where(o >= 0, i[np.maximum(o, 0)], -1)
    found = compose(outer, inner)
    assert found.source == inner.source
    assert np.array_equal(found.indices(), expected)


@repeatable
@given(maps())
def test_the_transpose_names_every_reader_once(m: Any) -> None:
    i = m.indices()
    seen = []
    for targets, positions in readers(m):
        assert positions.shape[0] == targets.size
        for target, row in zip(targets, positions, strict=True):
            present = row[row >= 0]
            assert np.all(i[present] == target)
            assert present.size > positions.shape[1] // 2
            seen.extend(present.tolist())
    assert sorted(seen) == np.flatnonzero(i >= 0).tolist()


@repeatable
@given(maps(), st.randoms(use_true_random=False))
def test_the_preimage_is_who_reads_a_marked_source(m: Any, chance: Any) -> None:
    marked = np.array([chance.random() < 0.4 for _ in range(m.source)])
    expected = [k >= 0 and bool(marked[k]) for k in m.indices()]
    assert preimage(m, marked).tolist() == expected


@repeatable
@given(st.lists(st.integers(-1, 8), min_size=1, max_size=20))
def test_a_map_of_indices_reads_those_indices(entries: list[int]) -> None:
    assert of_indices(entries, 9).indices().tolist() == entries


VIEWS = {
    "whole": lambda a: a,
    "slice": lambda a: a[2:9],
    "step": lambda a: a[1::3],
    "backwards": lambda a: a[::-2],
    "one": lambda a: a[4:5],
    "columns": lambda a: a.reshape(4, 6)[:, 1:3],
    "turned": lambda a: a.reshape(4, 6).T,
    "turned thrice": lambda a: a.reshape(2, 3, 4).transpose(2, 0, 1),
    "repeated": lambda a: np.broadcast_to(a[:6], (5, 6)),
    "repeated inside": lambda a: np.broadcast_to(a[:6, None], (6, 5)),
    "diagonal": lambda a: a[:16].reshape(4, 4).diagonal(),
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, 5),
    "gathered": lambda a: a[[3, 1, 20, 1]],
    "rolled": lambda a: np.roll(a, 5),
    "corner": lambda a: a.reshape(4, 6)[::-1, ::2],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_becomes_the_map_that_it_is(name: str) -> None:
    base = np.arange(24)
    view = VIEWS[name](base)
    found = of_view(view, base)
    assert found.size == view.size and found.source == 24
    assert np.array_equal(found.indices(), view.ravel())


@repeatable
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.lists(
        st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.sampled_from([-2, -1, 1, 2])), min_size=3, max_size=3
    ),
    st.booleans(),
)
def test_any_sliced_view_becomes_the_map_that_it_is(shape: list[int], cuts: Any, turned: bool) -> None:
    base = np.arange(int(np.prod(shape)))
    view = base.reshape(shape)[tuple(slice(*cut) for cut in cuts[: len(shape)])]
    view = view.T if turned else view
    found = of_view(view, base)
    assert np.array_equal(found.indices(), view.ravel())


def test_one_map_has_one_form() -> None:
    base = np.arange(12)
    assert is_identity(of_view(base.reshape(3, 4), base))
    assert is_identity(of_indices(np.arange(12), 12))
    assert of_indices(np.arange(0, 12, 2), 12) == of_view(base[::2], base)
    assert of_indices(base.reshape(3, 4).T.ravel(), 12) == of_view(base.reshape(3, 4).T, base)
    assert of_indices([-1, 0, 1, 2], 12) == Window(4, -1, 1, 12)
    assert broadcast(3) == Affine(((3, 0),), 0, 1)
