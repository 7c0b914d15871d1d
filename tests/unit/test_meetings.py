"""What the minutes of one meeting say was not said at another."""

from __future__ import annotations

from itertools import permutations

from ai.intent.times import read_times
from ai.models.reading.times import is_of_titled_day

DAYS = ("14 January 2019", "11 March 2019", "8 April 2019")
TITLES = ("Minutes of the meeting of {}", "Parish of Ashcombe: minutes, {}", "Hearing of {}")


def of_meeting(text: str, title: str, question: str) -> bool:
    return is_of_titled_day(text, title, [span.time for span in read_times(question)])


def test_a_meeting_on_another_day_is_another() -> None:
    for title in TITLES:
        for one, other in permutations(DAYS, 2):
            month = other.partition(" ")[2]
            assert not of_meeting("Absent: Cllr Voss.", title.format(one), f"Who was absent on {other}?")
            assert not of_meeting("Mr Kay was co-opted.", title.format(one), f"Who was co-opted in {month}?")
            assert of_meeting("Absent: Cllr Voss.", title.format(one), f"Who was absent on {one}?")
            assert of_meeting("Mr Kay was co-opted.", title.format(one), "Who was co-opted in 2019?")
            assert of_meeting("Mr Kay was co-opted.", title.format(one), "Who was co-opted?")
            assert of_meeting("The vote is in May.", title.format(one), f"Which vote is on {other}?")
            assert of_meeting("Mr Kay drowned.", f"The Courier, {one}", f"Who drowned on {other}?")
