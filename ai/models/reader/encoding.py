"""Texts as word pieces: what the network is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_PIECES = 128
"""Of one text, with the marks at its ends; what is longer is cut."""
QUESTION_PIECES, TITLE_PIECES = 64, 16
"""Of a question or claim, and of a title before a passage."""
WINDOW_PIECES = 224
"""Of a question with a part of a passage; longer ones take more windows."""
_START, _END, _COLON = 101, 102, 1024


@dataclass(frozen=True, slots=True)
class Window:
    """A question and a part of a passage as pieces: `kinds` is 1 in the passage; `sentences` are the places of each
    sentence's pieces, begin and end."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    sentences: tuple[tuple[int, int], ...]
    question: tuple[int, int]


def joined(question: Sequence[int], title: Sequence[int], sentences: Sequence[Sequence[int]], room: int) -> Window:
    """The question, the title and the sentences, of which at most `room` pieces are kept."""
    ids = [_START, *question[:QUESTION_PIECES], _END]
    asked = 1, len(ids) - 1
    if title:
        ids += [*title[:TITLE_PIECES], _COLON]
    first = asked[1] + 1
    stop = len(ids) + room
    places = []
    for each in sentences:
        begin = len(ids)
        if begin >= stop:
            break
        ids += each[: stop - begin]
        places.append((begin, len(ids)))
    ids.append(_END)
    return Window(tuple(ids), (0,) * first + (1,) * (len(ids) - first), tuple(places), asked)


def windows_of(
    question: Sequence[int], title: Sequence[int], sentences: Sequence[Sequence[int]], places: Sequence[int]
) -> list[tuple[Window, tuple[tuple[int, int], ...]]]:
    """The windows in which the sentences at `places` are read, each once: as many neighbours as there is room for, the
    next window begins with the last sentence of the one before. Beside each window the places that are read in it and
    where among its sentences those are."""
    room = WINDOW_PIECES - 3 - min(len(question), QUESTION_PIECES) - min(len(title), TITLE_PIECES) - 1
    made, wanted, at = [], sorted(places), 0
    while at < len(wanted):
        start = max(0, wanted[at] - 1)
        if sum(len(each) for each in sentences[start : wanted[at] + 1]) > room:
            start = wanted[at]
        end, used = start, 0
        while end < len(sentences) and (end == start or used + len(sentences[end]) <= room):
            used += len(sentences[end])
            end += 1
        while start > 0 and end == len(sentences) and used + len(sentences[start - 1]) <= room:
            start -= 1
            used += len(sentences[start])
        mine = [place for place in wanted[at:] if place < end]
        made.append((
            joined(question, title, sentences[start:end], room),
            tuple((place, place - start) for place in mine),
        ))  # fmt: skip
        at += len(mine)
    return made


class PieceReader:
    """The tokenizer of the base, from its file's bytes."""

    def __init__(self, file: bytes) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415  (heavy: only who reads prose loads it)

        self._tokenizer: Any = Tokenizer.from_buffer(file)
        self._tokenizer.enable_truncation(MOST_PIECES)
        self._tokenizer.no_padding()

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's pieces, with the marks at its ends."""
        return [each.ids for each in self._tokenizer.encode_batch(list(texts))]

    def bare(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's pieces, without marks."""
        return [each.ids for each in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def ranks(self, word: str) -> list[int]:
        """The places of a word's pieces in the vocabulary, which is ordered by how common they are."""
        ids: list[int] = self._tokenizer.encode(word, add_special_tokens=False).ids
        return ids
