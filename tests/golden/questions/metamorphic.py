"""Changes of one word to an answered question, after which the same answer is a fault unless the change is named.

A person who puts "not", an exception, an unknown qualifier, another state or another unit into a question asks something else.
Nothing here knows what is then right; it knows that the same sentences, without a limitation that names what was not understood,
are wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api import wiring
from tests.golden.questions.asking import Result, asked
from tests.golden.questions.world import World

AUXILIARY = re.compile(r"\b(are|were|is|was|did|does|do|had|have)\b", re.I)
NOW = re.compile(r"\b(border|touch|lie|call|strike)\b", re.I)
PAST = {
    "lived": "live",
    "signed": "sign",
    "bordered": "border",
    "struck": "strike",
    "called": "call",
    "handled": "handle",
}
THEN = re.compile(rf"\b({'|'.join(PAST)})\b", re.I)
TURNED = re.compile(r"^\W*(?:is|are|was|were|do|does|did|has|had)\b|\b(?:not|neither|never|no)\b|n't\b", re.I)
"""Questions in which "not" changes nothing, or undoes another: yes or no, and those that are negated."""
NOUN = re.compile(
    r"\b(population|people|inhabitants|residents|folks|counties|county|cities|city|towns|town|treaties|treaty|nations|"
    r"cargo|vessels|rainfall|sheep|harbours|harbour|parishes|storms|ferry lines|area|distance)\b",
    re.I,
)
UNITS = (
    (r"\bkm\b", "miles"),
    (r"\bkilomet(?:re|er)s\b", "miles"),
    (r"\bmiles\b", "leagues"),
    (r"\b(?:people|inhabitants|residents|folks)\b", "households"),
    (r"\bpopulation\b", "number of dwellings"),
    (r"\btonnes\b", "barrels"),
    (r"\bsheep\b", "flocks"),
    (r"\bvessels\b", "captains"),
    (r"\bmm\b", "inches"),
    (r"\bsquare (?:miles|kilometres)\b", "acres"),
)


@dataclass(frozen=True)
class Changed:
    """A question after one change, and the word that was put in."""

    how: str
    text: str
    word: str


@dataclass(frozen=True)
class Unmoved:
    """A fault: the change left the answer as it was, and nothing says so."""

    before: Result
    changed: Changed

    def __str__(self) -> str:
        return f"{self.changed.how}: {self.changed.text} | {self.before.said[:200]}"


def negated(result: Result, world: World) -> Changed | None:
    text = result.question.text
    if TURNED.search(text):
        return None
    changed = THEN.sub(lambda m: f"did not {PAST[m[1].lower()]}", text, count=1)
    for pattern, put in ((AUXILIARY, r"\1 not"), (NOW, r"do not \1")):
        if changed == text:
            changed = pattern.sub(put, text, count=1)
    return None if changed == text else Changed("not", changed, "not")


def excepted(result: Result, world: World) -> Changed | None:
    """Without one of those that the answer names."""
    question = result.question.text.lower()
    named = [n for i in sorted(_named(result, world)) if (n := _name(i, world)).lower() not in question]
    if not named:
        return None
    return Changed("exception", _before_mark(result.question.text, f", except {named[0]}"), named[0])


def qualified(word: str) -> Callable[[Result, World], Changed | None]:
    def qualify(result: Result, world: World) -> Changed | None:
        text = result.question.text
        changed = NOUN.sub(rf"{word} \1", text, count=1)
        return None if changed == text else Changed("qualifier", changed, word)

    return qualify


def narrowed(result: Result, world: World) -> Changed:
    """An unknown condition at the end."""
    return Changed("condition", _before_mark(result.question.text, " among beekeepers"), "beekeepers")


def elsewhere(result: Result, world: World) -> Changed:
    """Another state, for the one that is named or after the last word."""
    text = result.question.text
    for state in ("Kansas", "Missouri", "Nebraska"):
        changed = re.sub(rf"\b{state}\b(?! City| River)", "Ohio", text)
        if changed != text:
            return Changed("another state", changed, "Ohio")
    return Changed("another state", _before_mark(text, " in Ohio"), "Ohio")


def measured(result: Result, world: World) -> Changed | None:
    """Another unit."""
    text = result.question.text
    for pattern, unit in UNITS:
        changed = re.sub(pattern, unit, text, count=1)
        if changed != text:
            return Changed("another unit", changed, unit)
    return None


KINDS = ("not", "exception", "qualifier", "condition", "another state", "another unit")
CHANGES: tuple[Callable[[Result, World], Changed | None], ...] = (
    negated,
    excepted,
    qualified("left-handed"),
    qualified("Lutheran"),
    narrowed,
    elsewhere,
    measured,
)


def changes(result: Result, world: World) -> Iterator[Changed]:
    """Every change that fits an answered question."""
    for change in CHANGES:
        if (changed := change(result, world)) is not None:
            yield changed


async def unmoved(system: wiring.System, result: Result, world: World) -> list[Unmoved]:
    """The changes after which the answer is the same and no limitation or interpretation names the word."""
    found = []
    for changed in changes(result, world):
        body = await asked(system, changed.text, result.question.context)
        same = body["outcome"] == "ANSWER" and [s["text"] for s in body["sentences"]] == [
            s["text"] for s in result.body["sentences"]
        ]
        told = changed.how == "another unit" and f" {changed.word}" in result.said  # a distance is told in both units
        if same and not told and not set(changed.word.lower().split()) <= _remarks(body) - _remarks(result.body):
            found.append(Unmoved(result, changed))
    return found


def _remarks(body: Mapping[str, Any]) -> set[str]:
    """The words of the limitations and of the interpretation."""
    return set(re.findall(r"[\w'-]+", f"{body.get('limitations', '')} {body.get('interpretation', '')}".lower()))


def _named(result: Result, world: World) -> set[str]:
    """Ids of places and takers part whose names the answer says."""
    return {first for _, _, ids in world.named(result.said) if (first := sorted(ids)[0]) in world.places}


def _name(id: str, world: World) -> str:
    return world.places[id].name


def _before_mark(text: str, more: str) -> str:
    """The text with more before its full stop or question mark."""
    bare = text.rstrip("?. ")
    return f"{bare}{more}{text[len(bare) :]}"
