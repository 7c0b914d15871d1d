"""Labels asked by a deed, a noun or a measure of theirs, and hours of days, through the whole product; beside each its
twin, which asks another day, another thing or another part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

ASKED: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "Serves",
        "4",
        ("How many people does it serve?", "How many does the surgery feed?"),
        ("How many dogs does it feed?",),
    ),
    ("Makes", "24 biscuits", ("How many biscuits does it make?",), ("How many jars does it make?",)),
    (
        "Prep",
        "20 min",
        ("How long is the preparation?", "How long does the preparation take?", "What is the preparation time?"),
        ("How long is the rest?", "At what temperature is the preparation?"),
    ),
    (
        "Baking",
        "35 minutes at 170 °C",
        ("How long does it bake?", "What is the baking time?", "At what temperature do I bake it?"),
        ("How long does it cool?", "How much does the baking cost?"),
    ),
    ("Address", "12 High Street", ("Where is the surgery?", "What is the address?"), ("Where is the car park?",)),
    ("Supplier", "Norrland Chem", ("Who supplies it?", "Who supplies the product?"), ("Who stores it?",)),
    ("Manufacturer", "Aldous Works", ("Who makes it?", "Who manufactures it?"), ("Who repairs it?",)),
    ("Supervisor", "Dr Ikin", ("Who supervised it?", "Who is the supervisor?"), ("Who printed it?",)),
    ("Ref", "Mrs P. Dunmore", ("Who was the referee?", "Who refereed the match?"), ("Who refereed the cup tie?",)),
    (
        "Att",
        "412",
        ("What was the attendance?", "How many spectators were there?", "How many people watched the match?"),
        ("How many people watched the final?", "How many players were there?"),
    ),
    (
        "Admission",
        "adults £9, children £4",
        ("How much is admission for children?", "How much do adults pay?", "How much is the entrance fee?"),
        ("How much is admission for students?", "How much do pensioners pay?"),
    ),
    (
        "Parking",
        "50 spaces, £3 a day",
        ("How many parking spaces are there?", "How much does parking cost?"),
        ("How many parking attendants are there?", "How much does camping cost?"),
    ),
    (
        "Check-out",
        "11.00",
        ("When is check-out?", "By when do I have to check out?", "When must guests check out?"),
        ("When is check-in?", "When can guests check in?"),
    ),
    (
        "Dogs",
        "£8/night",
        ("How much does a dog cost?", "How much does a dog cost per night?"),
        ("How much does a cat cost?", "How much does a dog weigh?", "How much does a dog cost per week?"),
    ),
    ("Wound", "every Saturday", ("How often is it wound?",), ("How often is it dusted?",)),
    ("Weight", "4 kg", ("How heavy is it?", "How much does it weigh?"), ("How wide is it?",)),
)


@pytest.mark.parametrize(("label", "value", "asked", "beside"), ASKED, ids=[each[0] for each in ASKED])
async def test_labels_by_deed_noun_and_measure(
    tmp_path: Path, label: str, value: str, asked: tuple[str, ...], beside: tuple[str, ...]
) -> None:
    text = f"# The Elm surgery\n\nColour: green\n{label}: {value}\nNumber: 77\n\nIt was quiet there.\n"
    questions: dict[str, str | None] = dict.fromkeys(asked, value)
    questions |= dict.fromkeys(beside)
    await said_of(tmp_path, {"sheet.md": text}, questions)


async def test_labels_in_a_run_of_one_line(tmp_path: Path) -> None:
    prices = "Dogs: £8/night. Cot: free. Extra bed: £20. Check-out: 11.00. Check-in: from 15.00."
    people = "**Manager:** Greta Faulk. **Deputy:** Owen Strake. **Chef:** Lise Amand (from 1 May)."
    match = "Mill Road · Att: 412 · Ref: Mrs P. Dunmore"
    thesis = "Submitted in September 2023. Supervisor: Dr. Gareth Ikin. Second marker: Prof. L. Sandoval."
    await said_of(
        tmp_path,
        {"notes.md": f"# Merrin Hotel\n\n{prices}\n\n{people}\n", "match.md": f"# Rovers\n\n{match}\n"}
        | {"thesis.md": f"# Sleep of porters\n\n{thesis}\n\nThe work was long.\n"},
        {
            "How much does a dog cost per night?": "£8/night",
            "How much is an extra bed?": "Extra bed: £20",
            "When is check-out?": "Check-out: 11.00",
            "When can guests check in?": "Check-in: from 15.00",
            "Who is the deputy?": "Owen Strake",
            "Who is the manager?": "Greta Faulk",
            "Who was the referee?": "Mrs P. Dunmore",
            "What was the attendance?": "412",
            "Who was the supervisor?": "Dr. Gareth Ikin",
            "Who was the second marker?": "Prof. L. Sandoval",
            "How much is an extra pillow?": None,
            "Who is the porter?": None,
            "When is dinner?": None,
            "Who was the first marker?": None,
        },
    )


async def test_labels_below_a_numbered_one_are_of_what_it_names(tmp_path: Path) -> None:
    rooms = "\n\n".join(
        f"Room {at}: {name}\nMade by: {maker}\nWeight: {at} kg"
        for at, (name, maker) in enumerate(
            {"Textiles": "Ada Holt", "The Merrow Turret Clock": "Josiah Penn"}.items(), start=1
        )
    )
    await said_of(
        tmp_path,
        {"card.txt": f"CLOCKS OF ST BRANNOCK\n\n{rooms}\nGiven by: Lady Hartopp\n"},
        {
            "Who made the Merrow Turret Clock?": "Josiah Penn",
            "Who made the textiles?": "Ada Holt",
            "How heavy is the Merrow Turret Clock?": "2 kg",
            "Who gave the Merrow Turret Clock?": "Lady Hartopp",
            "Who gave the textiles?": None,
            "Who made the sundials?": None,
        },
    )


WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
HOURS = (
    ("- Monday to Friday: 9:00 – 17:30", "- Saturday: 9:00 – 18:00", "- Sunday: closed"),
    ("Mon–Fri 9.30am–4.30pm", "Sat 10-4"),
    ("Mon-Wed: 8–16", "Thu, Fri: 8–20", "Sat & Sun: closed"),
    ("Monday - Friday: 9 am to 5 pm, closed Sundays",),
    ("Opening hours: Tue-Sun 10-17 (Thu till 20)", "Closed: Mondays, 24-26 Dec"),
    ("Weekdays: 9-5", "Weekends: 10-4"),
    ("Tues to Sat 9:00-17:00", "Wed: closed"),
)
TOLD = (
    {**dict.fromkeys(WEEK[:5], "17:30"), "saturday": "18:00", "sunday": "closed"},
    {**dict.fromkeys(WEEK[:5], "4.30pm"), "saturday": "10-4"},
    {**dict.fromkeys(WEEK[:3], "8–16"), **dict.fromkeys(WEEK[3:5], "8–20"), **dict.fromkeys(WEEK[5:], "closed")},
    {**dict.fromkeys(WEEK[:5], "5 pm"), "sunday": "closed Sundays"},
    {"monday": "Closed", **dict.fromkeys(WEEK[1:], "10-17")},
    {**dict.fromkeys(WEEK[:5], "9-5"), **dict.fromkeys(WEEK[5:], "10-4")},
    {**dict.fromkeys(WEEK[1:6], "17:00"), "wednesday": "closed"},
)
FORMS = (
    "When does it close on {}?",
    "When are you open on {}?",
    "At what time does the shop open on {}?",
    "Is the shop open on {}?",
    "What are the opening hours on {}?",
)


@pytest.mark.parametrize(("lines", "told"), list(zip(HOURS, TOLD, strict=True)))
async def test_hours_of_a_day(tmp_path: Path, lines: tuple[str, ...], told: dict[str, str]) -> None:
    text = "# The shop in Elm Road\n\n## Opening hours\n\n" + "\n".join(lines) + "\n\n## Bakery\n\nDaily 6:00-12:00\n"
    questions = {form.format(day.capitalize()): told.get(day) for day in WEEK for form in FORMS}
    questions |= {
        "When does the bakery open on Monday?": "6:00",
        "When does the bakery close?": "12:00",
        "When does the cinema open on Tuesday?": None,
        "Who opens the shop on Tuesday?": None,
        "Why is the shop closed on Monday?": None,
        "When was the shop opened?": None,
        "Is the shop open on Easter Monday?": None,
        "When is lunch on Tuesday?": None,
    }
    await said_of(tmp_path, {"shop.md": text}, questions)


async def test_hours_of_a_thing(tmp_path: Path) -> None:
    lines = "Café: open 10:30-16:00\nLibrary van: Tuesdays 14:00–15:30. Closed in May.\nClosed: Mondays\nLift: yes"
    await said_of(
        tmp_path,
        {"card.txt": f"MUSEUM OF CLOCKS\n\nOpening hours: Tue-Sun 10-17\n{lines}\nMonday: sewing\n"},
        {
            "When is the museum open?": "Tue-Sun 10-17",
            "When does the café close?": "16:00",
            "When does the library van come?": "14:00",
            "On which day does the library van come?": "Tuesdays",
            "How late is it open on Thursday?": "Tue-Sun 10-17",
            "When does the library van come on Thursdays?": None,
            "Is the café open on Mondays?": None,
            "When does the shop close?": None,
        },
    )


async def test_labels_below_another_heading_than_the_first(tmp_path: Path) -> None:
    parts = {"Lemon drizzle": "Keeps well.", "Flapjack": "Makes: 16 squares", "Lentil soup": "Serves: 6"}
    text = "\n\n".join(f"# {name}\n\n{said}\n\nEat it with tea." for name, said in parts.items())
    await said_of(
        tmp_path,
        {"book.md": text},
        {
            "How many squares does the flapjack make?": "16 squares",
            "How many people does the lentil soup serve?": "Serves: 6",
            "How many squares does the lemon drizzle make?": None,
            "How many people does the lemon drizzle serve?": None,
        },
    )
