"""Things with a number in their names: they are found by the whole name, and another number is another thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from api import wiring
from api.home.configuration import load
from tests.golden.questions.asking import asked
from tests.harness import ingest

NAMES = (
    ("the IPv6 rollout", "the IPv4 rollout"),
    ("the B52 printer", "the B53 printer"),
    ("Lift A3", "Lift A4"),
    ("Route 66", "Route 67"),
    ("Pier 39", "Pier 38"),
    ("the K9 router", "the K8 router"),
    ("Gate 12", "Gate 21"),
    ("the H5N1 leaflet", "the H1N1 leaflet"),
    ("the MP3 archive", "the MP4 archive"),
    ("the 4Runner garage", "the 3Runner garage"),
    ("Form 27B", "Form 28B"),
    ("the Neo4j course", "the Neo5j course"),
)
SAID = (
    ("{name} was opened by Ingrid Falk.", "Who opened {name}?", "Ingrid Falk"),
    ("{name} was finished in March 1987.", "When was {name} finished?", "1987"),
    ("{name} was paid for by the harbour board.", "Who paid for {name}?", "harbour board"),
)


def document() -> str:
    told = (text.format(name=name) for name, _ in NAMES for text, _, _ in SAID)
    return "# The yearbook\n\n" + "\n\n".join(each[0].upper() + each[1:] for each in told) + "\n"


@pytest.mark.parametrize("reader", ["true", "false"])
async def test_a_name_with_a_number_is_found_and_another_number_is_not(tmp_path: Path, reader: str) -> None:
    source = tmp_path / "yearbook.md"
    source.write_text(document(), "utf-8")
    home = tmp_path / "home"
    await ingest(home, paths=[source], label="public")
    missed, false = [], []
    async with wiring.open_system(load({"EXHIBIT_ANSWERING__READER": reader}, home=home)) as system:
        for name, other in NAMES:
            for _, question, says in SAID:
                right = await asked(system, question.format(name=name), {})
                sentences = [each["text"] for each in right["sentences"] if right["outcome"] != "ABSTAIN"]
                if not sentences or says not in sentences[0] or name.removeprefix("the ") not in sentences[0]:
                    missed.append((question.format(name=name), sentences))
                wrong = await asked(system, question.format(name=other), {})
                if wrong["outcome"] != "ABSTAIN":
                    false.append((question.format(name=other), wrong["answer"]))
    assert false == []
    assert missed == []
