"""Timetables, lists that go on with the words before them, and sections that begin with `it`, asked through the whole
product; beside each question its twin of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

LINES = ("{}  {}", "- {} {}", "**{}** {}", "{}: {}", "{} – {}")
CLOCKS = (("09:30", "11:00", "17:15"), ("9.30 am", "11.00 am", "5.15 pm"), ("9:30–10:00", "11:00–12:00", "17:15–18:00"))
EVENTS = ("Yoga on the green", "Fiddle workshop with Isla Renwick (Old Chapel)", "Gates close")
LISTS = ("- {}", "* {}", "• {}", "– {}")


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize("clocks", CLOCKS, ids=[each[0] for each in CLOCKS])
async def test_lines_of_a_timetable(tmp_path: Path, form: str, clocks: tuple[str, ...]) -> None:
    lines = "\n".join(form.format(*each) for each in zip(clocks, EVENTS, strict=True))
    text = f"# Folk weekend at Hollow Bridge\n\n## Saturday 5 July\n\n{lines}\n\n## Getting there\n\nThe bridge is closed to cars.\n"
    await said_of(
        tmp_path,
        {"weekend.md": text},
        {
            "When is yoga on the green?": clocks[0],
            "When does the fiddle workshop start?": clocks[1],
            "What time do the gates close?": clocks[2],
            "Where is the fiddle workshop?": "Old Chapel",
            "Who leads the fiddle workshop?": "Isla Renwick",
            "When do the gates open?": None,
            "When does the fiddle workshop end?": None,
            "When is the harp workshop?": None,
            "When is yoga in the barn?": None,
            "When is yoga on the green on Sunday?": None,
        },
    )


@pytest.mark.parametrize("stem", ["{}\n", "**{}**"])
@pytest.mark.parametrize("form", LISTS)
async def test_items_that_go_on_with_the_words_before_the_list(tmp_path: Path, form: str, stem: str) -> None:
    against = "\n".join(map(form.format, ("are breast-feeding", "are allergic to peanuts", "have had a stroke")))
    unless = "\n".join(map(form.format, ("you cancel two weeks before the course", "you are made redundant")))
    text = (
        f"# Veltorin tablets\n\n## Before you take it\n\n{stem.format('Do not take Veltorin if you:')}\n{against}\n\n"
        f"If you stop taking Veltorin, your blood pressure may rise.\n\n# Courses\n\n{stem.format('You lose your deposit unless:')}\n{unless}\n"
    )
    await said_of(
        tmp_path,
        {"leaflet.md": text},
        {
            "Can I take Veltorin while breast-feeding?": "Do not take Veltorin if you: are breast-feeding",
            "Can I take Veltorin after a stroke?": "Do not take Veltorin if you: have had a stroke",
            "Do I lose my deposit if I am made redundant?": "You lose your deposit unless: you are made redundant",
            "Can I take Veltorin while driving?": None,
            "Do I lose my deposit if I move house?": None,
        },
    )


async def test_it_is_what_the_heading_names(tmp_path: Path) -> None:
    text = (
        "# Plants of the court\n\n## Climbing Rose\n\nIt flowers from May to October. It needs a wall that faces south.\n\n"
        "## Wisteria\n\nIt was planted in 1931 by the gardener Ann Holt.\n"
    )
    await said_of(
        tmp_path,
        {"plants.md": text},
        {
            "When does the climbing rose flower?": "It flowers from May to October",
            "When was the wisteria planted?": "It was planted in 1931",
            "Who planted the wisteria?": "Ann Holt",
            "When does the wisteria flower?": None,
            "When was the climbing rose planted?": None,
        },
    )
