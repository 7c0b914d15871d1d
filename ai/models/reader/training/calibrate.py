"""Calibrate the reader on documents held back: `python -m ai.models.reader.training.calibrate --data FOLDER`.

For questions held back bundles of one to four passages are made: their own passage, alone and among others of its
document that are closest to it (answered); such others alone (not answered); and questions that the annotators found no
answer to, with the passage that they read (not answered). A logistic regression over the features of a sentence is
fitted to whether it answers; over each bundle's best sentences, to whether the bundle answers.

Every figure leaves one data set out: the weights are fitted on the documents held back of the others. The least chance
for a false-answer rate is that at which neither the mean of the sets' rates, each left out, is higher, nor that of the
questions which were written by hand to look answerable. Writes `calibration.json` beside the weights.

Claims about documents held back are weighed beside the whole of these; the least chances at which so many of the false
ones would pass come from two halves of the documents, each by the weights of the other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai.model import PromptSource
from ai.models.candidates import PARAMETERS, candidates
from ai.models.reader.features import NAMES
from ai.models.reader.files import FOLDER
from ai.models.reader.held_back import is_held_back
from ai.models.reader.network import Judgement, Network
from ai.models.reader.reader import best_features, rows_of
from ai.models.reader.told import Told
from ai.models.reader.training.examples import BY_HAND, CLAIMS, Example, read_examples
from retrieval.model import Intent

RIDGE = 1.0
_COVERED = "covered", "covered_nearby"
RATES_MILLI = (50, 80, 100, 120, 150, 200, 250, 300, 400, 500)
CLAIM_RATES_MILLI = (5, 10, 20, 30, 50, 100)
QUESTIONS, QUESTIONS_OF_OTHERS = dict.fromkeys(BY_HAND, 400), 80
"""Of each kind (answered, not) in a data set."""
Passage = tuple[tuple[str, ...], frozenset[int]]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A question over several passages: a row of features for each sentence, which answer, whether any does, whether
    the words alone find one, and whether the question was written to look as if one did."""

    source: str
    rows: NDArray[np.float64]
    right: NDArray[np.float64]
    answered: bool
    by_words: bool
    to_fool: bool


def main(given: Sequence[str] | None = None) -> None:
    """Parse the command line, calibrate, and say the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, default=FOLDER)
    arguments = parser.parse_args(given)
    files = ((arguments.weights / name).read_bytes() for name in ("reader.onnx", "tokenizer.json"))
    network, generator = Remembering(Network.opened(*files)), random.Random(16)
    held = [e for e in read_examples(arguments.data) if is_held_back(e.title) and not e.source.startswith("wice")]
    claims = claim_calibration([e for e in held if e.source == CLAIMS], network)
    held = [e for e in held if e.source != CLAIMS]
    bundles: list[Bundle] = []
    for source in sorted({each.source for each in held}):
        most = QUESTIONS.get(source, QUESTIONS_OF_OTHERS)
        bundles += make_bundles([e for e in held if e.source == source], most, network, generator)
        say({"set": source, "bundles so far": len(bundles)})
    every = list(range(len(NAMES)))
    ways = {
        "cosine": [NAMES.index("cosine")],
        "words": list(range(NAMES.index("covered"), len(NAMES))),
        "network": list(range(NAMES.index("cosine"))),
        "without the cosine": [c for c in every if not NAMES[c].startswith("cosine")],
        "all": every,
    }
    for name, columns in ways.items():
        say({"features": name, **figures(bundles, columns)})
    body = calibration(bundles) | claims
    (arguments.weights / "calibration.json").write_text(json.dumps(body, indent=1) + "\n")


def say(told: object) -> None:
    """A line of the log."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def claim_calibration(claims: Sequence[Example], network: Network) -> dict[str, Any]:
    """The weights of a claim beside a passage, and the least chances by rate of false claims."""
    weighed = [network.weigh(e.question, Told.whole(e.title, e.sentences)) for e in claims]
    rows = np.array([each.features for each in weighed])
    truth = np.array([float(bool(e.answers)) for e in claims])
    half = np.array([hashlib.sha256(e.title.encode()).digest()[0] % 2 == 0 for e in claims])
    chances = np.zeros(len(rows))
    for mine in (half, ~half):
        weights = fit(rows[~mine], truth[~mine])
        chances[mine] = 1000 / (1 + np.exp(-np.clip(rows[mine] @ weights[:-1] + weights[-1], -30, 30)))
    true, false = chances[truth > 0], chances[truth == 0]
    least = {str(rate): _least([false], rate) for rate in CLAIM_RATES_MILLI}
    kept = {rate: round(float((true >= bar).mean()), 3) for rate, bar in least.items()}
    place = [at.place in e.answers for e, at in zip(claims, weighed, strict=True) if e.answers]
    area = round(float((true[:, None] > false).mean()), 3)
    say({"claims": len(claims), "auc": area, "true at": kept, "sentence right": round(float(np.mean(place)), 3)})
    return {"claim": [round(float(each), 5) for each in fit(rows, truth)], "claim_least_milli": least}


