"""Questions with a passage cut into sentences, and which of them answer: read from the data sets of the training.

No question of a document that calibrates the reader (`ai.models.reader.held_back`) trains it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ai.text.sentences import Span, split_sentences, trimmed


@dataclass(frozen=True, slots=True)
class Example:
    """A question and a passage. `answers` are the places of the sentences that answer it, none if the passage does
    not; `spans` are (sentence, start, end) of the words that answer, where the data tell them. In the place of a
    question may stand a claim: `about` are the sentences that bear it out, or come nearest to that, `unborne` the parts
    of it that the passage does not bear out."""

    question: str
    title: str
    sentences: tuple[str, ...]
    answers: frozenset[int]
    spans: tuple[tuple[int, int, int], ...] = ()
    source: str = ""
    about: frozenset[int] = frozenset()
    unborne: tuple[tuple[int, int], ...] = ()


WRITTEN, UNREAD = (Path(__file__).with_name(name) for name in ("written", "unread"))
"""Documents with questions that were written for the reader, and those that no network has read; see their READMEs."""
BY_HAND = "written", "one-off"
"""The sources of its questions: those asked of a document at first, and the pairs of `one_off`."""
CLAIMS = "claims"
"""The source of the claims about them."""


def read_examples(folder: Path) -> list[Example]:
    """All examples of the training data in `folder` and of `WRITTEN`, in a fixed order."""
    found: list[Example] = []
    for name in ("squad-2.0-train-part.json", "squad-2.0-dev-half.json"):
        found += _squad(json.loads((folder / name).read_text()), name)
    for name in ("selqa-dev.json", "selqa-test-half.json"):
        found += _selqa(json.loads((folder / name).read_text()), name)
    lines = (folder / "wice-nonsupported-train.jsonl").read_text().splitlines()
    found += _wice([json.loads(line) for line in lines])
    return found + written_by_hand(WRITTEN)


def written_by_hand(folder: Path) -> list[Example]:
    """The examples of a folder of documents that were written for the reader."""
    found: list[Example] = []
    for file in sorted(folder.glob("*.toml")):
        documents = _documents(file)
        texts = _texts(documents)
        found += _written(documents, texts, BY_HAND[0])
        found += _written(_documents(folder / "one_off" / file.name), texts, BY_HAND[1])
        if (claims := folder / CLAIMS / file.name).exists():
            found += _claimed(_documents(claims), texts)
    return found


def claims_of(folder: Path, writer: str) -> list[Example]:
    """The claims about the documents of one writer."""
    file = f"{writer}.toml"
    return list(_claimed(_documents(folder / CLAIMS / file), _texts(_documents(folder / file))))


def _texts(documents: Sequence[dict[str, Any]]) -> dict[str, str]:
    return {document["title"]: document["text"] for document in documents}


def _documents(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(file.read_text("utf-8"))["documents"]
    return found


def _claimed(documents: Sequence[dict[str, Any]], texts: Mapping[str, str]) -> Iterator[Example]:
    """`says` is what of the document bears the claim out, or comes nearest; `wrong` are the words of the claim that
    the document does not bear out. Either is one text or several."""
    for document in documents:
        text = texts[document["title"]]
        cuts, sentences = _cut(text)
        for told in document["claims"]:
            claim, wrong = told["claim"], _several(told.get("wrong", []))
            about = frozenset(_span(cuts, *_found(text, said))[0] for said in _several(told["says"]))
            unborne = tuple((claim.index(each), claim.index(each) + len(each)) for each in wrong)
            answers = frozenset() if wrong else about
            yield Example(claim, document["title"], sentences, answers, (), CLAIMS, about, unborne)


def _several(told: str | list[str]) -> list[str]:
    return [told] if isinstance(told, str) else told


def _found(text: str, said: str) -> tuple[int, int]:
    """Where words stand in a text, and for how long, whatever lines it is cut into."""
    plain, words = " ".join(text.split()), " ".join(said.split())
    if words not in plain:
        raise ValueError(f"not in its document: {said!r}")
    wanted = len("".join(plain[: plain.index(words)].split())), len("".join(words.split()))
    at = [place for place, char in enumerate(text) if not char.isspace()]
    start = at[wanted[0]]
    return start, at[wanted[0] + wanted[1] - 1] + 1 - start


def _written(documents: Sequence[dict[str, Any]], texts: Mapping[str, str], source: str) -> Iterator[Example]:
    """`says` is what the document answers with, `within` a longer piece of the sentence where that is found twice;
    a question without `says` is not answered."""
    for document in documents:
        text = texts[document["title"]]
        cuts, sentences = _cut(text)
        for asked in document["questions"]:
            spans: tuple[tuple[int, int, int], ...] = ()
            if said := asked.get("says"):
                within = asked.get("within", said)
                spans = (_span(cuts, text.index(within) + within.index(said), len(said)),)
            answers = frozenset(place for place, _, _ in spans)
            yield Example(asked["question"], document["title"], sentences, answers, spans, source)


def _cut(text: str) -> tuple[list[Span], tuple[str, ...]]:
    """Where the sentences of a text are, and they themselves."""
    cuts = [trimmed(text, span) for span in split_sentences(text)]
    return cuts, tuple(text[cut.start : cut.end] for cut in cuts)


def _span(cuts: Sequence[Span], start: int, length: int) -> tuple[int, int, int]:
    """Words of a text by their sentence and their place in it, as far as they lie there."""
    place = max(i for i, cut in enumerate(cuts) if cut.start <= start or i == 0)
    begin = start - cuts[place].start
    return place, begin, min(begin + length, cuts[place].end - cuts[place].start)


def _squad(body: dict[str, Any], name: str) -> Iterator[Example]:
    for article in body["data"]:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            cuts, sentences = _cut(text)
            for asked in paragraph["qas"]:
                spans = {_span(cuts, answer["answer_start"], len(answer["text"])) for answer in asked["answers"]}
                answers = frozenset(place for place, _, _ in spans)
                yield Example(asked["question"].strip(), title, sentences, answers, tuple(sorted(spans)), name)


def _selqa(body: list[dict[str, Any]], name: str) -> Iterator[Example]:
    for asked in body:
        sentences = tuple(" ".join(each.split()) or "." for each in asked["candidates"])
        yield Example(asked["question"].strip(), asked["article"], sentences, frozenset(asked["answers"]), (), name)


def _wice(rows: list[dict[str, Any]]) -> Iterator[Example]:
    """A claim, and the part of its evidence around its supporting sentences: what bears it out answers it. And a part
    without any."""
    for row in rows:
        told = frozenset(place for group in row["supporting_sentences"] for place in group)
        evidence = [" ".join(each.split())[:400] or "." for each in row["evidence"]]
        title = next((each.partition("TITLE:")[2].strip() for each in evidence if "TITLE:" in each), "")
        unborne = tuple(_unborne(row["claim"], row["claim_tokens"], row["non_supported_spans"]))
        for start in sorted({max(0, place - shift) for place in sorted(told)[:3] for shift in (1, 4)}):
            window = range(start, min(len(evidence), start + 9))
            answers = frozenset(place - start for place in window if place in told)
            sentences = tuple(evidence[i] for i in window)
            yield Example(row["claim"], title, sentences, answers, (), "wice", answers, unborne if answers else ())
        apart = [at for at in range(0, len(evidence) - 5, 6) if told.isdisjoint(range(at, at + 6))]
        for start in apart[len(apart) // 2 :][:1]:
            yield Example(row["claim"], title, tuple(evidence[start : start + 6]), frozenset(), (), "wice-others")


def _unborne(claim: str, tokens: Sequence[str], flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    at = 0
    for token, flag in zip(tokens, flags, strict=True):
        start = claim.find(token, at)
        if start < 0:
            continue
        at = start + len(token)
        if flag:
            yield start, at
