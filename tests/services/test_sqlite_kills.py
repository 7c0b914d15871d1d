"""Twenty-five kills of the writer of the file: contiguous, and no acknowledged entry lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger_kills import aftermath, check, kill_writers

pytestmark = pytest.mark.services


async def test_twenty_five_kills_lose_nothing(tmp_path: Path) -> None:
    after = await aftermath(tmp_path / "home", kill_writers(tmp_path / "home", 25))
    check(after)
    assert len(after.acknowledged) > 100