def make_bundles(held: Sequence[Example], most: int, network: Remembering, generator: random.Random) -> list[Bundle]:
    """The bundles of one data set."""
    passages: dict[str, list[tuple[str, ...]]] = {}
    for each in held:
        told = passages.setdefault(each.title, [])
        if each.sentences not in told:
            told.append(each.sentences)
    answered, others = [e for e in held if e.answers], [e for e in held if not e.answers]
    found = []
    for each in generator.sample(answered, min(most, len(answered))):
        said = [each.sentences[s][a:b] for s, a, b in each.spans]
        near = [p for p in passages[each.title] if p != each.sentences and not any(w in " ".join(p) for w in said)]
        close = _closest(each, near, passages, network, generator)
        own: Passage = each.sentences, each.answers
        groups = [[own], [own, *close[:3]], close[:1], close[:4]]
        found += [_bundle(each, group, network) for group in groups if group]
    for each in generator.sample(others, min(most, len(others))):
        near = [p for p in passages[each.title] if p != each.sentences]
        close = _closest(each, near, passages, network, generator)
        own = each.sentences, frozenset()
        found += [_bundle(each, group, network) for group in ([own], [own, *close[:3]])]
    return found


def _closest(
    each: Example,
    near: Sequence[tuple[str, ...]],
    passages: dict[str, list[tuple[str, ...]]],
    network: Remembering,
    generator: random.Random,
) -> list[Passage]:
    """Four passages without the answer, those closest to the question first; where the document has too few, of other
    documents."""
    asked = network.vector_of(each.question)
    ranked = sorted(near, key=lambda p: -float(asked @ network.vector_of(" ".join(p))))[:4]
    if len(ranked) < 4:
        titles = [title for title in sorted(passages) if title != each.title]
        ranked += [passages[title][0] for title in generator.sample(titles, min(len(titles), 4 - len(ranked)))]
    return [(passage, frozenset()) for passage in ranked]


class Remembering(Network):
    """A network that makes each vector and each judgement once."""

    def __init__(self, network: Network) -> None:
        super().__init__(network._session, network.pieces)
        self._vector_of = cache(self._embedded)
        self._judged: dict[tuple[str, Told], dict[int, Judgement]] = {}

    def judge(self, question: str, passages: Sequence[Told]) -> list[dict[int, Judgement]]:
        """See `Network`."""
        fresh = [told for told in dict.fromkeys(passages) if (question, told) not in self._judged]
        for told, judged in zip(fresh, super().judge(question, fresh), strict=True):
            self._judged[question, told] = judged
        return [self._judged[question, told] for told in passages]

    def vector_of(self, text: str) -> NDArray[np.float32]:
        """The vector of one text."""
        return self.embed([text])[0]


def _bundle(asked: Example, passages: Sequence[Passage], network: Network) -> Bundle:
    told = [Told.whole(asked.title, sentences) for sentences, _ in passages]
    sources = [
        PromptSource(number, "passage", asked.title, " ".join(sentences), None)
        for number, (sentences, _) in enumerate(passages, start=1)
    ]
    by_words = bool(candidates(asked.question, Intent(), sources, PARAMETERS, math.inf))
    rows = rows_of(network, asked.question, told)
    right = [float(place in passages[number][1]) for number, place in rows.keys]
    answered = any(answers for _, answers in passages)
    return Bundle(asked.source, np.array(rows.features), np.array(right), answered, by_words, not asked.answers)


