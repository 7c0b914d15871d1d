"""The features of a sentence as an answer to a question, and the chance that they make of it.

Words are weighed by how rare they are in English (their rank in the tokenizer's vocabulary), so that no other text of
the collection, seen or unseen, changes what a sentence is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai.models.reader.encoding import PieceReader
from ai.models.reader.network import Judgement
from ai.text.question_type import WantedKind, defines, offers, topic_of, wanted_of
from ai.text.support import WORD, carries, fold
from retrieval.english.lists import UNWEIGHED_WORDS

NAMES = (
    "answers",
    "answers_beside_best",
    "words",
    "answered",
    "cosine",
    "cosine_beside_best",
    "covered",
    "covered_nearby",
    "offers",
    "wants",
    "defines",
)
FIRST_WORD_RANK = 1_996
"""The place of the most common word in the tokenizer's vocabulary; what comes later is rarer."""
_RAREST = 30_522
_ASKING = frozenset(("happen", "happened", "mean", "called", "name", "kind", "type", "use", "used", "tell", "list"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is weighed: the kind of thing it wants and the weight of each of its words."""

    question: str
    wanted: WantedKind
    weights: Mapping[str, float]

    @classmethod
    def of(cls, question: str, pieces: PieceReader) -> Asked:
        """The question, its words weighed by their ranks in the vocabulary."""
        words = {fold(match[0]) for match in WORD.finditer(question)}
        words = {word for word in words if word not in UNWEIGHED_WORDS and word not in _ASKING and len(word) > 1}
        return cls(question, wanted_of(question), {word: _weight(word, pieces) for word in sorted(words)})

    def covered(self, words: frozenset[str]) -> float:
        """The share of the question's words, by weight, that occur; 0 for a question without any."""
        total = sum(self.weights.values())
        held = sum(weight for word, weight in self.weights.items() if carries(words, word))
        return held / total if total else 0.0


def _weight(word: str, pieces: PieceReader) -> float:
    ranks = pieces.ranks(word)
    rank = _RAREST if len(ranks) != 1 else max(1, ranks[0] - FIRST_WORD_RANK)
    return math.log2(2 + rank) / math.log2(_RAREST)


def word_set(text: str) -> frozenset[str]:
    """Its folded words."""
    return frozenset(fold(match[0]) for match in WORD.finditer(text))


def features_of(
    asked: Asked,
    *,
    sentences: Sequence[str],
    around: Sequence[str],
    cosines: Sequence[float],
    judged: Sequence[Judgement],
) -> list[tuple[float, ...]]:
    """One row per sentence, in the order of `NAMES`. `around` is each sentence with its title and neighbours."""
    topic = topic_of(asked.question)
    rows: list[tuple[float, ...]] = []
    best, likeliest = max(cosines, default=0.0), max((each.answers for each in judged), default=0.0)
    for sentence, nearby, cosine, said in zip(sentences, around, cosines, judged, strict=True):
        wants = asked.wanted is not WantedKind.ANY
        fits = wants and offers(sentence, asked.wanted, asked.question, loosely=True)
        rows.append((
            said.answers, said.answers - likeliest, said.words, said.answered,
            cosine, cosine - best, asked.covered(word_set(sentence)), asked.covered(word_set(nearby)),
            float(fits), float(wants), float(topic is not None and defines(sentence, topic)),
        ))  # fmt: skip
    return rows
