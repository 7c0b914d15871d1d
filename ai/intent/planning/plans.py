"""From phrases to what is asked. Each reader takes questions of one form and needs every phrase of them; a phrase that
it does not know makes it no reader of that question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ai.intent.planning.common import Read
from ai.intent.planning.figures import change, compare, container, distance, figures, test
from ai.intent.planning.parts import part, peak, peak_said, series
from ai.intent.planning.ranks import nearest, rank, total
from ai.intent.planning.selects import contents, listed_figures, select, tally
from ai.intent.planning.sets import Asked
from ai.intent.planning.things import read_stated
from retrieval.algebra.describe import Names
from retrieval.algebra.plan import Peak


def read_plan(asked: Asked) -> Read:
    """The operations of the first reader that needs every phrase of the question; none where there is none."""
    if asked.phrases.left:
        return ()
    for reader in READERS:
        found = reader(asked)
        if found:
            return found
    return ()


READERS: Sequence[Callable[[Asked], Read]] = (
    distance,
    container,
    contents,
    nearest,
    test,
    compare,
    tally,
    rank,
    part,
    peak,
    total,
    series,
    change,
    figures,
    listed_figures,
    select,
    read_stated,
)
"""The forms of questions. The documentation of each begins with examples, which docs/question-forms.md lists and a test
asks."""
SAID: Mapping[type[Any], Callable[[Any, Names], str]] = MappingProxyType({Peak: peak_said})
"""The readings of the operations whose reader says them; `ai.intent.wording` says the others."""
