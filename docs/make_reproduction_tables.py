"""Write the tables of docs/reproduction.md from the committed results of `infimum bench paper` and `bench compare`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from infimum import Interval
from infimum.records.writing import enclosure

PAGE = Path(__file__).parent / "reproduction.md"
RESULTS = Path(__file__).parent.parent / "bench" / "results"
MACHINES = {"laptop": "RTX 3070 Ti", "workstation": "RTX 4090", "local_server": "RTX A6000", "gh200": "GH200"}
Row = dict[str, str]


def page(text: str) -> str:
    """Be the page with its tables replaced by fresh ones."""
    paper, compared = _read("paper.csv") + _read("paper_large.csv"), _read("compare.csv")
    tables = {"where": where(paper), "found": found(paper), "times": times(paper), "compare": compare(compared)}
    for name, fresh in tables.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{fresh}\n{end}{rest.split(end)[1]}"
    return text


def where(rows: Sequence[Row]) -> str:
    """Be a sentence on the machine."""
    r = rows[0]
    return f"Measured on {r['date']}: {r['processor']}, {r['threads']} threads, {r['instructions']}."


def found(rows: Sequence[Row]) -> str:
    """Be iterations, regions and enclosure, the paper's in brackets where they differ."""
    names = ["function", "n", "iterations", "regions", "minimum in", "known minimum and minimiser"]
    return _table(
        names, ["---", "---:", "---:", "---:", "---", "---"],
        [[r["function"], f"{int(r['n']):,}", _beside(r, "iterations"), _beside(r, "regions"),
          enclosure(Interval(float(r["lower"]), float(r["upper"]))), _verdict(r)] for r in rows],
    )  # fmt: skip


def times(rows: Sequence[Row]) -> str:
    """Be seconds, ours and the paper's, and how many times longer the paper's machines took."""
    lines = []
    for r in rows:
        theirs = [_theirs(r, machine) for machine in MACHINES]
        done = f"{float(r['seconds']):.3g}"
        lines.append([r["function"], f"{int(r['n']):,}", done if r["status"] == "0" else f"stopped at {done}", *theirs])
    return _table(["function", "n", "seconds", *MACHINES.values()], ["---"] + ["---:"] * 6, lines)


def compare(rows: Sequence[Row]) -> str:
    """Be what each method found, ours and the paper's."""
    names = ["method", "runs", "evaluations", "smallest value", "proved", "seconds", "paper: runs", "value", "seconds"]
    lines = []
    for r in rows:
        lower, upper = r["proved_lower"], float(r["value"])
        proved = enclosure(Interval(float(lower), upper)) if lower else "nothing"
        runs = f"{int(r['runs']):,}" + (" (cut short)" if r["cut_short"] == "True" else "")
        theirs = [_number(r[f"paper_{key}"]) for key in ("runs", "value", "seconds")]
        count, seconds = f"{int(r['evaluations']):,}", f"{float(r['seconds']):.3g}"
        lines.append([r["method"], runs, count, f"{upper:.4g}", proved, seconds, *theirs])
    return _table(names, ["---"] + ["---:"] * 8, lines)


def _read(name: str) -> list[Row]:
    return list(csv.DictReader((RESULTS / name).read_text().splitlines()))


def _table(names: Sequence[str], rule: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *lines))


def _beside(r: Row, name: str) -> str:
    ours, theirs = f"{int(r[name]):,}", r[f"paper_{name}"]
    if r["status"] != "0":
        return f"stopped at {ours} ({int(theirs):,})"
    return ours if not theirs or int(theirs) == int(r[name]) else f"**{ours}** ({int(theirs):,})"


def _verdict(r: Row) -> str:
    return "inside" if r["true"] == "True" else "LOST"


def _theirs(r: Row, machine: str) -> str:
    seconds = r[f"paper_{machine}_s"]
    if not seconds:
        return ""
    text = f"{float(seconds):,.0f} s"
    return text if r["status"] != "0" else f"{text} ({float(seconds) / float(r['seconds']):,.0f} ×)"  # noqa: RUF001


def _number(text: str) -> str:
    return f"{float(text):,.4g}" if text and float(text) < 1000 else f"{float(text):,.0f}" if text else ""


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
