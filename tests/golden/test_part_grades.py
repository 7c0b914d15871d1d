"""Each part of an entry has a grade: altered, emptied or deleted in turn, none keeps it; and what a log commits to that
does not follow from the rest is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ai.canonical import canonical
from ai.case.profiles import BASIC
from ai.model import Ask, Options
from ai.replay.parts import KEPT
from ai.replay.replay import Grade, ReplayReport, replay
from ai.retrieve import retrieve
from ai.search.surface import Surface
from api import wiring
from ledger.entry.parts import source_number
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from tests.altered_logs import changed
from tests.harness import ask, opened, subject, with_services

FIGURE = "What was the population of Shawnee County in 1930?"


@dataclass(frozen=True, slots=True)
class Scene:
    """An open home with a question, its answer and a search on record, by kind."""

    system: wiring.System
    home: Path
    ids: dict[Kind, str]

    async def names(self, kind: Kind) -> tuple[str, ...]:
        return await self.system.services.ledger.part_names(self.ids[kind])

    async def replay(self, kind: Kind, ledger: Any = None, up_to: Grade = Grade.R2) -> ReplayReport:
        services = self.system.services if ledger is None else with_services(self.system, ledger=ledger)
        return await replay(self.ids[kind], services=services, up_to=up_to)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(kansas_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    home = tmp_path_factory.mktemp("parts") / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        before = await system.services.ledger.size()
        outcome = str((await ask(system, FIGURE))["provenance"]["entry_id"])
        [intent] = await system.services.ledger.entries(after=before - 1, kind=Kind.INTENT)
        asked = Ask(wiring.new_id(), FIGURE, subject(system), options=Options(profile="basic", top_k=3))
        found = await retrieve(asked, services=system.services, profile=BASIC, surface=Surface("basic"))
        ids = {Kind.OUTCOME: outcome, Kind.INTENT: intent.leaf.entry_id, Kind.RETRIEVAL: found.entry.entry_id}
        await system.services.ledger.checkpoint()
        yield Scene(system, home, ids)


pytestmark = pytest.mark.asyncio(loop_scope="module")
BEST = {Kind.OUTCOME: Grade.R2, Kind.RETRIEVAL: Grade.R1, Kind.INTENT: Grade.R0}


@pytest.mark.parametrize("kind", BEST)
async def test_every_part_that_a_receipt_can_disclose_is_graded_or_kept_with_a_reason(scene: Scene, kind: Kind) -> None:
    found = await scene.replay(kind)
    assert (found.grade, found.reproduced) == (BEST[kind], True), found.stages
    assert {part.name for part in found.parts} == set(await scene.names(kind))
    for part in found.parts:
        assert part.grade == BEST[kind] or (part.grade is None and part.reason), part
    kept = {part.name for part in found.parts if part.grade is None}
    assert kept <= {*KEPT, "calls"}
    assert not kept or kind is not Kind.INTENT


MUTATIONS = {
    "altered": ("UPDATE blobs SET blob = flip(blob) WHERE {}",),
    "emptied": ("UPDATE blobs SET blob = x'' WHERE {}",),
    "deleted": ("DELETE FROM blobs WHERE {}", "DELETE FROM secrets WHERE {}"),
    "without its key": ("DELETE FROM secrets WHERE {}",),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("kind", BEST)
async def test_no_part_that_was_touched_keeps_its_grade_or_passes_verify(
    scene: Scene, kind: Kind, mutation: str
) -> None:
    entry = await scene.system.services.ledger.entry(scene.ids[kind])
    for name in await scene.names(kind):
        where = f"name = '{name}' AND idx = {entry.index}"
        with changed(scene.home, *(statement.format(where) for statement in MUTATIONS[mutation])):
            found = await scene.replay(kind)
            verified = await scene.system.services.ledger.verify()
        assert found.grade is Grade.NONE, (name, found)
        assert any(stage.name == f"commitment {name}" and not stage.same for stage in found.stages), (name, found)
        assert [part.grade for part in found.parts if part.name == name] in (["NONE"], []), (name, found.parts)
        assert any(problem.part == name for problem in verified.problems), (name, verified.problems)
    assert (await scene.system.services.ledger.verify()).ok, "put back"


class CommittedTo:
    """A ledger that committed to other bytes in one part."""

    def __init__(self, inner: Ledger, name: str, data: bytes | None) -> None:
        self._inner, self._name, self._data = inner, name, data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def contents(self, entry: Entry, names: Collection[str] | None = None) -> dict[str, bytes]:
        parts = await self._inner.contents(entry, names)
        if self._name in parts and entry.leaf.kind is not Kind.INTENT:
            parts = {name: data for name, data in parts.items() if name != self._name}
            parts |= {} if self._data is None else {self._name: self._data}
        return parts


def said(data: bytes) -> bytes:
    """Another document than the source's."""
    return canonical(json.loads(data) | {"document_id": "another@000000000000"})


def later(data: bytes) -> bytes:
    """Inputs of another time."""
    body = json.loads(data)
    return canonical(body | {"now_ms": body["now_ms"] + 1})


def fewer(data: bytes) -> bytes:
    """What the stores found, without the last of it."""
    body = json.loads(data)
    run = max(body["runs"], key=lambda run: len(run["hits"]))
    run["hits"].pop()
    return canonical(body)


def another_asker(data: bytes) -> bytes:
    """Provenance that names somebody else."""
    body = json.loads(data)
    body["agent"]["run:agent/principal"]["exhibit:pseudonym"] = "0" * 32
    return canonical(body)


def another_word(data: bytes) -> bytes:
    """The first text in it is another."""
    at = data.index(b'":"') + 3
    return data[:at] + b"X" + data[at:]


def altered(name: str) -> Callable[[bytes], bytes]:
    """Well-formed bytes that say something else."""
    if source_number(name) is not None:
        return said
    return {"replay": later, "candidates": fewer, "prov": another_asker}.get(name, another_word)


@pytest.mark.parametrize("emptied", [False, True], ids=["altered", "emptied"])
@pytest.mark.parametrize("kind", [Kind.OUTCOME, Kind.RETRIEVAL])
async def test_a_part_that_was_committed_to_falsely_does_not_follow_from_the_rest(
    scene: Scene, kind: Kind, emptied: bool
) -> None:
    ledger = scene.system.services.ledger
    entry = await ledger.entry(scene.ids[kind])
    for name, data in (await ledger.contents(entry)).items():
        if not data or name == "sources" or name in {"question", "context", "scope"}:
            continue
        other = b"" if emptied else altered(name)(data)
        assert other != data
        found = await scene.replay(kind, CommittedTo(ledger, name, other), up_to=Grade.R2)
        assert not found.reproduced and found.grade < BEST[kind], (name, found)


async def test_an_entry_with_the_parts_of_another_is_named(scene: Scene) -> None:
    ledger = scene.system.services.ledger
    body = await ask(scene.system, FIGURE)
    other = await ledger.entry(str(body["provenance"]["entry_id"]))
    theirs = await ledger.contents(other)

    class Exchanged(CommittedTo):
        async def contents(self, entry: Entry, names: Collection[str] | None = None) -> dict[str, bytes]:
            return theirs if entry.leaf.kind is Kind.OUTCOME else await self._inner.contents(entry, names)

    found = await scene.replay(Kind.OUTCOME, Exchanged(ledger, "answer", None))
    assert (found.grade, found.differs_at) == (Grade.R0, "entry")
