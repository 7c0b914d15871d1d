"""GeoQuestions1089 (Kefalidis et al. 2023): does the router tell what kind of thing a question asks for?

The answers of the set lie in a graph that is not here, so what is measured is the routing alone. `KEY` is published in
docs/retrieval.md. Whether the rules know anything of what is asked for is measured by category of place: each category
in turn under a word that is in no rule. The misses of odd numbers were never looked at when rules were written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ai.text.question_kind import LEADING, QuestionKind, kind_of
from api.measure.eval import clapnq
from api.measure.eval.tables import Part, goal, share

FILE = "questions.json"
AGREEMENT_GOAL = 0.9
KEPT_GOAL = 0.933
"""The share that a list of kinds of place reached: reading the form alone may not send more questions away from the
texts."""
UNKNOWN_CATEGORY = "each category of place under a name that no rule knows"
KEY: Mapping[str, QuestionKind] = {
    "A": QuestionKind.ATTRIBUTE,
    "B": QuestionKind.RELATION,
    "C": QuestionKind.RELATION,
    "D": QuestionKind.RELATION,
    "E": QuestionKind.RELATION,
    "F": QuestionKind.RELATION,
    "G": QuestionKind.AGGREGATE,
    "H": QuestionKind.SUPERLATIVE,
    "I": QuestionKind.AGGREGATE,
}
"""From the set's categories to kinds, and by `LEADING` to channels."""
_PLURALS = {"counties": "county", "cities": "city", "municipalities": "municipality", "beaches": "beach"}
_CATEGORIES = (
    *("county", "city", "town", "village", "state", "municipality", "district", "ward", "region", "barony", "townland"),
    *("lake", "river", "stream", "canal", "bay", "beach", "island", "forest", "park", "reserve"),
)
"""Categories of place that five questions and more name."""
_UNKNOWN = "gorb"
"""The name of a category where the rules are to know nothing of it."""
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, its category, and whether the rules were written without a look at how it is routed."""

    question: str
    category: str
    held_out: bool


def read(folder: Path) -> list[LabelledQuestion]:
    """All questions. Raises OSError, ValueError, KeyError for other files."""
    found = json.loads((folder / FILE).read_text("utf-8"))
    return [
        LabelledQuestion(each["Question"], each["Category"], int(number) % 2 == 1) for number, each in found.items()
    ]


async def run(folder: Path, work: Path) -> Part:
    """Agreement of kinds and of channels, and how many questions on texts (CLAPNQ, where it is there) stay with the
    texts."""
    del work
    asked = read(folder)
    ways = {
        "odd numbers (misses not looked at)": _agreement([each for each in asked if each.held_out]),
        "even numbers (misses looked at)": _agreement([each for each in asked if not each.held_out]),
    }
    goals = {}
    unknown = _unknown_category(asked)
    if unknown:
        ways[UNKNOWN_CATEGORY] = {"kind": share(unknown)}
        goals["agreement of kinds, category of place unknown"] = goal(AGREEMENT_GOAL, share(unknown)["mean"])
    texts = folder.parent / "clapnq"
    if texts.is_dir():
        _, answerable, unanswerable = clapnq.read(texts)
        questions = [*(each.text for each in answerable), *unanswerable]
        kept = share([kind_of(q) is QuestionKind.TEXT for q in questions])
        ways["CLAPNQ, kept with the texts"] = {"kind": kept}
        goals["questions kept with the texts"] = goal(KEPT_GOAL, kept["mean"])
    reached = ways["odd numbers (misses not looked at)"]["kind"]["mean"]
    return {
        "name": "GeoQuestions1089",
        "questions": len(asked),
        "ways": ways,
        "tables": [_by_category([each for each in asked if each.held_out])],
        "goals": {"agreement of kinds": goal(AGREEMENT_GOAL, reached), **goals},
    }


def _agreement(asked: Sequence[LabelledQuestion]) -> dict[str, dict[str, float]]:
    kinds = [(kind_of(each.question), KEY[each.category]) for each in asked]
    return {
        "kind": share([found is wanted for found, wanted in kinds]),
        "leading_channel": share([LEADING[found][0] is LEADING[wanted][0] for found, wanted in kinds]),
    }


def _unknown_category(asked: Sequence[LabelledQuestion]) -> list[bool]:
    """Category by category: whether each question that names it is of the kind of the key where it is called by a
    word that no rule holds. Cross-validation by category of place: no rule was written for what it is tried on."""
    found: list[bool] = []
    for category in _CATEGORIES:
        for each in asked:
            turned = _without(category, each.question)
            if turned != each.question:
                found.append(kind_of(turned) is KEY[each.category])
    return found


def _without(category: str, question: str) -> str:
    return _WORD.sub(lambda word: _called(word[0], category), question)


def _called(word: str, category: str) -> str:
    if word == category:
        return _UNKNOWN
    return f"{_UNKNOWN}s" if _PLURALS.get(word, word.removesuffix("s")) == category else word


def _by_category(asked: Sequence[LabelledQuestion]) -> dict[str, object]:
    columns = [str(kind) for kind in QuestionKind]
    rows = []
    for category, kind in KEY.items():
        found = [kind_of(each.question) for each in asked if each.category == category]
        rows.append([category, str(kind), len(found), *(found.count(each) for each in QuestionKind)])
    return {"title": "Routed as, test half", "columns": ["category", "key", "questions", *columns], "rows": rows}
