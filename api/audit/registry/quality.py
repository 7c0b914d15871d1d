"""How good retrieval is, as readers say and as its entries in the ledger show: a measure for people who curate, which
nothing in the pipeline reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from api.audit.reauthorise import Reading
from api.audit.registry.feedback import KINDS, QueuedRemark, remarks
from ledger.ledger import Ledger
from ledger.model import Entry, Kind

MOST_ENTRIES = 5_000
_PAGE = 500
_USEFUL = frozenset({"useful", "relevant"})
_USELESS = frozenset({"irrelevant", "wrong", "stale", "unsafe", "not_relevant"})


async def quality_of(reading: Reading) -> dict[str, Any]:
    """The measures over the feedback that the curator may see, and over the newest retrievals of the registry up to a
    bound. Rates are in thousandths, null where there is nothing to measure."""
    given = await remarks(reading)
    events = await _events(reading.access.subject.tenant, reading.services.ledger)
    counts = Counter(each.kind for each in given)
    answers = [each for each in given if each.about_kind == Kind.OUTCOME]
    searches = [each for each in given if each.about_kind != Kind.OUTCOME]
    waits = sorted(int(each["permission_ms"]) for each in events)
    return {
        "feedback": {kind: counts.get(kind, 0) for kind in KINDS},
        "feedback_open": sum(each.settled is None and each.kind not in _USEFUL for each in given),
        "precision_milli": _precision(searches),
        "citation_precision_milli": _precision(answers),
        "retrievals": len(events),
        "zero_results_milli": _share(sum(each["total"] == 0 for each in events), len(events)),
        "filtered_items": sum(int(each["filtered"]) for each in events),
        "permission_ms": {
            "p50": _quantile(waits, 50),
            "p95": _quantile(waits, 95),
            "most": waits[-1] if waits else None,
        },
    }


def _precision(given: Sequence[QueuedRemark]) -> int | None:
    """Of the results that somebody judged, the share that was useful; of several judgements the last one counts."""
    judged: dict[tuple[str, str, str], bool] = {}
    for each in given:
        if each.kind in _USEFUL | _USELESS:
            judged[each.about, each.result, each.subject] = each.kind in _USEFUL
    return _share(sum(judged.values()), len(judged))


def _share(part: int, whole: int) -> int | None:
    return round(1000 * part / whole) if whole else None


def _quantile(ordered: Sequence[int], percent: int) -> int | None:
    """The nearest-rank quantile."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else None


async def _events(tenant: str, ledger: Ledger) -> list[Mapping[str, Any]]:
    """The audit events of the registry's queries, the newest ones."""
    entries: list[Entry] = []
    after = -1
    while page := await ledger.entries(after=after, limit=_PAGE, kind=Kind.RETRIEVAL, tenant=tenant):
        entries = [*entries, *page][-MOST_ENTRIES:]
        after = page[-1].index
    events: list[Mapping[str, Any]] = []
    for entry in entries:
        contents = await ledger.contents(entry, ("candidates", "answer"))
        counted = json.loads(contents["candidates"]) if contents.get("candidates") else {}
        if "registry" in counted:
            events.append({**counted["registry"], "total": json.loads(contents["answer"])["total_count"]})
    return events
