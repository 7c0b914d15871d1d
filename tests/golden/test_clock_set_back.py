"""Entries that are dated in the future, as after a clock was set back: `exhibit doctor` warns of them."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from api.home.backends import backends_of
from api.home.configuration import load
from api.wiring.clock import new_id
from ledger.keys import open_key_ring
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.model import Kind
from ledger.stores.sqlite.store import SqliteLedgerStore
from tests.command_line import Run, command_line

MINUTE_MS = 60_000


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


async def recorded(home: Path, ahead_ms: list[int]) -> None:
    """Entries by clocks that are ahead of this one."""
    home.mkdir(mode=0o700)
    configuration = load({}, home=home)
    settings, keys = configuration.settings.ledger, backends_of(configuration).ledger.keys
    for number, ahead in enumerate(ahead_ms):
        ledger = await Ledger.open(
            store=await SqliteLedgerStore.open(home / "ledger.sqlite"),
            keys=await open_key_ring(keys, origin=settings.origin, create=not number),
            origin=settings.origin,
            replica=settings.replica,
            clock_ms=lambda ahead=ahead: time.time_ns() // 1_000_000 + ahead,  # type: ignore[misc]
            new_id=new_id,
        )
        await ledger.record(Kind.INCIDENT, tenant=SYSTEM_TENANT, request_id=f"r{number}", parts={"detail": b"{}"})
        await ledger.aclose()


@pytest.mark.parametrize(
    ("ahead_ms", "told"),
    [
        ([0, -3 * MINUTE_MS], None),
        ([MINUTE_MS // 2], None),
        ([0, 600 * MINUTE_MS], "1 entry is dated in the future"),
        ([600 * MINUTE_MS, 0, 3 * MINUTE_MS], "2 entries are dated in the future"),
    ],
)
async def test_doctor_warns_of_entries_dated_in_the_future(
    ahead_ms: list[int], told: str | None, cli: Run, tmp_path: Path
) -> None:
    await recorded(tmp_path / "home", ahead_ms)
    _, out, _ = await asyncio.to_thread(cli, "doctor", "--home", tmp_path / "home", "--json")
    found = {each["name"]: each for each in json.loads(out)}
    assert found["ledger"]["state"] == "ok", found["ledger"]
    assert ("clock" in found) is (told is not None)
    assert told is None or (found["clock"]["state"] == "warning" and told in found["clock"]["detail"])
