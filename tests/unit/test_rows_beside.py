"""Rows that have the words of a question in other columns, for another name, in another unit or as no count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest

from ai.model import PromptSource
from ai.models.reading.question import ReadQuestion
from ai.models.reading.source import ReadSource
from ai.models.reading.versions import RELEASED, VERSION
from ai.text.tables.held import rows_beside
from retrieval.model import Intent

Table = tuple[dict[str, str], ...]
NAMES = ("Withy", "Saltby", "Marl Point", "Port A", "Port B", "Isle of Man")
THINGS = ("Plover", "Heron", "Brig", "Osprey", "Teal", "Merlin")
DIRECTIONS: dict[tuple[str, str, str], Sequence[str]] = {
    ("Boat", "From", "To"): (
        "When does the {thing} leave {one}?",
        "When does the {thing} depart from {one}?",
        "When does the {thing} arrive at {other}?",
        "When does the {thing} reach {other}?",
        "When does the {thing} get to {other}?",
        "When does the {thing} leave {one} for {other}?",
        "What is the fare from {one} to {other}?",
        "What is the fare to {other} from {one}?",
        "What is the fare for {one} to {other}?",
        "What is the {one}–{other} fare?",
        "From {one}, when does the {thing} leave?",
        "When does the boat to {other} leave {one}?",
        "When does the boat from {one} arrive in {other}?",
    ),
    ("train", "origin", "destination"): (
        "What does the {thing} from {one} cost?",
        "What does the {thing} to {other} cost?",
        "When does the {thing} start from {one}?",
        "When does the {thing} bound for {other} leave?",
    ),
    ("Flight", "Departs from", "Arrives at"): (
        "How long is the {thing} from {one} to {other}?",
        "Which flight leaves {one}?",
        "Which flight departs from {one} and lands at {other}?",
    ),
    ("Lot", "Seller", "Buyer"): (
        "What did {one} sell to {other}?",
        "What did {other} buy from {one}?",
        "What did {other} pay {one} for the {thing}?",
        "What was sold by {one} to {other}?",
        "Which lot did {one} sell?",
        "Which lot was bought by {other}?",
        "What did the {thing} cost when the seller was {one}?",
        "Which lot has {other} as the buyer?",
    ),
    ("Letter", "Sender", "Recipient"): (
        "When did {one} write to {other}?",
        "When did {other} receive the {thing}?",
        "When did {one} send the {thing}?",
        "When was the {thing} sent by {one}?",
        "When did {other} get the letter from {one}?",
    ),
    ("Round", "Home", "Away"): (
        "When do {one} host {other}?",
        "When do {other} visit {one}?",
        "What was the score of {one} v {other}?",
        "When do {one} play at home?",
        "When do {other} play away?",
    ),
    ("Year", "Winner", "Loser"): (
        "When did {one} beat {other}?",
        "When did {other} lose to {one}?",
        "When was {other} beaten by {one}?",
        "By how much did {one} win against {other}?",
        "When were {other} defeated?",
    ),
    ("Loan", "Lender", "Borrower"): (
        "What did {one} lend to {other}?",
        "What did {other} borrow from {one}?",
        "Who lent to {other}?",
    ),
    ("Player", "Old club", "New club"): (
        "When did {thing} move from {one} to {other}?",
        "When did {thing} leave {one}?",
        "When did {thing} join {other}?",
    ),
    ("Reign", "Predecessor", "Successor"): (
        "When did {other} succeed {one}?",
        "When was {one} replaced by {other}?",
        "Who was the successor of {one}?",
        "Who was the predecessor of {other}?",
    ),
    ("Family", "Parent", "Child"): (
        "Who is a child of {one}?",
        "Who is the parent of {other}?",
        "Which family has {one} as a parent?",
    ),
    ("Hike", "Start", "Finish"): (
        "How long is the {thing} that starts at {one}?",
        "Which hike ends in {other}?",
        "Which hike goes from {one} to {other}?",
    ),
    ("Contract", "Employer", "Employee"): (
        "What does {one} pay when it employs {other}?",
        "Since when is {other} employed by {one}?",
    ),
    ("Lesson", "Teacher", "Pupil"): (
        "When does {one} teach {other}?",
        "When is {other} taught by {one}?",
        "What does {other} learn from {one}?",
    ),
}


def beside(question: str, table: Sequence[dict[str, str]], title: str = "things") -> set[int]:
    return set(rows_beside(question, {at: (title, row) for at, row in enumerate(table)}))


def tables_of(headers: tuple[str, str, str]) -> Iterator[tuple[Table, int]]:
    """Tables with each pair of names in one order, with another row, and where the way back is one, that too."""
    name, one, other = headers
    for (first, second), thing in zip(permutations(NAMES, 2), THINGS * 5, strict=True):
        left = [each for each in NAMES if each not in {first, second}]
        rows = (
            {name: thing, one: first, other: second, "Fare": "€6"},
            {name: thing, one: second, other: first, "Fare": "€7"},
            {name: thing, one: left[0], other: left[1], "Fare": "€8"},
        )
        yield rows, 0
        yield (rows[0],), 0
        yield rows[::-1], 2


@pytest.mark.parametrize("headers", DIRECTIONS, ids="-".join)
def test_a_row_answers_for_its_own_direction_alone(headers: tuple[str, str, str]) -> None:
    wrong = []
    for asks in DIRECTIONS[headers]:
        for table, at in tables_of(headers):
            thing, one, other, _ = table[at].values()
            if at in beside(asks.format(thing=thing, one=one, other=other), table):
                wrong.append((asks, table[at], "refused"))
            if at not in beside(asks.format(thing=thing, one=other, other=one), table):
                wrong.append((asks, table[at], "swapped"))
            others = set(range(len(table))) - {at}
            if not others <= beside(asks.format(thing=thing, one=one, other=other), table):
                wrong.append((asks, table[at], "another"))
    assert wrong == []


@pytest.mark.parametrize(
    "question",
    [
        "Which boats call at Withy?",
        "What is the fare between Withy and Saltby?",
        "Which boats go to and from Saltby?",
        "How long does the Plover take?",
        "Where does the Plover go?",
        "When does the Plover leave?",
    ],
)
def test_who_gives_no_direction_is_answered_by_either(question: str) -> None:
    row = {"Boat": "Plover", "From": "Withy", "To": "Saltby", "Departs": "16:40"}
    back = {"Boat": "Plover", "From": "Saltby", "To": "Withy", "Departs": "18:40"}
    assert beside(question, [row, back]) == set()


MATCHES: Table = (
    {"Date": "3 May", "Home": "Rovers", "Away": "Town", "Score": "2-1", "Crowd": "400"},
    {"Date": "9 May", "Home": "Town", "Away": "Rovers", "Score": "0-0", "Crowd": "500"},
    {"Date": "12 May", "Home": "City", "Away": "Rovers", "Score": "1-3", "Crowd": "700"},
)
MOVES: Table = (
    {"Player": "Smith", "From": "Leeds", "To": "Hull", "Fee": "£3m"},
    {"Player": "Jones", "From": "Hull", "To": "Leeds", "Fee": "free"},
    {"Player": "Brown", "From": "York", "To": "Hull", "Fee": "£1m"},
)
STAFF: Table = (
    {"name": "Ada", "manager": "Ben", "mentor": "Cy", "salary": "40"},
    {"name": "Ben", "manager": "Cy", "mentor": "Dot", "salary": "60"},
)
LOANS: Table = (
    {"Item": "Saw", "Owner": "Kim", "Borrower": "Lou"},
    {"Item": "Axe", "Owner": "Lou", "Borrower": "Kim"},
)
DEALS: Table = (
    {"Deal": "D1", "Exporter": "Norway", "Importer": "Spain", "Goods": "Fish", "Tonnes": "40"},
    {"Deal": "D2", "Exporter": "Spain", "Importer": "Norway", "Goods": "Oranges", "Tonnes": "30"},
    {"Deal": "D3", "Exporter": "Chile", "Importer": "Spain", "Goods": "Copper", "Tonnes": "9"},
)
SIDES: list[tuple[Table, str, set[int]]] = [
    (MATCHES, "What was the score of Rovers v Town?", {0}),
    (MATCHES, "What was the score when Town hosted Rovers?", {1}),
    (MATCHES, "When did Rovers play away at City?", {2}),
    (MATCHES, "When do Rovers play City?", {2}),
    (MATCHES, "When do Rovers play Town?", {0, 1}),
    (MATCHES, "What was the score in the home game of Rovers against Town?", {0}),
    (MATCHES, "When do Rovers travel to Town?", {1}),
    (MATCHES, "When do City visit Rovers?", set()),
    (MATCHES, "What was the score between City and Town?", set()),
    (MOVES, "Who joined Hull from Leeds?", {0}),
    (MOVES, "Who left Hull?", {1}),
    (MOVES, "Who signed for Leeds?", {1}),
    (MOVES, "Which player went to Hull from York?", {2}),
    (MOVES, "Which player went to York?", set()),
    (MOVES, "Which players moved between Leeds and Hull?", {0, 1}),
    (STAFF, "Who is the manager of Ada?", {0}),
    (STAFF, "Who does Ben manage?", {0}),
    (STAFF, "Who has Ben as manager?", {0}),
    (STAFF, "What is the salary of Ben?", {1}),
    (STAFF, "Who manages Ben?", {1}),
    (LOANS, "What did Lou borrow from Kim?", {0}),
    (LOANS, "What did Kim lend to Lou?", {0}),
    (LOANS, "Which item is owned by Lou?", {1}),
    (DEALS, "What does Spain import from Norway?", {0}),
    (DEALS, "What goods does Spain export?", {1}),
    (DEALS, "How many tonnes of oranges does Norway export to Spain?", set()),
    (DEALS, "Which goods go to Chile?", set()),
    (DEALS, "Which goods come from Chile?", {2}),
]


@pytest.mark.parametrize(("table", "question", "kept"), SIDES)
def test_names_are_held_to_their_side(table: Table, question: str, kept: set[int]) -> None:
    assert set(range(len(table))) - beside(question, table) == kept


def test_two_columns_of_times_have_no_names() -> None:
    row = {"Museum": "Mill", "From": "09:00", "To": "17:00", "Fee": "€4"}
    assert beside("When is the Mill open from and to?", [row]) == set()


BOATS: Table = (
    {"Boat": "Kestrel", "From": "Ollen Quay", "To": "Marl Point", "Adult fare": "€9.80", "Child fare": "€4.90"},
    {"Boat": "Osprey", "From": "Ollen Quay", "To": "Withy", "Adult fare": "€4.10", "Child fare": "free"},
    {"Boat": "Plover", "From": "Withy", "To": "Saltby", "Adult fare": "€7.00 (1)", "Child fare": "€3.50"},
)
COURSES: Table = (
    {"day": "Monday", "course": "Yoga", "room": "Blue", "price": "5"},
    {"day": "Tuesday", "course": "Pilates", "room": "Red", "price": "free"},
    {"day": "Monday", "course": "Tai chi", "room": "Red", "price": "free"},
)
DEVICES: Table = (
    {"model": "Nimbus R1", "colour": "red", "ports": "2"},
    {"model": "Nimbus R1 Pro", "colour": "blue", "ports": "4"},
    {"model": "Cirrus", "colour": "blue", "ports": "8"},
)
SUBJECTS: list[tuple[Table, str, set[int]]] = [
    (BOATS, "Is the child fare on the Kestrel free?", {0}),
    (BOATS, "Is the child fare on the Osprey free?", {1}),
    (BOATS, "Is the child fare on the Plover free?", {2}),
    (BOATS, "What is the child fare on the Plover?", {2}),
    (BOATS, "What do the Kestrel and the Osprey cost?", {0, 1}),
    (BOATS, "Which boats leave Ollen Quay?", {0, 1}),
    (BOATS, "On which boat is the child fare free?", {1}),
    (BOATS, "Which boat is cheaper than the Kestrel?", {0, 1, 2}),
    (BOATS, "Which boats besides the Kestrel leave Ollen Quay?", {0, 1}),
    (COURSES, "Is the yoga free?", {0}),
    (COURSES, "What does Tai chi cost?", {2}),
    (COURSES, "Which courses are there on Monday?", {0, 2}),
    (COURSES, "Which courses are in the red room?", {1, 2}),
    (COURSES, "What does the course on Tuesday cost?", {1}),
    (COURSES, "Is Pilates on Tuesday free?", {1}),
    (DEVICES, "How many ports does the Nimbus R1 have?", {0}),
    (DEVICES, "How many ports does the Nimbus R1 Pro have?", {1}),
    (DEVICES, "Is the Nimbus R1 blue?", {0}),
    (DEVICES, "Is the Cirrus red or blue?", {2}),
    (DEVICES, "How many ports does the blue Cirrus have?", {2}),
    (DEVICES, "How many ports does the red Cirrus have?", set()),
]


@pytest.mark.parametrize(("table", "question", "kept"), SUBJECTS)
def test_a_row_of_another_name_does_not_answer(table: Table, question: str, kept: set[int]) -> None:
    assert set(range(len(table))) - beside(question, table) == kept


DESK = {"item": "Walnut desk", "size": "140 cm", "list price": "$1,250.00", "sale price": "$1,099.00", "stock": "6"}
SHELF = {"item": "Elm shelf", "size": "90 cm", "list price": "$74.25", "sale price": "TBC", "stock": "27"}
LOPPERS = {"tool": "Loppers", "price_eur": "49", "weight_kg": "1.2", "guarantee_years": "10", "delivery": "3 days"}
TRIP = {"trip": "Gorge", "length": "12 km", "duration": "3 hours", "per day": "£20", "low": "4 °C"}
PRICED = {"item": "Lamp", "price (EUR)": "20", "price (GBP)": "17"}
COIN = {"item": "Stool", "price": "EUR 38", "weight": "5 lb"}
STATED = [
    (DESK, "list price of the walnut desk"),
    (DESK, "list price of the walnut desk in dollars"),
    (DESK, "list price of the walnut desk in US dollars"),
    (DESK, "list price of the walnut desk in USD"),
    (DESK, "list price of the 140 cm walnut desk"),
    (DESK, "size of the walnut desk in centimetres"),
    (SHELF, "list price of the 90 cm elm shelf"),
    (SHELF, "list price of the 90 centimetre elm shelf"),
    (LOPPERS, "price of the loppers in euros"),
    (LOPPERS, "weight of the loppers in kg"),
    (LOPPERS, "How many years is the guarantee of the loppers?"),
    (LOPPERS, "How many days does the delivery of the loppers take?"),
    (TRIP, "How many hours is the duration of the Gorge trip?"),
    (TRIP, "length of the Gorge trip in kilometres"),
    (TRIP, "What does the Gorge trip cost per day?"),
    (TRIP, "low of the Gorge trip in celsius"),
    (PRICED, "price of the lamp in euros"),
    (PRICED, "price of the lamp in pounds"),
    (COIN, "price of the stool in euros"),
    (COIN, "weight of the stool in pounds"),
    (COIN, "Is the stool made in stone?"),
]
STATED_OTHERWISE = [
    *((DESK, f"list price of the walnut desk in {unit}") for unit in ("euros", "pounds", "yen", "EUR", "£", "francs")),
    *((DESK, f"How many {unit} does the walnut desk cost?") for unit in ("euros", "pounds", "rupees")),
    *((DESK, f"list price of the 140 {unit} walnut desk") for unit in ("inch", "mm", "metre", "foot")),
    *((SHELF, f"list price of the 90{unit} elm shelf") for unit in (" inch", "-inch", " inches", '"', " mm", "m")),
    *((SHELF, f"size of the elm shelf in {unit}") for unit in ("inches", "mm", "feet", "metres")),
    *((LOPPERS, f"price of the loppers in {unit}") for unit in ("dollars", "pounds", "USD", "$")),
    *((LOPPERS, f"weight of the loppers in {unit}") for unit in ("pounds", "grams", "lb", "ounces")),
    *((LOPPERS, f"How many {unit} is the guarantee of the loppers?") for unit in ("months", "days", "weeks")),
    *((TRIP, f"What does the Gorge trip cost per {unit}?") for unit in ("week", "month", "hour")[:2]),
    *((TRIP, f"How many {unit} is the duration of the Gorge trip?") for unit in ("minutes", "days")),
    *((TRIP, f"length of the Gorge trip in {unit}") for unit in ("miles", "metres", "yards")),
    (TRIP, "low of the Gorge trip in fahrenheit"),
    (PRICED, "price of the lamp in dollars"),
    (COIN, "price of the stool in pounds"),
    (COIN, "weight of the stool in kg"),
]


@pytest.mark.parametrize(("row", "question"), STATED)
def test_a_row_answers_in_its_own_unit(row: dict[str, str], question: str) -> None:
    assert beside(question, [row]) == set()


@pytest.mark.parametrize(("row", "question"), STATED_OTHERWISE)
def test_a_row_answers_in_no_other_unit(row: dict[str, str], question: str) -> None:
    assert beside(question, [row]) == {0}


SOLD = {"item": "Walnut desk", "list price": "$1,250.00", "sold": "9", "returned": "2", "stock": "6"}
SALES = {"item": "Walnut desk", "sale price": "$1,099.00", "sales": "9", "sale date": "2024-05-01"}
WRECK = {"ship": "Argo", "passengers": "300", "rescued": "120", "launched": "1901", "notes": "12 drowned"}
FERRY = {"Boat": "Heron", "From": "Ollen Quay", "To": "Saltby", "Departs": "08:15", "Fare": "€6.40", "Seats": "80"}
QUAY = {"Quay": "Ollen Quay", "Boats": "4", "Opens": "06:00"}
COUNTED = [
    (DESK, "How many walnut desks are in stock?"),
    (SOLD, "How many walnut desks were sold?"),
    (SOLD, "How many walnut desks have been returned?"),
    (SOLD, "How many walnut desks did the shop sell?"),
    (SALES, "How many walnut desks were sold?"),
    (WRECK, "How many passengers did the Argo carry?"),
    (WRECK, "How many people were rescued from the Argo?"),
    (WRECK, "How many people were drowned on the Argo?"),
    (FERRY, "How many seats does the Heron have?"),
    (QUAY, "How many boats leave Ollen Quay?"),
    (QUAY, "What is the number of boats at Ollen Quay?"),
    (DEVICES[0], "How many ports does the Nimbus R1 have?"),
]
NOT_COUNTED = [
    (DESK, "How many walnut desks were sold?"),
    (DESK, "How many walnut desks have been sold?"),
    (DESK, "How many walnut desks did the shop sell?"),
    (DESK, "How many walnut desks were returned?"),
    (DESK, "How many walnut desks in stock were sold?"),
    (DESK, "What is the number of walnut desks sold?"),
    (SHELF, "How many elm shelves were priced?"),
    (SOLD, "How many walnut desks were ordered?"),
    (WRECK, "How many people were launched with the Argo?"),
    (WRECK, "How many ships were rescued?"),
    (WRECK, "How many people were lost with the Argo?"),
    (FERRY, "How many boats leave Ollen Quay?"),
    (FERRY, "How many boats depart from Ollen Quay?"),
    (FERRY, "How many boats have 80 seats?"),
    (FERRY, "How many boats go to Saltby?"),
    (FERRY, "What is the number of boats that leave Ollen Quay?"),
    (FERRY, "How many departures are there from Ollen Quay?"),
    (FERRY, "How many fares are there to Saltby?"),
    (QUAY, "How many quays open at 06:00?"),
]


@pytest.mark.parametrize(("row", "question"), COUNTED)
def test_a_row_with_a_count_answers_how_many(row: dict[str, str], question: str) -> None:
    assert beside(question, [row]) == set()


@pytest.mark.parametrize(("row", "question"), NOT_COUNTED)
def test_a_row_without_a_count_does_not_answer_how_many(row: dict[str, str], question: str) -> None:
    assert beside(question, [row]) == {0}


def test_tables_of_other_titles_are_held_apart() -> None:
    other = {"Boat": "Kestrel", "Adult fare": "€1"}
    found = rows_beside("What is the adult fare on the Kestrel?", {1: ("a", BOATS[2]), 2: ("b", other)})
    assert found == frozenset()


def test_release_0_1_passes_over_no_row() -> None:
    said = "; ".join(f"{header}: {value}" for header, value in BOATS[2].items())
    source = PromptSource(
        index=1, kind="passage", title="Ferry", text="", statement=f"{said}.", direct=False, entities=()
    )
    asks = "When does the Plover arrive at Withy?"
    for version in (RELEASED, VERSION):
        read = ReadSource.of(source)
        asked = ReadQuestion.of(asks, Intent(), [read], version=version)
        assert asked.beside == (frozenset({1}) if version > RELEASED else frozenset())
