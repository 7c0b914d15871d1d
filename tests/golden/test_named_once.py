"""Lives in which the person is named once and is `she` or `he` in the next passages: asked by name, what this person did
is told, and what another did is not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api import wiring
from tests.golden.questions.asking import asked
from tests.harness import ingest, opened

FILLER = (
    "Letters from those years lie in the county archive, tied with red tape, and most of them have never been printed. "
    "Prices were high, the winters were long, and the roads over the hill were closed for weeks at a time. "
    "Coal came by water as far as the second lock, and from there on carts. The market was held on the green until the "
    "floods of the next decade washed out the drains."
)


@dataclass(frozen=True)
class Life:
    """Somebody, and a relative of the same pronoun, with what each did."""

    name: str
    she: bool
    relative: tuple[str, str]
    refused: str
    died: tuple[str, str]
    sailed: tuple[str, str]

    @property
    def surname(self) -> str:
        return self.name.split()[-1]

    def told(self) -> str:
        subject, owner = ("She", "Her") if self.she else ("He", "His")
        word, relative = self.relative
        port, year = self.sailed
        return (
            f"{self.name} was born in Orrel, the third child of a cooper. {subject} was sent to school in Marl at eleven "
            f"and ran away twice. {FILLER}\n\n"
            f"{subject} kept bees for forty years. {FILLER} {owner} {word} {relative} was of another kind. "
            f"{relative.split()[0]} sailed to {port} in {year} and opened a bakery, which did well. "
            f"{subject} sold it to a chain of grocers in 1931.\n\n"
            f"In later years {self.surname} lived alone. {FILLER} {FILLER}\n\n"
            f"{subject} refused the medal of the town in 1950, because {self.refused}. {FILLER}\n\n"
            f"{subject} died in {self.died[0]} on {self.died[1]}.\n"
        )


LIVES = (
    Life(
        "Judith Marlow",
        True,
        ("cousin", "Ellen Tabb"),
        "the council had sold the quay",
        ("Kelby", "9 March 1962"),
        ("Bergen", "1921"),
    ),
    Life(
        "Jabez Orchard",
        False,
        ("brother", "Tobias Hale"),
        "the mayor had closed the night school",
        ("Penrith", "2 June 1955"),
        ("Malta", "1919"),
    ),
    Life(
        "Zofia Lindberg",
        True,
        ("sister", "Maria Roth"),
        "the dam had drowned the meadows",
        ("Tromso", "30 October 1971"),
        ("Genoa", "1926"),
    ),
    Life(
        "Enoch Treloar",
        False,
        ("nephew", "Simon Vale"),
        "the harbour dues had been doubled",
        ("Mousehole", "17 July 1958"),
        ("Lisbon", "1923"),
    ),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lives")
    paths = [folder / f"{number:02}.txt" for number in range(len(LIVES))]
    for path, life in zip(paths, LIVES, strict=True):
        path.write_text(life.told(), "utf-8")
    asyncio.run(ingest(folder / "home", paths=paths, label="public"))
    return folder / "home"


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    found = asyncio.new_event_loop()
    yield found
    found.close()


@pytest.fixture(scope="module")
def system(home: Path, loop: asyncio.AbstractEventLoop) -> Iterator[wiring.System]:
    context = opened(home)
    yield loop.run_until_complete(context.__aenter__())
    loop.run_until_complete(context.__aexit__(None, None, None))


def said(loop: asyncio.AbstractEventLoop, system: wiring.System, question: str) -> str:
    body = loop.run_until_complete(asked(system, question, {}))
    return " ".join(each["text"] for each in body["sentences"] if body["outcome"] != "ABSTAIN")


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.surname)
@pytest.mark.parametrize("called", ["{name}", "{surname}"])
def test_what_the_one_named_once_did_is_told(
    loop: asyncio.AbstractEventLoop, system: wiring.System, life: Life, called: str
) -> None:
    name = called.format(name=life.name, surname=life.surname)
    place, day = life.died
    assert place in said(loop, system, f"Where did {name} die?")
    assert day in said(loop, system, f"When did {name} die?")
    assert life.refused in said(loop, system, f"Why did {name} refuse the medal of the town?")


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.surname)
def test_what_another_did_is_not_told_of_the_one_named_once(
    loop: asyncio.AbstractEventLoop, system: wiring.System, life: Life
) -> None:
    port, year = life.sailed
    assert year not in said(loop, system, f"When did {life.name} sail to {port}?")
    assert "1931" not in said(loop, system, f"When did {life.name} sell the bakery?")
    assert port not in said(loop, system, f"Where did {life.name} open a bakery?")


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.surname)
def test_the_title_of_what_is_cited_says_whom_the_pronoun_means(
    loop: asyncio.AbstractEventLoop, system: wiring.System, life: Life
) -> None:
    body = loop.run_until_complete(asked(system, f"When did {life.name} die?", {}))
    assert f"{'she' if life.she else 'he'} is {life.name}" in str(body["citations"])
