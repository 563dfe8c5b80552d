"""What is left to `make torture` exists, and is never all that there is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import torture

TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", torture.LEFT)
def test_a_row_names_a_test_in_a_file_with_others(name: str) -> None:
    file, _, test = name.partition("::")
    path = TESTS / file
    functions = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    assert test in functions, f"{name} is gone: take its row out of tests/torture.py"
    assert any(other.startswith("test_") and f"{file}::{other}" not in torture.LEFT for other in functions)


@pytest.mark.parametrize("left", [value for value in torture.LEFT.values() if isinstance(value, int)])
def test_a_share_leaves_something_out(left: int) -> None:
    assert left == 0 or left > 1
