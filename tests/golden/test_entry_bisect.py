"""Since when a question is answered differently: each change is found where it was, with what explains it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from api.audit.entries.bisect import changes_of_answer
from api.errors import RequestRejected
from api.home.configuration import load
from api.schemas.ledger.difference import AnswerChanges
from api.wiring import open_ingest
from ledger.errors import EntryNotFound
from ledger.model import Kind
from tests.golden.test_attribution import with_other_data
from tests.golden.test_entry_diff import FATHER, FIGURE, cli, home, recorded  # noqa: F401 - fixtures
from tests.harness import opened


async def changes(home: Path, entry_id: str) -> dict[str, Any]:  # noqa: F811
    async with opened(home) as system:
        return await changes_of_answer(system, entry_id)


async def test_each_change_is_found_with_its_cause(home: Path) -> None:  # noqa: F811
    asked = [await recorded(home, FATHER, role="contributor") for _ in range(2)]
    asked.append(await recorded(home, FATHER, role="contributor", EXHIBIT_RETRIEVAL__FUSION_K="1"))
    await recorded(home, FATHER)  # of other rights
    await recorded(home, FIGURE, role="contributor")
    await with_other_data(home, lambda data: data["roles"]["contributor"].update(permissions=[]))
    asked += [await recorded(home, FATHER, role="contributor", EXHIBIT_RETRIEVAL__FUSION_K="1") for _ in range(2)]
    for entry_id in (asked[0], asked[-1]):
        found = await changes(home, entry_id)
        assert [each["entry_id"] for each in found["entries"]] == asked
        assert AnswerChanges.model_validate(found).model_dump() == found
        told = [(c["before"]["entry_id"], c["after"]["entry_id"], c["explanation"]["causes"]) for c in found["changes"]]
        assert told == [(asked[1], asked[2], ["setting fusion"]), (asked[2], asked[3], ["policy"])]


async def test_a_corpus_that_changed_is_the_cause(home: Path) -> None:  # noqa: F811
    one = await recorded(home)
    async with open_ingest(load({}, home=home)) as ingest:
        await ingest.remove(["county-population"], tenant="default")
    other = await recorded(home)
    [change] = (await changes(home, one))["changes"]
    assert change["after"]["entry_id"] == other
    assert change["explanation"]["causes"] and set(change["explanation"]["causes"]) <= {"found", "reading", "scope"}


async def test_what_answers_as_ever_has_no_change(home: Path) -> None:  # noqa: F811
    asked = [await recorded(home) for _ in range(3)]
    found = await changes(home, asked[1])
    assert [each["entry_id"] for each in found["entries"]][-3:] == asked
    assert found["changes"] == []


async def test_what_holds_no_question_is_refused(home: Path) -> None:  # noqa: F811
    await recorded(home)
    async with opened(home) as system:
        [intent, *_] = await system.services.ledger.entries(kind=Kind.INTENT)
        with pytest.raises(RequestRejected):
            await changes_of_answer(system, intent.leaf.entry_id)
        with pytest.raises(EntryNotFound):
            await changes_of_answer(system, "01900000-0000-7000-8000-000000000000")


def test_the_command_says_since_when(home: Path, cli: Any) -> None:  # noqa: F811
    one = asyncio.run(recorded(home, FATHER, role="contributor"))
    other = asyncio.run(recorded(home, FATHER, role="contributor", EXHIBIT_ANSWERING__READER="false"))
    code, out, _ = cli("ledger", "bisect", one)
    assert code == 0
    assert f"{other}: ANSWER -> ANSWER" in out and "model of the second entry alone" in out
    assert json.loads(cli("ledger", "bisect", one, "--json")[1]) == asyncio.run(changes(home, other))
    assert cli("ledger", "redact", "--entry", one, "--basis", "GDPR")[0] == 0
    assert cli("ledger", "bisect", other)[0] == 0
    assert cli("ledger", "bisect", "nonsense")[0] == 3
