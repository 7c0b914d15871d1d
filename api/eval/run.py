"""All parts of an evaluation whose data lie in a folder, one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from api.errors import NoSuchThing
from api.eval import clapnq, musique, wice

Part = Callable[[Path, Path], Awaitable[dict[str, Any]]]
PARTS: Mapping[str, Part] = {"musique": musique.run, "clapnq": clapnq.run, "wice": wice.run}


async def evaluate(data: Path, work: Path, names: tuple[str, ...], tell: Callable[[str], None]) -> dict[str, Any]:
    """The report of the named parts, by default of every one whose folder is there. Raises NoSuchThing where there is
    none."""
    chosen = [name for name in (names or tuple(PARTS)) if (data / name).is_dir()]
    missing = sorted(set(names) - set(chosen))
    if missing or not chosen:
        raise NoSuchThing(f"no data for {', '.join(missing) or ', '.join(PARTS)} in that folder")
    found = []
    for name in chosen:
        tell(f"{name} ...")
        found.append(await PARTS[name](data / name, work))
    return {"parts": found}


def markdown(report: Mapping[str, Any]) -> str:
    """The report for people: a table per part; intervals are 95 % bootstrap intervals over the questions."""
    return "\n\n".join(_part(part) for part in report["parts"]) + "\n"


def _part(part: Mapping[str, Any]) -> str:
    measures = list(dict.fromkeys(name for way in part["ways"].values() for name in way))
    lines = [
        f"## {part['name']}",
        f"{part['questions']} questions" + (f", {part['passages']} passages" if "passages" in part else "") + ".",
        "",
        "| | " + " | ".join(name.replace("_", " ") for name in measures) + " |",
        "|---" * (len(measures) + 1) + "|",
    ]
    for name, way in part["ways"].items():
        lines.append(f"| {name} | " + " | ".join(_cell(way.get(measure)) for measure in measures) + " |")
    if "abstention" in part:
        lines += ["", "| threshold | precision | recall | answered of answerable |", "|---|---|---|---|"]
        for row in part["abstention"]:
            mark = " (shipped)" if row["shipped"] else ""
            figures = (row["precision"], row["recall"], row["answered_of_answerable"])
            lines.append(f"| {row['threshold_milli']}{mark} | " + " | ".join(f"{each:.3f}" for each in figures) + " |")
    for name, goal in part["goals"].items():
        verdict = "met" if goal["met"] else f"missed by {goal['goal'] - goal['reached']:.3f}"
        lines += ["", f"Goal {name} >= {goal['goal']:.3f}: {goal['reached']:.3f}, {verdict}."]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value['mean']:.3f} ({value['low']:.3f} to {value['high']:.3f})"
    return "" if value is None else f"{value}"
