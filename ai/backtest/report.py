"""The findings of a backtest, over all its requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai.backtest.difference import Difference
from ai.backtest.judge import JudgedRequest, UnreproducedDecision

SKIPPED: Mapping[str, str] = {
    "ERASED": "a part that policy decided over was erased",
    "FAULT": "the request failed before all its decisions were made",
    "INVALID_DECISION": "the engine's reply could not be trusted then, and the adapter denied",
    "UNREADABLE": "the entry holds no policy decision that can be read",
}
"""Why a request could not be judged, by code."""


@dataclass(frozen=True, slots=True)
class Backtest:
    """`requests` were read, `reproduced` decisions of theirs given again by the bundles that had made them. Where
    `unreproduced` is not empty the rest is empty: nothing can be said."""

    requests: int
    reproduced: int
    unreproduced: tuple[UnreproducedDecision, ...]
    differences: tuple[Difference, ...]
    silent_rules: tuple[str, ...]
    skipped: Mapping[str, tuple[str, ...]]
    unknown: Mapping[str, tuple[str, ...]]

    @property
    def refused(self) -> bool:
        """True if the record could not be reproduced."""
        return bool(self.unreproduced)


def summed_up(judged: Iterable[JudgedRequest], *, rules: Iterable[str]) -> Backtest:
    """The report over all requests; `rules` are the ids that the tried bundle declares."""
    everything = list(judged)
    unreproduced = tuple(each for one in everything for each in one.unreproduced)
    skipped, unknown = _by_code((one.skipped, one.entry_id) for one in everything if one.skipped), {}
    differences: tuple[Difference, ...] = ()
    silent: tuple[str, ...] = ()
    if not unreproduced:
        found = [one.difference for one in everything if one.difference is not None]
        differences = tuple(each for each in found if each.changes)
        unknown = _by_code((code, each.entry_id) for each in found for code in each.unknown)
        spoke = Counter(rule for one in everything for rule in one.spoke)
        silent = tuple(sorted(rule for rule in rules if not spoke[rule]))
    return Backtest(
        requests=len(everything),
        reproduced=sum(one.reproduced for one in everything),
        unreproduced=unreproduced,
        differences=differences,
        silent_rules=silent,
        skipped=skipped,
        unknown=unknown,
    )


def _by_code(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for code, entry_id in pairs:
        found.setdefault(code, []).append(entry_id)
    return {code: tuple(found[code]) for code in sorted(found)}
