"""A folder with a corpus of passages, and every way of searching it, through the product's own surfaces."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ai.case.profiles import Profile
from ai.focus_pipeline import answer
from ai.model import AgentOptions, Ask, Mode, Options, SearchOptions
from ai.retrieve import retrieve
from ai.search.passage_search import Shaping
from ai.search.result import Result, SearchResult
from ai.search.surface import Surface
from api.home.configuration import load
from api.home.identity.principal import public_subject
from api.wiring import System, new_id, open_ingest, open_system

COLLECTION, TENANT = "evaluation", "default"
TOP_K = 10
PATIENT = {f"EXHIBIT_RETRIEVAL__DEADLINE_MS__{name}": "60000" for name in ("GRAPH", "SPATIAL", "FULLTEXT", "VECTOR")}
"""Quality is not to depend on how busy the machine is: no channel is cut off."""
LATENCY_MS = 120_000


@dataclass(frozen=True, slots=True)
class Text:
    """One passage of an evaluation corpus; `key` is what rankings are compared by."""

    key: str
    title: str
    text: str


async def make_home(folder: Path, texts: Sequence[Text]) -> Path:
    """A home that holds the texts, one document each; made only if it is not there."""
    home, sources = folder / "home", folder / "texts"
    if (home / "done").exists():
        return home
    sources.mkdir(parents=True, exist_ok=True)
    for each in texts:
        (sources / f"{each.key}.md").write_text(f"# {each.title}\n\n{each.text}\n", "utf-8")
    async with open_ingest(load({}, home=home)) as ingest:
        report = await ingest.run([sources], tenant=TENANT, collection=COLLECTION, label="public")
    if report.failed:
        raise ValueError(f"{len(report.failed)} texts were not ingested")
    (home / "done").touch()
    return home


def open_patiently(home: Path) -> AbstractAsyncContextManager[System]:
    """The system of a home, with long deadlines."""
    return open_system(load(PATIENT, home=home))


def key_of(source_id: str) -> str:
    """The key of the text that a source was made from."""
    return source_id.removesuffix(".md").rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class TimedRanking:
    """A ranking by key, and how long it took, in seconds: the whole request, with decisions and a durable entry, and
    `search_s` of it the channels and the bundle."""

    ranked: tuple[str, ...]
    seconds: float
    search_s: float = 0.0


async def by_mode(system: System, question: str, mode: Mode) -> TimedRanking:
    """Requirement 000's basic retrieval in one mode."""
    options = Options(profile="basic", top_k=TOP_K, search=SearchOptions(mode=mode))
    began = time.perf_counter()
    done = await retrieve(
        _ask(system, question, options),
        services=system.services,
        profile=system.profile("basic"),
        surface=Surface("basic"),
    )
    return _ranked(done.found.results, began, done.found)


async def by_passages(system: System, question: str, weights_milli: tuple[int, int], shaping: Shaping) -> TimedRanking:
    """Requirement 002's search with these weights."""
    options = Options(profile="basic", top_k=4 * shaping.top_k, search=SearchOptions(weights_milli=weights_milli))
    began = time.perf_counter()
    done = await retrieve(
        _ask(system, question, options),
        services=system.services,
        profile=system.profile("basic"),
        surface=Surface("ablation", shaping=shaping, timeout_ms=60_000),
    )
    return _ranked([passed.result for passed in done.passed], began, done.found)


async def by_agent(system: System, question: str, effort: Any) -> TimedRanking:
    """Requirement 000's agentic retrieval."""
    options = Options(profile="agentic", top_k=20, agent=AgentOptions(effort=effort, max_latency_ms=LATENCY_MS))
    began = time.perf_counter()
    done = await answer(_ask(system, question, options), services=system.services, profile=system.profile("agentic"))
    keys = [key_of(item.evidence.first.source.source_id) for item in done.items]
    return TimedRanking(tuple(dict.fromkeys(keys)), time.perf_counter() - began)


async def outcome_of(system: System, question: str) -> str:
    """How the focus profile ends."""
    done = await answer(_ask(system, question, Options()), services=system.services, profile=system.profile("focus"))
    return str(done.outcome)


async def answer_of(system: System, question: str) -> tuple[str, str]:
    """How the focus profile ends, and what it says."""
    done = await answer(_ask(system, question, Options()), services=system.services, profile=system.profile("focus"))
    return str(done.outcome), str(done.body["answer"])


async def hybrid_words(system: System, question: str, profile: Profile | None = None) -> list[str]:
    """The results of hybrid search, best first."""
    options = Options(profile="basic", top_k=TOP_K, search=SearchOptions(mode="hybrid"))
    done = await retrieve(
        _ask(system, question, options),
        services=system.services,
        profile=profile or system.profile("basic"),
        surface=Surface("basic"),
    )
    return [result.item.statement or result.item.text for result in done.found.results]


def _ask(system: System, question: str, options: Options) -> Ask:
    return Ask(new_id(), question, replace(public_subject(system.data)), options=options)


def _ranked(results: Sequence[Result], began: float, found: SearchResult) -> TimedRanking:
    seconds = time.perf_counter() - began
    keys = [key_of(result.item.evidence.first.source.source_id) for result in results]
    spent = found.case.watch.milliseconds()
    search_s = (spent.get("retrieve", 0.0) + spent.get("bundle", 0.0)) / 1000
    return TimedRanking(tuple(dict.fromkeys(keys)), seconds, search_s)
