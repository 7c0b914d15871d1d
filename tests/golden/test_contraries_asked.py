"""Questions for the contrary of a deed and for another measure, asked of a house's notes; beside each the one that the
notes answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

NOTES = (
    "Notes for the house\n\nSwitch the {0} on with the lever under the stairs. The alarm is armed by entering 4417. "
    "The {1} was bought in 2012. The picture was lent by Dr Fyfe. The door is locked by the warden at ten. The water is "
    "heated by gas.\n\nThe {2} at Linnet Force is 30 m high. The lake is 65 m deep. New badges are issued in room 12.\n"
)


@pytest.mark.parametrize("things", [("boiler", "boat", "bridge"), ("pump", "van", "arch")])
async def test_the_contrary_is_not_told(tmp_path: Path, things: tuple[str, str, str]) -> None:
    machine, bought, high = things
    await said_of(
        tmp_path,
        {"notes.txt": NOTES.format(*things)},
        {
            f"How do I switch the {machine} on?": "lever under the stairs",
            f"How do I switch off the {machine}?": None,
            "How do I arm the alarm?": "4417",
            "How do I disarm the alarm?": None,
            f"When was the {bought} bought?": "2012",
            f"When was the {bought} sold?": None,
            "Who lent the picture?": "Dr Fyfe",
            "Who borrowed the picture?": None,
            "Who locks the door?": "the warden",
            "Who unlocks the door?": None,
            "How is the water heated?": "by gas",
            "How is the water cooled?": None,
            f"How high is the {high}?": "30 m high",
            f"How long is the {high}?": None,
            "How deep is the lake?": "65 m deep",
            "How wide is the lake?": None,
        },
    )
