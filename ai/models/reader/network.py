"""The network, run by ONNX Runtime on the CPU: texts in, vectors out; a question with a passage in,
what it says of each sentence out.

Its files are checked against their digests before a byte of them is interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai.errors import ReaderUnavailable
from ai.models.reader.encoding import PieceReader, Window, windows_of
from ai.models.reader.files import FOLDER, checked
from ai.models.reader.told import Told

WIDTH = 384
_AT_ONCE = 8
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
    """A session over the shipped file. A function of its arguments and the file; safe to call from several threads."""

    def __init__(self, session: Any, pieces: PieceReader) -> None:
        self._session, self.pieces = session, pieces

    @classmethod
    def load(cls, folder: Path = FOLDER, *, threads: int = 2) -> Network:
        """Open the files. Raises `ReaderUnavailable` where one is missing or is not the one that was shipped, and
        where the processor or the runtime cannot run it."""
        return cls.opened(checked(folder, "reader.onnx"), checked(folder, "tokenizer.json"), threads=threads)

    @classmethod
    def opened(cls, network: bytes, tokenizer: bytes, *, threads: int = 2) -> Network:
        """Of the bytes of the two files. Raises `ReaderUnavailable` where they cannot be run here."""
        try:
            import onnxruntime  # noqa: PLC0415  (heavy: only who reads prose loads it)

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads, options.inter_op_num_threads = min(threads, os.cpu_count() or 1), 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
            made = cls(session, PieceReader(tokenizer))
            made.embed(["whether it runs"])
        except Exception as exc:  # whatever a native library raises, the lexical judge can do without it
            raise ReaderUnavailable(f"the reader cannot be run here: {type(exc).__name__}") from exc
        return made

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts, (texts, 384). Texts of like length go together, so that little is padding."""
        read = self.pieces.read(texts)
        order = sorted(range(len(read)), key=lambda at: len(read[at]))
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        for start in range(0, len(order), _AT_ONCE):
            group = order[start : start + _AT_ONCE]
            ids = np.zeros((len(group), len(read[group[-1]])), np.int64)
            mask = np.zeros(ids.shape, np.float32)
            for row, at in enumerate(group):
                ids[row, : len(read[at])], mask[row, : len(read[at])] = read[at], 1
            given = {"ids": ids, "kinds": np.zeros_like(ids), "mask": mask}
            vectors[group] = self._session.run(["vectors"], given)[0]
        return vectors

    def judge(self, question: str, told: Told) -> dict[int, Judgement]:
        """The judgement of each of the passage's places. A function of the question and the passage alone: windows are
        run one by one."""
        asked, title, *sentences = self.pieces.bare([question, told.title, *told.sentences])
        found = {}
        for window, places in windows_of(asked, title, sentences, told.places):
            said = self._say(window)
            none = float(said[0, _BEGINS] + said[0, _ENDS])
            for place, at in places:
                found[place] = _judged(said, window.sentences[at], none)
        return found

    def weigh(self, claim: str, told: Told) -> Weighed:
        """How far a passage bears out a claim. Windows are run one by one."""
        asked, title, *sentences = self.pieces.bare([claim, told.title, *told.sentences])
        borne, wholes, answers = list[NDArray[np.float32]](), [_LOWEST], {0: _LOWEST}
        for window, places in windows_of(asked, title, sentences, told.places) if asked else ():
            said, (begin, end) = self._say(window), window.question
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
