"""The shape of the project: imports go one way, no flag loosens IEEE 754, nothing of libm stands behind a claim."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import infimum.core

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "infimum"
CORE = PACKAGE / "core"

# From the bottom to the top; a room imports from its own row and from the rows above it in this list.
ROOMS = (
    ("concurrency", "errors", "deadline", "core", "fractions", "version"),
    ("ops",),
    ("interval",),
    ("exact", "domain", "boxes"),
    ("graph",),
    ("tracing",),
    ("passes",),
    ("backends",),
    ("staging",),
    ("function",),
    ("contractors",),
    ("search",),
    ("records",),
    ("api", "strategies"),
    ("problems",),
    ("bench",),
    ("cli", "__main__"),
)
RANK = {room: rank for rank, row in enumerate(ROOMS) for room in row}


def _room(module: str) -> str:
    """Return the room of a dotted name: infimum.interval.text is in interval."""
    return module.split(".")[1]


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _imports(path: Path) -> Iterator[str]:
    """Every module of infimum that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "infimum")
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import; write the full name"
            if node.module and node.module.split(".")[0] == "infimum":
                whole = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name if name in MODULES else node.module for name in whole)


def test_every_module_belongs_to_a_room() -> None:
    homeless = [name for name in MODULES if name != "infimum" and _room(name) not in RANK]
    assert not homeless, f"name the room of {homeless} in tests/test_architecture.py and docs/architecture.md"


def test_the_documentation_states_the_order_of_the_rooms() -> None:
    stated = " < ".join(", ".join(row) for row in ROOMS)
    assert stated in re.sub(r"\s+", " ", (ROOT / "docs" / "architecture.md").read_text())


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/tracing.md", "docs/extending.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    there = {path.name for path in ROOT.rglob("*") if path.suffix in (".py", ".h", ".def", ".cpp")}
    named = re.findall(r"`(?:[\w./]+/)?(\w+\.(?:py|h|def|cpp))`", (ROOT / page).read_text())
    assert named and not set(named) - there


@pytest.mark.parametrize("name", [name for name in MODULES if name != "infimum"])
def test_imports_go_one_way(name: str) -> None:
    for imported in _imports(MODULES[name]):
        assert imported != "infimum", f"{name} imports from the public face; import from the room itself"
        assert RANK[_room(imported)] <= RANK[_room(name)], f"{name} may not know {imported}"


@pytest.mark.parametrize(
    "name", [name for name in MODULES if name.startswith(("infimum.search", "infimum.contractors"))]
)
def test_searches_and_contractors_read_no_graph(name: str) -> None:
    read = {imported for imported in _imports(MODULES[name]) if _room(imported) in ("graph", "passes")}
    assert not read, f"{name} reads {read}: let passes/ make it and function/ hand it over"


def test_the_core_knows_nothing_above_it() -> None:
    for name, path in MODULES.items():
        if name.startswith("infimum.core"):
            assert {_room(imported) for imported in _imports(path)} <= {"core", "errors"}


def test_only_the_public_names_stand_in_the_package_itself() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    allowed = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.If)
    lazily = {"__getattr__", "__dir__"}  # rooms that are imported when they are first asked for
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions <= lazily
    assert all(isinstance(node, (*allowed, ast.FunctionDef)) for node in tree.body)


# --- the build ---------------------------------------------------------------------------------------------------

LOOSE = re.compile(
    r"(?<!no-)(?:fast-math|unsafe-math|finite-math|associative-math|reciprocal-math)|-Ofast|fp-contract=(?!off)"
)


@pytest.mark.parametrize("file", ["CMakeLists.txt", "pyproject.toml", "Makefile", "tests/compilers.sh"])
def test_no_flag_loosens_ieee_754(file: str) -> None:
    assert not LOOSE.findall((ROOT / file).read_text())


def test_contraction_is_off_and_fast_math_is_an_error() -> None:
    assert "-ffp-contract=off" in (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"#ifdef __FAST_MATH__\s*\n#error", (CORE / "machine.h").read_text())


# --- the core's sources ------------------------------------------------------------------------------------------

