"""Tenants: a suspended one is refused with a code and nobody else notices; quotas, export, erasure; each on the ledger."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from api.cli.main import run
from api.home.configuration import load
from api.wiring import key_store, open_ledger
from ledger.model import Kind
from tests.withheld import (
    OPEN,
    QUESTIONS,
    Call,
    Conversation,
    SourceFile,
    World,
    calls,
    client_of,
    differences,
    fill,
    told,
)

THEIRS = "# The quarry\n\nAugusta Pell opened the quarry at Onaga in 1871, and sold it to her brother in 1874.\n"
ASKED = tuple(calls(70))


@pytest.fixture
async def home(tmp_path: Path) -> Any:
    return await fill(tmp_path, World(OPEN, foreign=(SourceFile("quarry.md", THEIRS),)))


async def cli(home: Any, *words: str) -> int:
    return await asyncio.to_thread(run, ["tenant", *words, "--home", str(home.home)])


def token(home: Any, tenant: str, role: str = "admin") -> str:
    return key_store(home).create(name=f"{tenant}-{role}", tenant=tenant, roles=(role,))[1]


async def asked(home: Any, key: str, call: Call) -> Any:
    async with client_of(home) as client:
        headers = {"authorization": f"Bearer {key}"}
        return await client.request(call.method, call.path, json=call.body, headers=headers)


QUARRY = Call("POST", "/api/v1/ai/query", {"question": "Who opened the quarry at Onaga?"})
CLOSED_TO_THE_SUSPENDED = ("ledger/entries", "ledger/facets", "ledger/health", "policy/data", "corpus")


async def test_a_suspended_tenant_is_refused_with_a_code_until_it_is_resumed(home: Any) -> None:
    key = token(home, "other")
    assert (await asked(home, key, QUARRY)).json()["outcome"] == "ANSWER"
    assert await cli(home, "create", "other") == 0
    assert await cli(home, "suspend", "other", "--why", "unpaid") == 0
    found = (await asked(home, key, QUARRY)).json()
    assert found["outcome"] == "DENY"
    assert "TENANT_SUSPENDED" in found["reason_codes"]
    assert "Pell" not in json.dumps(found)
    assert await cli(home, "resume", "other") == 0
    assert (await asked(home, key, QUARRY)).json()["outcome"] == "ANSWER"


async def test_a_suspended_caller_reads_nothing_and_holds_no_capability(home: Any) -> None:
    key = token(home, "other")
    await cli(home, "create", "other")
    await cli(home, "suspend", "other")
    for path in CLOSED_TO_THE_SUSPENDED[1:]:
        assert (await asked(home, key, Call("GET", f"/api/v1/{path}"))).status_code == 403, path
    headers = {"authorization": f"Bearer {key}"}
    async with client_of(home) as client:
        for call in ASKED:
            if "{entry}" not in call.path:
                reply = await client.request(call.method, call.path, json=call.body, headers=headers)
                assert "pell" not in reply.text.casefold(), call
                assert "quarry.md" not in reply.text.casefold(), call


async def test_the_suspension_of_a_tenant_changes_no_reply_to_another(tmp_path: Path) -> None:
    """Two homes that differ in whether another tenant is suspended: the guard of the pair. It is seen by its own."""
    homes = [await fill(tmp_path / n, World(OPEN, foreign=(SourceFile("quarry.md", THEIRS),))) for n in ("a", "b")]
    for home, words in zip(homes, ((), ("suspend", "other")), strict=True):
        assert await cli(home, "create", "other") == 0
        if words:
            assert await cli(home, *words) == 0
        else:
            assert await cli(home, "resume", "other") == 0  # as many entries
    first, second = [await told(home, ASKED, versions_alike=False) for home in homes]
    assert not differences(ASKED, first, second)
    keys = [token(home, "other") for home in homes]
    theirs = [(await asked(home, key, QUARRY)).json()["outcome"] for home, key in zip(homes, keys, strict=True)]
    assert theirs == ["ANSWER", "DENY"]


async def test_nobody_in_particular_is_of_a_tenant_too(home: Any) -> None:
    await cli(home, "create", "default")
    await cli(home, "suspend", "default")
    async with client_of(home) as client:
        reply = await Conversation(client, {}, versions_alike=False).reply(ASKED[0])
    assert "TENANT_SUSPENDED" in reply
    assert "Nace" not in reply


async def test_the_command_line_is_refused_too(home: Any, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", QUARRY.body["question"], "--tenant", "other", "--home", str(home.home)]  # type: ignore[index]
    assert await asyncio.to_thread(run, words) == 0
    await cli(home, "create", "other")
    await cli(home, "suspend", "other")
    capsys.readouterr()
    assert await asyncio.to_thread(run, words) != 0
    assert "Pell" not in capsys.readouterr().out


async def test_a_quota_holds_for_all_keys_of_the_tenant_and_for_nobody_else(home: Any) -> None:
    one, two, mine = token(home, "other"), token(home, "other", "auditor"), token(home, "default")
    assert await cli(home, "create", "other", "--quota", "2/hour") == 0
    async with client_of(home) as client:

        async def status(key: str) -> int:
            return (await client.get("/api/v1/collections", headers={"authorization": f"Bearer {key}"})).status_code

        assert [await status(key) for key in (one, two, one, two)] == [200, 200, 429, 429]
        assert [await status(mine) for _ in range(4)] == [200] * 4
        assert await cli(home, "quota", "other", "none") == 0
        assert await status(one) == 200


@pytest.mark.parametrize(
    "words",
    [
        ("create", "no/such"),
        ("create", ""),
        ("create", "a", "--quota", "many"),
        ("suspend", "nobody"),
        ("resume", "nobody"),
        ("quota", "nobody", "1/minute"),
        ("erase", "nobody", "--basis", "none"),
        ("export", "nobody", "out"),
    ],
)
async def test_what_is_not_there_or_is_no_name_is_refused(home: Any, words: tuple[str, ...]) -> None:
    assert await cli(home, *words) != 0
    assert not (home.home / "tenants.sqlite").exists()


async def test_a_name_is_taken_once(home: Any) -> None:
    assert await cli(home, "create", "other") == 0
    assert await cli(home, "create", "other") != 0


async def test_each_change_is_on_the_ledger_of_the_tenant(home: Any) -> None:
    for words in (("create", "other"), ("suspend", "other", "--why", "unpaid"), ("quota", "other", "5/minute")):
        assert await cli(home, *words) == 0
    async with open_ledger(home) as ledger:
        found = [entry async for entry in ledger.every(kind=Kind.CONFIG, tenant="other")]
        told_ = [json.loads(await ledger.part(each.leaf.entry_id, "detail"))["tenant"] for each in found]
        assert [entry async for entry in ledger.every(kind=Kind.CONFIG, tenant="default")] == []
    assert [(each["action"], each["state"], each["quota"]) for each in told_] == [
        ("create", "active", None),
        ("suspend", "suspended", None),
        ("quota", "suspended", "5/minute"),
    ]


async def test_an_export_holds_all_of_the_tenant_and_nothing_of_others(home: Any, tmp_path: Path) -> None:
    key = token(home, "other")
    await asked(home, key, QUARRY)
    await asked(home, token(home, "default"), ASKED[0])
    folder = tmp_path / "out"
    assert await cli(home, "export", "other", str(folder)) == 0
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert texts.keys() == {"documents.jsonl", "entries.jsonl", "tenant.json"}
    assert "Augusta Pell opened the quarry" in texts["documents.jsonl"]
    assert "Who opened the quarry" in texts["entries.jsonl"]
    whole = "".join(texts.values())
    assert not any(each in whole for each in ("Nace", "Holliday", QUESTIONS[0], key))
    assert (folder.stat().st_mode & 0o077) == 0
    assert await cli(home, "export", "other", str(folder)) != 0


async def test_an_erased_tenant_leaves_nothing_and_takes_nothing_along(home: Any) -> None:
    key, mine = token(home, "other"), token(home, "default")
    await asked(home, key, QUARRY)
    await asked(
        home, key, Call("POST", "/api/v1/ai/query", {"question": "Where was the granary of Pottawatomie built?"})
    )
    before = (await asked(home, mine, ASKED[0])).json()["answer"]
    assert await cli(home, "erase", "other", "--basis", "contract ended") == 0
    left = b"".join(path.read_bytes() for path in home.home.rglob("*") if path.is_file())
    for text in (b"Augusta Pell opened the quarry at Onaga", b"granary of Pottawatomie"):
        assert text not in left
    assert (await asked(home, key, QUARRY)).status_code == 401
    assert (await asked(home, mine, ASKED[0])).json()["answer"] == before
    async with open_ledger(load({}, home=home.home)) as ledger:
        assert (await ledger.verify()).ok
