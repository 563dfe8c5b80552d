"""Integers that cross the C interface have the same names and numbers on both sides."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path

import pytest

import infimum.core
from infimum.core import codes
from infimum.staging.cuda import memory, world

CORE = Path(infimum.core.__file__).parent
HEADER = (CORE / "codes.h").read_text()
ENUMS = dict(re.findall(r"enum infimum_(\w+) \{([^}]*)\}", HEADER))
KERNELS = "".join(path.read_text() for path in Path(world.__file__).parent.glob("*.h"))


def numbers(name: str) -> dict[str, int]:
    """Return the names of a C enumeration, without their prefixes, and their numbers."""
    found = re.findall(r"INFIMUM_(\w+) = (-?\d+)", ENUMS[name])
    prefix = name.split("_")[0].upper() + "_"
    return {entry.removeprefix(prefix): int(number) for entry, number in found}


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def test_every_enumeration_is_on_both_sides() -> None:
    python = {name for name, made in vars(codes).items() if isinstance(made, type) and made.__bases__ == (IntEnum,)}
    assert python == {camel(name) for name in ENUMS} and len(python) > 9


@pytest.mark.parametrize("name", ENUMS)
def test_names_and_numbers_agree(name: str) -> None:
    python = getattr(codes, camel(name))
    assert numbers(name) == {member.name: member.value for member in python}
    assert len(python) == ENUMS[name].count("INFIMUM_"), "every C name has its number written out"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("DEVICE_SPLIT", world.DEVICE_SPLIT),
        ("DEVICE_PARTS", world.DEVICE_PARTS),
        ("DEVICE_LISTED", world.DEVICE_LISTED),
        ("MOST_AHEAD", world.MOST_AHEAD),
        ("RESULT_COUNT", world.RESULT_COUNT),
        ("RESULT_BOUNDS", world.RESULT_BOUNDS),
        ("STEP_THREADS", memory.STEP_THREADS),
        ("CHILDREN_THREADS", memory.CHILDREN_THREADS),
    ],
)
def test_limits_of_staged_kernels_agree(name: str, number: int) -> None:
    assert re.findall(rf"\b{name} = (\d+)", KERNELS) == [str(number)]


def test_levels_and_the_size_of_an_answer_agree() -> None:
    packed = (CORE / "staging" / "packed.h").read_text()
    assert re.findall(r"PACKED_LEVELS = (\d+)", packed) == [str(world.PACKED_LEVELS)]
    assert world.RESULT_INDICES == world.RESULT_BOUNDS + world.DEVICE_LISTED
    assert world.RESULT_INDICES + world.DEVICE_LISTED == memory.RESULT_SIZE
