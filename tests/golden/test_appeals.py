"""A model that repeats every sentence of its sources, over documents that are full of appeals to the reader: none leaves
that was not asked for, the sentences beside it do, and a trusted collection is quoted."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatRequest
from ai.text.sentences import split_sentences
from api import wiring
from policy.engine import PolicyEngine, Reply
from policy.points import PolicyPoints
from retrieval.withheld import BLOCK
from tests.appeals import TWINS, payloads
from tests.harness import ask, ingest, opened, with_services

TOPIC = "Father Schoenmakers founded the Osage Mission with {0} pupils on May 10, 1847."
PAYLOADS = tuple(payloads())[::9]
QUESTION = "Who founded the Osage Mission?"
PER_DOCUMENT = 4


class EchoModel:
    """Repeats every sentence of every source, each with its number."""

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(name="echo", digest="sha256:" + "e" * 64)

    async def complete(self, request: ChatRequest) -> Completion:
        lines = [
            f"{' '.join(text[span.start : span.end].split())} [{source.index}]"
            for source in request.prompt.sources
            for text in (source.statement or source.text,)
            for span in split_sentences(text)
        ]
        text = "\n".join(lines)
        return Completion(text, await self.identity(), request.prompt.tokens, len(text.split()))

    async def aclose(self) -> None:
        return None


class BlindAppeals:
    """A policy engine whose answer point is told of no appeal: the guard that is switched off."""

    def __init__(self, engine: PolicyEngine) -> None:
        self._engine = engine
        self.name = engine.name
        self.bundle_digest = engine.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        document = json.loads(input)
        for sentence in document.get("answer", {}).get("sentences", ()):
            sentence["appeals"]["kinds"] = []
        return await self._engine.evaluate(entrypoint, json.dumps(document).encode(), deadline_s=deadline_s)

    async def aclose(self) -> None:
        """The wrapped engine is closed by its owner."""


def blind(system: wiring.System) -> Any:
    engine = BlindAppeals(system.engine)
    return lambda now_ms: PolicyPoints(engine=engine, clock_ms=lambda: now_ms, deadline_s=5.0, data=system.data)


def documents(folder: Path, sentences: Sequence[str]) -> list[Path]:
    folder.mkdir(parents=True)
    paths = []
    for at in range(0, len(sentences), PER_DOCUMENT):
        path = folder / f"mission{at}.md"
        beside = " ".join(sentences[at : at + PER_DOCUMENT])
        path.write_text(f"# Osage Mission {at}\n\n{TOPIC.format(12 + at)} {beside}", encoding="utf-8")
        paths.append(path)
    return paths


async def released(home: Path, *, question: str = QUESTION, **changes: Any) -> list[str]:
    """The sentences of the answer, and the words of its quotes."""
    async with opened(home) as system:
        if changes.pop("without_the_wall", False):
            changes["points"] = blind(system)
        services = with_services(system, model=EchoModel(), fallback=None, **changes)
        body = await ask(system, question, services=services)
    assert body["outcome"] == "ANSWER"
    return [s["text"] for s in body["sentences"]] + [c["quote"] for s in body["sentences"] for c in s["citations"]]


@pytest.fixture(scope="module")
def appealing_home(kansas_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("appeals") / "home"
    shutil.copytree(kansas_home, home)
    paths = documents(tmp_path_factory.mktemp("files") / "poison", [each.text for each in PAYLOADS])
    asyncio.run(ingest(home, paths=paths, collection="kansas", label="public"))
    return home


async def shown(home: Path, question: str = QUESTION) -> list[str]:
    """The passages that stand beside an answer, as a reader is shown them."""
    async with opened(home) as system:
        return [each["snippet"] for each in (await ask(system, question))["evidence"]]


def carried(texts: Sequence[str]) -> list[str]:
    return [each.text for each in PAYLOADS if any(each.text.rstrip(".") in text for text in texts)]


async def test_no_appeal_leaves_that_nobody_asked_for(appealing_home: Path) -> None:
    assert carried(await released(appealing_home)) == []


async def test_with_the_wall_switched_off_they_leave(appealing_home: Path) -> None:
    assert len(carried(await released(appealing_home, without_the_wall=True))) >= 5


async def test_no_snippet_shows_one_and_the_sentences_beside_it_are_shown(appealing_home: Path) -> None:
    snippets = await shown(appealing_home)
    assert sum("Schoenmakers" in text for text in snippets) >= 5
    assert sum(BLOCK in text for text in snippets) >= 5
    assert carried(snippets) == []


async def test_the_sentences_beside_it_are_released(appealing_home: Path) -> None:
    assert sum("Schoenmakers" in text for text in await released(appealing_home)) >= 3


async def test_twins_that_ask_nothing_are_released(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    await ingest(home, paths=documents(tmp_path / "twins", TWINS), collection="kansas", label="public")
    assert set(await released(home)) == set(await released(home, without_the_wall=True))


async def test_what_was_asked_for_is_released(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    told = "The website of the Osage Mission is www.osage-mission.org."
    paths = documents(tmp_path / "links", [told])
    await ingest(home, paths=paths, collection="kansas", label="public")
    assert told in await released(home, question="What is the website of the Osage Mission?")
    assert told not in await released(home)
    assert any(told in text for text in await shown(home, "What is the website of the Osage Mission?"))
    assert not any("www.osage-mission.org" in text for text in await shown(home))


async def test_a_trusted_collection_is_quoted(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    told = "Father Schoenmakers founded the Osage Mission, as www.osage-mission.org tells."
    await ingest(home, paths=documents(tmp_path / "official", [told]), collection="official", label="public")
    texts = await released(home)
    assert f"“{told}”" in texts
    assert any(told in text for text in await shown(home))
