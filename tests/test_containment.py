"""Every operation of the core against MPFR, on random and critical boxes."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import infimum.core
import measure
import oracle
import reverse_oracle
import samples
from measure import Findings

CHUNK = 20_000
RESULTS = Path(__file__).parent.parent / "bench" / "results" / "tightness.json"
MEAN_EXCESS = {"checked": 0.1, "argued": 1.0}

every_operation = pytest.mark.parametrize("op", oracle.OPERATIONS)
every_exact_operation = pytest.mark.parametrize(
    "op", [op for op, trust in oracle.TRUST.items() if trust in ("exact", "numeric")]
)
every_elementary_function = pytest.mark.parametrize(
    "op", [op for op, trust in oracle.TRUST.items() if trust in MEAN_EXCESS]
)


def _measure(op: str, arguments: int) -> Findings:
    chunks = [min(CHUNK, arguments - start) for start in range(0, arguments, CHUNK)]
    references = (
        measure.reference(batch) for seed, size in enumerate(chunks) for batch in samples.batches(op, size, seed)
    )
    return measure.compare(infimum.core, op, references)


@pytest.fixture(scope="session")
def findings(pytestconfig: pytest.Config) -> Callable[[str], Findings]:
    """Measure an operation once, however many tests ask."""
    return cache(lambda op: _measure(op, pytestconfig.getoption("--arguments")))


def test_the_core_offers_the_operations_with_their_trust() -> None:
    # the reverse rows are measured in test_reverse.py
    offered = {name: row for name, row in infimum.core.operations().items() if name not in reverse_oracle.OPERATIONS}
    assert {name: operation.trust for name, operation in offered.items()} == oracle.TRUST
    assert {name: operation.arity for name, operation in offered.items()} == {
        op: samples.ARITY.get(op, 1) for op in oracle.TRUST
    }


@every_operation
def test_the_result_contains_the_range(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["missed"] == 0, found.report("missed")


@every_exact_operation
def test_an_exact_operation_returns_the_tightest_result(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["unequal"] == 0, found.report("unequal")


@every_elementary_function
def test_the_mean_excess_of_an_elementary_function_is_small(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.mean_excess <= MEAN_EXCESS[oracle.TRUST[op]], (
        f"{op}: mean excess {found.mean_excess:.4g} ulp, widest: {found.widest}"
    )


@every_operation
def test_outside_the_domain_the_result_is_empty(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["not empty"] == 0, found.report("not empty")


@every_operation
def test_zeros_are_positive_and_nothing_is_nan(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["negative zero or NaN"] == 0, found.report("negative zero or NaN")


@every_operation
def test_all_variants_give_the_same_bits(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    for variant in infimum.core.variants():
        assert found.counts[f"differs on {variant}"] == 0, found.report(f"differs on {variant}")


def test_tightness_is_recorded_on_request(pytestconfig: pytest.Config, findings: Callable[[str], Findings]) -> None:
    if not pytestconfig.getoption("--record"):
        pytest.skip("only with --record")
    rows = {op: _row(findings(op)) for op in oracle.TRUST if oracle.TRUST[op] != "numeric"}
    record = {
        "what": "excess of each finite end over the tightest one, in units in the last place",
        "arguments": pytestconfig.getoption("--arguments"),
        "machine": platform.machine(),
        "variants": list(infimum.core.variants()),
        "operations": rows,
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")


def _row(found: Findings) -> dict[str, object]:
    return {
        "trust": oracle.TRUST[found.op],
        "boxes": found.boxes,
        "ends": found.ends,
        "mean": float(f"{found.mean_excess:.3g}"),
        "max": found.max_excess,
        "widest": found.widest,
    }
