"""Calibrate the reader on documents held back: `python -m ai.models.reader.training.calibrate --data FOLDER`.

For each question held back two bundles are made: its own passage among three others of its document that are closest
to it (answered), and four such others alone (not answered). A logistic regression over the features of a sentence is
fitted to whether it answers; over each bundle's best sentences, to whether the bundle answers. Folds are by document:
every figure is of documents that the fold did not see. Writes `calibration.json` beside the weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai.model import PromptSource
from ai.models.candidates import PARAMETERS, candidates
from ai.models.reader.features import NAMES
from ai.models.reader.files import FOLDER
from ai.models.reader.held_back import is_held_back
from ai.models.reader.network import Network
from ai.models.reader.reader import best_features, rows_of
from ai.models.reader.told import Told
from ai.models.reader.training.examples import Example, read_examples
from retrieval.model import Intent

FOLDS = 5
RIDGE = 1.0
RATES_MILLI = (80, 100, 120, 150, 200, 250, 300, 400, 500)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A question over several passages: a row of features for each sentence, which answer, whether any does, and
    whether the words alone find one."""

    document: str
    rows: NDArray[np.float64]
    right: NDArray[np.float64]
    answered: bool
    by_words: bool


def main() -> None:
    """Parse the command line, calibrate, and say the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, default=FOLDER)
    parser.add_argument("--questions", type=int, default=600)
    arguments = parser.parse_args()
    network, generator = Network.load(arguments.weights, threads=1), random.Random(16)
    held = [e for e in read_examples(arguments.data) if is_held_back(e.title) and e.answers and e.source != "wice"]
    generator.shuffle(held)
    bundles = make_bundles(held[: arguments.questions], held, network, generator)
    for name, columns in (("cosine", (0,)), ("words", range(2, len(NAMES))), ("all", range(len(NAMES)))):
        sys.stdout.write(json.dumps({"features": name, **across_folds(bundles, list(columns))}) + "\n")
    body = calibration(bundles)
    (arguments.weights / "calibration.json").write_text(json.dumps(body, indent=1) + "\n")


def make_bundles(
    asked: Sequence[Example], held: Sequence[Example], network: Network, generator: random.Random
) -> list[Bundle]:
    """Two bundles a question."""
    passages: dict[str, list[tuple[str, ...]]] = {}
    for each in held:
        told = passages.setdefault(each.title, [])
        if each.sentences not in told:
            told.append(each.sentences)
    network = Remembering(network)
    vectors = network.vectors_of
    found = []
    for number, each in enumerate(asked):
        said = [each.sentences[s][a:b] for s, a, b in each.spans]
        others = [p for p in passages[each.title] if p != each.sentences and not any(w in " ".join(p) for w in said)]
        if len(others) < 4:
            others += [
                p for title in generator.sample(sorted(passages), 6) for p in passages[title][:1] if title != each.title
            ]
        others.sort(key=lambda p: -max(float(vectors(each.question) @ vectors(s)) for s in p))
        answered = [(each.sentences, each.answers), *((p, frozenset[int]()) for p in others[:3])]
        nothing = [(p, frozenset[int]()) for p in others[:4]]
        found += [_bundle(each, answered, network), _bundle(each, nothing, network)]
        if number % 100 == 99:
            sys.stdout.write(f"{number + 1} questions read\n")
            sys.stdout.flush()
    return found


class Remembering(Network):
    """A network that makes each vector once."""

    def __init__(self, network: Network) -> None:
        super().__init__(network._session, network.pieces)
        self._kept: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Network`."""
        fresh = sorted({text for text in texts if text not in self._kept})
        self._kept.update(zip(fresh, super().embed(fresh), strict=True))
        return np.array([self._kept[text] for text in texts])

    def vectors_of(self, text: str) -> NDArray[np.float32]:
        """The vector of one text."""
        return self.embed([text])[0]


