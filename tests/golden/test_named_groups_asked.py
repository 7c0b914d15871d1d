"""Columns of a few names, asked against plain Python: what is a Beagle and what is not, told as what its column says;
what is of somebody is never what somebody is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

DOGS = {
    "Rex": ("Ida Moss", 4),
    "Bella": ("Ida Moss", 7),
    "Max": ("Tom Reed", 2),
    "Luna": ("Una Vale", 9),
    "Rolf": ("Tom Reed", 3),
}
COLUMNS = {"Breed": ("Beagle", "Terrier", "Collie"), "Make": ("Volkswagen", "Renault", "Nissan")}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(("kind", "owner"), [("dog", "Owner"), ("buggy", "Keeper")])
async def test_names_in_a_column_are_conditions(kind: str, owner: str, column: str, tmp_path: Path) -> None:
    values = COLUMNS[column]
    of = {name: values[at % len(values)] for at, name in enumerate(DOGS)}
    rows = [f"{name},{who},{age},{of[name]}" for name, (who, age) in DOGS.items()]
    many = "buggies" if kind == "buggy" else f"{kind}s"
    (tmp_path / f"{many}.csv").write_text("\n".join((f"{kind.title()},{owner},Age,{column}", *rows, "")))
    await ingest(tmp_path / "home", paths=[tmp_path / f"{many}.csv"], label="public")
    one = values[0]
    are = {name for name in DOGS if of[name] == one}
    oldest = max(are, key=lambda name: DOGS[name][1])
    questions = {
        f"Which {many} are {one}s?": are,
        f"List all {one}s": are,
        f"List all {one} {many}.": are,
        f"Which {many} are not {one}s?": set(DOGS) - are,
        f"Which {many} are {one}s or {values[1]}s?": {name for name in DOGS if of[name] in values[:2]},
        f"Which {one} is the oldest?": {oldest},
        f"Which {one}s are older than 3?": {name for name in are if DOGS[name][1] > 3},
        f"How many {many} are in {one}?": None,
        f"How many {one}s are there?": None,
        f"How many {many} are {one}s?": None,
    }
    async with opened(tmp_path / "home") as system:
        for question, things in questions.items():
            body = await ask(system, question)
            text = body["answer"]
            assert "computed:" in str(body["citations"]) and f"whose {column.lower()} is " in text, (question, text)
            assert things is None or {name for name in DOGS if name in text} == things, (question, text)
            assert things is not None or f" {len(are)} {many} whose " in text, (question, text)
        for question in ("How old is Ida Moss?", "What is the age of Ida Moss?", "What is Tom Reed's age?"):
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN", (question, body["answer"])
        body = await ask(system, f"How many {many} are in Ida Moss?")
        assert body["outcome"] == "ABSTAIN", body["answer"]
