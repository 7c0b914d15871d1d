"""Asks folders of short documents, as a user has them: `python -m
tests.golden.questions.folders.run SET`, with a set from `first` to `twentieth`.

The questions of a folder were written with it and before any was asked. What one of them should be is in `bank.toml`:
words of the sentence that answers, or none.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from api import wiring
from api.home.configuration import load
from tests.golden.questions.asking import asked
from tests.golden.questions.prose.run import ProseQuestion, plain, verdict
from tests.harness import ingest

HERE = Path(__file__).parent
SETS = sorted(each.name for each in HERE.iterdir() if each.is_dir() and not each.name.startswith("_"))


def questions_of(folder: Path) -> list[ProseQuestion]:
    """The questions on a folder, with the words that answer."""
    told = tomllib.loads((folder / "bank.toml").read_text(encoding="utf-8"))
    return [ProseQuestion(each["q"], each["says"]) for each in told["questions"]]


async def asked_of(folder: Path, home: Path, *, reader: bool = False) -> list[tuple[ProseQuestion, list[str]]]:
    """What each question on a folder gets, of words alone or with the reader."""
    paths = [each for each in sorted(folder.iterdir()) if each.suffix != ".toml"]
    return await answers_of(paths, questions_of(folder), home, {"EXHIBIT_ANSWERING__READER": str(reader).lower()})


async def answers_of(
    paths: Sequence[Path], questions: Sequence[ProseQuestion], home: Path, settings: Mapping[str, str]
) -> list[tuple[ProseQuestion, list[str]]]:
    """Each question with the sentences of its answer over the documents, none where there is none."""
    await ingest(home, paths=paths, label="public")
    async with wiring.open_system(load(settings, home=home)) as system:
        found = []
        for question in questions:
            body = await asked(system, question.text, {})
            said = [each["text"] for each in body["sentences"] if body["outcome"] != "ABSTAIN"]
            found.append((question, [plain(each) for each in said]))
        return found


def main() -> int:
    """Parse the command line and ask."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "which",
        choices=SETS,
    )
    parser.add_argument("--reader", action="store_true")
    chosen = parser.parse_args()
    totals: Counter[str] = Counter()
    for folder in sorted((HERE / chosen.which).iterdir()):
        with tempfile.TemporaryDirectory() as scratch:
            found = asyncio.run(asked_of(folder, Path(scratch) / "home", reader=chosen.reader))
        verdicts = [(verdict(question, said), question, said) for question, said in found]
        totals.update(each for each, _, _ in verdicts)
        for each, question, said in verdicts:
            if each not in {"right", "rightly none"}:
                print(f"{folder.name:10} {each:8} {question.text} | {' / '.join(said)[:300]}")
    print(chosen.which, dict(totals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
