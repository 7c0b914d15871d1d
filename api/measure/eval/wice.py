"""WiCE (Kamoi et al. 2023): does the support judge tell supported claims from others better than plain overlap does?"""

from __future__ import annotations

import json
from pathlib import Path

from ai.models.reader.reader import Reader
from ai.models.reader.told import Told
from ai.text.support import support_milli
from api.http.ablation.measures import auc, figure
from api.measure.eval.tables import Part, goal
from retrieval.english.lists import STOP_WORDS
from retrieval.english.words import words

FILE = "claim_dev.jsonl"
CHUNK_WORDS = 400


def read(folder: Path) -> list[tuple[str, list[str], list[str], bool]]:
    """(claim, the article's sentences that the annotators marked, or its best by overlap, the chunk of the article
    around the first of these, supported?)."""
    found = []
    for line in (folder / FILE).read_text("utf-8").splitlines():
        each = json.loads(line)
        marked = sorted({at for group in each["supporting_sentences"] for at in group})
        chosen = [each["evidence"][at] for at in marked] or _closest(each["claim"], each["evidence"])
        first = each["evidence"].index(chosen[0])
        found.append((each["claim"], chosen, _chunk(each["evidence"], first), each["label"] == "supported"))
    return found


def _chunk(sentences: list[str], at: int) -> list[str]:
    """The sentences around one, up to `CHUNK_WORDS` words, as many before as after."""
    start, end = at, at + 1
    while start > 0 or end < len(sentences):
        start, end = max(0, start - 1), min(len(sentences), end + 1)
        if sum(len(each.split()) for each in sentences[start:end]) >= CHUNK_WORDS:
            break
    return sentences[start:end]


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
    """Areas under the curve of judge, reader and baseline on the same claims, given the sentences and given the chunk;
    and how often judge and baseline agree with the annotators."""
    del work
    cases = read(folder)
    claims, labels = [case[0] for case in cases], [case[3] for case in cases]
    reader = Reader.load()
    marked = _scores(reader, claims, [case[1] for case in cases])
    around = _scores(reader, claims, [case[2] for case in cases])
    chunk = f", chunk of {CHUNK_WORDS} words"
    scored = marked | {name + chunk: scores for name, scores in around.items()}
    ways = {name: {"auc": round(auc(scores, labels), 3)} for name, scores in scored.items()}
    both = zip(marked["support judge"], marked["lexical overlap"], labels, strict=True)
    return {
        "name": "WiCE",
        "questions": len(cases),
        "ways": ways,
        "agreement": figure([float((a / 1000 >= b) == label) for a, b, label in both]).mean,
        "goals": {"AUC above overlap": goal(ways["lexical overlap"]["auc"], ways["support judge"]["auc"])},
    }


def _scores(reader: Reader, claims: list[str], quotes: list[list[str]]) -> dict[str, list[float]]:
    """The scores that each way gives all claims with their quotes."""
    pairs = list(zip(claims, quotes, strict=True))
    judged = [_judged(claim, told) for claim, told in pairs]
    read = [float(reader.bears_out(claim, Told.whole("", said)).milli) for claim, said in pairs]
    return {
        "support judge": judged,
        "lexical overlap": [overlap(claim, told) for claim, told in pairs],
        "reader": read,
        "judge and reader, their mean": [(a + b) / 2000 for a, b in zip(judged, read, strict=True)],
    }


def _judged(claim: str, quotes: list[str]) -> float:
    return float(support_milli(claim, [" ".join(quotes)], [" ".join(quotes)]))
