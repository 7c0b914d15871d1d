"""WiCE (Kamoi et al. 2023): does the support judge tell supported claims from others better than plain overlap does?"""

from __future__ import annotations

import json
from pathlib import Path

from ai.text.support import support_milli
from api.http.measures import auc, figure
from api.measure.eval.tables import Part, goal
from retrieval.english.lists import STOP_WORDS
from retrieval.english.words import words

FILE = "claim_dev.jsonl"


def read(folder: Path) -> list[tuple[str, list[str], bool]]:
    """(claim, the article's sentences that the annotators marked, or its best by overlap, supported?)."""
    found = []
    for line in (folder / FILE).read_text("utf-8").splitlines():
        each = json.loads(line)
        marked = sorted({at for group in each["supporting_sentences"] for at in group})
        chosen = [each["evidence"][at] for at in marked] or _closest(each["claim"], each["evidence"])
        found.append((each["claim"], chosen, each["label"] == "supported"))
    return found


def _closest(claim: str, sentences: list[str]) -> list[str]:
    asked = _content(claim)
    return sorted(sentences, key=lambda s: -len(asked & _content(s)))[:3]


def _content(text: str) -> set[str]:
    return {word for word in words(text) if word not in STOP_WORDS}


def overlap(claim: str, quotes: list[str]) -> float:
    """The baseline: the share of the claim's content words that the quotes hold."""
    asked = _content(claim)
    return len(asked & _content(" ".join(quotes))) / len(asked) if asked else 0.0


async def run(folder: Path, work: Path) -> Part:
    """Areas under the curve of judge and baseline on the same claims, and the interval of their difference."""
    del work
    cases = read(folder)
    labels = [label for _, _, label in cases]
    judged = [float(support_milli(claim, [" ".join(quotes)], [" ".join(quotes)])) for claim, quotes, _ in cases]
    plain = [overlap(claim, quotes) for claim, quotes, _ in cases]
    wins = figure([float((a >= b) == label) for a, b, label in zip(judged, plain, labels, strict=True)])
    reached, baseline = round(auc(judged, labels), 3), round(auc(plain, labels), 3)
    return {
        "name": "WiCE",
        "questions": len(cases),
        "ways": {"support judge": {"auc": reached}, "lexical overlap": {"auc": baseline}},
        "agreement": wins.mean,
        "goals": {"AUC above overlap": goal(baseline, reached)},
    }
