"""Sentences of the sources that a model may pick from: what a row or computation states, and sentences of prose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ai.model import Offer, PromptSource
from ai.models.candidates import PARAMETERS
from ai.models.prose import prospects
from ai.text.markdown import plain, slice_of
from ai.text.sentences import MARKER, split_sentences
from ai.text.support import carries, words_of
from retrieval.bundle import count_tokens
from retrieval.model import Intent

MOST_OFFERS = 16
MOST_TOKENS = 400
"""So few that a small model reads them within seconds on a processor, and can tell them apart."""
_LEAST_WORDS = 4
OFFERING_ANY = frozenset({"focus_select/v1"})
"""Templates that were recorded when any sentence was offered: lines of lists and heads of tables too."""


def offers_of(
    sources: Sequence[PromptSource], question: str, intent: Intent, *, plausible: bool = True
) -> tuple[Offer, ...]:
    """At most `MOST_OFFERS` of `MOST_TOKENS` in all, numbered from 1 in the order of the sources: for a question that
    asks for an operation what answers it, else the sentences that share most words with the question. `plausible`: of
    prose only whole sentences that concern what the question names, at its time, and are of the kind that it wants."""
    direct = [source for source in sources if source.direct and source.statement]
    if plausible and not (intent.operations and direct):
        found = list(_plausible(sources, question, intent))
    else:
        found = list(_sentences(direct if intent.operations and direct else sources))
    wanted = words_of(question)
    terms = wanted.content | wanted.numbers

    def shared(at: int) -> int:
        source, text = found[at]
        said = words_of(f"{source.title} {text}")
        held = said.content | said.numbers
        return sum(carries(held, term) for term in terms)

    room, best = MOST_TOKENS, list[int]()
    for at in sorted(range(len(found)), key=lambda at: (-shared(at), at)):
        taken = count_tokens(found[at][1])
        if taken <= room and len(best) < MOST_OFFERS:
            room -= taken
            best.append(at)
    return tuple(Offer(n, found[at][0].index, found[at][1]) for n, at in enumerate(sorted(best), start=1))


def _plausible(sources: Sequence[PromptSource], question: str, intent: Intent) -> Iterator[tuple[PromptSource, str]]:
    chosen = {(each.index, each.text) for each in prospects(question, intent, sources, PARAMETERS, gated=True)}
    for source, text in _sentences(sources):
        if source.statement is not None or (source.index, text) in chosen:
            yield source, text


def _sentences(sources: Sequence[PromptSource]) -> Iterator[tuple[PromptSource, str]]:
    """Each sentence once, on one line; none that would read as a citation of ours."""
    said = set[str]()
    for source in sources:
        for text in _of(source):
            shown = " ".join((text if source.statement else plain(text)).split())
            if len(shown.split()) >= _LEAST_WORDS and shown not in said and not MARKER.search(shown):
                said.add(shown)
                yield source, shown


def _of(source: PromptSource) -> Iterator[str]:
    if source.statement:
        yield source.statement
        return
    for span in split_sentences(source.text):
        yield slice_of(source.text, span.start, span.end)
