"""Sentences of a draft in words that no source has, judged by a reader: which are asked about, and what the record of
its judgement says.

Words decide first. A reader is asked where they find nothing: neither that a source says it, nor that one contradicts
it. What it judges is recorded beside the output, so that the draft can be read again without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.answer.claims.check import Paraphrased
from ai.answer.claims.tokens import bare, keys_of
from ai.errors import ReaderUnavailable
from ai.model import ClaimChance, ClaimReading, Draft, PromptSource, Sentence
from ai.models.reader.lazy import ClaimReader
from ai.models.reader.told import Told
from ai.models.reading.source import ReadSource
from ai.text.leaning import means_another

_MOST_SENTENCES, _MOST_SOURCES = 12, 3
"""So many sentences of a draft are asked about, each beside so many sources: what it cites, else what is nearest."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A reader, and the numbers of the items of which the policy's data tolerate what it judges: what the answer point
    would drop is not asked about, so that the default model answers in its place."""

    reader: ClaimReader
    tolerated: frozenset[int]

    async def judged(self, draft: Draft, sources: Sequence[PromptSource]) -> ClaimReading | None:
        """The reader's judgement; None where it is not asked about anything, or cannot be run."""
        passages = [each for each in sources if each.index in self.tolerated and _is_passage(each)]
        asked = [
            (sentence.text, source)
            for sentence in [each for each in draft.sentences if _is_open(each)][:_MOST_SENTENCES]
            for source in _beside(sentence, passages)
        ]
        return await _read(asked, self.reader) if asked else None


async def judged_again(
    reading: ClaimReading, sources: Sequence[PromptSource], reader: ClaimReader
) -> ClaimReading | None:
    """The reader's judgement of what was judged before, for R2; None where it cannot be run."""
    by_index = {source.index: source for source in sources}
    return await _read([(each.text, by_index[each.index]) for each in reading.claims], reader)


async def _read(asked: Sequence[tuple[str, PromptSource]], reader: ClaimReader) -> ClaimReading | None:
    read = {source.index: ReadSource.of(source) for _, source in asked}
    told = {index: Told.whole(each.source.title, [s.text for s in each.sentences]) for index, each in read.items()}
    try:
        found = await reader.bears_out([(text, told[source.index]) for text, source in asked])
        least = await reader.least_claim_milli()
    except ReaderUnavailable:
        return None
    chances = [
        ClaimChance(text, source.index, read[source.index].sentences[each.place].start, each.milli)
        for (text, source), each in zip(asked, found, strict=True)
    ]
    return ClaimReading(reader.digest, least, tuple(chances))


def paraphrased(reading: ClaimReading | None, sources: Sequence[PromptSource]) -> Paraphrased:
    """The sentences that a recorded judgement finds borne out."""
    found: dict[str, dict[int, str]] = {}
    if reading is None:
        return found
    said = {
        (source.index, sentence.start): bare(sentence.text)
        for source in sources
        for sentence in ReadSource.of(source).sentences
    }
    for each in reading.claims:
        if each.milli >= reading.least_milli and (each.index, each.start) in said:
            found.setdefault(each.text, {})[each.index] = said[each.index, each.start]
    return found


def _is_passage(source: PromptSource) -> bool:
    return source.statement is None and bool(ReadSource.of(source).sentences)


def _is_open(sentence: Sentence) -> bool:
    """True if no source was found to say it, and none to contradict it; not where it leans on another sentence."""
    verdicts = {claim.verdict for claim in sentence.claims or ()}
    return bool(verdicts & {"not_in_source", "not_checkable"}) and not (
        "contradicted" in verdicts or sentence.catalogue or means_another(sentence.text)
    )


def _beside(sentence: Sentence, passages: Sequence[PromptSource]) -> Iterator[PromptSource]:
    """The passages that it cites; of one that cites nothing, those with most of its words."""
    if sentence.markers or sentence.unknown_markers:
        yield from [each for each in passages if each.index in sentence.markers][:_MOST_SOURCES]
        return
    words = keys_of(sentence.text)
    ranked = sorted(passages, key=lambda each: (-len(words & keys_of(each.text)), each.index))
    yield from ranked[:_MOST_SOURCES]
