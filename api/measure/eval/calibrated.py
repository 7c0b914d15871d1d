"""Are the scores what they say? Of the passages with a calibrated relevance of so much, how many hold everything asked?

The maps were fitted on the sample corpus (`fit`). Here the same kind of questions is made from passages of
another corpus, MuSiQue's, which no map has seen; a score of 0.65 should mean 65 of 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from api.http.ablation.measures import figure
from api.measure.eval.asking import make_home, open_patiently
from api.measure.eval.fit import Point, points_of
from api.measure.eval.musique import read
from api.measure.eval.reliability import Curve, ReliabilityBin, diagram
from api.measure.eval.tables import Part, share
from retrieval.model import ChannelName
from retrieval.ranking.calibration import BM25, FULL_MILLI, Calibration, vector_calibration

THRESHOLD_MILLI = 650
FIGURE = "calibration.svg"
BINS = 10
_FEWEST = 10


def curve_of(points: Sequence[Point], scale: Calibration) -> list[ReliabilityBin]:
    """(mean relevance, share that holds everything, hits) for each tenth of relevance with at least ten hits."""
    cells: dict[int, list[tuple[int, bool]]] = {}
    for score, holds in points:
        relevance = scale.relevance_milli(score)
        cells.setdefault(min(relevance * BINS // FULL_MILLI, BINS - 1), []).append((relevance, holds))
    return [
        ReliabilityBin(sum(r for r, _ in cell) / len(cell) / FULL_MILLI, sum(h for _, h in cell) / len(cell), len(cell))
        for _, cell in sorted(cells.items())
        if len(cell) >= _FEWEST
    ]


def error_of(dots: Sequence[ReliabilityBin]) -> float:
    """The expected calibration error: the mean distance from the diagonal, weighed by hits."""
    total = sum(dot.hits for dot in dots)
    return sum(abs(dot.said - dot.held) * dot.hits for dot in dots) / total if total else 0.0


async def run(folder: Path, work: Path) -> Part:
    """Error and what the default threshold lets through, by channel, with the reliability diagram."""
    texts, _ = read(folder)
    home = await make_home(work / "musique", texts)
    async with open_patiently(home) as system:
        points = await points_of(system)
        scales = {ChannelName.FULLTEXT: BM25, ChannelName.VECTOR: vector_calibration(system.services.embedding_model)}
    curves, ways, rows = [], {}, []
    for channel, scale in scales.items():
        found = points[channel]
        dots = curve_of(found, scale)
        above = [holds for score, holds in found if scale.relevance_milli(score) >= THRESHOLD_MILLI]
        curves.append(Curve(f"{channel}: {scale.name}", tuple(dots)))
        ways[str(channel)] = {
            "hits": len(found),
            "calibration_error": round(error_of(dots), 3),
            "brier": _brier(found, scale),
            "hold_everything_at_0.65_and_above": share(above) if above else None,
        }
        rows += [[str(channel), round(dot.said, 3), round(dot.held, 3), dot.hits] for dot in dots]
    return {
        "name": "Calibration",
        "questions": sum(len(found) for found in points.values()),
        "ways": ways,
        "tables": [{"title": "Reliability", "columns": ["channel", "said", "held", "hits"], "rows": rows}],
        "figures": {FIGURE: diagram(curves, THRESHOLD_MILLI / FULL_MILLI)},
        "goals": {},
    }


def _brier(points: Sequence[Point], scale: Calibration) -> dict[str, float]:
    """The mean squared distance of what is said from what is so."""
    told = figure([(scale.relevance_milli(score) / FULL_MILLI - holds) ** 2 for score, holds in points])
    return {"mean": told.mean, "low": told.low, "high": told.high}
