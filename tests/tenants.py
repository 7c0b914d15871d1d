"""Random sequences of requests and commands by two tenants in one home, four roles each, over every route and page:
what the first tenant gets is what it gets in a twin home that the other was never in.

`python -m tests.tenants --sequences 10000 [--seed N] [--workers N]` asks more than the tests do. Sequences of a batch
follow each other on one pair of homes, copies of one that was filled once; each batch can be asked again by its number.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import logging
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import httpx
import structlog

from api.cli.main import run
from api.home.configuration import Configuration, load
from api.wiring import key_store, new_id, open_job_store
from retrieval.registry.jobs import Job
from tests.withheld import (
    OPEN,
    PATIENT,
    Call,
    Conversation,
    SourceFile,
    World,
    calls,
    client_of,
    differences,
    fill,
    forts,
    hidden,
)

SEED = 13
BATCH = 200
LONGEST = 6
ROLES = ("public_viewer", "contributor", "auditor", "admin")
MINE, THEIRS = "default", "other"
UNLIMITED = {"EXHIBIT_SERVER__RATES__PRINCIPAL": "1000000/minute", "EXHIBIT_SERVER__RATES__ADDRESS": "1000000/minute"}
SHARED = "/metrics"  # of the whole process, for its operator
POOL = tuple(call for call in calls(260, seed=SEED) if call.path != SHARED)
CURATED = (
    *(Call("GET", f"/api/v1/{path}") for path in ("corpus", "ledger/facets", "ledger/entries", "registry/feedback")),
    Call("GET", "/api/v1/ledger/entries?format=csv"),
    Call("GET", "/retrieval/stats"),
    Call("GET", "/api/v1/collections"),
    *(Call("GET", f"/api/v1/jobs{whose}") for whose in ("", "?whose=all")),
    Call("POST", "/api/v1/registry/assets/query", {}),
    Call("POST", "/api/v1/registry/feedback", {"entry_id": "{entry}", "kind": "missing", "notes": "The ferry lacks."}),
)
_OF_AN_ENTRY = ("", "/prov", "/receipt", "/package", "/parts/answer", "/parts/question", "/changes")
FOREIGN = (
    *(Call("GET", f"/api/v1/ledger/entries/{{theirs}}{part}") for part in _OF_AN_ENTRY),
    *(Call("GET", f"/api/v1/{path}") for path in ("policy/explanations/{theirs}", "policy/decisions/{theirs}")),
    *(Call("GET", path) for path in ("/audit/{theirs}", "/audit/{theirs}.csv", "/api/v1/computations/{theirs}/1")),
    Call("GET", "/api/v1/ledger/difference?a={entry}&b={theirs}"),
    Call("POST", "/api/v1/ledger/entries/{theirs}/replay"),
    Call("POST", "/api/v1/registry/feedback", {"entry_id": "{theirs}", "kind": "missing"}),
)
"""`{theirs}` is the last entry of the other tenant, which is nowhere in the twin."""
COMMANDS = (
    ("asset", "list", "--role", "admin"),
    ("asset", "entities", "--role", "admin"),
    ("source", "list"),
)
COMMAND = "COMMAND"
POOLS = ((CURATED, 30), (FOREIGN, 10), (tuple(Call(COMMAND, " ".join(words)) for words in COMMANDS), 3), (POOL, 57))


@dataclass(frozen=True)
class Step:
    """One call by somebody of a tenant."""

    tenant: str
    role: str
    call: Call


def sequences(count: int, seed: int) -> Iterator[list[Step]]:
    """Calls of both tenants in any order, with one of the first at the end."""
    chance = random.Random(seed)
    for _ in range(count):
        tenants = [chance.choice((MINE, THEIRS)) for _ in range(chance.randint(1, LONGEST - 1))]
        yield [Step(tenant, chance.choice(ROLES), _drawn(chance)) for tenant in (*tenants, MINE)]


def _drawn(chance: random.Random) -> Call:
    (pool,) = chance.choices([pool for pool, _ in POOLS], [weight for _, weight in POOLS])
    return chance.choice(pool)


def worlds() -> tuple[World, World]:
    """The first tenant's documents alone, and with the other's: the same names, collections, places and words."""
    closed = tuple(replace(each, path=f"own-{each.path}") for each in hidden(label="internal"))
    foreign = (
        *hidden(),
        SourceFile("ferry.md", "# The ferry\n\nOtto Kranz kept the ferry at Lecompton in 1856 and 1857.\n"),
        SourceFile("forts.geojson", forts((("f1", "Fort Alder", "1801", (-95.0, 40.0)),))),
    )
    return World((*OPEN, *closed)), World((*OPEN, *closed), foreign=foreign)


class Asked:
    """Somebody of each role of a tenant, asking one home; each has a conversation of their own."""

    def __init__(self, client: httpx.AsyncClient, home: Path, tenant: str, tokens: Mapping[str, str]) -> None:
        self._home, self._tenant, self.entry = home, tenant, "none"
        self._talks = {role: Conversation(client, {"": tokens[role]}, versions_alike=False) for role in ROLES}

    async def reply(self, step: Step, theirs: str = "none") -> str:
        """What is told, without ids, times and places in the log."""
        if step.call.method == COMMAND:
            return told(await asyncio.to_thread(self._commanded, step.call.path.split()))
        talk = self._talks[step.role]
        reply = await talk.reply(_of(step.call, theirs))
        self.entry = talk.entry if talk.entry != "none" else self.entry
        return told(reply)

    def _commanded(self, words: Sequence[str]) -> str:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            code = run([*words, "--tenant", self._tenant, "--json", "--home", str(self._home)])
        return f"{code} {_TOOK.sub('', shown.getvalue())}"


def _of(call: Call, theirs: str) -> Call:
    body = call.body and {name: theirs if value == "{theirs}" else value for name, value in call.body.items()}
    return replace(call, path=call.path.replace("{theirs}", theirs), body=body)


def told(text: str) -> str:
    """The text without what both tenants share, the order of the log's entries, and what is drawn or measured."""
    return _PLACES.sub("", text)


