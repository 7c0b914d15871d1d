"""Examples as numbers: a question and a window of a passage as pieces, with what the network is to say of them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai.models.reader.encoding import QUESTION_PIECES, TITLE_PIECES, WINDOW_PIECES, Window, joined
from ai.models.reader.features import FIRST_WORD_RANK
from ai.models.reader.training.examples import Example

_ALONE, _KEEPS_TITLE, _KEEPS_ANSWER, _KEEPS_NEAREST, _KEEPS_MARK = 0.06, 0.75, 0.9, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class Pieces:
    """An example as pieces. `spans` are (sentence, first piece, last piece); `borne` is 1 for each piece of a claim
    that the passage bears out, else 0, empty for questions. `about` are the sentences that a claim is about, or, where
    nothing answers a question, the one that has most of it."""

    question: tuple[int, ...]
    title: tuple[int, ...]
    sentences: tuple[tuple[int, ...], ...]
    answers: frozenset[int]
    spans: tuple[tuple[int, int, int], ...]
    borne: tuple[int, ...]
    about: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A window, and its labels: of each sentence whether it answers, the pieces of the spans, of the whole how likely
    it is to answer, of the pieces of a claim, where the window has all that the claim is about, whether they are borne
    out."""

    window: Window
    answers: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    answered: float
    borne: tuple[int, ...] = ()
    claim: bool = False


def pieces_of(examples: Sequence[Example], tokenizer: Any) -> list[Pieces]:
    """All examples, each text read once."""
    texts = sorted({t for e in examples for t in (e.question, e.title, *e.sentences)})
    read = dict(zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True))
    return [_pieces(each, read) for each in examples]


def _pieces(each: Example, read: dict[str, Any]) -> Pieces:
    spans = []
    for place, start, end in each.spans:
        inside = [i for i, (a, b) in enumerate(read[each.sentences[place]].offsets) if a < end and b > start]
        if inside:
            spans.append((place, inside[0], inside[-1]))
    asked = read[each.question]
    borne = tuple(int(not any(a < end and b > start for start, end in each.unborne)) for a, b in asked.offsets)
    sentences = tuple(tuple(read[s].ids) for s in each.sentences)
    return Pieces(
        tuple(asked.ids),
        tuple(read[each.title].ids),
        sentences,
        each.answers,
        tuple(spans),
        borne if each.about else (),
        tuple(sorted(each.about or each.answers)) or (_nearest(asked.ids, sentences),),
    )


def _nearest(question: Sequence[int], sentences: Sequence[Sequence[int]]) -> int:
    return max(range(len(sentences)), key=lambda at: _shared(question, sentences[at]))


def _shared(question: Sequence[int], sentence: Sequence[int]) -> float:
    return sum(
        math.log2(2 + piece - FIRST_WORD_RANK) for piece in {*question} & {*sentence} if piece >= FIRST_WORD_RANK
    )


def window_of(each: Pieces, generator: random.Random, mark: int) -> Labelled:
    """A window around an answer or what looks most like one, mostly; sometimes without the title, and a question
    without its mark."""
    question = each.question
    if question and question[-1] == mark and generator.random() >= _KEEPS_MARK:
        question = question[:-1]
    title = each.title if generator.random() < _KEEPS_TITLE else ()
    room = WINDOW_PIECES - 3 - min(len(question), QUESTION_PIECES) - min(len(title), TITLE_PIECES) - 1
    lengths = [len(s) for s in each.sentences]
    start, end = _crop(lengths, room, _anchor(each, generator), generator)
    window = joined(question, title, each.sentences[start:end], room)
    places = range(start, start + len(window.sentences))
    answers = tuple(int(place in each.answers) for place in places)
    spans = []
    for place, first, last in each.spans:
        if place in places:
            begin, stop = window.sentences[place - start]
            if begin + last < stop:
                spans.append((begin + first, begin + last))
    if not each.borne:
        return Labelled(window, answers, tuple(spans), float(any(answers)))
    seen = sum(place in places for place in each.about)
    share = sum(each.borne) / len(each.borne) * seen / len(each.about) if any(answers) else 0.0
    return Labelled(window, answers, tuple(spans), share, each.borne if seen == len(each.about) else (), claim=True)


def _anchor(each: Pieces, generator: random.Random) -> int:
    if generator.random() < (_KEEPS_ANSWER if each.answers else _KEEPS_NEAREST):
        return generator.choice(each.about)
    return generator.randrange(len(each.sentences))


def _crop(lengths: list[int], room: int, anchor: int, generator: random.Random) -> tuple[int, int]:
    """Neighbours of the anchor, on either side by chance, as many as fit."""
    start, end, used = anchor, anchor + 1, lengths[anchor]
    if generator.random() < _ALONE:
        return start, end
    while start > 0 or end < len(lengths):
        before = end == len(lengths) or (start > 0 and generator.random() < 0.5)
        extra = lengths[start - 1 if before else end]
        if used + extra > room:
            break
        start, end, used = (start - 1, end, used + extra) if before else (start, end + 1, used + extra)
    return start, end


def batches(made: list[Labelled], pieces: int, generator: random.Random) -> Iterator[list[Labelled]]:
    """All windows in batches of at most so many pieces, windows of like length together, the batches in any order."""
    made = sorted(made, key=lambda w: (len(w.window.ids), generator.random()))
    groups: list[list[Labelled]] = [[]]
    for each in made:
        if groups[-1] and (len(groups[-1]) + 1) * len(each.window.ids) > pieces:
            groups.append([])
        groups[-1].append(each)
    generator.shuffle(groups)
    yield from groups


def padded(rows: Sequence[Sequence[int]], fill: int = 0) -> NDArray[np.int64]:
    """The rows side by side, filled up to the longest."""
    found = np.full((len(rows), max(map(len, rows))), fill, np.int64)
    for at, row in enumerate(rows):
        found[at, : len(row)] = row
    return found
