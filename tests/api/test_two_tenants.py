"""Two tenants in one home, four roles each, over every route, page and command: what one of them gets is what it gets
in a twin home that the other was never in. `python -m tests.tenants --sequences 10000` asks more."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from api.audit.entries.records import Reader
from api.audit.log.search import EntrySearch
from api.cli.main import run
from api.errors import NoSuchThing
from api.home.configuration import load
from api.measure.eval.asking import PATIENT
from api.wiring import key_store
from ledger.errors import EntryNotFound
from ledger.ledger import Ledger
from retrieval.registry.sql_store import SqlRecordStore
from tests.tenants import COMMANDS, MINE, ROLES, SEED, THEIRS, Asked, Step, Twins, parted, sequences, twins, worlds
from tests.withheld import Call, client_of, fill

pytestmark = pytest.mark.asyncio(loop_scope="module")
SEQUENCES = 60


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def made(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Twins]:
    yield await twins(tmp_path_factory.mktemp("twins"))


async def test_what_a_tenant_gets_depends_on_no_other(made: Twins, tmp_path: Path) -> None:
    found = [each async for each in parted(made, tmp_path, list(sequences(SEQUENCES, SEED)))]
    by_call = {each.partition(": ")[2].partition(": ...")[0]: each for each in found}
    assert not found, f"{len(found)} replies differ:\n" + "\n".join([*by_call.values()][:20])


def _every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    filtered = Ledger.listed

    async def listed(self: Ledger, **wanted: Any) -> Any:
        return await filtered(self, **{**wanted, "tenant": None})

    monkeypatch.setattr(Ledger, "listed", listed)


def _every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    filtered = EntrySearch._query
    monkeypatch.setattr(EntrySearch, "_query", lambda self, wanted: replace(filtered(self, wanted), tenant=None))


def _every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    async def entry(self: Reader, entry_id: str) -> Any:
        try:
            return await self.services.ledger.entry(entry_id)
        except EntryNotFound:
            raise NoSuchThing("There is no such entry or part.") from None

    monkeypatch.setattr(Reader, "entry", entry)


def _every_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    filtered = SqlRecordStore.collections

    async def collections(self: SqlRecordStore, tenant: str) -> Any:
        return (*await filtered(self, tenant), *(await filtered(self, THEIRS) if tenant == MINE else ()))

    monkeypatch.setattr(SqlRecordStore, "collections", collections)


@pytest.mark.parametrize("plant", [_every_page, _every_count, _every_entry, _every_collection])
async def test_a_filter_that_is_taken_out_is_seen(
    plant: Callable[[pytest.MonkeyPatch], None], made: Twins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    async for found in parted(made, tmp_path, list(sequences(SEQUENCES, SEED))):
        print(found)
        return
    pytest.fail("nothing differed")


async def test_commands_of_a_tenant_tell_nothing_of_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = await fill(tmp_path, worlds()[1])
    for words in COMMANDS:
        told = []
        for tenant in (MINE, THEIRS):
            asked = [*words, "--tenant", tenant, "--json", "--home", str(home.home)]
            assert await asyncio.to_thread(run, asked) == 0, words
            told.append(capsys.readouterr().out)
        assert "Kranz" not in told[0], words
        assert told[0] != told[1], words


async def test_what_becomes_of_a_tenant_changes_nothing_for_another(tmp_path: Path) -> None:
    """Made, limited, suspended, exported and erased beside the first one, which is asked between."""
    home = await fill(tmp_path / "b", worlds()[1])
    tokens = {role: key_store(home).create(name=role, tenant=MINE, roles=(role,))[1] for role in ROLES}
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
        async with client_of(load(PATIENT, home=home.home)) as client:
            told.append(await Asked(client, home.home, MINE, tokens).reply(Step(MINE, "admin", call)))
    shutil.rmtree(tmp_path / "out")
    assert len(set(told)) == 1
