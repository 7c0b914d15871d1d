"""The reader: which sentences of some passages answer a question, and how likely it is that any does.

All numbers that leave it are integers in thousandths. A function of the question, the passages and the shipped files:
nothing that was not admitted is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ai.errors import ReaderUnavailable
from ai.models.reader.encoding import PieceReader
from ai.models.reader.features import NAMES, Asked, features_of
from ai.models.reader.files import FOLDER, checked
from ai.models.reader.network import Network
from ai.models.reader.told import BorneOut, Reading, Scored, Told

CALIBRATION = "calibration.json"
CLAIM_FEATURES = 4
_LOWEST = -30.0
_NEVER_MILLI = 1_001
_OF_BUNDLE = tuple(NAMES.index(name) for name in ("words", "answered", "cosine"))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The weights over the features of a sentence, by which one is chosen; those without what it has of the question's
    words, by which its bundle is judged, and the weights over a bundle's best sentences; and for each false-answer rate
    (thousandths) the least chance at which a bundle is answered. And the weights of a claim beside a passage, with the
    least chance at which it is borne out, for each rate of false claims."""

    sentence: tuple[float, ...]
    telling: tuple[float, ...]
    bundle: tuple[float, ...]
    least_milli: tuple[tuple[int, int], ...]
    claim: tuple[float, ...]
    claim_least_milli: tuple[tuple[int, int], ...]

    @classmethod
    def load(cls, folder: Path = FOLDER) -> Calibration:
        """Raises `ReaderUnavailable` for a file that is missing or does not fit the features."""
        try:
            body = json.loads(checked(folder, CALIBRATION))
            found = cls(
                tuple(map(float, body["sentence"])),
                tuple(map(float, body["telling"])),
                tuple(map(float, body["bundle"])),
                _least_of(body["least_milli"]),
                tuple(map(float, body["claim"])),
                _least_of(body["claim_least_milli"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise ReaderUnavailable("the reader's calibration cannot be read") from exc
        lengths = len(found.sentence), len(found.telling), len(found.claim)
        fitting = len(NAMES) + 1, len(NAMES) + 1, CLAIM_FEATURES + 1
        if body["features"] != list(NAMES) or lengths != fitting or not found.least_milli:
            raise ReaderUnavailable("the reader's calibration does not fit this version")
        return found

    def least(self, rate_milli: int) -> int:
        """The least chance for a false-answer rate: between two rates that were measured in proportion; above the
        highest no less, and below the lowest nothing is answered."""
        return _least(self.least_milli, rate_milli)

    def claim_least(self, rate_milli: int) -> int:
        """The same for a rate of false claims."""
        return _least(self.claim_least_milli, rate_milli)


def _least_of(body: Mapping[str, object]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((int(rate), int(str(least))) for rate, least in body.items()))


def _least(measured: Sequence[tuple[int, int]], rate_milli: int) -> int:
    if not measured or rate_milli < measured[0][0]:
        return _NEVER_MILLI
    rates, least = zip(*measured, strict=True)
    return math.ceil(float(np.interp(rate_milli, rates, least)))


@dataclass(frozen=True, slots=True)
class Rows:
    """The features of the sentences, and where those are."""

    keys: tuple[tuple[int, int], ...]
    features: tuple[tuple[float, ...], ...]


class Reader:
    """A network with its calibration."""

    def __init__(self, network: Network, calibration: Calibration) -> None:
        self._network, self.calibration = network, calibration

    @property
    def pieces(self) -> PieceReader:
        """Its tokenizer."""
        return self._network.pieces

    @classmethod
    def load(cls, folder: Path = FOLDER) -> Reader:
        """Raises `ReaderUnavailable`."""
        return cls(Network.load(folder), Calibration.load(folder))

    def read(self, question: str, passages: Sequence[Told]) -> Reading:
        """Read the passages for the question."""
        rows = rows_of(self._network, question, passages)
        logits = [weighed(self.calibration.sentence, row) for row in rows.features]
        if not logits:
            return Reading((), 0)
        scored = [Scored(*key, _milli(logit)) for key, logit in zip(rows.keys, logits, strict=True)]
        ordered = sorted(scored, key=lambda each: (-each.milli, each.passage, each.place))
        told = best_features([weighed(self.calibration.telling, row) for row in rows.features], rows.features)
        return Reading(tuple(ordered), _milli(weighed(self.calibration.bundle, told)))

    def bears_out(self, claim: str, told: Told) -> BorneOut:
        """How likely the passage bears the claim out, and which of its sentences does most for it."""
        weighed_up = self._network.weigh(claim, told)
        return BorneOut(_milli(weighed(self.calibration.claim, weighed_up.features)), weighed_up.place)

    def closeness(self, question: str, texts: Sequence[str]) -> list[int]:
        """The cosine of the question with each text, in thousandths, none below 0."""
        if not texts:
            return []
        vectors = self._network.embed([question, *texts])
        return [max(0, round(1000 * float(each))) for each in vectors[1:] @ vectors[0]]


def rows_of(network: Network, question: str, passages: Sequence[Told]) -> Rows:
    """The features of all sentences that may be an answer."""
    keys = [(number, place) for number, told in enumerate(passages) for place in told.places]
    if not keys:
        return Rows((), ())
    sentences = [passages[number].sentences[place] for number, place in keys]
    vectors = network.embed([question, *sentences])
    judged = network.judge(question, passages)
    features = features_of(
        Asked.of(question, network.pieces),
        sentences=sentences,
        around=[passages[number].around(place) for number, place in keys],
        cosines=[float(each) for each in vectors[1:] @ vectors[0]],
        judged=[judged[number][place] for number, place in keys],
    )
    return Rows(tuple(keys), tuple(features))


def best_features(logits: Sequence[float], rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """A bundle by its sentences: the best, the best but one, and all together; and the highest that the network and
    the cosine say of any."""
    ordered = sorted(logits, reverse=True)
    first = ordered[0]
    second = ordered[1] if len(ordered) > 1 else _LOWEST
    together = first + math.log(sum(math.exp(each - first) for each in ordered))
    highest = (max(row[column] for row in rows) for column in _OF_BUNDLE)
    return first, max(second, first - 10), together, *highest


def weighed(weights: Sequence[float], row: Sequence[float]) -> float:
    """The sum of the features by their weights, and the intercept, which is the last weight."""
    return sum(w * x for w, x in zip(weights, row, strict=False)) + weights[-1]


def _milli(logit: float) -> int:
    return round(1000 / (1 + math.exp(-max(-30.0, min(30.0, logit)))))
