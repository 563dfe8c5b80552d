"""What several commands are asked in the same way."""

from __future__ import annotations

import argparse
from typing import Any


def add_command(commands: Any, name: str, said: str, run: Any, epilog: str | None = None) -> argparse.ArgumentParser:
    """Add a command that says what it does, and runs `run` with its arguments."""
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=said, description=f"{said[0].upper()}{said[1:]}.", epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    made.set_defaults(run=run)
    return made


def add_effort(parser: argparse.ArgumentParser, limit: str = "stop after so many seconds") -> None:
    """Add the time limit, the threads and the backend."""
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help=limit)
    parser.add_argument("--threads", type=int, metavar="N", help="as many as there are by default")
    parser.add_argument("--backend", default="auto", help="auto, cpu or cuda (an NVIDIA GPU)")


def add_files(parser: argparse.ArgumentParser, stem: str, *kinds: str) -> None:
    """Add the names of the files that are written."""
    for kind in kinds:
        file = f"infimum-{stem}.{kind}"
        parser.add_argument(f"--{kind}", default=file, metavar="FILE", help=f"{file} by default")
