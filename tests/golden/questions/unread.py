"""Asks the documents that were written for the reader and that it was not trained on yet, of the product as it is:
`python -m tests.golden.questions.unread [NAME ...]`. A writer's documents are one folder.

An answer is right if its first sentence has the words that answer, partly right if a later one does.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

from ai.models.reader.training.examples import UNREAD
from tests.golden.questions.folders.run import answers_of
from tests.golden.questions.prose.run import ProseQuestion, verdict

NAMES = sorted(each.stem for each in UNREAD.glob("*.toml"))


def questions_of(name: str) -> list[ProseQuestion]:
    """All questions of a writer: those asked of a document at first, and the pairs one word off."""
    asked_first, pairs = (
        tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))["documents"]
        for folder in (UNREAD, UNREAD / "one_off")
    )
    return [
        ProseQuestion(each["question"], each.get("within", each.get("says", "")))
        for document in (*asked_first, *pairs)
        for each in document["questions"]
    ]


async def counted(name: str, scratch: Path) -> Counter[str]:
    """How the questions of a writer are answered."""
    paths = []
    for number, each in enumerate(tomllib.loads((UNREAD / f"{name}.toml").read_text("utf-8"))["documents"]):
        paths.append(scratch / f"{number:02}.md")
        paths[-1].write_text(f"# {each['title']}\n\n{each['text']}\n", "utf-8")
    found = await answers_of(paths, questions_of(name), scratch / "home", {})
    return Counter(verdict(question, said) for question, said in found)


def main() -> int:
    """Parse the command line and ask."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    for name in parser.parse_args().names or NAMES:
        with tempfile.TemporaryDirectory() as scratch:
            print(name, dict(asyncio.run(counted(name, Path(scratch)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
