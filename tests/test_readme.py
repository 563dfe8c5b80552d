"""The documents are true: their examples run, their table is fresh, their links lead somewhere."""

from __future__ import annotations

import doctest
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import infimum.core

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def _blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the number of its first line."""
    text = page.read_text()
    return [
        (text[: match.start(1)].count("\n") + 1, match[1])
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


@every_page
def test_the_examples_of_a_page_run_as_printed(page: Path) -> None:
    names: dict[str, object] = {}
    for line, block in _blocks(page):
        if ">>>" not in block:
            exec(compile("\n" * (line - 1) + block, str(page), "exec"), names)
            continue
        example = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), line - 1)
        report: list[str] = []
        failed = doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=report.append, clear_globs=False).failed
        assert not failed, "".join(report)
        names = example.globs


def test_the_readme_has_examples() -> None:
    assert len(_blocks(ROOT / "README.md")) >= 3


@every_page
def test_links_inside_the_project_lead_to_a_file(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


@every_page
def test_the_commands_of_a_page_are_targets_of_the_makefile(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", page.read_text())) <= targets


# --- the table of guarantee.md -----------------------------------------------------------------------------------


@cache
def _maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_guarantee_table", ROOT / "docs" / "make_guarantee_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_names_every_operation_once() -> None:
    named = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "guarantee.md").read_text(), re.MULTILINE)
    assert named == list(infimum.core.operations())


def test_the_table_is_what_the_headers_and_the_measurements_say() -> None:
    text = (ROOT / "docs" / "guarantee.md").read_text()
    assert text == _maker().page(text), "run `make table`"


@pytest.mark.parametrize("op", [op.name for op in infimum.core.operations().values() if op.trust == "checked"])
def test_a_machine_checked_function_has_a_bound_far_below_the_last_place(op: str) -> None:
    assert _maker().bound(op)[0] <= 2.0**-57
