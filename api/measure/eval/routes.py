"""Does the router help? Questions of relations whose every answer is known: which nations signed in a year, which
treaties a nation signed. Hybrid search with the weights of the kind against one set of weights for all kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ai.case.profiles import PASSAGES
from api.http.ablation.measures import difference, figure, ndcg
from api.measure.eval.asking import TOP_K, hybrid_words
from api.measure.eval.tables import told
from api.wiring import System

ASKED = 30
_MOST = 10


@dataclass(frozen=True, slots=True)
class RelationQuestion:
    """A question, and the rows that answer it: what each statement begins with, and its citation."""

    question: str
    rows: frozenset[tuple[str, str]]

    def key(self, words: str, place: int) -> str:
        """Which row a result states; its place where it states none."""
        found = next((row for row in sorted(self.rows) if words.startswith(row[0]) and row[1] in words), None)
        return "|".join(found) if found else f"#{place}"


def questions(treaties: Sequence[Mapping[str, str]]) -> list[RelationQuestion]:
    """At most thirty of each form, those with two to ten answers."""
    by_nation: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    by_year: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in treaties:
        stated = f"The {row['nation']} signed", row["citation"]
        by_year[row["signed_iso"][:4]].add(stated)
        if row["nation"].isalpha() and row["nation"] != "Kansas":
            by_nation[row["nation"]].add(stated)
    forms = (("Which treaties did the {} sign?", by_nation), ("Which nations signed treaties in {}?", by_year))
    return [
        RelationQuestion(form.format(name), frozenset(rows))
        for form, groups in forms
        for name, rows in [(n, r) for n, r in groups.items() if 2 <= len(r) <= _MOST][:ASKED]
    ]


async def tables(system: System, treaties: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """nDCG@10 with and without routes, and the paired difference; nothing where the rows make no question."""
    asked = questions(treaties)
    if not asked:
        return []
    profile = system.profile("basic")
    flat = await _gains(system, asked, replace(profile, rules=PASSAGES))
    routed = await _gains(system, asked, profile)
    rows = [
        ["one set of weights", told(figure(flat))],
        ["weights of the kind", told(figure(routed))],
        ["difference", told(difference(routed, flat))],
    ]
    title = f"Router: {len(asked)} questions of treaties, hybrid"
    return [{"title": title, "columns": ["", "nDCG@10"], "rows": rows}]


async def _gains(system: System, asked: Sequence[RelationQuestion], profile: Any) -> list[float]:
    gains = []
    for each in asked:
        words = await hybrid_words(system, each.question, profile)
        ranked = list(dict.fromkeys(each.key(said, place) for place, said in enumerate(words)))
        gains.append(ndcg(ranked, {"|".join(row) for row in each.rows}, TOP_K))
    return gains
