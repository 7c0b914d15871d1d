"""All parts of an evaluation, one after another; one whose data are not there says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.errors import NoSuchThing
from api.measure.eval import calibrated, clapnq, geoquestions, kansas, musique, reading, wice, wotr
from api.measure.eval.tables import Part, markdown_of


@dataclass(frozen=True, slots=True)
class EvaluationPart:
    """One part: its folder under the data, a file that must be there, and how it is run."""

    folder: str
    file: str
    run: Callable[[Path, Path], Awaitable[Part]]


PARTS: Mapping[str, EvaluationPart] = {
    "musique": EvaluationPart("musique", musique.QUESTIONS, musique.run),
    "calibration": EvaluationPart("musique", musique.CORPUS, calibrated.run),
    "clapnq": EvaluationPart("clapnq", clapnq.FILES[0], clapnq.run),
    "reader": EvaluationPart("clapnq", clapnq.FILES[0], reading.run_clapnq),
    "selqa": EvaluationPart("reader", reading.SELQA_FILE, reading.run_selqa),
    "wice": EvaluationPart("wice", wice.FILE, wice.run),
    "geoquestions": EvaluationPart("geoquestions", geoquestions.FILE, geoquestions.run),
    "wotr": EvaluationPart("wotr", wotr.FILE, wotr.run),
    "kansas": EvaluationPart("kansas", "historical-counties/counties.geojson", kansas.run),
}


async def evaluate(data: Path, work: Path, names: tuple[str, ...], tell: Callable[[str], None]) -> dict[str, Any]:
    """The report of the named parts, by default of all. A part whose data are not there is in the report as missing.
    Raises NoSuchThing for an unknown part, for a named one without data, and where there are data for none."""
    unknown = sorted(set(names) - set(PARTS))
    if unknown:
        raise NoSuchThing(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    chosen = names or tuple(PARTS)
    missing = [name for name in chosen if not (data / PARTS[name].folder / PARTS[name].file).is_file()]
    if missing and (names or len(missing) == len(chosen)):
        raise NoSuchThing(f"no data for {', '.join(missing)} in that folder")
    found = []
    for name in dict.fromkeys(chosen):
        part = PARTS[name]
        if name in missing:
            found.append({"part": name, "name": name, "missing": f"there is no {part.folder}/{part.file}", "goals": {}})
            continue
        tell(f"{name} ...")
        found.append({"part": name, **await part.run(data / part.folder, work)})
    return {"parts": found}


def all_met(report: Mapping[str, Any]) -> bool:
    """True if every part was run and every goal is met; what was not measured is not met."""
    parts = report["parts"]
    return all("missing" not in part and all(goal["met"] for goal in part["goals"].values()) for part in parts)


def markdown(report: Mapping[str, Any]) -> str:
    """The report for people; intervals are 95 % bootstrap intervals over the questions."""
    return "\n\n".join(markdown_of(part) for part in report["parts"]) + "\n"


def figures(report: Mapping[str, Any]) -> dict[str, str]:
    """The drawn figures of all parts, by file name."""
    return {name: drawn for part in report["parts"] for name, drawn in part.get("figures", {}).items()}
