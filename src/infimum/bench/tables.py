"""What every experiment reads, prints and writes: published figures, tables, rows with the machine and the date."""

from __future__ import annotations

import csv
import datetime
import json
import platform
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from infimum import core
from infimum.api import options
from infimum.records.writing import plain

Row = dict[str, Any]


def published(file: str) -> list[dict[str, str]]:
    """Return the lines of a file of published figures, each by the names of its columns."""
    text = (files("infimum.bench") / "data" / file).read_text()
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def wide(console: Console) -> Console:
    """Return the console, with room for whole lines where it is no terminal."""
    return console if console.is_terminal else Console(file=console.file, width=140)


def empty_table(title: str) -> Table:
    """Return an empty table without lines."""
    return Table(title=title, title_justify="left", header_style="bold", title_style="bold cyan", box=None)


def table(title: str, columns: Sequence[str], left: Sequence[str]) -> Table:
    """Return a table with these columns, some of them aligned to the left."""
    made = empty_table(title)
    for name in columns:
        made.add_column(name, justify="left" if name in left else "right", no_wrap=True)
    return made


def machine(threads: int | None) -> Row:
    """Return when and on what the experiments run."""
    return {
        "date": datetime.date.today().isoformat(), "processor": processor(), "instructions": core.variants()[-1],
        "threads": options.threads(threads),
    }  # fmt: skip


def processor() -> str:
    """Return the processor's name, as far as the system tells it."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def write(rows: Sequence[Row], where: Row, csv_file: str, json_file: str, **more: Any) -> None:
    """Write the rows so far, doubles with all their digits; each line of the CSV file says where it was measured."""
    write_csv([{**r, **where} for r in rows], csv_file)
    content = {**where, **more, "rows": list(rows)}
    Path(json_file).write_text(json.dumps(plain(content), indent=1, allow_nan=False) + "\n")


def write_csv(rows: Sequence[Row], file: str) -> None:
    """Write rows that all have the same columns."""
    with Path(file).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