SOURCES = sorted(p for p in CORE.rglob("*") if p.suffix in (".h", ".cpp", ".inc", ".def", ".cu"))
HEADERS_OF_THE_SYSTEM = {
    "algorithm", "atomic", "chrono", "cstdint", "cstring", "exception", "immintrin.h", "list", "memory", "mutex", "new",
    "stdexcept", "thread", "unordered_map", "utility", "vector",
}  # fmt: skip
# IEEE 754 operations, magnitudes, bits and facts about the processor; no function of a math library.
BUILTINS = {"cpu_supports", "fabs", "floor", "fma", "huge_val", "prefetch", "rint", "sqrt"}
GLOBAL_FUNCTIONS = {"fabs", "floor", "rint"}
STANDARD_NAMES = {
    "atomic", "bad_alloc", "chrono", "copy", "exception", "fill", "is_sorted", "list", "lock_guard", "logic_error",
    "make_pair", "max", "memcmp", "memcpy", "memmove", "memset", "min", "move", "mutex", "nothrow", "nth_element",
    "pair", "partial_sort", "pop_heap", "push_heap", "remove_if", "sort", "swap", "thread", "try_to_lock", "unique",
    "unique_lock", "unique_ptr", "unordered_map", "vector",
}  # fmt: skip


def _code(path: Path) -> str:
    """The file without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_core_uses_no_math_library(path: Path) -> None:
    code = _code(path)
    assert set(re.findall(r"#\s*include\s*<([^>]+)>", code)) <= HEADERS_OF_THE_SYSTEM
    assert set(re.findall(r"\b__builtin_(\w+)", code)) <= BUILTINS
    assert set(re.findall(r"\bstd::(\w+)", code)) <= STANDARD_NAMES
    assert set(re.findall(r"(?<![\w>])::(\w+)\s*\(", code)) <= GLOBAL_FUNCTIONS


MATHEMATICS = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh",
    "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "frexp",
    "hypot", "ilogb", "ldexp", "lgamma", "llrint", "log", "log10", "log1p", "log2", "logb", "lrint", "modf",
    "nearbyint", "nextafter", "pow", "remainder", "rint", "round", "scalbn", "sin", "sincos", "sinh", "sqrt",
    "tan", "tanh", "tgamma", "trunc",
}  # fmt: skip


def test_the_compiled_core_calls_no_math_library() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not installed")
    library = Path(infimum.core.__file__).parent / "libinfimum_core.so"
    listing = subprocess.run([nm, "--dynamic", "--undefined-only", library], capture_output=True, text=True, check=True)
    wanted = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()}
    assert wanted, "nm listed nothing"
    assert not {name for name in wanted if {name, name[:-1]} & MATHEMATICS}


# --- the tree ----------------------------------------------------------------------------------------------------


def test_the_installed_package_is_the_one_in_src() -> None:
    spec = importlib.util.find_spec("infimum")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent
    stale = [
        str(path.relative_to(PACKAGE))
        for path in [*MODULES.values(), *(p for p in SOURCES if p.suffix in (".h", ".def", ".cu"))]
        if not (installed / path.relative_to(PACKAGE)).exists()
        or (installed / path.relative_to(PACKAGE)).read_bytes() != path.read_bytes()
    ]
    assert not stale, f"run `make install`: the installed package is older than src in {stale}"


def test_the_installed_package_says_that_it_is_typed() -> None:
    assert (Path(infimum.core.__file__).parent.parent / "py.typed").is_file()


TEXTS = (".cfg", ".cpp", ".cu", ".def", ".h", ".inc", ".md", ".py", ".sh", ".toml", ".txt", ".yml")
# Paths of one machine. /usr/bin/env in a first line and pseudo-files of the system are the same everywhere.
ABSOLUTE = re.compile(r"(?<![\w./:>])/(?:home|root|work|tmp|opt|mnt|srv|usr/(?!bin/env\b)|Users)(?:/|\b)")


def _texts() -> list[Path]:
    folders = ("src", "tests", "bench", "docs", "examples", ".ci")
    found = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in TEXTS or p.name == "run"]
    found += [p for p in ROOT.iterdir() if p.suffix in TEXTS or p.name in ("Makefile", "LICENSE")]
    return sorted(p for p in found if "data" not in p.parts and p != Path(__file__))


def test_no_file_names_a_path_of_one_machine() -> None:
    named = {str(p.relative_to(ROOT)): found for p in _texts() if (found := ABSOLUTE.findall(p.read_text()))}
    assert not named
