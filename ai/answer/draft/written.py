"""A model's output as sentences with the numbers that it gives them, in the mode in which it was asked.

Where it follows a schema it is one JSON document of that form, whole, or it is nothing: a part of a bad document is not
read. What a model picks are the system's own words; what it composes is text like any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai.answer.draft.citations import MarkedSentence, parse_marked
from ai.model import Completion, DraftingMode, Offer
from ai.text.catalogue import ABSTAIN, PHRASES

MOST_SENTENCES = 8
"""Of one answer that follows a schema."""
_TEXT_CHARS = 600
_OUTPUT_CHARS = 20_000
_ABSTAINS = (MarkedSentence(PHRASES[ABSTAIN], ()),)


@dataclass(frozen=True, slots=True)
class Written:
    """The sentences of an output; or, where it should have followed a schema and does not, why there are none."""

    sentences: tuple[MarkedSentence, ...]
    fault: str = ""


class _Malformed(ValueError):
    """Raised for an output that is not the document asked for; its words say why."""


def schema_for(mode: DraftingMode, offers: Sequence[Offer]) -> Mapping[str, object]:
    """The JSON schema of an output in that mode: numbers of offers, or sentences with their sources."""
    each: Mapping[str, object] = {"type": "integer", "enum": [offer.number for offer in offers] or [0]}
    if mode == "compose":
        number = {"type": "integer", "minimum": 1}
        parts = {"text": {"type": "string"}, "sources": {"type": "array", "items": number}}
        each = _object(parts)
    return _object({"sentences": {"type": "array", "items": each, "maxItems": MOST_SENTENCES}})


def read_written(completion: Completion, mode: DraftingMode, offers: Sequence[Offer]) -> Written:
    """The output as sentences. An empty list says that there is no answer. Never raises."""
    if mode == "free":
        return Written(parse_marked(completion.text))
    try:
        listed = _listed(completion)
        found = _picked(listed, offers) if mode == "select" else _composed(listed)
    except _Malformed as exc:
        return Written((), str(exc))
    return Written(found or _ABSTAINS)


def _object(properties: Mapping[str, object]) -> Mapping[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _listed(completion: Completion) -> list[Any]:
    if completion.truncated or len(completion.text) > _OUTPUT_CHARS:
        raise _Malformed("the output was cut off before its end")
    try:
        said = json.loads(completion.text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise _Malformed("the output is not one JSON document") from None
    listed = said.get("sentences") if isinstance(said, dict) and set(said) == {"sentences"} else None
    if not isinstance(listed, list) or len(listed) > MOST_SENTENCES:
        raise _Malformed(f"the document does not hold one list “sentences” of at most {MOST_SENTENCES}")
    return listed


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _picked(listed: Sequence[Any], offers: Sequence[Offer]) -> tuple[MarkedSentence, ...]:
    by_number = {offer.number: offer for offer in offers}
    numbers = list(map(_number, listed))
    unknown = [n for n in numbers if n not in by_number]
    if unknown:
        raise _Malformed(f"there is no sentence {unknown[0]}")
    return tuple(MarkedSentence(by_number[n].text, (by_number[n].index,)) for n in dict.fromkeys(numbers))


def _composed(listed: Sequence[Any]) -> tuple[MarkedSentence, ...]:
    found: list[MarkedSentence] = []
    for each in listed:
        text, sources = _parts(each)
        numbers = tuple(map(_number, sources))
        for sentence in parse_marked(text):
            found.append(MarkedSentence(sentence.text, tuple(dict.fromkeys((*numbers, *sentence.numbers)))))
    return tuple(found)


def _parts(each: Any) -> tuple[str, list[Any]]:
    if not isinstance(each, dict) or set(each) != {"text", "sources"}:
        raise _Malformed("a sentence is not an object of “text” and “sources”")
    text, sources = each["text"], each["sources"]
    if not isinstance(text, str) or not isinstance(sources, list) or len(text) > _TEXT_CHARS:
        raise _Malformed(f"a sentence is not a text of at most {_TEXT_CHARS} signs and a list")
    return text, sources


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 10**9:
        raise _Malformed("what should be a number of the list is none")
    return value
