"""Logs and lists of changes, asked when something was and what a day or version brought; beside each its twin of
another thing or day."""

from __future__ import annotations

from pathlib import Path

import pytest

from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatRequest
from ai.replay.replay import Grade, replay
from tests.golden.test_lines_asked import said_of
from tests.harness import ask, ingest, opened, with_services

ENTRIES = (
    ("3 June 1862", "The mainsail split off Hartland Point.", "When did the mainsail split?", "When was the cable cut?"),
    ("5 June 1862", "Jem Carter caught eleven mackerel.", "On what day did Jem Carter catch mackerel?", "When did Jem Carter die?"),
    ("9 June 1862", "The owner came aboard and paid the crew.", "When did the owner pay the crew?", "When was the ship sold?"),
    ("21 July 1862", "A new anchor was bought at Cork.", "When was the new anchor bought?", "When was a new boat bought?"),
)  # fmt: skip
HEADS = ("## {}", "## Tuesday {}", "### Cape Clear, {}")
RELEASES = (
    ("3.2.0 (2024-11-02)", "Maps can be exported as GeoPackage files.", "GeoPackage files"),
    ("3.1.4 (2024-08-19)", "The memory leak in the tile cache was fixed.", "memory leak in the tile cache"),
    ("3.1.0 (2024-05-30)", "Dark mode was added for the legend.", "dark mode"),
)


@pytest.mark.parametrize("head", HEADS)
async def test_a_log_is_asked_by_day_and_by_deed(tmp_path: Path, head: str) -> None:
    text = "# Log of the Mary Ann\n\n" + "".join(f"{head.format(day)}\n{said}\n\n" for day, said, *_ in ENTRIES)
    questions: dict[str, str | None] = {}
    for day, said, asked, other in ENTRIES:
        told = head.format(day).lstrip("# ")
        questions |= {asked: f"{told}: {said[:-1]}", other: None, f"What happened on {day}?": said[:-1]}
    questions |= {"What happened on 4 June 1862?": None, "What did Jem Carter catch on 9 June 1862?": None}
    await said_of(tmp_path, {"log.md": text}, questions)


async def test_a_list_of_changes_is_asked_by_version_and_by_change(tmp_path: Path) -> None:
    text = "# Changes of Tidepool\n\n" + "".join(f"## {head}\n- {said}\n\n" for head, said, _ in RELEASES)
    await said_of(
        tmp_path,
        {"changes.md": text},
        {
            "When was the memory leak in the tile cache fixed?": "3.1.4 (2024-08-19): The memory leak",
            "In which version was the memory leak in the tile cache fixed?": "3.1.4 (2024-08-19): The memory leak",
            "Which version added dark mode for the legend?": "3.1.0 (2024-05-30): Dark mode was added",
            "What is new in 3.2.0?": "exported as GeoPackage files",
            "What changed in version 3.1.4?": "memory leak in the tile cache",
            "What is new in 3.3.0?": None,
            "In which version was the crash of the importer fixed?": None,
            "When was support for printing added?": None,
        },
    )


class Writer:
    """A chat model that writes one draft."""

    def __init__(self, said: str) -> None:
        self._said = said

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(name="writer", digest="sha256:" + "e" * 64)

    async def complete(self, request: ChatRequest) -> Completion:
        return Completion(f"{self._said} [1]", await self.identity(), request.prompt.tokens, 9)

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize(
    ("said", "released"),
    [
        ("3 June 1862: The mainsail split off Hartland Point.", True),
        ("The mainsail split off Hartland Point on 3 June 1862.", True),
        ("On 3 June 1862 the mainsail split off Hartland Point.", True),
        ("5 June 1862: The mainsail split off Hartland Point.", False),
        ("The mainsail split off Hartland Point on 5 June 1862.", False),
        ("On 3 July 1862 the mainsail split off Hartland Point.", False),
        ("The mainsail split off Hartland Point on 3 June 1863.", False),
    ],
)
async def test_another_model_may_say_the_day_of_its_section_alone(tmp_path: Path, said: str, released: bool) -> None:
    text = "# Log of the Mary Ann\n\n" + "".join(f"## {day}\n{told}\n\n" for day, told, *_ in ENTRIES)
    (tmp_path / "log.md").write_text(text, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[tmp_path / "log.md"], label="public")
    async with opened(tmp_path / "home") as system:
        services = with_services(system, model=Writer(said), fallback=None)
        body = await ask(system, "When did the mainsail split?", services=services)
        assert (said[:-1] in body["answer"]) is released, body["answer"]
        if released:  # the quote has no date, so the citation says where it stands
            assert [each["title"] for each in body["citations"].values()] == ["Log of the Mary Ann — 3 June 1862"]
            found = await replay(body["provenance"]["entry_id"], services=services, up_to=Grade.R1)
            assert found.grade is Grade.R1, found
