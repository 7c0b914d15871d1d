"""Two tenants in one home, four roles each, over every route, page and command: what one of them gets is what it gets
in a twin home that the other was never in. `EXHIBIT_TEST_TENANT_SEQUENCES` and `EXHIBIT_TEST_TENANT_SEED` ask more."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from api.cli.main import run
from api.home.configuration import load
from api.wiring import key_store
from tests.withheld import (
    OPEN,
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

SEQUENCES = int(os.environ.get("EXHIBIT_TEST_TENANT_SEQUENCES", "40"))
SEED = int(os.environ.get("EXHIBIT_TEST_TENANT_SEED", "13"))
ROLES = ("public_viewer", "contributor", "auditor", "admin")
MINE, THEIRS = "default", "other"
LONGEST = 12
UNLIMITED = {"EXHIBIT_SERVER__RATES__PRINCIPAL": "1000000/minute", "EXHIBIT_SERVER__RATES__ADDRESS": "1000000/minute"}
SHARED = "/metrics"  # of the whole process, for its operator
POOL = tuple(call for call in calls(260, seed=SEED) if call.path != SHARED)
CURATED = (
    *(Call("GET", f"/api/v1/{path}") for path in ("corpus", "ledger/facets", "ledger/entries", "registry/feedback")),
    Call("GET", "/api/v1/ledger/entries?format=csv"),
    Call("GET", "/retrieval/stats"),
    Call("GET", "/api/v1/collections"),
    Call("POST", "/api/v1/registry/assets/query", {}),
)
COMMANDS = (
    ("asset", "list", "--role", "admin"),
    ("asset", "entities", "--role", "admin"),
    ("source", "list"),
)


@dataclass(frozen=True)
class Step:
    """One call by somebody of a tenant."""

    tenant: str
    role: str
    call: Call


def sequences(count: int, seed: int) -> Iterator[list[Step]]:
    """Calls of both tenants in any order; calls of the first make the second's look for each other's words too."""
    chance = random.Random(seed)
    for _ in range(count):
        steps = []
        for _ in range(chance.randint(3, LONGEST)):
            call = chance.choice(CURATED) if chance.random() < 0.3 else chance.choice(POOL)
            steps.append(Step(chance.choice((MINE, THEIRS)), chance.choice(ROLES), call))
        yield [*steps, Step(MINE, chance.choice(ROLES), chance.choice((*CURATED, *POOL)))]


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

    def __init__(self, client: Any, home: Any, tenant: str) -> None:
        keys = key_store(home)
        self._talks = {}
        for role in ROLES:
            token = keys.create(name=f"{tenant}-{role}", tenant=tenant, roles=(role,))[1]
            self._talks[role] = Conversation(client, {"": token}, versions_alike=False)

    async def reply(self, step: Step) -> str:
        return _PLACES.sub("", await self._talks[step.role].reply(step.call))


_PLACES = re.compile(
    r'"(?:index|size|next|after|before|newest|checkpoint_size|tree_size|first|last|bytes|leaf|origin|head|root|'
    r'lag|rseq|unsigned|published|signed|position|sum_seconds|0|1|2|5|10|30|60|120)[a-z_.0-9]*": ?(?:[0-9.]+|"[^"]*"|null)|key:[0-9a-f]{12}|x-ledger-index[^,]*'
    r"|\b(?:[0-9a-f]{32}|[0-9a-f]{64})\b|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}|^\d+(?=,)|(?<=,r1,)\d+(?=,)|\b\d{13}-[0-9a-f]{8}\b"
    r'|(?<=after=)\d+|"[a-z_]*_ms": ?(?:\{[^}]*\}|[0-9.]+)|/[^" ]*/(?=(?:default|home)/)'
    r'|"entries": ?\d+(?=, ?"gaps")',
    re.MULTILINE,
)
_TOOK = re.compile(r'"[a-z_]*(?:_at|_ms|_time|time|timestamp)": ?(?:[0-9.]+|"[^"]*")')
"""Places in the log, which the entries of both tenants share, ids and pseudonyms, and how long something took."""


async def compared(folder: Path, steps: Sequence[Sequence[Step]]) -> list[str]:
    """The replies to the first tenant that depend on the other: the call, and both texts from where they part."""
    alone, beside = [await fill(folder / name, world, UNLIMITED) for name, world in zip("ab", worlds(), strict=True)]
    found: list[str] = []
    async with client_of(alone) as first, client_of(beside) as second:
        mine, twin = Asked(first, alone, MINE), Asked(second, beside, MINE)
        theirs = Asked(second, beside, THEIRS)
        for number, sequence in enumerate(steps):
            for step in sequence:
                if step.tenant == THEIRS:
                    await theirs.reply(step)
                    continue
                one, other = await mine.reply(step), await twin.reply(step)
                found += [
                    f"sequence {number}, {step.role}: {each}" for each in differences([step.call], [one], [other])
                ]
    return found


async def test_what_a_tenant_gets_depends_on_no_other(tmp_path: Path) -> None:
    found = await compared(tmp_path, list(sequences(SEQUENCES, SEED)))
    by_call = {each.partition(": ")[2].partition(": ...")[0]: each for each in found}
    assert not found, f"{len(found)} replies differ:\n" + "\n".join([*by_call.values()][:20])


async def test_a_filter_that_is_taken_out_is_seen(tmp_path: Path) -> None:
    """The other tenant's documents taken into the first one's tenant: what a store without its filter would give."""
    one, other = worlds()
    homes = [
        await fill(tmp_path / "a", one),
        await fill(tmp_path / "b", World((*other.sources, *(replace(e, path=f"x-{e.path}") for e in other.foreign)))),
    ]
    steps = [step for sequence in sequences(3, SEED) for step in sequence if step.tenant == MINE]
    async with client_of(homes[0]) as first, client_of(homes[1]) as second:
        mine, twin = Asked(first, homes[0], MINE), Asked(second, homes[1], MINE)
        pairs = [(await mine.reply(step), await twin.reply(step)) for step in steps]
    assert any(a != b for a, b in pairs)


def test_commands_of_a_tenant_depend_on_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    homes = [asyncio.run(fill(tmp_path / name, world)) for name, world in zip("ab", worlds(), strict=True)]
    for words in COMMANDS:
        told = []
        for home in homes:
            assert run([*words, "--tenant", MINE, "--json", "--home", str(home.home)]) == 0, words
            told.append(_TOOK.sub("", _PLACES.sub("", capsys.readouterr().out)))
        assert told[0].splitlines() == told[1].splitlines(), words
        assert run([*words, "--tenant", THEIRS, "--json", "--home", str(homes[1].home)]) == 0
        assert "Kranz" not in told[1], words
        capsys.readouterr()


async def test_what_becomes_of_a_tenant_changes_nothing_for_another(tmp_path: Path) -> None:
    """Made, limited, suspended, exported and erased beside the first one, which is asked between."""
    home = await fill(tmp_path / "b", worlds()[1])
    call = Call("POST", "/api/v1/ai/query", {"question": "Who kept the ferry at Lecompton?"})
    changes = (
        ("create", THEIRS, "--quota", "1/hour"),
        ("suspend", THEIRS),
        ("export", THEIRS, str(tmp_path / "out")),
        ("erase", THEIRS, "--basis", "contract ended"),
    )
    told = []
    for words in ((), *changes):
        if words:
            assert await asyncio.to_thread(run, ["tenant", *words, "--home", str(home.home)]) == 0, words
        async with client_of(load({}, home=home.home)) as client:
            told.append(await Asked(client, home, MINE).reply(Step(MINE, "admin", call)))
    shutil.rmtree(tmp_path / "out")
    assert len(set(told)) == 1
