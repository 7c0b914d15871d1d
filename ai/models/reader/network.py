"""The network, run by ONNX Runtime on the CPU: texts in, vectors out; a question with a passage in,
what it says of each sentence out.

Its files are checked against their digests before a byte of them is interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai.errors import ReaderUnavailable
from ai.models.reader.encoding import PieceReader, Window, windows_of
from ai.models.reader.files import FOLDER, checked
from ai.models.reader.told import Told

WIDTH = 384
_VECTORS_KEPT = 8_192
"""Some 12 MB: the sentences of the same passages are read for many a question."""
_ANSWERS, _BEGINS, _ENDS, _ANSWERED, _BORNE = range(5)
_LONGEST_SPAN = 24
"""Pieces of the words that answer."""
_LOWEST = -30.0
_WEAKEST = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """The network's judgement of a sentence in its window, as logits: that it answers; how much better its best words
    are than none; that the whole window answers."""

    answers: float
    words: float
    answered: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A claim beside a passage, as logits: that the whole bears it out, of its pieces the mean and that of the weakest
    third, of the passage's sentences the best; and the place of that one."""

    features: tuple[float, float, float, float]
    place: int


class Network:
    """A session over the shipped file. A function of its arguments and the file; safe to call from several threads.

    Each text and each window is run alone, on one core, so that what it gives does not depend on what it is run with;
    as many at a time as there are cores. The vectors of texts are kept: they are functions of the texts alone, whoever
    asks.
    """

    def __init__(self, session: Any, pieces: PieceReader) -> None:
        self._session, self.pieces = session, pieces
        self._cores = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="reader")
        self._vector_of = lru_cache(_VECTORS_KEPT)(self._embedded)

    @classmethod
    def load(cls, folder: Path = FOLDER) -> Network:
        """Open the files. Raises `ReaderUnavailable` where one is missing or is not the one that was shipped, and
        where the processor or the runtime cannot run it."""
        return cls.opened(checked(folder, "reader.onnx"), checked(folder, "tokenizer.json"))

    @classmethod
    def opened(cls, network: bytes, tokenizer: bytes) -> Network:
        """Of the bytes of the two files. Raises `ReaderUnavailable` where they cannot be run here."""
        try:
            import onnxruntime  # noqa: PLC0415  (heavy: only who reads prose loads it)

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
            made = cls(session, PieceReader(tokenizer))
            made.embed(["whether it runs"])
        except Exception as exc:  # whatever a native library raises, the lexical judge can do without it
            raise ReaderUnavailable(f"the reader cannot be run here: {type(exc).__name__}") from exc
        return made

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts, (texts, 384)."""
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        for row, vector in enumerate(self._cores.map(self._vector_of, texts)):
            vectors[row] = vector
        return vectors

    def judge(self, question: str, passages: Sequence[Told]) -> list[dict[int, Judgement]]:
        """Of each passage the judgement of each of its places, which is a function of the question and that passage."""
        windows = [
            (number, window, places)
            for number, told in enumerate(passages)
            if told.places
            for window, places in self._windows(question, told)
        ]
        found: list[dict[int, Judgement]] = [{} for _ in passages]
        heard = self._cores.map(self._say, (window for _, window, _ in windows))
        for (number, window, places), said in zip(windows, heard, strict=True):
            none = float(said[0, _BEGINS] + said[0, _ENDS])
            for place, at in places:
                found[number][place] = _judged(said, window.sentences[at], none)
        return found

    def weigh(self, claim: str, told: Told) -> Weighed:
        """How far a passage bears out a claim."""
        windows = self._windows(claim, told)
        borne, wholes, answers = list[NDArray[np.float32]](), [_LOWEST], {0: _LOWEST}
        heard = self._cores.map(self._say, (window for window, _ in windows))
        for (window, places), said in zip(windows, heard, strict=True):
            begin, end = window.question
            if begin == end:
                break
            borne.append(said[begin:end, _BORNE])
            wholes.append(float(said[0, _ANSWERED]))
            for place, at in places:
                first, last = window.sentences[at]
                answers[place] = float(said[first:last, _ANSWERS].mean()) if last > first else _LOWEST
        if not borne:
            return Weighed((_LOWEST,) * 4, 0)
        parts = np.sort(np.max(borne, axis=0))
        place = max(answers, key=lambda each: (answers[each], -each))
        weak = float(parts[: max(1, len(parts) // _WEAKEST)].mean())
        return Weighed((max(wholes), float(parts.mean()), weak, answers[place]), place)

    def _windows(self, asked: str, told: Told) -> list[tuple[Window, tuple[tuple[int, int], ...]]]:
        said, title, *sentences = self.pieces.bare([asked, told.title, *told.sentences])
        return windows_of(said, title, sentences, told.places)

    def _embedded(self, text: str) -> NDArray[np.float32]:
        ids = np.array(self.pieces.read([text]), np.int64)
        given = {"ids": ids, "kinds": np.zeros_like(ids), "mask": np.ones(ids.shape, np.float32)}
        vector: NDArray[np.float32] = self._session.run(["vectors"], given)[0][0]
        return vector

    def _say(self, window: Window) -> NDArray[np.float32]:
        """(pieces, 5)."""
        ids, kinds = np.array([window.ids], np.int64), np.array([window.kinds], np.int64)
        given = {"ids": ids, "kinds": kinds, "mask": np.ones(ids.shape, np.float32)}
        said: NDArray[np.float32] = self._session.run(["sayings"], given)[0][0]
        return said


def _judged(said: NDArray[np.float32], sentence: tuple[int, int], none: float) -> Judgement:
    begin, end = sentence
    best = max(
        (float(said[at, _BEGINS] + said[at : min(end, at + _LONGEST_SPAN), _ENDS].max()) for at in range(begin, end)),
        default=_LOWEST,
    )
    answers = float(said[begin:end, _ANSWERS].mean()) if end > begin else _LOWEST
    return Judgement(answers, best - none, float(said[0, _ANSWERED]))
