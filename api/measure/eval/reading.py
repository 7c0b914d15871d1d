"""The reader by itself: on CLAPNQ with the passage given, and on SelQA's articles that it was not trained on."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ai.models.reader.features import Asked
from ai.models.reader.held_back import is_held_back
from ai.models.reader.reader import Reader
from ai.models.reader.told import Told
from ai.text.support import WORD, carries, fold
from api.http.ablation.measures import auc, figure, reciprocal_rank
from api.measure.eval.tables import Part, goal, share, told
from retrieval.english.lists import UNWEIGHED_WORDS

CLAPNQ_FILES = ("clapnq_dev_answerable.jsonl", "clapnq_dev_unanswerable.jsonl")
SELQA_FILE = "selqa-test-half.json"
MOST_FALSE = 16
GOALS = {"AUC of answerability": 0.87, "first sentence annotated": 0.80, "answered where 16 are false": 0.65}


async def run_clapnq(folder: Path, work: Path) -> Part:
    """The annotated passage given: the first sentence, the area under the curve of answerability, and what is answered
    where 16 of the unanswerable are, by the reader and by the words alone."""
    del work
    asked = [_clapnq(line) for name in CLAPNQ_FILES for line in (folder / name).read_text("utf-8").splitlines()]
    labels = [bool(right) for _, _, right in asked]
    reader = Reader.load()
    ways: dict[str, Any] = {}
    by_way: dict[str, list[float]] = {}
    for name, judge in (("reader", _by_reader), ("words", _by_words)):
        judged = [judge(reader, question, passage) for question, passage, _ in asked]
        first = [ranked[0] in right for (ranked, _), (_, _, right) in zip(judged, asked, strict=True) if right]
        by_way[name] = chances = [chance for _, chance in judged]
        ways[name] = {
            "AUC of answerability": round(auc(chances, labels), 3),
            "first sentence annotated": share(first),
            "answered where 16 are false": _answered(chances, labels),
        }
    least = reader.calibration.least(100)
    chances = by_way["reader"]
    shipped = {
        "answered": share([c >= least for c, label in zip(chances, labels, strict=True) if label]),
        "answered falsely": share([c >= least for c, label in zip(chances, labels, strict=True) if not label]),
    }
    reached = {name: value["mean"] if isinstance(value, dict) else value for name, value in ways["reader"].items()}
    return {
        "name": "CLAPNQ, the passage given",
        "questions": len(asked),
        "ways": ways | {"reader at its default rate": shipped},
        "goals": {name: goal(least, reached[name]) for name, least in GOALS.items()},
    }


async def run_selqa(folder: Path, work: Path) -> Part:
    """The sentences of a section by reader, words and BM25, on the articles held back from training."""
    del work
    asked = [each for each in json.loads((folder / SELQA_FILE).read_text("utf-8")) if is_held_back(each["article"])]
    reader = Reader.load()
    ways: dict[str, Any] = {}
    for name, judge in (("reader", _by_reader), ("words", _by_words), ("BM25", _by_bm25)):
        precisions, ranks = [], []
        for each in asked:
            passage = Told(each["article"], tuple(each["candidates"]), tuple(range(len(each["candidates"]))))
            ranked = [str(place) for place in judge(reader, each["question"], passage)[0]]
            right = {str(place) for place in each["answers"]}
            ranks.append(reciprocal_rank(ranked, right))
            hits = [at for at, place in enumerate(ranked, start=1) if place in right]
            precisions.append(sum(n / at for n, at in enumerate(hits, start=1)) / len(right))
        ways[name] = {"map": told(figure(precisions)), "mrr": told(figure(ranks))}
    return {"name": "SelQA, articles held back", "questions": len(asked), "ways": ways, "goals": {}}


def _clapnq(line: str) -> tuple[str, Told, frozenset[int]]:
    each = json.loads(line)
    passage = each["passages"][0]
    sentences = tuple(passage["sentences"])
    selected = {s.strip() for answer in each["output"] for s in answer.get("selected_sentences", ())}
    right = frozenset(at for at, sentence in enumerate(sentences) if sentence.strip() in selected)
    return each["input"], Told(passage["title"], sentences, tuple(range(len(sentences)))), right


def _by_reader(reader: Reader, question: str, passage: Told) -> tuple[list[int], float]:
    read = reader.read(question, [passage])
    seen = [each.place for each in read.sentences]
    return seen + [place for place in passage.places if place not in seen], read.answered_milli


def _by_words(reader: Reader, question: str, passage: Told) -> tuple[list[int], float]:
    asked = Asked.of(question, reader.pieces)
    scores = [asked.covered(_words(sentence)) for sentence in passage.sentences]
    return _ranked(scores), max(scores)


def _by_bm25(reader: Reader, question: str, passage: Told) -> tuple[list[int], float]:
    del reader
    texts = [Counter(fold(m[0]) for m in WORD.finditer(sentence)) for sentence in passage.sentences]
    usual = sum(map(Counter.total, texts)) / len(texts)
    scores = [0.0] * len(texts)
    for term in _words(question) - UNWEIGHED_WORDS:
        counts = [sum(n for word, n in text.items() if carries(frozenset((word,)), term)) for text in texts]
        held = sum(count > 0 for count in counts)
        rare = math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
        for at, count in enumerate(counts):
            scores[at] += rare * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * texts[at].total() / usual))
    return _ranked(scores), max(scores)


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(match[0]) for match in WORD.finditer(text))


def _ranked(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def _answered(chances: Sequence[float], labels: Sequence[bool]) -> float:
    """The share of the answerable above the chance that `MOST_FALSE` of the others reach."""
    others = sorted((c for c, label in zip(chances, labels, strict=True) if not label), reverse=True)
    bar = others[MOST_FALSE] if len(others) > MOST_FALSE else -1.0
    mine = [c for c, label in zip(chances, labels, strict=True) if label]
    return round(sum(c > bar for c in mine) / len(mine), 3)
