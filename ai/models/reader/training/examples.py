"""Questions with a passage cut into sentences, and which of them answer: read from the data sets of the training.

No question of a document that calibrates the reader (`ai.models.reader.held_back`) trains it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ai.text.sentences import split_sentences, trimmed, word_list

_WORD = re.compile(r"[^\W_]+")
_COMMON = word_list("the of in and to a is was for on as by with did what who when where which how at from that")


@dataclass(frozen=True, slots=True)
class Example:
    """A question and a passage. `answers` are the places of the sentences that answer it, none if the passage does
    not; `spans` are (sentence, start, end) of the words that answer, where the data tell them."""

    question: str
    title: str
    sentences: tuple[str, ...]
    answers: frozenset[int]
    spans: tuple[tuple[int, int, int], ...] = ()
    source: str = ""


def read_examples(folder: Path) -> list[Example]:
    """All examples of the training data in `folder`, in a fixed order."""
    found: list[Example] = []
    for name in ("squad-2.0-train-part.json", "squad-2.0-dev-half.json"):
        found += _squad(json.loads((folder / name).read_text()), name)
    for name in ("selqa-dev.json", "selqa-test-half.json"):
        found += _selqa(json.loads((folder / name).read_text()), name)
    lines = (folder / "wice-nonsupported-train.jsonl").read_text().splitlines()
    return found + list(_wice([json.loads(line) for line in lines]))


def with_hard_negatives(examples: Sequence[Example], generator: random.Random, share: float) -> list[Example]:
    """The examples, and for a share of those that are answered the passage of the same document that shares most
    words with the question and is another: it does not answer."""
    by_title: dict[str, dict[tuple[str, ...], frozenset[str]]] = {}
    for each in examples:
        by_title.setdefault(each.title, {})[each.sentences] = _words(" ".join(each.sentences))
    found = list(examples)
    for each in examples:
        if not each.answers or not each.source.startswith(("squad", "selqa")) or generator.random() >= share:
            continue
        asked, spans = _words(each.question), [each.sentences[s][a:b] for s, a, b in each.spans]
        ranked = sorted(
            (
                (len(asked & words), sentences)
                for sentences, words in by_title[each.title].items()
                if sentences != each.sentences and not any(span in " ".join(sentences) for span in spans)
            ),
            reverse=True,
        )
        if ranked:
            other = ranked[min(len(ranked) - 1, int(generator.random() ** 2 * 4))][1]
            found.append(replace(each, sentences=other, answers=frozenset(), spans=(), source=each.source + "-hard"))
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _COMMON


def _squad(body: dict[str, Any], name: str) -> Iterator[Example]:
    for article in body["data"]:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            cuts = [trimmed(text, span) for span in split_sentences(text)]
            sentences = tuple(text[cut.start : cut.end] for cut in cuts)
            for asked in paragraph["qas"]:
                spans = set()
                for answer in asked["answers"]:
                    start = answer["answer_start"]
                    place = max(i for i, cut in enumerate(cuts) if cut.start <= start or i == 0)
                    begin = start - cuts[place].start
                    spans.add((place, begin, min(begin + len(answer["text"]), len(sentences[place]))))
                answers = frozenset(place for place, _, _ in spans)
                yield Example(asked["question"].strip(), title, sentences, answers, tuple(sorted(spans)), name)


def _selqa(body: list[dict[str, Any]], name: str) -> Iterator[Example]:
    for asked in body:
        sentences = tuple(" ".join(each.split()) or "." for each in asked["candidates"])
        yield Example(asked["question"].strip(), asked["article"], sentences, frozenset(asked["answers"]), (), name)


def _wice(rows: list[dict[str, Any]]) -> Iterator[Example]:
    """A claim, and the part of its evidence around a supporting sentence: what bears it out answers it."""
    for row in rows:
        told = frozenset(place for group in row["supporting_sentences"] for place in group)
        evidence = [" ".join(each.split())[:400] or "." for each in row["evidence"]]
        title = next((each.partition("TITLE:")[2].strip() for each in evidence if "TITLE:" in each), "")
        for start in {max(0, place - 4) for place in sorted(told)[:2]}:
            window = range(start, min(len(evidence), start + 9))
            answers = frozenset(place - start for place in window if place in told)
            yield Example(row["claim"], title, tuple(evidence[i] for i in window), answers, (), "wice")