_PLACES = re.compile(
    r'"(?:index|size|next|after|before|newest|checkpoint_size|tree_size|first|last|bytes|leaf|origin|head|root|'
    r'lag|rseq|unsigned|published|signed|position|sum_seconds|0|1|2|5|10|30|60|120)[a-z_.0-9]*": ?(?:[0-9.]+|"[^"]*"|null)|key:[0-9a-f]{12}|x-ledger-index[^,]*'
    r"|\b(?:[0-9a-f]{32}|[0-9a-f]{64})\b|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}|^\d+(?=,)|(?<=,r1,)\d+(?=,)|\b\d{13}-[0-9a-f]{8}\b"
    r'|(?<=after=)\d+|"[a-z_]*_ms": ?(?:\{[^}]*\}|"?[0-9.]+"?)|/[^" ]*/(?=(?:default|home)/)'
    r'|"entries": ?\d+(?=, ?"gaps")',
    re.MULTILINE,
)
_TOOK = re.compile(r'"[a-z_]*(?:_at|_ms|_time|time|timestamp)": ?(?:[0-9.]+|"[^"]*")')


# ---------------------------------------------------------------- homes


@dataclass(frozen=True)
class Twins:
    """The folder of a home with the first tenant alone and of one with both, and the keys that open each, by tenant and
    role. Made once: a batch asks copies."""

    folder: Path
    tokens: Mapping[str, Mapping[str, Mapping[str, str]]]


async def twins(folder: Path) -> Twins:
    """Homes with documents, keys, and a job of the other tenant that has ended."""
    tokens: dict[str, dict[str, dict[str, str]]] = {}
    for name, world in zip(("alone", "beside"), worlds(), strict=True):
        configuration = await fill(folder / name, world)
        keys = key_store(configuration)
        tenants = (MINE, THEIRS) if world.foreign else (MINE,)
        tokens[name] = {
            tenant: {role: keys.create(name=f"{tenant}-{role}", tenant=tenant, roles=(role,))[1] for role in ROLES}
            for tenant in tenants
        }
        async with open_job_store(configuration) as jobs:
            await jobs.prepare()
            if world.foreign:
                await jobs.put(Job(new_id(), THEIRS, "somebody", "upload", "kansas", "public", state="cancelled"))
    return Twins(folder, tokens)


def _copy(made: Twins, folder: Path, name: str) -> Configuration:
    shutil.copytree(made.folder / name / "home", folder / name / "home")
    return load({**PATIENT, **UNLIMITED}, home=folder / name / "home")


async def parted(made: Twins, folder: Path, steps: Sequence[Sequence[Step]]) -> AsyncIterator[str]:
    """The replies to the first tenant that depend on the other: the call, and both texts from where they part."""
    alone, beside = (_copy(made, folder, name) for name in ("alone", "beside"))
    async with client_of(alone) as first, client_of(beside) as second:
        mine = Asked(first, alone.home, MINE, made.tokens["alone"][MINE])
        twin, theirs = (Asked(second, beside.home, who, made.tokens["beside"][who]) for who in (MINE, THEIRS))
        for number, sequence in enumerate(steps):
            for step in sequence:
                if step.tenant == THEIRS:
                    await theirs.reply(step, twin.entry)
                    continue
                replies = await mine.reply(step, theirs.entry), await twin.reply(step, theirs.entry)
                for each in differences([step.call], [replies[0]], [replies[1]]):
                    yield f"sequence {number}, {step.role}: {each}"


# ---------------------------------------------------------------- many of them


def _batch(made: Twins, number: int, count: int, seed: int) -> tuple[int, int, list[str]]:
    """Sequences asked, replies compared, and the differences."""
    logging.disable(logging.ERROR)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    steps = list(sequences(count, seed * 1_000_003 + number))

    async def asked(folder: Path) -> list[str]:
        return [f"batch {number}, {each}" async for each in parted(made, folder, steps)]

    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(asked(Path(folder)))
    return count, sum(step.tenant == MINE for sequence in steps for step in sequence), found


def main() -> int:
    """Ask in batches until all are asked or the time is over; tell every difference."""
    options = _options()
    began = time.monotonic()
    sizes = [min(BATCH, options.sequences - n) for n in range(0, options.sequences, BATCH)]
    numbered = [(n, size) for n, size in enumerate(sizes) if options.batch in (None, n)]
    done = compared = 0
    finds: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        made = asyncio.run(twins(Path(folder)))
        with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
            waiting = [pool.submit(_batch, made, n, size, options.seed) for n, size in numbered]
            for future in as_completed(waiting):
                if not future.cancelled():
                    count, replies, found = future.result()
                    done, compared, finds = done + count, compared + replies, finds + found
                    print("\n".join(found) or f"{done} sequences, {time.monotonic() - began:.0f} s", flush=True)
                if time.monotonic() - began > options.seconds:
                    for each in waiting:
                        each.cancel()
    print(f"{done} sequences, seed {options.seed}: {compared} pairs of replies, {len(finds)} differ")
    return 1 if finds or not done else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tenants", description=__doc__)
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no batch after so long")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, help="only the batch of that number")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
