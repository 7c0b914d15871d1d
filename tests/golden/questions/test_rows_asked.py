"""Tables of rows without years, asked through the wire: the row that has the words of a question in other columns, for
another name, in another unit or as no count is not quoted, and its twin is."""

from __future__ import annotations

from pathlib import Path

from api import wiring
from api.home.configuration import load
from tests.golden.questions.asking import asked
from tests.harness import ingest

FERRIES = """# Lake Ollen ferry timetable

Summer timetable. Boats do not run on Mondays.

| Boat | From | To | Departs | Arrives | Adult fare | Child fare |
|---|---|---|---|---|---|---|
| Heron | Ollen Quay | Saltby | 08:15 | 09:05 | €6.40 | €3.20 |
| Heron | Saltby | Ollen Quay | 09:30 | 10:20 | €6.40 | €3.20 |
| Kestrel | Ollen Quay | Marl Point | 10:45 | 12:10 | €9.80 | €4.90 |
| Osprey | Ollen Quay | Withy | 13:00 | 13:25 | €4.10 | free |
| Plover | Withy | Saltby | 16:40 | 17:35 | €7.00 (1) | €3.50 |

(1) Return tickets only on Sundays.
"""
PRICES = """item,size,list price,sale price,stock
Oak table,120 cm,$420.00,$365.00,14
Oak table,180 cm,$610.00,,3
Walnut desk,140 cm,"$1,250.00","$1,099.00",6
Elm shelf,90 cm,$74.25,TBC,27
"""
SHIPS = """ship,from,to,departs,meal
Argo,Port A,Port B,07:10,included
Brig,Port B,Port A,11:20,extra
Cutter,Port A,Port C,15:45,included
"""
ANSWERED = {
    "When does the Plover depart from Withy?": ["16:40"],
    "When does the Plover arrive at Saltby?": ["17:35"],
    "What is the adult fare from Ollen Quay to Marl Point?": ["9.80"],
    "What is the adult fare from Withy to Saltby?": ["7.00"],
    "When does the Heron depart from Saltby?": ["09:30"],
    "When does the Heron leave Ollen Quay?": ["08:15"],
    "Is the child fare on the Osprey free?": ["free"],
    "When does the Brig depart from Port B?": ["11:20"],
    "What is the list price of the walnut desk?": ["1,250.00"],
    "What is the list price of the walnut desk in dollars?": ["1,250.00"],
    "What is the list price of the 90 cm elm shelf?": ["74.25"],
    "How many walnut desks are in stock?": ["stock: 6"],
}
NOT_ANSWERED = (
    "When does the Plover arrive at Withy?",
    "When does the Plover depart from Saltby?",
    "When does the Plover leave Saltby for Withy?",
    "What is the adult fare from Marl Point to Ollen Quay?",
    "What is the adult fare from Saltby to Withy?",
    "When does the Osprey leave Withy?",
    "When does the Kestrel arrive at Ollen Quay?",
    "Is the child fare on the Kestrel free?",
    "Is the child fare on the Plover free?",
    "When does the Brig depart from Port A?",
    "When does the Argo depart from Port B?",
    "What is the list price of the walnut desk in euros?",
    "What is the list price of the walnut desk in pounds?",
    "What is the list price of the 90 inch elm shelf?",
    "How many walnut desks were sold?",
    "How many boats leave Ollen Quay?",
)
ANOTHER_ROW = {"Is the child fare on the Kestrel free?": "4.90", "Is the child fare on the Plover free?": "3.50"}
"""What may be quoted all the same: the row of the name that is asked for."""


async def test_rows_are_quoted_for_what_they_say_alone(tmp_path: Path) -> None:
    for name, text in {"ferries.md": FERRIES, "prices.csv": PRICES, "ships.csv": SHIPS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    await ingest(
        tmp_path / "home", paths=[tmp_path / name for name in ("ferries.md", "prices.csv", "ships.csv")], label="public"
    )
    wrong = []
    async with wiring.open_system(load({}, home=tmp_path / "home")) as system:
        for question in (*ANSWERED, *NOT_ANSWERED):
            body = await asked(system, question, {})
            said = [each["text"] for each in body["sentences"]] if body["outcome"] != "ABSTAIN" else []
            expected = ANSWERED.get(question, [])
            if not expected and question in ANOTHER_ROW and all(ANOTHER_ROW[question] in each for each in said):
                continue
            if len(said) != len(expected) or not all(due in told for due, told in zip(expected, said, strict=True)):
                wrong.append((question, said))
    assert wrong == []
