"""Adding hidden documents changes no byte of any released body but ids, times and receipts."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened, settled

QUESTIONS = (
    "What was the population of Shawnee County in 1930?",
    "Which counties border Shawnee County?",
    "What was the largest county in Kansas in 1930?",
    "What was the population of Shawnee County in 1870?",
    "What did the Lecompton constitution say about slavery?",
    "What was Black Sunday?",
    "What happened in Kansas in 1850?",
    "Which nations signed treaties in 1854?",
    "Which towns are within 20 km of Topeka?",
    "How did the dust storms affect Atlantis County?",
)

STORY = """# Secret of {n}

In 1930 the population of Shawnee County was {n},999 and Topeka was the largest county. Black Sunday was a secret parade number {n}.
The Lecompton constitution on slavery in Kansas in 1850 was written by agent {n}. Dust storms hit Atlantis County in 1854.
The Apache signed a treaty at Atlantis. Shawnee County borders Atlantis County.
"""

TABLE = "fips,name,1870,1930\n20177,Shawnee County,{n}111,{n}222\n20999,Atlantis County,{n}333,{n}444\n"


def hidden_files(folder: Path, start: int, count: int) -> list[Path]:
    folder.mkdir()
    files = []
    for n in range(start, start + count):
        table = n % 5 == 0
        path = folder / (f"table{n}.csv" if table else f"story{n}.md")
        path.write_text((TABLE if table else STORY).format(n=n), encoding="utf-8")
        files.append(path)
    return files


@pytest.fixture(scope="module")
def crowded_home(kansas_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus and fifty documents more: of another tenant, above the asker's label, of a group that the asker is not
    in."""
    home = tmp_path_factory.mktemp("crowded") / "home"
    shutil.copytree(kansas_home, home)
    files = tmp_path_factory.mktemp("files")
    asyncio.run(hide(home, files))
    return home


async def hide(home: Path, files: Path) -> None:
    """Fifty documents that speak of everything that the questions ask."""
    await ingest(
        home, paths=hidden_files(files / "foreign", 100, 17), tenant="foreign", label="public", collection="kansas"
    )
    await ingest(home, paths=hidden_files(files / "restricted", 200, 17), label="restricted", collection="kansas")
    await ingest(home, manifest=group_manifest(files / "grouped", 300, 16))


def group_manifest(folder: Path, start: int, count: int) -> Path:
    files = hidden_files(folder, start, count)
    sources = "\n".join(
        f'[[source]]\npath = "{path.name}"\nsource_id = "{path.stem}"\ntitle = "Group {path.stem}"\nlicense = "CC0-1.0"\n'
        f'collection = "kansas"\nlabel = "public"\ngroups = ["insiders"]\n'
        for path in files
    )
    manifest = folder / "manifest.toml"
    manifest.write_text(f'[[collection]]\nname = "kansas"\ntitle = "Kansas"\n\n{sources}', encoding="utf-8")
    return manifest


@pytest.mark.parametrize("role", ["public_viewer", "contributor"])
async def test_hidden_documents_change_nothing(kansas_home: Path, crowded_home: Path, role: str) -> None:
    async with opened(kansas_home) as plain, opened(crowded_home) as crowded:
        for question in QUESTIONS:
            assert settled(await ask(plain, question, role=role)) == settled(await ask(crowded, question, role=role)), (
                question
            )


async def test_the_same_documents_do_change_answers_for_those_who_may_see_them(
    kansas_home: Path, crowded_home: Path
) -> None:
    """The negative of the above: the fifty documents are really there and really compete."""
    async with opened(kansas_home) as plain, opened(crowded_home) as crowded:
        changed = [
            question
            for question in QUESTIONS
            if settled(await ask(plain, question, role="admin", groups=("insiders",)))
            != settled(await ask(crowded, question, role="admin", groups=("insiders",)))
        ]
    assert len(changed) >= 5
