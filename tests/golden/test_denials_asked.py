"""Questions for yes or no, asked of reports that deny what is asked; beside each what they deny of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

CASES = (
    ("barn", "burned down", "captain of the brigade", "hayloft"),
    ("dam", "broke", "lock keeper", "weir"),
    ("Skua", "ran aground", "mate", "pilot boat"),
)


@pytest.mark.parametrize(("thing", "event", "who", "other"), CASES)
async def test_what_is_denied_is_told(tmp_path: Path, thing: str, event: str, who: str, other: str) -> None:
    text = (
        f"Report of the year\n\nThe {thing} {event} on 3 May 1902. It was said that children had been near. "
        f"Nobody was killed, but a watchman lost an eye.\n\nThe {who} was not tired and had not been drinking. "
        "No oil was spilled. The owners of the quay were fined.\n"
    )
    await said_of(
        tmp_path,
        {"report.txt": text},
        {
            f"Was anyone killed when the {thing} {event}?": "Nobody was killed",
            f"Had the {who} been drinking?": "had not been drinking",
            "Was any oil spilled?": "No oil was spilled",
            f"Was anyone killed when the {other} {event}?": None,
            "Had the watchman been drinking?": None,
            "Was any tar spilled?": None,
        },
    )
