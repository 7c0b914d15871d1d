"""The material of a corpus for drafts: its figures as its tables hold them, and sentences of its passages. Read from
the store of record, never through what is on trial."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from api.errors import RequestRejected
from api.measure.eval.drafting.model import Fact, Told
from retrieval.english.lists import UNWEIGHED_WORDS
from retrieval.model import Record, RecordKind
from retrieval.registry.store import RecordWriter

LEANS = re.compile(r"\W*(?:he|she|it|they|this|that|these|those|his|her|their|its|him|them|such)\b", re.IGNORECASE)
"""Alone, such a sentence does not say of what it speaks: a draft of it is right behind the sentence before it."""
_NOTHING = re.compile(
    r"\W*(?:it\b[^.;:]{1,60}\b(?:that|whether|to)\b|that\s+(?:it|the|he|she|they|there|no|such)\b|those who\b)",
    re.IGNORECASE,
)
"""`It is believed that`, `It is our duty to`, `That it was intended is manifest`: the word may mean nothing."""
_NUMBERED = re.compile(r"[.!?] \d{1,2}\.$")
"""The number of the next paragraph at the end of a sentence."""
SENTENCE = re.compile(r"(?<=[.!?])(?<!Messrs\.)(?<!Mr\.)(?<!St\.)(?<!Gen\.)(?<!Dr\.)[\"”’)]*\s+(?=[A-Z\"“(])")


def _leans(sentence: str) -> bool:
    """True if it says nothing of whom or what it speaks."""
    return LEANS.match(sentence) is not None and not _NOTHING.match(sentence)


async def records_of(store: RecordWriter, tenant: str, label: str = "public") -> list[Record]:
    """Every record of the tenant's open documents."""
    documents = [each.document_id for each in await store.stored(tenant)]
    facts = [await store.facts_of(document) for document in documents]
    open_ones = [f.document_id for f in facts if f is not None and f.visibility.label == label]
    return list((await store.batch(tenant, open_ones)).records)


def figures_of(records: Sequence[Record]) -> list[Fact]:
    """One fact for each cell that holds a figure of a year; none where the corpus states two different ones."""
    found: dict[tuple[str, str, int], set[Fact]] = {}
    for record in records:
        seen = record.measurement
        if seen is None or record.statement is None or seen.time.start.year != seen.time.end.year:
            continue
        year = seen.time.start.year
        fact = Fact(seen.place.entity_id, seen.place.name, seen.measure, year, seen.value, seen.unit, record.statement)
        found.setdefault((fact.place_id, fact.measure, year), set()).add(fact)
    certain = [next(iter(facts)) for facts in found.values() if len(facts) == 1]
    return sorted(certain, key=lambda f: (f.place_id, f.measure, f.year))


def sentences_of(records: Sequence[Record], *, most: int, seed: int = 5) -> list[Told]:
    """Sentences of prose with the question that their own words make."""
    draw = random.Random(f"sentences {seed}")  # noqa: S311  a sample, no secret
    told: list[Told] = []
    for record in records:
        if record.kind is not RecordKind.PASSAGE or record.statement is not None:
            continue
        passage = " ".join(record.text.split())
        for before, sentence in pairwise(["", *map(str.strip, SENTENCE.split(passage))]):
            whole = sentence.endswith(".") and sentence[0].isupper() and not _NUMBERED.search(sentence)
            whole = whole and bool(before or not LEANS.match(sentence))
            if 8 <= len(sentence.split()) <= 32 and whole:
                words = [w for w in re.findall(r"[A-Za-z’'-]{5,}", sentence) if w.lower() not in UNWEIGHED_WORDS]
                question = f"What is said about {' '.join(words[:6])}?"
                told.append(Told(question, sentence, passage, before if _leans(sentence) else ""))
    draw.shuffle(told)
    return told[:most]


def squad_of(file: Path, *, most: int, seed: int = 5) -> tuple[list[tuple[str, str, str]], list[Told]]:
    """Texts (key, title, text) of a file in the form of SQuAD, and its questions with the sentence that answers; to a
    question that the text does not answer the sentence that seems to. Raises RequestRejected for another file."""
    try:
        return _squad_of(json.loads(file.read_bytes())["data"], most=most, seed=seed)
    except (ValueError, LookupError, TypeError, AttributeError) as exc:
        raise RequestRejected(f"{file}: not in the form of SQuAD") from exc


def _squad_of(articles: Sequence[Any], *, most: int, seed: int) -> tuple[list[tuple[str, str, str]], list[Told]]:
    draw = random.Random(f"squad {seed}")  # noqa: S311  a sample, no secret
    texts, told = [], list[Told]()
    for n, article in enumerate(articles):
        for p, paragraph in enumerate(article["paragraphs"]):
            passage = " ".join(paragraph["context"].split())
            texts.append((f"a{n:03d}-{p:03d}", article["title"].replace("_", " "), passage))
            for each in paragraph["qas"]:
                answers = not each.get("is_impossible")
                spans = each["answers"] if answers else each.get("plausible_answers")
                if not spans:
                    continue
                pairs = pairwise(["", *SENTENCE.split(passage)])
                holds = [(b, s) for b, s in pairs if spans[0]["text"] in s]
                if len(holds) != 1:
                    continue
                [(before, sentence)] = holds
                whole = sentence.endswith(".") and (before or not LEANS.match(sentence))
                if whole and 6 <= len(sentence.split()) <= 36:
                    before = before if _leans(sentence) else ""
                    told.append(Told(each["question"].strip(), sentence, passage, before, answers))
    draw.shuffle(told)
    right, near = ([each for each in told if each.answers is answers][:most] for answers in (True, False))
    return texts, [*right, *near]
