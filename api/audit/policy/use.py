"""The policy as it was used and changed: how often each rule spoke, and who published what, when and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from api.audit.log.search import EntrySearch
from api.wiring.publications import PROPOSED, PUBLISHED, ROLLED_BACK, TAKEN_UP
from ledger.errors import PartErased
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.search.entry_index import EntryQuery

_PAGE = 500
_ACTIONS = {PUBLISHED: "publish", PROPOSED: "propose", ROLLED_BACK: "rollback", TAKEN_UP: "taken up"}


async def rules_spoken(search: EntrySearch, *, tenant: str, last: int) -> tuple[Mapping[str, int], int]:
    """How often each rule or code is on record in the tenant's entries among the last ones of the log, and how many
    entries those are. Raises LedgerUnavailable."""
    position = await search.catch_up()
    after, counted, entries = max(-1, position - 1 - last), Counter[str](), 0
    wanted = EntryQuery(tenant=search.ledger.pseudonym("tenant", tenant))
    while page := await search.index.find(wanted, after=after, limit=_PAGE):
        after = page[-1].index
        judged = [each for each in page if each.kind in (Kind.OUTCOME, Kind.RETRIEVAL)]
        entries += len(judged)
        for each in judged:
            counted.update(set(each.rules))
    return counted, entries


async def policy_changes(ledger: Ledger, *, last: int) -> list[dict[str, Any]]:
    """The newest changes of the bundle in force, newest first. Raises LedgerUnavailable."""
    found: list[dict[str, Any]] = []
    after = -1
    while page := await ledger.entries(after=after, limit=_PAGE, kind=Kind.CONFIG):
        after = page[-1].index
        for entry in page:
            try:
                parts = await ledger.contents(entry, ("detail",))
            except PartErased:
                continue
            detail = json.loads(parts["detail"]) if parts.get("detail") else {}
            for name, told in detail.items():
                if name in _ACTIONS:
                    found.append({"entry_id": entry.leaf.entry_id, "t_ms": entry.leaf.t_ms, **_change(name, told)})
    return found[-last:][::-1]


def _change(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "action": _ACTIONS[name],
        "before": told["before"],
        "after": told["after"],
        "by": told.get("by"),
        "why": told.get("why"),
        "widenings": list(told.get("second_person" if name == PROPOSED else "widenings", ())),
    }
