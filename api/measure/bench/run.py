"""Runs a plan: for every size ingest, load, cold start and peer, each in a process of its own, so that memory is that
of the one thing and no cache helps the next."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import ParamSpec, TypeVar

from api.errors import ExpectationFailed
from api.home.configuration import Configuration, load
from api.home.settings import ENVIRONMENT_NAMES
from api.measure.bench.machine import disk_mib, machine_facts, peak_memory_mib
from api.measure.bench.model import IngestFigures, Load, Peer, Plan, Report, ServerFigures, SizeFigures
from api.measure.bench.workload.corpus import ADMITTED_SHARE_MILLI, ASKER_GROUP, ASKER_ROLE, AUDIENCES, write_corpus
from api.measure.bench.workload.questions import questions
from api.measure.bench.workload.texts import read_texts
from retrieval.registry.store import FileJob

P = ParamSpec("P")
T = TypeVar("T")
COLD_QUESTION = "What was the population of Shawnee County in 1930?"
COLD_TIMES = 5
_ROOT = Path(__file__).resolve().parents[3]
"""Where the packages lie: a checkout need not be installed for its own command to be found."""


def run(plan: Plan, say: Callable[[str], None]) -> Report:
    """Everything that the plan names; `say` is told what is being done. What it wrote stays in `plan.folder`, and an
    ingest that is found there, complete, is not done again."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    facts = machine_facts(plan.folder)
    if plan.servers:
        _alone(look_at_servers, plan)
    return Report(plan=_plan_facts(plan), machine=facts, sizes=tuple(_measure(plan, size, say) for size in plan.sizes))


def home_of(plan: Plan, size: int) -> Path:
    """The home folder of that size."""
    return plan.folder / f"{size}-{plan.seed}" / "home"


def _measure(plan: Plan, size: int, say: Callable[[str], None]) -> SizeFigures:
    say(f"{size:,} passages: ingest")
    ingested = _alone(ingest, plan, size)
    say(f"{size:,} passages: {plan.queries} questions, {plan.rounds} rounds, in process and over HTTP")
    loaded = _alone(ask_all, plan, size)
    say(f"{size:,} passages: cold start")
    cold_start_s = cold_start(home_of(plan, size))
    peer = None
    if plan.peer == "haystack":
        say(f"{size:,} passages: haystack")
        peer = _alone(ask_peer, plan, size)
    servers = None
    if plan.servers:
        say(f"{size:,} passages: servers")
        servers = _alone(measure_servers, plan, size)
    return SizeFigures(size, ingested, loaded, cold_start_s, peer, servers)


def _alone(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *args, **kwargs).result()


def ingest(plan: Plan, size: int) -> IngestFigures:
    """Writes the corpus and takes it in, tenant by tenant. Raises ExpectationFailed when a file is not taken in."""
    home, facts = home_of(plan, size), home_of(plan, size).parent / "ingested.json"
    if facts.exists():
        return IngestFigures(**json.loads(facts.read_text("utf-8")))
    shutil.rmtree(home.parent, ignore_errors=True)  # what an interrupted run left
    texts = read_texts(plan.sample)
    manifests = write_corpus(home.parent / "corpus", sample=plan.sample, texts=texts, total=size, seed=plan.seed)
    started = time.perf_counter()
    files, passages, records = asyncio.run(_take_in(load({}, home=home), manifests))
    seconds = time.perf_counter() - started
    done = IngestFigures(files, passages, records, round(seconds, 3), peak_memory_mib(), disk_mib(home))
    facts.write_text(json.dumps(asdict(done)), "utf-8")
    return done


def look_at_servers(plan: Plan) -> None:
    """Raises ExpectationFailed where the servers hold a corpus."""
    from api.measure.bench.servers import require_empty  # noqa: PLC0415

    require_empty(plan.servers, plan.folder / "look")


def measure_servers(plan: Plan, size: int) -> ServerFigures:
    """The corpus of that size, which lies in the folder by now, on the servers that the plan names."""
    from api.measure.bench.servers import measure  # noqa: PLC0415

    folder = home_of(plan, size).parent
    manifests = {path.stem: path for path in sorted((folder / "corpus").glob("*.toml"))}
    asked = questions(read_texts(plan.sample), plan.queries, plan.seed)
    home = home_of(plan, size)
    return measure(plan.servers, folder / "servers", manifests, asked, folder=home, rounds=plan.rounds)


async def _take_in(configuration: Configuration, manifests: Mapping[str, Path]) -> tuple[int, int, int]:
    from api.wiring import open_ingest  # noqa: PLC0415

    jobs: list[FileJob] = []
    async with open_ingest(configuration) as taking:
        for tenant, manifest in manifests.items():
            report = await taking.run([], tenant=tenant, manifest=manifest)
            jobs += report.files
    bad = [job for job in jobs if job.state != "done"]
    if bad:
        raise ExpectationFailed(f"{bad[0].path} was not ingested: {bad[0].error_code}")
    passages = sum(job.passages for job in jobs)
    return len(jobs), passages, passages + sum(job.observations + job.features for job in jobs)


def ask_all(plan: Plan, size: int) -> Load:
    """The query load on the home of that size."""
    from api.measure.bench.load import measure_load  # noqa: PLC0415

    asked = questions(read_texts(plan.sample), plan.queries, plan.seed)
    return asyncio.run(measure_load(load({}, home=home_of(plan, size)), asked, rounds=plan.rounds))


def ask_peer(plan: Plan, size: int) -> Peer:
    """The peer on the same passages and questions."""
    from api.measure.bench.peer_haystack import measure  # noqa: PLC0415

    texts = read_texts(plan.sample)
    asked = questions(texts, plan.queries, plan.seed)[: plan.peer_queries]
    return measure(texts, asked, size=size, seed=plan.seed)


def cold_start(home: Path) -> float:
    """Median seconds of `exhibit ask` as a process of its own, from start to exit, after one that is not counted."""
    command = [sys.executable, "-m", "api.cli.main", "ask", COLD_QUESTION, "--json", "--home", str(home)]
    # It is the folder's start that is timed, and an installed program has its byte code.
    ours = (*ENVIRONMENT_NAMES, "EXHIBIT_", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    taken = []
    for _ in range(COLD_TIMES + 1):
        started = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, env=environment, cwd=_ROOT, timeout=120, check=False
        )
        taken.append(time.perf_counter() - started)
        if done.returncode != 0:
            raise ExpectationFailed(f"exhibit ask ended with {done.returncode}")
    return round(median(taken[1:]), 3)


def _plan_facts(plan: Plan) -> dict[str, object]:
    return {
        "sizes": plan.sizes,
        "queries": plan.queries,
        "rounds": plan.rounds,
        "seed": plan.seed,
        "classes": len(AUDIENCES),
        "asker": f"{ASKER_ROLE}, group {ASKER_GROUP}",
        "admitted_share_milli": ADMITTED_SHARE_MILLI,
        "peer": plan.peer,
        "peer_queries": plan.peer_queries,
    }
