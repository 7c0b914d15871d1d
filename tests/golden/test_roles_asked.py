"""Who had a role by a list of those present, and what an abbreviation in brackets stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

BODIES = (("Larch Trust", "March", "May"), ("Elm Tennis Club", "June", "October"), ("Quay Choir", "April", "July"))


@pytest.mark.parametrize(("body", "one", "other"), BODIES)
async def test_roles_in_a_list_of_people(tmp_path: Path, body: str, one: str, other: str) -> None:
    head = (
        "{}\nMinutes of the meeting of 12 {} 2024\n\nPresent: {} (chair), {} (treasurer), Una Dale. Apologies came.\n\n"
    )
    text = "1. Fees\nThe fees were raised. A tag (LOTO, lockout-tagout) hangs at each switch.\n"
    files = {
        f"minutes-{one.lower()}.txt": head.format(body, one, "Ann Orr", "Max Pell") + text,
        f"minutes-{other.lower()}.txt": head.format(body, other, "Max Pell", "Ivo Stern")
        + text.replace("A tag (LOTO, lockout-tagout)", "An RFID tag"),
    }
    await said_of(
        tmp_path,
        files,
        {
            f"Who chaired the meeting in {one}?": "Ann Orr (chair)",
            f"Who chaired the meeting in {other}?": "Max Pell (chair)",
            f"Who was the treasurer in {other}?": "Ivo Stern (treasurer)",
            "Who chaired the meeting in December?": None,
            f"Who was the secretary in {one}?": None,
            "What does LOTO stand for?": "(LOTO, lockout-tagout)",
            "What does RFID stand for?": None,
        },
    )
