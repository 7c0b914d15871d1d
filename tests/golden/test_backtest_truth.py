"""A backtest against the truth: what it foretells of recorded questions is what they come to when they are asked again
under the other policy, word for word, or it is marked as unknown."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ai.model import MapContext
from ai.replay.asked_again import NOT_KNOWN
from api.audit.policy.backtesting import run_backtest
from api.home.configuration import load
from api.wiring import open_system, pass_canary
from policy.bundles.archive import copy_bundle
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.data import DATA_PATH
from policy.errors import BundleRejected
from retrieval.model import TimeRange
from tests.harness import ask
from tests.withheld import ALTERED_BY, HIDDEN_BY, QUESTIONS, fill, together

REQUESTS = int(os.environ.get("EXHIBIT_BACKTEST_REQUESTS", "30"))
CHANGES = int(os.environ.get("EXHIBIT_BACKTEST_CHANGES", "3"))
ROLES = ("public_viewer", "contributor", "maintainer", "admin")
GROUPS = ((), ("data_stewards",), ("cultural_review",), ("insiders", "archivists"))
PLACES: Sequence[dict[str, Any]] = (
    {},
    {"time": TimeRange.year(1930)},
    {"bbox": (-97.0, 38.0, -95.0, 40.0)},
    {"place": "Alder County"},
)
Data = dict[str, Any]
Request = tuple[str, str, tuple[str, ...], MapContext]
Told = tuple[str, str]
"""Outcome and words of an answer."""


def requests(count: int) -> list[Request]:
    chance = random.Random(7)
    drawn = [(question, "public_viewer", (), MapContext()) for question in QUESTIONS]
    while len(drawn) < count:
        where = MapContext(**chance.choice(PLACES))
        drawn.append((chance.choice(QUESTIONS), chance.choice(ROLES), chance.choice(GROUPS), where))
    return drawn[:count]


def change(data: Data, chance: random.Random) -> str:
    """Changes one thing; says which."""
    role, tag = chance.choice(ROLES[1:]), chance.choice(sorted(data["handling"]))
    obligations = [None, {"op": "generalise_geometry", "params": {"metres": 50_000, "decimals": 0}}]
    obligations += [{"op": "aggregate_only", "params": {"minimum": least}} for least in (2, 12, 40)]
    obligations += [{"op": "redact", "params": {"kinds": ["pii"]}}]
    edits: list[Callable[[], object]] = [
        lambda: data["roles"][role].update(clearance=chance.choice(sorted(data["labels"]))),
        lambda: data["roles"][chance.choice(ROLES)].update(permissions=[]),
        lambda: data["roles"][role].update(capabilities=[]),
        lambda: data["handling"][tag].update(obligation=chance.choice(obligations)),
        lambda: data["handling"][tag].update(group=chance.choice(["insiders", "nobody", None])),
        lambda: data["limits"].update(support_milli=chance.choice([0, 900, 1000])),
        lambda: data["limits"].update(datamark_milli=chance.choice([0, 1000])),
        lambda: data["claims"].update(tolerated=[]),
        lambda: data["purposes"]["research"].update(clearance=chance.choice(["internal", "restricted"])),
        lambda: data["notice"].update(label="public"),
    ]
    place = chance.randrange(len(edits))
    edits[place]()
    return f"{place} {role} {tag}"


def candidate(folder: Path, seed: int) -> str:
    """A copy of the shipped bundle with one to three changes of its data, such that it may decide; what they are."""
    copy_bundle(SHIPPED, folder)
    path, chance = folder / "rego" / DATA_PATH, random.Random(seed)
    while True:
        data = json.loads((SHIPPED / "rego" / DATA_PATH).read_text("utf-8"))
        made = [change(data, chance) for _ in range(chance.randint(1, 3))]
        path.write_text(json.dumps(data), "utf-8")
        with suppress(BundleRejected):
            asyncio.run(pass_canary(load_bundle(folder)))
            return ", ".join(made)


async def answered(home: Path, environment: Mapping[str, str] | None = None) -> dict[str, Told]:
    """By entry, in order: outcome and words of every request."""
    async with open_system(load(environment or {}, home=home)) as system:
        found = {}
        for question, role, groups, where in requests(REQUESTS):
            body = await ask(system, question, role=role, groups=groups, context=where)
            found[str(body["provenance"]["entry_id"])] = (str(body["outcome"]), str(body["answer"]))
        return found


@dataclass(frozen=True)
class Recorded:
    """A home with every tag in use, as it was filled, and beside it one with the requests on its ledger."""

    empty: Path
    home: Path
    told: Mapping[str, Told]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("truth")
    _, world = together([pair() for pair in (*HIDDEN_BY.values(), *ALTERED_BY.values())])
    filled = asyncio.run(fill(folder, world)).home
    shutil.copytree(filled, folder / "asked")
    return Recorded(filled, folder / "asked", asyncio.run(answered(folder / "asked")))


@pytest.mark.parametrize("seed", range(CHANGES))
def test_what_is_foretold_is_what_comes(recorded: Recorded, tmp_path: Path, seed: int) -> None:
    changes = candidate(tmp_path / "policy", seed)
    found = asyncio.run(
        run_backtest(load({}, home=recorded.home), load_bundle(tmp_path / "policy"), since_ms=0, limit=10_000)
    )
    assert (found.requests, found.refused) == (REQUESTS, False)
    shutil.copytree(recorded.empty, tmp_path / "home")
    environment = {"EXHIBIT_POLICY__BUNDLE": str(tmp_path / "policy")}
    truth = asyncio.run(answered(tmp_path / "home", environment)).values()
    changed = {each.entry_id: each for each in found.differences}
    unknown = {entry for code, entries in found.unknown.items() if code in NOT_KNOWN for entry in entries}
    wrong = []
    for (entry, said), true, asked in zip(recorded.told.items(), truth, requests(REQUESTS), strict=True):
        each = changed.get(entry)
        if entry not in unknown:
            outcome = each.becomes if each and each.becomes else said[0]
            words = each.answers if each and each.answers is not None else said[1]
            if (outcome, words) != true:
                wrong.append(f"{asked}: {said} foretold {outcome} {words!r}, truly {true}")
    assert not wrong, f"{changes}: {len(wrong)} of {REQUESTS} are foretold wrongly:\n" + "\n".join(wrong[:5])
    assert len(unknown) <= REQUESTS // 10
