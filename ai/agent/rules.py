"""The planner of the embedded default: no model. Decomposition by form, sufficiency by coverage, refinement by the
names that lead from one piece of evidence to the next (bridge entities)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ai.agent.budget import Budget
from ai.agent.decompose import parts_of
from ai.agent.planning import MAX_SUB_QUERIES, Grade, Plan, PlannerEvidence, ProposedCall, each_tool
from ai.text.question_kind import kind_of
from retrieval.english.lists import STOP_WORDS
from retrieval.english.names import written_names
from retrieval.english.words import beginning_of, content_beginnings, occurs, words
from retrieval.model import Intent

FRONTIER = 3
"""How many of the best pieces of evidence lead on; two more with each round."""
WHOLE = "the whole question"
_CHARS_PER_RANK = 5_000


class RulePlanner:
    """A `Planner` for one run: it remembers which names it has followed."""

    def __init__(self) -> None:
        self._followed: set[str] = set()
        self._rounds = 0

    async def plan(self, question: str, *, intent: Intent, tools: Sequence[str], budget: Budget) -> Plan:
        """The question itself, and its parts where it has any."""
        del budget
        parts = [part for part in parts_of(question) if part.casefold() != question.casefold().strip(" ?.")]
        chosen = [(question, WHOLE), *((part, "a part of the question") for part in parts)][:MAX_SUB_QUERIES]
        calls = tuple(call for text, why in chosen for call in each_tool(text, tools, why))
        names = [mention.surface for mention in intent.mentions]
        analysis = {"intent": "decomposed" if parts else "single", "concepts": names, "parts": parts}
        analysis["kind"] = str(kind_of(question))
        return Plan(calls, analysis, f"{len(chosen)} sub-queries by the question's form")

    async def grade(
        self, question: str, *, intent: Intent, seen: Sequence[PlannerEvidence], tools: Sequence[str], budget: Budget
    ) -> Grade:
        """Enough when one piece of evidence holds every content word and name of the question; else the names of the
        best pieces are followed, each with the words that its piece does not hold."""
        del budget
        asked = content_beginnings(question)
        if sum(piece.direct for piece in seen) >= max(1, len(intent.operations)):
            return Grade(True, "every operation of the question has its direct answer")
        if any(not missing(question, asked, piece) for piece in seen[:FRONTIER]):
            return Grade(True, "one piece of evidence holds everything that the question names")
        frontier = seen[: FRONTIER + 2 * self._rounds]
        self._rounds += 1
        queries = list(self._bridges(question, asked, frontier))
        if not queries:
            return Grade(False, "no new name leads on from the evidence")
        calls: tuple[ProposedCall, ...] = tuple(
            call for query, name in queries for call in each_tool(query, tools, f"leads on from {name}")
        )
        lacking = [m.surface for m in intent.mentions if not any(_holds(m.surface, piece) for piece in seen)]
        thought = f"not yet found: {', '.join(lacking)}" if lacking else "no piece of evidence answers alone"
        return Grade(False, thought, calls)

    def _bridges(
        self, question: str, asked: Sequence[str], frontier: Sequence[PlannerEvidence]
    ) -> Iterator[tuple[str, str]]:
        """(sub-query, name), the most promising first: names that stand early in a highly ranked piece."""
        spoken = set(words(question))
        found: dict[str, tuple[float, str, str]] = {}
        for rank, piece in enumerate(frontier):
            lacking = " ".join(missing(question, asked, piece))
            if not lacking:
                continue
            heading = set(words(piece.heading))
            for name, at in written_names(piece.text):
                parts = words(name)
                key = " ".join(parts)
                if set(parts) <= heading or set(parts) <= spoken or key in self._followed:
                    continue
                promise = 1 / (1 + rank) - at / _CHARS_PER_RANK
                if key not in found or found[key][0] < promise:
                    found[key] = (promise, name, lacking)
        chosen = sorted(found.items(), key=lambda each: (-each[1][0], each[0]))[:MAX_SUB_QUERIES]
        for key, (_, name, lacking) in chosen:
            self._followed.add(key)
            yield f"{name} {lacking}", name


def missing(question: str, asked: Sequence[str], piece: PlannerEvidence) -> list[str]:
    """The content words of the question that the piece does not hold, in order."""
    folded = f"{piece.heading}\n{piece.text}".casefold()
    lacking = {each for each in asked if not occurs(each, folded)}
    return [word for word in words(question) if word not in STOP_WORDS and beginning_of(word) in lacking]


def _holds(name: str, piece: PlannerEvidence) -> bool:
    written = f" {' '.join(words(f'{piece.heading} {piece.text}'))} "
    return f" {' '.join(words(name))} " in written
