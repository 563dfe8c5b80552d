"""Views and copies: random programs of slices, reshapes and writes give what NumPy gives, or are refused."""

from __future__ import annotations

import random

import numpy as np
import pytest

from test_trace_numpy import POINTS, compared

SOURCES = ["{v}", "{v}.T", "{v}[0]", "{v}[::-1]", "{v}[:, 0]", "{v}[..., 0:1]", "{v}.ravel()", "{v}.reshape(-1)",
           "{v}.reshape(2, -1)", "{v}.flatten()", "+{v}", "{v} + 1", "{v}.T * 2", "np.asarray({v})", "np.array({v})",
           "{v}.copy()", "{v}[[0, 1]]", "{v}[:, None]", "{v}.astype(float)", "{v}.astype(float, copy=False)",
           "np.ravel({v}, order='F')", "np.ravel({v}, 'K')", "{v}.swapaxes(0, -1)", "{v}.flat[1:3]",
           "np.atleast_2d({v})", "np.squeeze({v})", "{v}.real", "{v}.conj()", "np.where({v} > 0, {v}, -{v})",
           "np.concatenate([{v}, {v}])", "{v}.clip(-1, 1)", "np.split({v}, 2)[0]", "np.positive({v})",
           "np.ascontiguousarray({v})", "np.zeros_like({v})", "np.full_like({v}, 2)", "np.expand_dims({v}, 0)",
           "{v}.take([0, 1], axis=0)", "np.flip({v})", "np.roll({v}, 1)", "{v}[{v}[0] is None]", "np.copy({v})",
           "np.moveaxis({v}, 0, -1)", "np.reshape({v}, (-1,), order='F')", "np.array({v}, copy=None)", "{v}[()]",
           "np.stack([{v}, {v}])", "np.tile({v}, 2)", "{v}[np.array([True, False])]", "np.array({v}.tolist())",
           "np.maximum({v}.T, 0)", "np.multiply({v}, 2, out=np.zeros_like({v}))", "{v}.copy(order='K')",
           "np.zeros((2, 2), order='F') + {v}", "np.round({v}.T)", "{v}.repeat(2)"]  # fmt: skip
WRITES = ["{v}[...] = {s}", "{v}[0] = {s}", "{v}[-1] += {s}", "{v}.flat[1] = {s}", "{v}.T.flat[1] = {s}", "{v} += {s}",
          "{v} *= 2", "{v}[{v} > 0] += 1", "{v}[{v} > 1] = {s}", "np.add({v}, {s}, out={v})", "np.copyto({v}, {s})",
          "{v}.fill({s})", "{v}[::2] = {s}", "{v}.ravel()[0] = {s}", "{v}.reshape(-1)[1] = {s}",
          "{v}.T.ravel()[1] = {s}",
          "np.putmask({v}, {v} < 0, {s})", "np.place({v}, {v} > 2, {s})", "np.put({v}, [0, 2], {s})", "{v} -= {v}[0]",
          "np.copyto({v}, {s}, where={v} > 0)", "{v}[1:] = {v}[:-1]", "{v} = {v} + 1", "{v}.flat = {s}",
          "np.subtract({v}, 1, out={v}, where={v} > 0)", "np.fill_diagonal({v}, {s})", "np.add.at({v}, [0, 0], {s})",
          "{v}[[0, 1]] = {v}[[1, 0]]", "{v}.T[0] = {s}", "{v}[...] = {v}.T", "{v}[..., -1] = {s}"]  # fmt: skip
STARTS = ["x.reshape(2, 2).copy()", "np.zeros((2, 2))", "np.array([[x[0], 1.0], [x[1], x[2]]])", "np.ones(4)",
          "x.copy()", "x[:2] * np.ones((2, 1))", "np.arange(6.0).reshape(2, 3)", "np.zeros((2, 3)).T",
          "np.array(x[0])", "x.reshape(2, 2).T + 0"]  # fmt: skip


def program(seed: int) -> str:
    """A program of a few views and writes that returns a weighted sum of all its arrays."""
    draw = random.Random(seed)
    lines = [f"a = {draw.choice(STARTS)}"]
    names = ["a"]
    for _ in range(draw.randint(2, 6)):
        old = draw.choice(names)
        if len(names) < 4 and draw.random() < 0.5:
            name = "abcd"[len(names)]
            lines.append(f"{name} = {draw.choice(SOURCES).format(v=old)}")
            names.append(name)
        else:
            scalar = draw.choice(["x[0]", "5.0", "x[3] * 2", "-1", "x[1] > 0"])
            lines.append(draw.choice(WRITES).format(v=old, s=scalar))
    terms = [f"np.sum(np.ravel({v}) * (np.arange(np.size({v})) + {k + 1}.5))" for k, v in enumerate(names)]
    return "\n".join([*lines, f"return {' + '.join(terms)} + x[3]"])


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_random_programs_of_views_and_writes_agree_with_numpy(first: int) -> None:
    answers = [compared(program(seed), POINTS[::3]) for seed in range(first, first + 250)]
    assert answers.count("agrees") > 60


def test_elements_selected_by_a_condition_are_no_view() -> None:
    for text in (
        "y = x.copy()\ny[y > 0] = 3.0\nreturn y.sum()",
        "y = x.copy()\nz = y[y > 0]\ny[:] = 0.0\nreturn z.sum() + y.sum()",
        "y = x.copy()\nm = y > 0\ny[m] += y[m] * 2\nreturn y.prod()",
        "return (x[x > 0] > 1).any() + (x[x > 0] > 1).all() + x[x < 0].mean() * 0 + x[0]",
    ):
        assert compared(text) == "agrees"
    for text in (
        "x[x > 0][0]",
        "x[x > 0].max()",
        "len(x[x > 0]) + x[0]",
        "x[0] if x[x > 0] else x[1]",
        "(x.reshape(2, 2)[x[:2] > 0, :]).sum()",
        "np.sum(x[x > 0], axis=0)",
        "(x[x > 0] * x[x > 1]).sum()",
    ):
        assert compared(text) != "agrees"


def test_numbers_in_an_array_without_axes_are_shared() -> None:
    assert compared("a = np.array(x[0])\nb = a\nb += 1\na[...] = a * 2\nreturn b + x[1]") == "agrees"
    assert compared("a = np.zeros(())\nb = a\nb += x[0]\nreturn a + x[1]") == "agrees"
    assert np.isfinite(POINTS).all()
