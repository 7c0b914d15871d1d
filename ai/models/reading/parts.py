"""Several questions in one, each with what was read of it."""

from __future__ import annotations

from dataclasses import replace

from ai.intent.times import read_times
from ai.text.parts import Part, parts_of
from retrieval.model import Intent


def asked_apart(question: str, intent: Intent) -> tuple[tuple[Part, Intent], ...]:
    """The questions that were asked in one, each with its own part of the intent: the names that it has, else those of
    the parts before it, and its own times. None where it is one question, or asks for an operation."""
    parts = () if intent.operations else parts_of(question)
    found: list[tuple[Part, Intent]] = []
    for place, part in enumerate(parts):
        own = tuple(each for each in intent.mentions if each.surface and each.surface in part.question)
        before = " ".join(each.said for each in parts[:place])
        earlier = tuple(each for each in intent.mentions if each.surface in before or not before)
        times = intent.times if intent.map_time else tuple(span.time for span in read_times(part.question))
        found.append((part, replace(intent, mentions=own or earlier, times=times)))
    return tuple(found)
