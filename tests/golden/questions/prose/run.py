"""Asks the prose bank of the product as it is: `python -m tests.golden.questions.prose.run [--reader] [--rate R]`.

An answer is right if its first sentence has the words that answer, partly right if a later one does, beside or wrong
otherwise; a question without an answer is rightly left unanswered. Of the partly right, those are counted apart that
say first what the answering sentence leans on (`The drought lasted a decade.` before `It ended in 1941.`).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ai.text.leaning import leans_back
from api import wiring
from api.home.configuration import load
from tests.golden.questions.asking import asked
from tests.harness import ingest

REPOSITORY = Path(__file__).parents[4]


@dataclass(frozen=True)
class ProseQuestion:
    """`says`: words of the sentence that answers, in any spacing; empty where there is no answer."""

    text: str
    says: str


@dataclass(frozen=True)
class Group:
    """The questions on some documents."""

    name: str
    documents: tuple[Path, ...]
    questions: tuple[ProseQuestion, ...]


def groups() -> list[Group]:
    """The bank."""
    told = tomllib.loads((Path(__file__).parent / "bank.toml").read_text())
    return [
        Group(
            name,
            tuple(REPOSITORY / each for each in body["documents"]),
            tuple(ProseQuestion(each["q"], each.get("says", "")) for each in body["questions"]),
        )
        for name, body in told.items()
    ]


def plain(text: str) -> str:
    """Its words: without marks of emphasis or code, in one spacing."""
    return " ".join(text.replace("*", "").replace("`", "").split())


def verdict(question: ProseQuestion, sentences: list[str]) -> str:
    """One word for what came back."""
    if not sentences:
        return "missed" if question.says else "rightly none"
    if not question.says:
        return "false"
    held = [plain(question.says) in plain(each) for each in sentences]
    return "right" if held[0] else "partly" if any(held) else "beside"


def led(question: ProseQuestion, sentences: list[str]) -> bool:
    """True if the sentence that answers leans on all that stand before it."""
    at = next((n for n, each in enumerate(sentences) if plain(question.says) in plain(each)), 0)
    return at > 0 and all(map(leans_back, sentences[1 : at + 1]))


async def _run(settings: Mapping[str, str], *, listed: bool) -> None:
    for group in groups():
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch) / "home"
            await ingest(home, paths=group.documents, label="public")
            async with wiring.open_system(load(settings, home=home)) as system:
                counts: Counter[str] = Counter()
                behind = 0
                taken = []
                for question in group.questions:
                    began = time.perf_counter()
                    body = await asked(system, question.text, {})
                    taken.append(time.perf_counter() - began)
                    sentences = [each["text"] for each in body["sentences"] if body["outcome"] != "ABSTAIN"]
                    found = verdict(question, sentences)
                    counts[found] += 1
                    behind += found == "partly" and led(question, sentences)
                    if listed and found not in {"right", "rightly none"}:
                        print(f"{found:8} {question.text} | {' / '.join(sentences)[:300]}")
        print(
            group.name,
            dict(counts),
            f"(partly, behind what it leans on: {behind}) p50 {1000 * sorted(taken)[len(taken) // 2]:.0f} ms",
        )


def main() -> int:
    """Parse the command line and ask."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reader", action="store_true")
    parser.add_argument("--rate", default="0.10")
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    settings = {
        "EXHIBIT_ANSWERING__READER": str(chosen.reader).lower(),
        "EXHIBIT_ANSWERING__MAX_FALSE_ANSWER_RATE": chosen.rate,
    }
    asyncio.run(_run(settings, listed=chosen.list))
    return 0


if __name__ == "__main__":
    sys.exit(main())