def fit(rows: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logistic regression with a small ridge over standardised features, by Newton's method; the last weight is the
    intercept."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-6
    x = np.hstack([(rows - mean) / spread, np.ones((len(rows), 1))])
    ridge = np.diag([RIDGE] * rows.shape[1] + [1e-6])
    found = np.zeros(x.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        bend = (x * (chance * (1 - chance))[:, None]).T @ x + ridge
        step = np.linalg.solve(bend, x.T @ (right - chance) - ridge @ found)
        found = found + step * min(1.0, 3.0 / (1e-9 + np.abs(step).max()))
    weights = found[:-1] / spread
    return np.append(weights, found[-1] - weights @ mean)


@dataclass(frozen=True, slots=True)
class Weights:
    """Over the features of a sentence, over those without what it has of the question's words, and over a bundle's best
    sentences; each as long as its features, and the intercept."""

    sentence: NDArray[np.float64]
    telling: NDArray[np.float64]
    bundle: NDArray[np.float64]


def train_on(bundles: Sequence[Bundle], columns: list[int]) -> Weights:
    """The weights that `columns` of the features make. A near miss has the words of its question more often than an
    answer has them: they choose a sentence, and do not tell whether any answers."""
    rows, right = np.vstack([b.rows for b in bundles]), np.concatenate([b.right for b in bundles])
    sentence = _fitted(rows, right, columns)
    telling = _fitted(rows, right, [c for c in columns if NAMES[c] not in _COVERED] or columns)
    told = np.array([_told(b, telling, columns) for b in bundles])
    return Weights(sentence, telling, fit(told, np.array([float(b.answered) for b in bundles])))


def _fitted(rows: NDArray[np.float64], right: NDArray[np.float64], columns: list[int]) -> NDArray[np.float64]:
    """The weights of some features, those of the others 0."""
    found = np.zeros(rows.shape[1] + 1)
    found[[*columns, -1]] = fit(rows[:, columns], right)
    return found


def _told(bundle: Bundle, telling: NDArray[np.float64], columns: list[int]) -> tuple[float, ...]:
    """The features of a bundle; those that `columns` leave out are blank."""
    rows = np.zeros_like(bundle.rows)
    rows[:, columns] = bundle.rows[:, columns]
    return best_features(_logits(bundle, telling), rows.tolist())


def _logits(bundle: Bundle, weights: NDArray[np.float64]) -> list[float]:
    found: list[float] = (bundle.rows @ weights[:-1] + weights[-1]).tolist()
    return found


@dataclass(frozen=True, slots=True)
class Scores:
    """Per bundle its chance by weights of the other data sets, and whether the best sentence is right."""

    chances: NDArray[np.float64]
    truth: NDArray[np.bool_]
    first: NDArray[np.bool_]
    sources: NDArray[np.str_]
    to_fool: NDArray[np.bool_]


def scores(bundles: Sequence[Bundle], columns: list[int]) -> Scores:
    """With each data set left out in turn."""
    chances, first = np.zeros(len(bundles)), np.zeros(len(bundles), bool)
    sources = np.array([b.source for b in bundles])
    for source in sorted(set(sources.tolist())):
        weights = train_on([b for b in bundles if b.source != source], columns)
        for at in np.flatnonzero(sources == source).tolist():
            logit = np.array(_told(bundles[at], weights.telling, columns)) @ weights.bundle[:-1] + weights.bundle[-1]
            chances[at] = 1000 / (1 + np.exp(-np.clip(logit, -30, 30)))
            first[at] = bool(bundles[at].right[int(np.argmax(_logits(bundles[at], weights.sentence)))])
    truth, to_fool = np.array([b.answered for b in bundles]), np.array([b.to_fool for b in bundles])
    return Scores(chances, truth, first, sources, to_fool)


def figures(bundles: Sequence[Bundle], columns: list[int]) -> dict[str, Any]:
    """Per data set, left out: the best sentence right where one is, the area under the curve of answerability, and what
    is answered where .10 of the others are."""
    told = scores(bundles, columns)
    found = {}
    for source in sorted(set(told.sources.tolist())):
        mine = told.sources == source
        yes, no = told.chances[mine & told.truth], told.chances[mine & ~told.truth]
        auc = float(((yes[:, None] > no).mean() + (yes[:, None] >= no).mean()) / 2)
        found[source] = {
            "first": round(float(told.first[mine & told.truth].mean()), 3),
            "auc": round(auc, 3),
            "answered at .10": round(float((yes > np.quantile(no, 0.9, method="higher")).mean()), 3),
        }
    return found


def calibration(bundles: Sequence[Bundle]) -> dict[str, Any]:
    """The calibration that the product reads: the weights, and for false-answer rates the least chance (in thousandths)
    at which a bundle is answered, so that the rate holds over the data sets, with weights fitted on the others."""
    columns = list(range(len(NAMES)))
    weights = train_on(bundles, columns)
    told = scores(bundles, columns)
    least: dict[str, int] = {}
    for rate in RATES_MILLI:
        others = [told.chances[(told.sources == s) & ~told.truth] for s in sorted(set(told.sources.tolist()))]
        fooling = [told.chances[(told.sources == s) & told.to_fool] for s in BY_HAND if s in told.sources]
        least[str(rate)] = max(_least(others, rate), _least(fooling, rate))
    words = np.array([b.by_words for b in bundles])
    for source in sorted(set(told.sources.tolist())):
        mine = told.sources == source
        of = {"answerable": mine & told.truth, "others": mine & ~told.truth & ~told.to_fool}
        of |= {"written to fool": mine & told.to_fool} if (mine & told.to_fool).any() else {}
        say({
            "set": source,
            "answered by words": {name: round(float(words[at].mean()), 3) for name, at in of.items()},
            "answered at 0.10": {
                name: round(float((told.chances[at] >= least["100"]).mean()), 3) for name, at in of.items()
            },
        })  # fmt: skip
    say({"least": least})
    return {
        "features": list(NAMES),
        "sentence": [round(float(each), 5) for each in weights.sentence],
        "telling": [round(float(each), 5) for each in weights.telling],
        "bundle": [round(float(each), 5) for each in weights.bundle],
        "least_milli": least,
    }


def _least(others: Sequence[NDArray[np.float64]], rate_milli: int) -> int:
    return next(
        bar for bar in range(1002) if 1000 * float(np.mean([(each >= bar).mean() for each in others])) <= rate_milli
    )


if __name__ == "__main__":
    main()
