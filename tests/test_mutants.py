"""Every rounding, error bound and constant of the core matters: breaking it is noticed, or known to be harmless."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mutants
from mutants import Library, Outcome


@pytest.fixture(scope="session")
def library(pytestconfig: pytest.Config) -> Library:
    path = Path(pytestconfig.getoption("--mutants"))
    if not path.exists():
        pytest.skip(f"no mutant build at {path}; make test builds it")
    return Library(path.resolve())


@pytest.fixture(
    scope="session", params=["few boxes for the listed", pytest.param("many boxes", marks=pytest.mark.torture)]
)
def outcome(library: Library, request: pytest.FixtureRequest) -> Outcome:
    return mutants.hunt_all(library, () if request.param == "many boxes" else mutants.known())


@pytest.mark.parametrize("op", mutants.OPERATIONS)
@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.torture)])
def test_without_a_mutant_no_promise_is_broken(op: str, many: bool, library: Library) -> None:
    library.switch_off()
    assert mutants.broken(library.core, op, mutants.MANY[op] if many else mutants.FEW) == ""


def test_there_are_mutants_and_most_are_killed(outcome: Outcome) -> None:
    assert outcome.killed > 100
    assert outcome.killed > 2 * outcome.survivors.total(), (
        f"killed {outcome.killed}, survived {outcome.survivors.total()}"
    )


def test_the_survivors_are_those_listed(outcome: Outcome) -> None:
    found = dict(outcome.survivors)
    listed = {site: entry["count"] for site, entry in mutants.known().items()}
    fresh = [f"{s.file} {s.kind} times {found[s]}: {s.source}" for s in found if found[s] != listed.get(s)]
    gone = [f"{s.file} {s.kind} times {listed[s]}: {s.source}" for s in listed if listed[s] != found.get(s)]
    assert not fresh, "survive, but are not listed so:\n" + "\n".join(fresh)
    assert not gone, "are listed, but do not survive so:\n" + "\n".join(gone)


def test_the_mutants_that_are_never_met_are_counted(outcome: Outcome) -> None:
    assert len(outcome.unmet) == json.loads(mutants.SURVIVORS.read_text())["unmet"], f"never met: {outcome.unmet}"


def test_every_survivor_has_a_reason() -> None:
    without = [f"{s.file} {s.kind}: {s.source}" for s, entry in mutants.known().items() if not entry["reason"]]
    assert not without, "\n".join(without)
