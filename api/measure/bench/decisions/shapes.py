"""The cost of what is decided before the search: the sample with every handling tag in use beside the sample without
tags, in bytes and in time; and how long a publication takes to decide the lattice under two bundles."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from ai.focus_pipeline import answer
from ai.model import Outcome
from api.audit.policy.release import Candidacy, trial_engines, widenings_of
from api.home.configuration import load
from api.home.identity.local_caller import local_subject
from api.measure.bench.goals import Verdict
from api.measure.demonstration import SCENES
from api.schemas.ask import ask_of, parse_query
from api.wiring import System, new_id, open_ingest, open_system
from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.lattice import decide_lattice
from policy.bundles.archive import copy_bundle, folder_digest
from policy.bundles.bundle import SHIPPED, Bundle, load_bundle
from policy.data import DATA_PATH

_GROUPS = "archivists,cultural_review,data_stewards"
"""The groups of a reader who satisfies every tag of the shipped data, so that both homes answer alike."""
_LOOKUP = re.compile(r'lookup = \{ path = "([^"]+)"')


@dataclass(frozen=True, slots=True)
class ShapeFigures:
    """Bytes of the home and milliseconds of a question (p50), plain and with tags; how many access shapes the tagged
    home has; seconds of the lattice of a candidate, of that and the difference from the bundle in force, and of a
    processor for both, which a busy machine changes less."""

    plain_bytes: int
    tagged_bytes: int
    plain_ms: float
    tagged_ms: float
    shapes: int
    lattice_s: float
    difference_s: float
    processor_s: float


async def measure_shapes(folder: Path, sample: Path, *, rounds: int) -> ShapeFigures:
    """The figures, with homes made below `folder`; every question is asked `rounds` times of each home in turn."""
    bundle = load_bundle()
    tagged = tagged_sample(sample, folder / "tagged", bundle)
    homes = [load({}, home=folder / name / "home") for name in ("plain", "tagged")]
    for home, manifest in zip(homes, (sample / "manifest.toml", tagged), strict=True):
        async with open_ingest(home) as ingest:
            await ingest.run([], tenant="default", manifest=manifest)
    sizes = [_size(home.home) for home in homes]
    async with open_system(homes[0]) as plain, open_system(homes[1]) as other:
        shapes = len((await other.services.store.holdings("default")).classes)
        taken: list[list[float]] = [[], []]
        for n in range(rounds + 1):
            for question in _questions():
                for which, system in enumerate((plain, other)):
                    elapsed_ms = await _asked(system, question)
                    if n:  # the first round warms
                        taken[which].append(elapsed_ms)
    publication = await _difference(bundle, folder / "wider")
    return ShapeFigures(sizes[0], sizes[1], median(taken[0]), median(taken[1]), shapes, *publication)


def shape_goals(figures: ShapeFigures) -> tuple[Verdict, ...]:
    """The goals, and whether they are met."""
    return (
        Verdict("storage with all handling tags over without", "x", 1.3, figures.tagged_bytes / figures.plain_bytes),
        Verdict("p50 with all handling tags over without", "x", 1.2, figures.tagged_ms / figures.plain_ms),
        Verdict("lattice and difference of a publication", "s", 30, figures.difference_s),
    )


def shape_json(figures: ShapeFigures) -> dict[str, Any]:
    """The figures and their goals as one document."""
    return asdict(figures) | {"goals": [asdict(each) | {"met": each.met} for each in shape_goals(figures)]}


def shape_rows(figures: ShapeFigures) -> list[tuple[str, str]]:
    """The figures as rows."""
    return [
        ("home, MB, plain and tagged", f"{figures.plain_bytes / 1e6:.1f}, {figures.tagged_bytes / 1e6:.1f}"),
        ("question, ms, p50, plain and tagged", f"{figures.plain_ms:.1f}, {figures.tagged_ms:.1f}"),
        ("access shapes", str(figures.shapes)),
        ("lattice of the candidate, s", f"{figures.lattice_s:.1f}"),
        ("lattice and difference, s", f"{figures.difference_s:.1f}"),
        ("both, s of a processor", f"{figures.processor_s:.1f}"),
    ]


def tagged_sample(sample: Path, target: Path, bundle: Bundle) -> Path:
    """A copy of the sample whose sources carry every tag of the data in turn, one in so many none; its manifest."""
    shutil.copytree(sample, target)
    tags = cycle([*sorted(bundle.data.handling), None])
    head, *blocks = (sample / "manifest.toml").read_text("utf-8").split("[[source]]\n")
    marked, of = [], dict[str, str | None]()
    for block in blocks:
        looked_up = _LOOKUP.search(block)  # a table has the access of the one that it looks things up in
        tag = of[looked_up[1]] if looked_up else next(tags)
        of[block.partition('path = "')[2].partition('"')[0]] = tag
        marked.append(_marked(block, tag))
    (target / "manifest.toml").write_text("[[source]]\n".join([head, *marked]), "utf-8")
    return target / "manifest.toml"


def _marked(block: str, tag: str | None) -> str:
    if tag is None or "\nhandling = " in block:
        return block
    return block.replace("\nlabel = ", f'\nhandling = ["{tag}"]\nlabel = ', 1)


def _questions() -> Iterator[str]:
    yield from dict.fromkeys(scene.question for scene in SCENES if scene.outcome is Outcome.ANSWER)


async def _asked(system: System, question: str) -> float:
    subject = local_subject(system.data, role="admin", groups=_GROUPS, tenant="default")
    ask = ask_of(parse_query({"question": question}), subject=subject, request_id=new_id())
    started = time.perf_counter()
    await answer(ask, services=system.services, profile=system.profile("focus"))
    return (time.perf_counter() - started) * 1e3


async def _difference(bundle: Bundle, folder: Path) -> tuple[float, float, float]:
    """Seconds of the lattice of a bundle that clears contributors for more, of that and the difference from the one in
    force, as a publication decides them, and of a processor for both."""
    used = time.process_time()
    copy_bundle(SHIPPED, folder)
    path = folder / "rego" / DATA_PATH
    data = json.loads(path.read_text("utf-8"))
    data["roles"]["contributor"]["clearance"] = "confidential"
    path.write_text(json.dumps(data), "utf-8")
    candidacy = Candidacy(load_bundle(folder), folder, folder_digest(folder), bundle, SHIPPED)
    async with trial_engines() as opened:
        started = time.perf_counter()
        await decide_lattice(await opened.of(candidacy.bundle), Domain.of(candidacy.bundle))
        lattice_s = time.perf_counter() - started
        started = time.perf_counter()
        found = await widenings_of(candidacy, opened)
        difference_s = time.perf_counter() - started
    if not found:
        raise AssertionError("the wider bundle widens nothing")
    return lattice_s, lattice_s + difference_s, time.process_time() - used


def _size(home: Path) -> int:
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
