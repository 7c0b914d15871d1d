"""Two entries beside each other: what differs is named, and the difference that explains the answer is found by exchange,
never guessed; what cannot be replayed explains nothing."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from api.audit.entries.difference import difference
from api.home.configuration import load
from api.wiring import open_ingest, open_system
from ledger.errors import EntryNotFound
from ledger.model import Kind
from policy.bundles.bundle import SHIPPED, load_bundle
from tests.command_line import Run, command_line
from tests.golden.test_attribution import with_other_data
from tests.harness import ask, opened
from tests.published import published

FIGURE = "What was the population of Shawnee County in 1930?"
JULESBURG = "Who was the agent of the pony express line at Julesburg?"
FATHER = "Who was William F. Cody's father?"


@pytest.fixture
def home(kansas_home: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "home"
    shutil.copytree(kansas_home, copy)
    return copy


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Run:
    return command_line(capsys, monkeypatch, "--home", home)


async def recorded(home: Path, question: str = FIGURE, *, role: str = "public_viewer", **settings: str) -> str:
    async with open_system(load(settings, home=home)) as system:
        return str((await ask(system, question, role=role))["provenance"]["entry_id"])


async def compared(home: Path, one: str, other: str) -> dict[str, Any]:
    async with opened(home) as system:
        return await difference(system, one, other)


def differing(found: dict[str, Any]) -> set[str]:
    return {row["name"] for row in found["rows"] if not row["same"]}


def effects(found: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["effect"] for each in found["explanation"]["effects"]}


async def test_the_same_question_twice_differs_in_its_time_alone(home: Path) -> None:
    found = await compared(home, await recorded(home), await recorded(home))
    assert differing(found) == {"recorded"}
    assert (found["explanation"]["status"], found["explanation"]["causes"]) == ("same", [])


async def test_a_bundle_that_was_published_between_explains_a_denial(home: Path) -> None:
    one = await recorded(home)
    await with_other_data(home, lambda data: data["roles"]["public_viewer"].update(permissions=[]))
    other = await recorded(home)
    for pair in ((one, other), (other, one)):
        found = await compared(home, *pair)
        assert {"outcome", "policy", "answer", "decisions"} <= differing(found)
        assert found["explanation"]["status"] == "explained"
        assert found["explanation"]["causes"] == ["policy"], found["explanation"]
        assert effects(found)["time"] == "nothing"


async def test_a_bundle_that_decides_the_same_is_no_cause(home: Path) -> None:
    one = await recorded(home)
    await with_other_data(home, lambda data: data["limits"].update(datamark_milli=299))
    async with open_ingest(load({}, home=home)) as ingest:
        await ingest.remove(["county-population"], tenant="default")
    found = await compared(home, one, await recorded(home))
    assert "policy" in differing(found)
    assert effects(found)["policy"] == "nothing"
    assert "policy" not in found["explanation"]["causes"]
    assert found["explanation"]["causes"] and set(found["explanation"]["causes"]) <= {"found", "reading", "scope"}


async def test_who_asked_explains_what_only_one_may_read(home: Path) -> None:
    one = await recorded(home, JULESBURG, role="contributor")
    other = await recorded(home, JULESBURG)
    found = await compared(home, one, other)
    assert {"asker", "scope", "outcome", "answer"} <= differing(found)
    assert found["explanation"]["causes"] == ["asker"], found["explanation"]
    back = await compared(home, other, one)
    assert {"asker", "found"} <= set(back["explanation"]["causes"])
    assert effects(back)["asker"] != "explains"


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"EXHIBIT_ANSWERING__READER": "false"}, "model"),
        ({"EXHIBIT_RETRIEVAL__FUSION_K": "1"}, "setting fusion"),
    ],
    ids=["model", "fusion"],
)
async def test_a_setting_that_was_tuned_between_explains_the_words(
    home: Path, changed: dict[str, str], cause: str
) -> None:
    one = await recorded(home, FATHER, role="contributor")
    other = await recorded(home, FATHER, role="contributor", **changed)
    for pair in ((one, other), (other, one)):
        found = await compared(home, *pair)
        assert "answer" in differing(found)
        assert found["explanation"]["causes"] == [cause], found["explanation"]
        assert effects(found)[cause] == "explains"


async def test_two_causes_are_named_together(home: Path) -> None:
    both = {"EXHIBIT_ANSWERING__READER": "false", "EXHIBIT_RETRIEVAL__FUSION_K": "1"}
    one = await recorded(home, FATHER, role="contributor")
    other = await recorded(home, FATHER, role="contributor", **both)
    found = await compared(home, one, other)
    assert found["explanation"]["causes"] == ["model", "setting fusion"], found["explanation"]
    assert {effects(found)[each] for each in found["explanation"]["causes"]} == {"changes"}


@pytest.mark.parametrize("other", ["What was the population of Shawnee County in 1940?", "Who wrote the treaties?"])
async def test_other_questions_explain_nothing(home: Path, other: str) -> None:
    found = await compared(home, await recorded(home), await recorded(home, other))
    assert "question" in differing(found)
    assert found["explanation"]["status"] == "impossible"
    assert "questions differ" in found["explanation"]["text"]
    assert found["explanation"]["effects"] == []


async def test_an_entry_whose_bundle_is_gone_explains_nothing(home: Path) -> None:
    await with_other_data(home, lambda data: data["roles"]["public_viewer"].update(permissions=[]))
    one = await recorded(home)
    await published(home, SHIPPED)
    shipped = load_bundle(SHIPPED).digest
    for folder in (home / "policy" / "bundles").iterdir():
        if load_bundle(folder).digest != shipped:
            shutil.rmtree(folder)
    found = await compared(home, one, await recorded(home))
    assert found["explanation"]["status"] == "impossible"
    assert one in found["explanation"]["text"] and "cannot be replayed" in found["explanation"]["text"]


def test_what_was_erased_is_neither_shown_nor_explained(home: Path, cli: Run) -> None:
    one, other = asyncio.run(recorded(home)), asyncio.run(recorded(home, role="nobody"))
    assert cli("ledger", "redact", "--entry", one, "--basis", "Art. 17")[0] == 0
    found = json.loads(cli("ledger", "diff", one, other, "--json")[1])
    assert [row["one"] for row in found["rows"] if row["name"] == "answer"] in ([], [[]])
    assert found["explanation"]["status"] == "impossible"


async def test_an_intent_and_an_answer_are_compared_and_not_explained(home: Path) -> None:
    one = await recorded(home)
    async with opened(home) as system:
        intents = await system.services.ledger.entries(kind=Kind.INTENT, limit=1000)
    found = await compared(home, intents[-1].leaf.entry_id, one)
    assert "kind" in differing(found) and "question" not in differing(found)
    assert found["explanation"]["status"] == "impossible"


def test_what_is_not_there_is_told(home: Path, cli: Run) -> None:
    one = asyncio.run(recorded(home))
    with pytest.raises(EntryNotFound):
        asyncio.run(compared(home, one, "01900000-0000-7000-8000-000000000000"))
    assert cli("ledger", "diff", one, "nonsense")[0] == 3
    assert cli("ledger", "diff", one)[0] == 2


def test_the_command_prints_what_differs_and_why(home: Path, cli: Run) -> None:
    one = asyncio.run(recorded(home))
    asyncio.run(with_other_data(home, lambda data: data["roles"]["public_viewer"].update(permissions=[])))
    other = asyncio.run(recorded(home))
    code, out, _ = cli("ledger", "diff", one, other)
    assert code == 0
    assert "- ANSWER" in out and "+ DENY" in out and "With policy of the second entry alone" in out
    assert "Question" not in out
    assert "Question (same)" in cli("ledger", "diff", one, other, "--all")[1]
    assert json.loads(cli("ledger", "diff", one, other, "--json")[1]) == asyncio.run(compared(home, one, other))
