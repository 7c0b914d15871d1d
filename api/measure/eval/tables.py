"""Parts of a report: figures with intervals, goals, tables. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.http.ablation.measures import Figure, figure

Part = dict[str, Any]


def told(found: Figure) -> dict[str, float]:
    """A figure on the wire."""
    return {"mean": found.mean, "low": found.low, "high": found.high}


def share(values: Sequence[bool]) -> dict[str, float]:
    """How many of the cases hold, as a share with its interval. Raises ValueError without a case."""
    return told(figure([float(value) for value in values]))


def goal(least: float, reached: float) -> dict[str, Any]:
    """Something that has to be at least so much."""
    return {"goal": least, "reached": reached, "met": reached >= least}


def markdown_of(part: Mapping[str, Any]) -> str:
    """One part for people: its ways with their measures, its tables, its goals; or why it was not run."""
    lines = [f"## {part['name']}"]
    if "missing" in part:
        return "\n".join([*lines, f"Not run: {part['missing']}."])
    size = f"{part['questions']} questions" + (f", {part['passages']} passages" if "passages" in part else "") + "."
    lines += [size, *(f"{note}" for note in part.get("notes", ())), ""]
    lines += _ways(part["ways"])
    for table in part.get("tables", ()):
        lines += ["", f"**{table['title']}**", "", *_table(table["columns"], table["rows"])]
    for name, each in part["goals"].items():
        verdict = "met" if each["met"] else f"missed by {each['goal'] - each['reached']:.3f}"
        lines += ["", f"Goal {name} >= {each['goal']:.3f}: {each['reached']:.3f}, {verdict}."]
    return "\n".join(lines)


def _ways(ways: Mapping[str, Mapping[str, Any]]) -> list[str]:
    measures = list(dict.fromkeys(name for way in ways.values() for name in way))
    rows = [[name, *(way.get(measure) for measure in measures)] for name, way in ways.items()]
    return _table(["", *(name.replace("_", " ") for name in measures)], rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    head = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    return [*head, *("| " + " | ".join(_cell(value) for value in row) + " |" for row in rows)]


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value['mean']:.3f} ({value['low']:.3f} to {value['high']:.3f})"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else str(value)