def _bundle(asked: Example, passages: Sequence[tuple[tuple[str, ...], frozenset[int]]], network: Network) -> Bundle:
    told = [Told(asked.title, sentences, tuple(range(len(sentences)))) for sentences, _ in passages]
    sources = [
        PromptSource(number, "passage", asked.title, " ".join(sentences), None)
        for number, (sentences, _) in enumerate(passages, start=1)
    ]
    by_words = bool(candidates(asked.question, Intent(), sources, PARAMETERS, math.inf))
    rows = rows_of(network, asked.question, told)
    right = [float(place in passages[number][1]) for number, place in rows.keys]
    return Bundle(
        asked.title, np.array(rows.features), np.array(right), any(answers for _, answers in passages), by_words
    )


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


def train_on(bundles: Sequence[Bundle], columns: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights of sentences, and those of bundles over their best sentences."""
    rows, right = np.vstack([b.rows for b in bundles])[:, columns], np.concatenate([b.right for b in bundles])
    sentence = fit(rows, right)
    told = np.array([best_features(_logits(b, sentence, columns)) for b in bundles])
    return sentence, fit(told, np.array([float(b.answered) for b in bundles]))


def _logits(bundle: Bundle, sentence: NDArray[np.float64], columns: list[int]) -> list[float]:
    found: list[float] = (bundle.rows[:, columns] @ sentence[:-1] + sentence[-1]).tolist()
    return found


def across_folds(bundles: Sequence[Bundle], columns: list[int]) -> dict[str, Any]:
    """The figures over folds by document."""
    logits, truth, first = scores_across_folds(bundles, columns)
    order = np.sort(logits[~truth])
    answered = {
        rate: round(float((logits[truth] > order[int(np.ceil((1 - rate / 1000) * len(order))) - 1]).mean()), 3)
        for rate in (50, 100, 150)
    }
    ranks = np.argsort(np.argsort(logits)) + 1
    yes = truth.sum()
    auc = (ranks[truth].sum() - yes * (yes + 1) / 2) / (yes * (~truth).sum())
    return {
        "first": round(float(first.mean()), 3),
        "auc": round(float(auc), 3),
        "answered at a false-answer rate": answered,
    }


def scores_across_folds(
    bundles: Sequence[Bundle], columns: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Per bundle the logit of a fold that did not see its document, and whether it answers; and of those that do,
    whether the first sentence is right."""
    logits, truth, first = np.zeros(len(bundles)), np.array([b.answered for b in bundles]), []
    for fold in range(FOLDS):
        mine = [_fold(b.document) == fold for b in bundles]
        if not any(mine):
            continue
        sentence, bundle = train_on([b for b, held in zip(bundles, mine, strict=True) if not held], columns)
        for at in np.flatnonzero(mine).tolist():
            told = _logits(bundles[at], sentence, columns)
            logits[at] = np.array(best_features(told)) @ bundle[:-1] + bundle[-1]
            if truth[at]:
                first.append(bundles[at].right[int(np.argmax(told))])
    return logits, truth, np.array(first)


def _fold(document: str) -> int:
    return hashlib.sha256(re.sub(r"\s", "", document).encode()).digest()[1] % FOLDS


def calibration(bundles: Sequence[Bundle]) -> dict[str, Any]:
    """What the product reads: the weights, and for false-answer rates the least chance (in thousandths) at which a
    bundle is answered in which the words alone find nothing, so that both together keep the rate over the folds."""
    columns = list(range(len(NAMES)))
    sentence, bundle = train_on(bundles, columns)
    logits, truth, _ = scores_across_folds(bundles, columns)
    chances, by_words = 1000 / (1 + np.exp(-logits)), np.array([b.by_words for b in bundles])
    least: dict[str, int] = {}
    for rate in RATES_MILLI:
        false = [(by_words | (chances >= bar))[~truth].mean() for bar in range(1002)]
        least[str(rate)] = next((bar for bar, share in enumerate(false) if 1000 * share <= rate), 1001)
    met = {
        "by words": [round(float(by_words[of].mean()), 3) for of in (truth, ~truth)],
        "at 0.10": [round(float((by_words | (chances >= least["100"]))[of].mean()), 3) for of in (truth, ~truth)],
    }
    sys.stdout.write(json.dumps({"answered, of answerable and of others": met, "least": least}) + "\n")
    return {
        "features": list(NAMES),
        "sentence": [round(float(each), 5) for each in sentence],
        "bundle": [round(float(each), 5) for each in bundle],
        "least_milli": least,
    }


if __name__ == "__main__":
    main()
