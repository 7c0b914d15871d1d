"""How much the tests of a bundle notice: each mutant is compiled and put to the decision vectors and the canary.

A mutant that nothing notices is a survivor. Some survivors decide like the bundle whatever the input; these are
explained in `vectors/mutants.toml`, and count as survivors all the same.

    schema = "exhibit.policy.mutants/1"
    [[equivalent]]
    mutant = "kfm/access/access.rego groups_ok: condition deleted: is_array(record.groups) -> true"
    why = "..."
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from policy.authoring.build import build_module
from policy.authoring.lattice.domain import Domain
from policy.authoring.opa import Opa, OpaFailed
from policy.authoring.testing.canary import canary
from policy.authoring.testing.evaluators import engine_evaluator
from policy.authoring.testing.mutants import Mutant
from policy.authoring.testing.vectors import Vector, run_vectors
from policy.bundles.bundle import Bundle
from policy.engine import PolicyEngine
from policy.errors import BundleRejected

SCHEMA = "exhibit.policy.mutants/1"
OpenEngine = Callable[[Bundle], Awaitable[PolicyEngine]]


class Fate(StrEnum):
    """The fate of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    STILLBORN = "stillborn"


@dataclass(frozen=True, slots=True)
class MutantTrial:
    """`by` names the first vector or canary finding that noticed it, or what the compiler said; `why` explains a
    survivor."""

    mutant: Mutant
    fate: Fate
    by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class MutationReport:
    """`tried` by place. What does not compile counts for nothing."""

    tried: tuple[MutantTrial, ...]

    def having(self, fate: Fate) -> tuple[MutantTrial, ...]:
        """Those of that fate."""
        return tuple(each for each in self.tried if each.fate is fate)

    @property
    def score_milli(self) -> int:
        """The share of mutants that were noticed, in thousandths; 0 where there were none."""
        killed, survived = len(self.having(Fate.KILLED)), len(self.having(Fate.SURVIVED))
        return 1_000 * killed // max(1, killed + survived)

    @property
    def unexplained(self) -> tuple[MutantTrial, ...]:
        """Survivors that nobody has explained."""
        return tuple(each for each in self.having(Fate.SURVIVED) if not each.why)


def read_explained(path: Path) -> dict[str, str]:
    """The reasons why mutants decide like the bundle, by the mutants' names; none without the file. Raises
    BundleRejected."""
    if not path.is_file():
        return {}
    try:
        document = tomllib.loads(path.read_text("utf-8"))
        if document.get("schema") != SCHEMA:
            raise ValueError(f"it is not of the schema {SCHEMA}")
        return {str(each["mutant"]): str(each["why"]) for each in document.get("equivalent", ())}
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise BundleRejected(f"{path.name} cannot be read: {exc}") from exc


async def mutate(
    mutants: Sequence[Mutant],
    *,
    bundle: Bundle,
    root: Path,
    vectors: Sequence[Vector],
    opa: Opa,
    open_engine: OpenEngine,
    explained: Mapping[str, str],
    jobs: int | None = None,
) -> MutationReport:
    """Try every mutant of the rules below `root`, `jobs` at a time. Raises BundleRejected where the bundle itself does
    not pass its vectors and the canary: then nothing that a mutant fails would mean anything."""
    domain = Domain.of(bundle)
    if noticed := await _noticed(bundle, vectors, domain, open_engine):
        raise BundleRejected(f"the bundle itself fails: {noticed}")
    slots: asyncio.Queue[Path] = asyncio.Queue()
    with tempfile.TemporaryDirectory(prefix="exhibit-mutants-") as folder:
        for number in range(jobs or os.cpu_count() or 1):
            place = Path(folder) / str(number)
            shutil.copytree(root, place, ignore=shutil.ignore_patterns("*_test.rego"))
            slots.put_nowait(place)

        async def one(mutant: Mutant) -> MutantTrial:
            async with _taken(slots) as place:
                try:
                    module = await asyncio.to_thread(_built, opa, place, mutant)
                except OpaFailed as exc:
                    return MutantTrial(mutant, Fate.STILLBORN, str(exc).splitlines()[0])
                by = await _noticed(replace(bundle, wasm=module), vectors, domain, open_engine)
            if by:
                return MutantTrial(mutant, Fate.KILLED, by)
            return MutantTrial(mutant, Fate.SURVIVED, why=explained.get(mutant.name, ""))

        return MutationReport(tuple(await asyncio.gather(*(one(mutant) for mutant in mutants))))


@asynccontextmanager
async def _taken(slots: asyncio.Queue[Path]) -> AsyncIterator[Path]:
    place = await slots.get()
    try:
        yield place
    finally:
        slots.put_nowait(place)


def _built(opa: Opa, root: Path, mutant: Mutant) -> bytes:
    file = root / mutant.file
    text = file.read_text("utf-8")
    file.write_text(mutant.applied(text), "utf-8")
    try:
        return build_module(opa, root)
    finally:
        file.write_text(text, "utf-8")


async def _noticed(bundle: Bundle, vectors: Sequence[Vector], domain: Domain, open_engine: OpenEngine) -> str:
    """The first sign that this is not the bundle; empty where there is none."""
    try:
        engine = await open_engine(bundle)
    except BundleRejected as exc:
        return str(exc)
    try:
        evaluator = engine_evaluator(engine.name, engine)
        for result in await run_vectors(evaluator, vectors):
            if not result.passed:
                return f"{result.vector.group}: {result.vector.name}"
        found = await canary(evaluator.decide, domain)
        return f"canary: {found[0]}" if found else ""
    finally:
        await engine.aclose()
