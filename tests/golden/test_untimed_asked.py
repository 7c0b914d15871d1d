"""Figures without a time, asked: superlatives, ranks, sums, averages, conditions and comparisons over tables without
years, against plain Python over the same rows; and what such a table does not say."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager

from ai.replay.replay import Grade, replay
from api.home.configuration import load
from api.http.app import create_app
from tests.harness import ask, ingest, opened, settled


@dataclass(frozen=True, slots=True)
class Made:
    """A table of things: the measure with its words, and the figures by name, None where a cell is empty."""

    kind: str
    many: str
    measure: str
    header: str
    unit: str
    most: str
    least: str
    more: str
    cells: dict[str, int | None]

    @property
    def figures(self) -> dict[str, int]:
        return {name: value for name, value in self.cells.items() if value is not None}

    @property
    def csv(self) -> str:
        rows = [
            f'{name},"{"" if value is None else f"{value:,}"}",note {n}'
            for n, (name, value) in enumerate(self.cells.items())
        ]
        return "\n".join((f"{self.kind.title()},{self.header},Remark", *rows, ""))


KINDS = (
    ("lighthouse", "lighthouses", "height", "Height (m)", "m", "tallest", "shortest", "taller than"),
    ("river", "rivers", "length", "Length (km)", "km", "longest", "shortest", "longer than"),
    ("lake", "lakes", "depth", "Depth (m)", "m", "deepest", "shallowest", "deeper than"),
    ("product", "products", "price", "Price (EUR)", "EUR", "most expensive", "cheapest", "more expensive than"),
    ("statue", "statues", "weight", "Weight (kg)", "kg", "heaviest", "lightest", "heavier than"),
    ("cottage", "cottages", "age", "Age", "", "oldest", "youngest", "older than"),
    ("boat", "boats", "top speed", "Top speed (km/h)", "km/h", "fastest", "slowest", "faster than"),
    ("alley", "alleys", "width", "Width (cm)", "cm", "widest", "narrowest", "wider than"),
)
NAMES = ("Ardnish", "Bellmore", "Corvane", "Dunlarg", "Eskwith", "Farrowby", "Glenmarle", "Hollin Point", "Isel Head")


def tables() -> Iterator[Made]:
    for seed, kind in enumerate(KINDS):
        chance = random.Random(seed)
        values: list[int | None] = [chance.randint(2, 3_000) for _ in NAMES]
        if seed % 2:
            values[chance.randrange(len(values))] = None
        if seed % 3 == 0:  # a tie at the top
            values[0] = values[1] = 4_000
        yield Made(*kind, dict(zip(NAMES, values, strict=True)))


TABLES = list(tables())


def named_in(text: str) -> set[str]:
    return {name for name in NAMES if name in text}


def asked(made: Made) -> Iterator[tuple[str, set[str] | None, str | None]]:
    """Questions, with the things that the answer names and a number that it says."""
    held = made.figures
    ranked = sorted(held.values(), reverse=True)
    top, bottom = ({n for n, v in held.items() if v == edge} for edge in (ranked[0], ranked[-1]))
    yield f"Which {made.kind} is the {made.most}?", top, f"{ranked[0]:,}"
    yield f"What is the {made.least} {made.kind}?", bottom, f"{ranked[-1]:,}"
    yield f"Which {made.kind} has the largest {made.measure}?", top, f"{ranked[0]:,}"
    yield f"What are the three {made.most} {made.many}?", {n for n, v in held.items() if v >= ranked[2]}, None
    bound = ranked[4] - 1
    over = {name for name, value in held.items() if value > bound}
    number = f"{bound:,} {made.unit}".strip()
    yield f"How many {made.many} are {made.more} {number}?", over, str(len(over))
    yield f"Which {made.many} have a {made.measure} of more than {number}?", over, None
    yield f"How many {made.many} are there?", None, str(len(held))
    yield f"What is the total {made.measure} of the {made.many}?", None, f"{sum(ranked):,}"
    mean = Fraction(sum(ranked), len(ranked))
    yield f"What is the average {made.measure} of the {made.many}?", None, f"{float(mean):,.1f}".removesuffix(".0")
    one, other = (name for name, value in held.items() if value < 4_000 or name == NAMES[0]), None
    first = next(one)
    other = next(name for name in one if held[name] != held[first])
    yield f"Is {first} {made.more} {other}?", {first, other}, f"{abs(held[first] - held[other]):,}"
    yield f"What is the {made.measure} of {first}?", {first}, f"{held[first]:,}"


@pytest.mark.parametrize("made", TABLES, ids=[made.kind for made in TABLES])
async def test_what_a_table_says_is_computed(made: Made, tmp_path: Path) -> None:
    (tmp_path / f"{made.many}.csv").write_text(made.csv)
    await ingest(tmp_path / "home", paths=[tmp_path / f"{made.many}.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        for question, things, number in asked(made):
            body = await ask(system, question)
            text = body["answer"]
            assert body["outcome"] == "ANSWER", question
            assert things is None or named_in(text) == things, (question, text)
            assert number is None or re.search(rf"(?<![\d,.]){re.escape(number)}(?!\d|[,.]\d)", text), (question, text)
            assert body["citations"], question


@pytest.mark.parametrize("made", TABLES, ids=[made.kind for made in TABLES])
async def test_what_a_table_does_not_say_is_not_computed(made: Made, tmp_path: Path) -> None:
    (tmp_path / f"{made.many}.csv").write_text(made.csv)
    await ingest(tmp_path / "home", paths=[tmp_path / f"{made.many}.csv"], label="public")
    others = [each for each in TABLES if not {each.most, each.least} & {made.most, made.least}]
    lacking = next((name for name, value in made.cells.items() if value is None), None)
    first, *_ = made.figures
    questions = [
        *(f"Which {made.kind} is the {other.most}?" for other in others),  # another measure
        *(f"How many {made.many} are {other.more} 20?" for other in others),
        *(f"Which {other.kind} is the {made.most}?" for other in others),  # another kind
        f"Which {made.kind} was the {made.most} in 1950?",  # a time that no figure has
        f"What was the total {made.measure} of the {made.many} in 1950?",
        f"How did the {made.measure} of {first} change between 1900 and 1950?",
        f"Which {made.kind} is the {made.most} in Atlantis?",  # a place that is not there
        f"Is {first} {made.more} Atlantis?",
        f"Which {made.kind} has the largest remark?",  # a column of words
        f"What is the total remark of the {made.many}?",
        f"How many {made.many} are {made.more} 20 gallons?",  # a unit of another kind
        f"Who is the {made.most}?",
        f"Which red {made.kind} is the {made.most}?",
        f"Which {made.kind} is almost the {made.most}?",
        f"What is the total value of the {made.measure}?",
        *([] if lacking is None else [f"What is the {made.measure} of {lacking}?"]),
    ]
    async with opened(tmp_path / "home") as system:
        for question in questions:
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN", (question, body["answer"])
        body = await ask(system, f"Name the {made.many} by number of {made.measure}.")
        assert "total" not in body["answer"], body["answer"]  # each, and no sum
        body = await ask(system, f"Which {made.many} have a {made.measure} of more than 99,999 {made.unit}?")
        assert body["answer"].startswith(f"No {made.kind} with "), body["answer"]


BRIDGES = "Bridge,Opened,Span (m)\nMarl,1932,320\nNess,1978,1200\nOrford,1890,540\nPell,1849,90\nQuay,2004,210\n"
YEARS = {
    "Which bridges were opened before 1900?": {"Orford", "Pell"},
    "Which bridges were opened after 1932?": {"Ness", "Quay"},
    "Which bridges were opened since 1932?": {"Marl", "Ness", "Quay"},
    "Which bridges were opened between 1890 and 1932?": {"Marl", "Orford"},
    "How many bridges were opened in 1978?": {"Ness"},
    "Which is the oldest bridge?": {"Pell"},
    "Which bridge is the newest?": {"Quay"},
    "Which bridge was opened last?": {"Quay"},
    "Which bridges are older than Marl?": {"Marl", "Orford", "Pell"},
    "What is the average span of the bridges opened before 1950?": {"Marl", "Orford", "Pell"},
    "Which bridges opened before 1950 are longer than 300 m?": None,
    "Which bridges opened before 1950 have a span of more than 300 m?": {"Marl", "Orford"},
    "What is the total year opened of the bridges?": None,
    "What is the average opened of the bridges?": None,
    "Which bridge had the largest span in 1950?": None,
    "Which bridges were closed before 1900?": None,
}


async def test_a_year_is_a_condition(tmp_path: Path) -> None:
    (tmp_path / "bridges.csv").write_text(BRIDGES)
    await ingest(tmp_path / "home", paths=[tmp_path / "bridges.csv"], label="public")
    names = [line.split(",")[0] for line in BRIDGES.splitlines()[1:]]
    async with opened(tmp_path / "home") as system:
        for question, things in YEARS.items():
            body = await ask(system, question)
            assert body["outcome"] == ("ABSTAIN" if things is None else "ANSWER"), (question, body["answer"])
            assert things is None or {n for n in names if n in body["answer"]} == things, (question, body["answer"])
            assert not re.search(r"\b[12],\d{3}\b", body["answer"].replace("1,200 m", "")), body["answer"]


STAFF = "Name,Department,Salary\nAnna Berg,Sales,52000\nBen Cole,Support,48000\nCarla Diaz,Sales,71000\n"


async def test_who_asks_for_people(tmp_path: Path) -> None:
    (tmp_path / "employees.csv").write_text(STAFF)
    (tmp_path / "towers.csv").write_text("Tower,Height (m)\nNorth Tower,30\nSouth Tower,40\n")
    await ingest(tmp_path / "home", paths=[tmp_path / "employees.csv", tmp_path / "towers.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        for question in ("Who earns most?", "Who has the highest salary?", "Who earns the most?"):
            assert (await ask(system, question))["answer"].startswith("Carla Diaz has the largest salary, 71,000")
        told = (await ask(system, "Who earns more than Ben Cole?"))["answer"]
        assert told.startswith(
            "2 employees with a salary above that of Ben Cole are on record: Anna Berg and Carla Diaz"
        ), told
        told = (await ask(system, "How much more does Anna Berg earn than Ben Cole?"))["answer"]
        assert "a difference of 4,000" in told
        for question in ("Who is the tallest?", "Who has the largest height?", "Who earned most in 2019?"):
            assert (await ask(system, question))["outcome"] == "ABSTAIN", question


async def test_a_quality_is_no_part_of_another_measure(tmp_path: Path) -> None:
    (tmp_path / "lamps.csv").write_text(
        "Lamp,Shipping cost,Shade height (cm),Top speed,Average age\nA,1,2,3,4\nB,2,3,4,5\n"
    )
    await ingest(tmp_path / "home", paths=[tmp_path / "lamps.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        for question in (
            "Which lamp is the most expensive?",
            "Which lamp is the tallest?",
            "Which lamp is the oldest?",
        ):
            assert (await ask(system, question))["outcome"] == "ABSTAIN", question
        assert (await ask(system, "Which lamp is the fastest?"))["answer"].startswith("B has the largest top speed, 4")


GROUPS = ("Sales", "Support", "Design")
PLACES = ("Oslo", "Leeds", "Madrid")


@pytest.mark.parametrize("seed", range(4))
async def test_a_group_is_a_condition(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    staff = {name: (chance.choice(GROUPS), chance.choice(PLACES), chance.randint(20, 90) * 1_000) for name in NAMES}
    staff[NAMES[0]], staff[NAMES[1]] = ("Sales", "Oslo", 30_000), ("Sales", "Leeds", 40_000)
    rows = [
        f"{name},{group},{place},{salary},{'Acme' if salary % 2 else 'Bell'}"
        for name, (group, place, salary) in staff.items()
    ]
    rows.append("Nobody Known,Sales,Oslo,,Acme")
    (tmp_path / "employees.csv").write_text("\n".join(("Name,Department,City,Salary,Previous employer", *rows, "")))
    (tmp_path / "towers.csv").write_text("Tower,Height (m),Country\nNorth Tower,30,Norway\nSouth Tower,40,Spain\n")
    await ingest(tmp_path / "home", paths=[tmp_path / "employees.csv", tmp_path / "towers.csv"], label="public")
    sales = {name: salary for name, (group, _, salary) in staff.items() if group == "Sales"}
    most = {name for name, salary in sales.items() if salary == max(sales.values())}
    oslo = {name for name, (_, place, salary) in staff.items() if place == "Oslo" and salary > 29_000}
    mean = f"{sum(sales.values()) / len(sales):,.1f}".removesuffix(".0")
    async with opened(tmp_path / "home") as system:
        for question, things, number in (
            ("Who earns most in Sales?", most, f"{max(sales.values()):,}"),
            ("Which employee in Sales has the highest salary?", most, f"of {len(sales)} employees in Sales"),
            ("What is the average salary in Sales?", None, f"is {mean} ["),
            ("What is the total salary of the employees in Sales?", None, f"is {sum(sales.values()):,} ["),
            ("Which employees in Oslo earn more than 29,000?", oslo, None),
            ("How many employees in Oslo earn more than 29,000?", oslo, f"{len(oslo)} employee"),
            ("How many employees are in Sales?", None, f"There are {len(sales)} employees in Sales with a figure"),
        ):
            text = (await ask(system, question))["answer"]
            assert things is None or named_in(text) == things, (question, text)
            assert number is None or number in text, (question, text)
        for question in (
            "What is the average salary in Marketing?",  # no such group
            "What is the average salary in Norway?",  # of other things
            "What is the average salary in Acme?",  # no group of theirs: they were there before
            "Who earns most in Atlantis?",
            "How many employees are in Norway?",
            "How many departments are there?",
            "Which department has the highest salary?",  # of whom, it does not say
            "How much does Sales earn?",
        ):
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN", (question, body["answer"])


async def test_figures_with_and_without_a_time_are_never_put_together(tmp_path: Path) -> None:
    """Of a kind that has a measure in years, those without one are as if they were not there; and two tables that
    disagree answer nothing."""
    (tmp_path / "dated.csv").write_text("Town,Population 1990,Population 2000\nElm,10,20\nOak,30,15\n")
    (tmp_path / "undated.csv").write_text("Town,Population\nAsh,900\nElm,50\n")
    (tmp_path / "rivers.csv").write_text("River,Length (km)\nIsel,40\nTarn,50\n")
    (tmp_path / "more.csv").write_text("River,Length (km)\nIsel,41\nUlva,10\n")
    await ingest(tmp_path / "home", paths=sorted(tmp_path.glob("*.csv")), label="public")
    async with opened(tmp_path / "home") as system:
        told = (await ask(system, "Which town had the largest population?"))["answer"]
        assert told.startswith("Elm had the largest population in 2000, 20"), told
        for question in ("Which river is the longest?", "What is the total length of the rivers?"):
            body = await ask(system, question)
            assert body["outcome"] == "ABSTAIN" and "different figures" in str(body["limitations"]), question


async def test_a_hidden_table_changes_nothing(tmp_path: Path) -> None:
    made = TABLES[0]
    (tmp_path / f"{made.many}.csv").write_text(made.csv)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "more.csv").write_text(f"{made.kind.title()},{made.header}\nZenith,9000\n{NAMES[0]},1\n")
    (hidden / "kites.csv").write_text("Kite,Height (m),Country\nAlpha,9000,Norland\nBeta,1,Norland\n")
    for home, paths in (("plain", []), ("crowded", [hidden])):
        await ingest(tmp_path / home, paths=[tmp_path / f"{made.many}.csv"], label="public")
        if paths:
            await ingest(tmp_path / home, paths=paths, label="restricted")
    questions = [question for question, _, _ in asked(made)]
    questions += ["What is the average height?", "Which kite is the tallest?", "How tall is Zenith?"]
    questions += [f"Which {made.kind} in Norland is the {made.most}?", "What is the average height in Norland?"]
    async with opened(tmp_path / "plain") as plain, opened(tmp_path / "crowded") as crowded:
        for question in questions:
            assert settled(await ask(plain, question)) == settled(await ask(crowded, question)), question
        seen = await ask(crowded, "Which kite is the tallest?", role="admin")
        assert seen["answer"].startswith("Alpha has the largest height, 9,000 m"), seen["answer"]


async def test_an_answer_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "bridges.csv").write_text(BRIDGES)
    await ingest(tmp_path / "home", paths=[tmp_path / "bridges.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        for question in ("Which bridge has the largest span?", *list(YEARS)[:6], "What is the span of Ness?"):
            body = await ask(system, question)
            found = await replay(body["provenance"]["entry_id"], services=system.services)
            assert found.grade is Grade.R1, (question, found.differs_at)


async def test_suggestions_are_made_and_answered(tmp_path: Path) -> None:
    (tmp_path / "planets.csv").write_text("Planet,Diameter (km),Moons,Found in\nMars,6792,2,1610\nEarth,12756,1,1700\n")
    await ingest(tmp_path / "home", paths=[tmp_path / "planets.csv"], label="public")
    app = create_app(load({}, home=tmp_path / "home"))
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            response = await client.get("/api/v1/ai/suggestions", params={"limit": "20"})
            questions = {each["question"] for each in response.json()["suggestions"]}
            assert {"Which planet has the largest diameter?", "Which planet has the most moons?"} <= questions
            assert not any("year" in question for question in questions)
            for question in questions:
                asked = await client.post("/api/v1/ai/query", json={"question": question})
                assert asked.json()["outcome"] == "ANSWER", question
