"""What is traced is what NumPy computes: generated calls, value by value (numpy_calls.py says how)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numpy_calls
from infimum.tracing.numpy.rules import FUNCTIONS, UFUNCS
from numpy_call_templates import TEMPLATES

_PER_ARGUMENT = 0.15  # 1,500 calls in `make test`, 30,000 in `make torture`


def test_wherever_numpy_gives_a_number_the_traced_function_holds_it_or_is_refused(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    found = numpy_calls.verdicts(0, int(_PER_ARGUMENT * pytestconfig.getoption("--arguments")))
    text = numpy_calls.report(found)
    print(text)
    (tmp_path / "calls.md").write_text(text)
    assert sum(v.kind == "agrees" for v in found) > len(found) / 3
    wrong = [v for v in found if v.is_difference]
    assert not wrong, f"{len(wrong)} differences, see {tmp_path / 'calls.md'}:\n" + numpy_calls.report(wrong)


def test_every_rule_has_calls() -> None:
    titles = {title for title, _ in TEMPLATES}
    for key in (*UFUNCS, *FUNCTIONS):
        function, method = key if isinstance(key, tuple) else (key, "")
        if str(getattr(function, "__module__", "")).startswith("numpy.polynomial"):
            continue  # tests/test_trace_numpy.py compares these
        names = [f"np.{n}" for n in dir(np) if getattr(np, n) is function]
        names += [f"np.linalg.{n}" for n in dir(np.linalg) if getattr(np.linalg, n) is function]
        assert any(f"{name}.{method}".rstrip(".") in titles for name in names), key


def test_a_number_is_always_the_same_call() -> None:
    for number in (0, 17, 4711, 29_999):
        one = numpy_calls.call(number)
        assert one == numpy_calls.call(number)
        assert np.array_equal(one.points(), numpy_calls.call(number).points())


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("np.sum(x**2) + np.sin(x[0])", "agrees"),
        ("np.sort(x)", "refused"),
        ("np.add(x, np.ones(3))", "no values"),
        ("x + (0.0 if x.__class__ is np.ndarray else 1e-6)", "value"),
        ("np.abs(x) if x.__class__ is np.ndarray else np.sqrt(x)**2", "empty"),
        ("x if x.__class__ is np.ndarray else x[:2]", "shape"),
        ("x if x.__class__ is np.ndarray else x.no_such_thing", "AttributeError"),
        ("x*next(clock)", "random"),
    ],
)
def test_the_comparison_sees_what_it_is_meant_to_see(source: str, kind: str) -> None:
    text = f"import itertools\nclock = itertools.count()\ndef f(x):\n    return {source}\n"
    assert numpy_calls.judged(numpy_calls.Call(1, "planted", text)).kind.split(" (")[0] == kind
