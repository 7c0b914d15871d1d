"""What something is like, asked of tables that have it in their rows or only mention it; and which things are so and
which are not, by columns of yes and no."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

OWNED = (
    ("Dog", "Owner", ("Rex", "Bella", "Luna")),
    ("Boat", "Skipper", ("Tern", "Gannet", "Plover")),
    ("Hotel", "Manager", ("Larkrise", "Anchor", "Merrow")),
)
PEOPLE = {"Ida Moss": "34", "Tom Reed": "51"}
ATTRIBUTES = (
    ("Age", ("How old is {}?", "What is the age of {}?", "What is {}'s age?")),
    ("Colour", ("What colour is {}?", "What is the colour of {}?", "What is {}’s colour?")),
    ("Weight", ("What is the weight of {}?", "What is the weight of the {}?")),
)


@pytest.mark.parametrize(("thing", "column", "things"), OWNED, ids=[each[0] for each in OWNED])
async def test_an_attribute_is_that_of_the_thing_itself(
    thing: str, column: str, things: tuple[str, ...], tmp_path: Path
) -> None:
    rows = [
        f"{name},{owner},7,grey,12" for name, owner in zip(things, ("Ida Moss", "Ida Moss", "Tom Reed"), strict=True)
    ]
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "things.md").write_text(
        "\n".join(
            f"| {line.replace(',', ' | ')} |" for line in (f"{thing},{column},Age,Colour,Weight", "-,-,-,-,-", *rows)
        )
    )
    (tmp_path / "f" / "people.md").write_text("# Staff\n\n| Name | Age | Town |\n|-|-|-|\n| Tom Reed | 51 | Arden |\n")
    await ingest(tmp_path / "home", paths=[tmp_path / "f"], label="public")
    async with opened(tmp_path / "home") as system:
        for header, forms in ATTRIBUTES:
            for form, person in product(forms, PEOPLE):
                body = await ask(system, form.format(person))
                known = header == "Age" and person == "Tom Reed"
                assert (body["outcome"] == "ANSWER") is known, (form.format(person), body["answer"])
                assert not any(name in body["answer"] for name in things), (form.format(person), body["answer"])
            told = (await ask(system, forms[0].format(things[0])))["answer"]
            assert things[0] in told and things[2] not in told, told
        told = (await ask(system, f"Which {thing.lower()}s have Ida Moss as {column.lower()}?"))["answer"]
        assert things[0] in told and things[1] in told, told


async def test_a_thing_with_a_number_in_its_name_is_one(tmp_path: Path) -> None:
    rows = "machine,maker,power_kw,last_service\nRoller 1,Bolz,45,14 March\nRoller 2,Bolz,55,2 September\nCutter,Veld,18,8 May\n"
    (tmp_path / "machines.csv").write_text(rows)
    await ingest(tmp_path / "home", paths=[tmp_path / "machines.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        assert "55" in (await ask(system, "What is the power of Roller 2?"))["answer"]
        assert "8 May" in (await ask(system, "When was the Cutter last serviced?"))["answer"]


HEADERS = {
    "Free entry": ("free", "free"),
    "Dogs allowed": ("allowed", "allowed"),
    "Heated": ("heated", "heated"),
}
HALLS = ("Ardnish", "Bellmore", "Corvane", "Dunlarg", "Eskwith")
TOLD = "# Halls\n\n| Hall | Town | {} | Lit |\n|-|-|-|-|\n"


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("words", [("yes", "no"), ("True", "False")])
async def test_rows_say_what_is_so_and_what_is_not(header: str, words: tuple[str, str], tmp_path: Path) -> None:
    so, towns = {"Ardnish", "Corvane", "Dunlarg"}, ("Brine", "Brine", "Selk", "Selk", "Brine")
    lit = {"Ardnish", "Bellmore"}
    lines = [
        f"| {name} | {town} | {words[name not in so]} | {words[name not in lit]} |"
        for name, town in zip(HALLS, towns, strict=True)
    ]
    (tmp_path / "halls.md").write_text(TOLD.format(header) + "\n".join(lines) + "\n")
    await ingest(tmp_path / "home", paths=[tmp_path / "halls.md"], label="public")
    said = HEADERS[header][0]
    questions: dict[str, set[str]] = {
        f"Which halls are {said}?": so,
        f"Which halls are not {said}?": set(HALLS) - so,
        f"Which halls aren't {said}?": set(HALLS) - so,
        f"Which halls are lit but not {said}?": lit - so,
        f"Which halls are {said} but not lit?": so - lit,
        f"Which halls are neither {said} nor lit?": set(HALLS) - so - lit,
        f"Which halls are {said} and lit?": so & lit,
    }
    async with opened(tmp_path / "home") as system:
        for question, things in questions.items():
            body = await ask(system, question)
            named = {name for name in HALLS if name in body["answer"]}
            assert body["outcome"] == "ABSTAIN" or named == things, (question, body["answer"])
        for question in (f"Which {said} halls are not in Brine?", "Which halls are not in Brine?"):
            named = {name for name in HALLS if name in (await ask(system, question))["answer"]}
            assert named.isdisjoint({"Ardnish", "Bellmore", "Eskwith"}), question
        answered = [(await ask(system, question))["outcome"] for question in questions]
        assert answered.count("ANSWER") > len(answered) // 2 or "no" not in words, dict(
            zip(questions, answered, strict=True)
        )
