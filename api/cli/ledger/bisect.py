"""`exhibit ledger bisect`: since when, and by what, a question is answered differently."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from api.cli.console import bold, configuration, emit
from api.cli.ledger.common import EntryId
from api.cli.options import AsJson, Home


def bisect(entry_id: EntryId, *, home: Home = None, as_json: AsJson = False) -> None:
    """Every entry of the question of that outcome, asked in the same way with the same rights; each change of the
    answer, and which policy, setting, model or state of the corpus explains it."""
    found = asyncio.run(_changes(home, entry_id))
    emit(found, as_json=as_json, render=lambda: _text(found))


async def _changes(home: Path | None, entry_id: str) -> dict[str, Any]:
    from api.audit.entries.bisect import changes_of_answer
    from api.wiring import open_system

    async with open_system(configuration(home)) as system:
        return await changes_of_answer(system, entry_id)


def _text(found: dict[str, Any]) -> str:
    lines = [bold(found["question"]), f"{len(found['entries'])} entries, {len(found['changes'])} changes of the answer"]
    for change in found["changes"]:
        before, after = change["before"], change["after"]
        lines.append(f"since {after['time']} {after['entry_id']}: {before['outcome']} -> {after['outcome']}")
        lines.append(f"  before {before['entry_id']}; {change['explanation']['text']}")
    return "\n".join(lines)
