"""One plant, put through a whole publication in a home of its own, by an author who first takes out every vector, test and
invariant that would notice. What decided before must go on deciding, unless what is opened is accepted by its name."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from api.audit.policy.release import Change, Engines, trial_engines
from api.audit.policy.trying import Publication, accepting, try_and_publish
from api.home.configuration import Configuration, load
from api.wiring.ledger.log import log_to_write
from ledger.model import Kind
from policy.authoring.build import build
from policy.authoring.lattice.claims import broken_claims, decide_claims, parse_unreleased
from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.invariants import KINDS, InvariantsInvalid, broken, parse_invariants
from policy.authoring.lattice.lattice import decide_lattice
from policy.authoring.opa import Opa
from policy.authoring.testing.evaluators import engine_evaluator
from policy.authoring.testing.opa_tests import run_own_tests
from policy.authoring.testing.vectors import read_vectors, run_vectors
from policy.bundles.archive import copy_bundle
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.bundles.releases import Releases
from policy.engine import PolicyEngine
from policy.errors import PolicyError
from tests.policy_plants.catalogue import Plant, remove_invariant, remove_test

INPUTS = 30
"""Compared between engines: what this gate finds, a fault of a compiler, is no plant's."""
AUTHOR = Change("command line", "a small clean-up")


@dataclass(frozen=True)
class Attempt:
    """What came of a plant. `gate` is the first closed gate before the comparison, "" if all were open; `named` the
    widenings that were told; `missing` what the plant opens and none of them says; `reached` whether it decides."""

    plant: Plant
    gate: str
    named: tuple[str, ...]
    missing: tuple[str, ...]
    reached: bool

    @property
    def unnoticed(self) -> bool:
        """True if it decides now, or would if what is told were accepted and what it opens is not among that."""
        return self.reached or (not self.gate and bool(self.missing))


@asynccontextmanager
async def kept_engines() -> AsyncIterator[Engines]:
    """The bundle in force, opened once for many attempts: it decides each input once."""
    async with trial_engines() as opened:
        await opened.of(load_bundle())
        yield opened


async def attempt(plant: Plant, place: Path, beside: Engines, opa: Opa | None) -> Attempt:
    """Plant it below `place`, take out what notices it, and publish with nothing accepted."""
    configuration = load({}, home=place / "home")
    async with trial_engines(beside) as opened:  # what the thinning has decided need not be decided again
        folder = await planted(plant, place / "bundle", opened, opa)
        found = await published(folder, configuration, opened, ())
    closed = [each for each in found.trial.gates if not each.passed]
    told = tuple(each.name for each in found.trial.widenings)
    if told:
        missing = tuple(each for each in plant.opens if not any(name.startswith(each) for name in told))
        return Attempt(plant, "", told, missing, await changed(configuration))
    gate = f"{closed[0].name}: {closed[0].problems[0]}" if closed else ""
    return Attempt(plant, gate, told, plant.opens, await changed(configuration))


async def published(
    folder: Path, configuration: Configuration, beside: Engines, accepted: Collection[str]
) -> Publication:
    """The whole publication, with these names accepted."""
    return await try_and_publish(
        folder,
        accepted=accepted,
        change=AUTHOR,
        configuration=configuration,
        inputs=INPUTS,
        tell=lambda _: None,
        beside=beside,
    )


def still_refused(found: Publication, opens: Collection[str]) -> bool:
    """True if accepting everything but what the plant opens would not do."""
    told = found.trial.widenings
    others = {each.name for each in told if not any(each.name.startswith(name) for name in opens)}
    return not accepting(told, others).passed


async def changed(configuration: Configuration) -> bool:
    """True if another bundle than the shipped one is in force in the home, or the log speaks of one."""
    active = Releases(configuration.home / "policy").state().active
    async with log_to_write(configuration) as ledger:
        entries = await ledger.entries(after=-1, limit=100, kind=Kind.CONFIG)
        details = [(await ledger.contents(each, ("detail",))).get("detail", b"") for each in entries]
    return active not in (None, load_bundle().digest) or any(b"policy_publication" in each for each in details)


async def planted(plant: Plant, folder: Path, opened: Engines, opa: Opa | None) -> Path:
    """The bundle with the plant, and without what would notice it; its engine stays open in `opened`."""
    copy_bundle(SHIPPED, folder)
    plant.edit(folder)
    if plant.new_rules:
        if opa is None:
            raise AssertionError("a plant of rules needs the opa program")
        opa.run("fmt", "-w", ".", cwd=folder / "rego")
        for name, content in build(folder).items():
            (folder / "wasm" / name).write_bytes(content)
        _thin_tests(folder, opa)
    try:
        bundle = load_bundle(folder)
    except PolicyError:
        return folder  # the first gate says why
    engine = await opened.of(bundle)
    await _thin_vectors(folder, engine)
    _admit_roles(folder, Domain.of(bundle))
    await _thin_invariants(folder, engine, Domain.of(bundle))
    return folder


def _thin_tests(folder: Path, opa: Opa) -> None:
    """Take out the bundle's own tests that fail."""
    for each in run_own_tests(opa, folder / "rego"):
        if each.state in ("failed", "error"):
            for path in (folder / "rego").rglob("*_test.rego"):
                remove_test(folder, str(path.relative_to(folder / "rego")), each.name.rpartition(".")[2])


async def _thin_vectors(folder: Path, engine: PolicyEngine) -> None:
    """Take out the vectors that fail."""
    results = await run_vectors(engine_evaluator("module", engine), read_vectors(folder / "vectors"))
    wrong = {(each.vector.group, each.vector.name) for each in results if not each.passed}
    for group in {group for group, _ in wrong}:
        path = folder / "vectors" / f"{group}.json"
        document = json.loads(path.read_text("utf-8"))
        named = [(case, case.get("name", json.dumps(case.get("input")))) for case in document["cases"]]
        document["cases"] = [case for case, name in named if (group, name) not in wrong]
        path.write_text(json.dumps(document), "utf-8")


def _admit_roles(folder: Path, domain: Domain) -> None:
    """Give new roles a place on the ladder: the highest, where they may see the most."""
    path = folder / "vectors" / "invariants.toml"
    text = path.read_text("utf-8")
    ladder = tomllib.loads(text)["ladder"]
    new = [role for role in domain.roles if not any(role in step for step in ladder)]
    if new:
        written = json.dumps([*ladder[:-1], [*ladder[-1], *new]])
        path.write_text(re.sub(r"^ladder = .*$", lambda _: f"ladder = {written}", text, flags=re.MULTILINE), "utf-8")


async def _thin_invariants(folder: Path, engine: PolicyEngine, domain: Domain) -> None:
    """Remove the invariants that do not hold any more, or mean nothing, with a reason."""
    document = tomllib.loads((folder / "vectors" / "invariants.toml").read_text("utf-8"))
    kept, gone = [], set[str]()
    for kind in KINDS:
        for row in document.get(kind, ()):
            try:
                kept += parse_invariants(
                    {"schema": document["schema"], "ladder": document["ladder"], kind: [row]}, domain
                )
            except InvariantsInvalid:
                gone.add(row["title"])
    lattice, claims = await decide_lattice(engine, domain), await decide_claims(engine, domain)
    gone |= {each.title for each in broken(lattice, kept)}
    gone |= {each.title for each in broken_claims(claims, parse_unreleased(document))}
    for title in sorted(gone):
        remove_invariant(folder, title, "it stood in the way")
