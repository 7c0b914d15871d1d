"""The judge is strict: what is not the answer, and nothing but the answer, is not right."""

from __future__ import annotations

import pytest

from tests.golden.questions.bank import Corpus
from tests.golden.questions.gold import Doubtful
from tests.golden.questions.judge import Judgement, Verdict, judge
from tests.golden.questions.language import BadSpecification, golds

WORLD = Corpus("kansas").world


def judged(question: str, said: str | None, *gold: str, note: str = "", may_abstain: bool = False) -> Judgement:
    body = {
        "outcome": "ABSTAIN" if said is None else "ANSWER",
        "sentences": [{"text": said or "The sources do not answer this question."}],
        "limitations": [{"code": "NOTE", "message": note}] if note else [],
    }
    return judge(body, golds(WORLD, gold), world=WORLD, question=question, may_abstain=may_abstain)


SHAWNEE = "population('Shawnee County', 1930)"
BORDER = "border(counties, 'Riley County')"
NEIGHBOURS = "Clay County, Geary County, Marshall County, Pottawatomie County, Wabaunsee County and Washington County"
TOP = "top(counties, 3, by('population', 1930))"
LESS = "less('population', 'Sedgwick County', 'Wyandotte County', 1940)"
NINE = "treaties(at='Medicine Lodge')"

RIGHT = [
    ("How many people lived in Shawnee County in 1930?", "Shawnee County had a population of 85,200 in 1930.", SHAWNEE),
    ("Which border Riley County?", f"Riley County shares a border with 6 counties: {NEIGHBOURS}.", BORDER),
    ("Top 3?", "Wyandotte County (141,211), Sedgwick County (136,330), Shawnee County (85,200).", TOP),
    ("How many border Riley County?", "Six counties border Riley County.", f"count({BORDER})"),
    ("What is the area of Riley County?", "The area of Riley County is 1,611 km².", "area('Riley County')"),
    ("How far is Topeka from Wichita?", "Topeka and Wichita are 207.5 km (128.9 miles) apart.", "distance('Topeka', 'Wichita')"),
    ("Does Riley County border Geary County?", "Yes, it does.", f"is_in('Geary County', {BORDER})"),
    ("Does Riley County border Geary County?", f"Riley County borders {NEIGHBOURS}.", f"is_in('Geary County', {BORDER})"),
    (
        "Which was smaller in 1950, Johnson County or Shawnee County?",
        "Shawnee County (105,418) had a larger population than Johnson County (62,783) in 1950.",
        "greater('population', 1950, 'Johnson County', 'Shawnee County', least=1)",
    ),
    ("Population of Chase County in 1930?", "Population of Chase County by census: 1900 8,246, 1910 7,527, 1920 7,144, 1930 6,952, 1940 6,345, 1950 4,831.", "population('Chase County', 1930)"),
    ("Which cities?", "Emporia, Kansas City and Topeka.", "only('Emporia', 'Kansas City, Kansas', 'Topeka')"),
    ("When was 15 Stat. 593 signed?", "It was signed on October 28, 1867.", "day(named_event('15 Stat. 593'))"),
]  # fmt: skip

FALSE = [
    ("another figure", "How many lived in Shawnee County in 1930?", "Shawnee County had 91,247 people in 1940.", SHAWNEE),
    ("a second figure", "Population of Shawnee County in 1930?", "Shawnee County had 85,200 in 1930. Topeka had 64,120.", SHAWNEE),
    ("another year beside it", "Population of Shawnee County in 1930?", "It was 85,200 in 1930 and 105,418 in 1950.", SHAWNEE),
    ("a name too many", "Which border Riley County?", f"{NEIGHBOURS} and Shawnee County.", BORDER),
    ("a name too few", "Which border Riley County?", "Clay County, Geary County and Marshall County.", BORDER),
    ("the opposite", "Which do not border Riley County?", f"{NEIGHBOURS}.", f"counties - {BORDER} - only('Riley County')"),
    ("no order", "Top 3?", "Sedgwick County (136,330), Wyandotte County (141,211), Shawnee County (85,200).", TOP),
    ("figures that are exchanged", "Top 3?", "Wyandotte County (136,330), Sedgwick County (141,211), Shawnee County (85,200).", TOP),
    ("another count", "How many border Riley County?", f"Riley County borders 7 counties: {NEIGHBOURS}.", f"count({BORDER})"),
    ("the inputs alone", "Difference in 1940?", "Sedgwick County had 143,311 and Wyandotte County 145,071 in 1940.", LESS),
    ("another unit", "How many miles from Topeka to Wichita?", "They are 207.5 km apart.", "distance('Topeka', 'Wichita', miles=1)"),
    ("people, not density", "Density of Johnson County in 1950?", "Johnson County had 62,783 in 1950.", "density('population', 'Johnson County', 1950)"),
    ("no for yes", "Does Riley County border Geary County?", "No, it does not.", f"is_in('Geary County', {BORDER})"),
    ("an answer where none is due", "How many white people?", "Topeka had 64,120 people in 1930.", "abstain"),
    ("other days", "When was 15 Stat. 593 signed?", "On October 28, 1867, or on May 10, 1868.", "day(named_event('15 Stat. 593'))"),
    ("the wrong winner", "Which was smaller?", "Johnson County had a larger population than Shawnee County.", "greater('population', 1950, 'Johnson County', 'Shawnee County', least=1)"),
    ("the wrong direction", "How did it change?", "Crawford County grew by 10,947 between 1910 and 1950.", "change('population', 'Crawford County', 1910, 1950)"),
    ("years exchanged", "Series?", "It was 23,059 in 1920 and 43,842 in 1910.", "series('population', 'Butler County', 1910, 1920)"),
    ("a list that is cut silently", "Treaties at Medicine Lodge?", "The Apache signed a treaty (15 Stat. 589).", NINE),
    ("a word of another reading unsaid", "People near Topeka?", "167,616.", "said(total(within(counties, 45, 'Topeka'), 'population', 1930), 'count')"),
    ("a row with a figure of another year", "Population of Chase County in 1930?", "By census: 1920 6,952, 1930 6,952, 1940 6,345.", "population('Chase County', 1930)"),
    ("prose for a figure", "Population of Shawnee County in 1930?", "Many people left the county in the thirties.", SHAWNEE),
]  # fmt: skip


@pytest.mark.parametrize(("question", "said", "gold"), RIGHT, ids=[q for q, _, _ in RIGHT])
def test_what_answers_the_question_is_right(question: str, said: str, gold: str) -> None:
    assert judged(question, said, gold) == Judgement(Verdict.RIGHT)


@pytest.mark.parametrize(("fault", "question", "said", "gold"), FALSE, ids=[f for f, *_ in FALSE])
def test_anything_else_is_false(fault: str, question: str, said: str, gold: str) -> None:
    found = judged(question, said, gold)
    assert found.verdict is Verdict.FALSE, fault
    assert found.reason


def test_no_answer_is_missed_unless_none_is_due_or_it_may_be_refused() -> None:
    assert judged("?", None, SHAWNEE).verdict is Verdict.MISSED
    assert judged("?", None, SHAWNEE, may_abstain=True).verdict is Verdict.ABSTAINED
    assert judged("?", None, "abstain").verdict is Verdict.ABSTAINED
    assert judged("?", None, SHAWNEE, "abstain").verdict is Verdict.ABSTAINED


def test_a_cut_list_is_partial_if_it_says_how_long_it_is() -> None:
    cut = "The Apache signed a treaty (15 Stat. 589)."
    assert judged("Treaties at Medicine Lodge?", cut, NINE, note="1 of 7 are shown.").verdict is Verdict.PARTIAL
    assert judged("Treaties at Medicine Lodge?", cut, NINE, note="1 of 9 are shown.").verdict is Verdict.FALSE
    assert judged("?", "Clay County, Geary County and 4 more.", BORDER).verdict is Verdict.PARTIAL
    assert judged("?", "Clay County, Shawnee County and 4 more.", BORDER).verdict is Verdict.FALSE


def test_a_long_list_may_be_cut_if_the_number_is_right() -> None:
    gold = f"counties - {BORDER} - only('Riley County')"
    assert judged("?", "98 counties do not: Allen County, Anderson County and 96 more.", gold).verdict is Verdict.RIGHT
    assert judged("?", "97 counties do not: Allen County, Anderson County and 95 more.", gold).verdict is Verdict.FALSE


@pytest.mark.parametrize("reading", ["edge", "middle"])
def test_careful_people_may_read_a_distance_in_two_ways(reading: str) -> None:
    found = golds(WORLD, ["within(counties, 50, 'Topeka')"])
    assert sorted(len(g.names or ()) for g in found) == [6, 11]
    said = {"edge": found[0], "middle": found[1]}[reading].names or frozenset()
    names = ", ".join(WORLD.places[i].name for i in said)
    assert judged("Which counties are within 50 km of Topeka?", f"{names}.", "within(counties, 50, 'Topeka')").good


@pytest.mark.parametrize(
    "outside", ["__import__('os')", "counties.real", "[1]", "(lambda: 1)()", "w_counties", "gold(counties)"]
)
def test_a_specification_is_no_program(outside: str) -> None:
    with pytest.raises((BadSpecification, AttributeError)):
        golds(WORLD, [outside])


@pytest.mark.parametrize(
    "doubtful",
    ["population('Shawnee County', 1935)", "within(cities('Kansas'), 38.3, 'Topeka')", "first(treaties(year=1844))"],
)
def test_a_doubtful_question_has_no_gold(doubtful: str) -> None:
    with pytest.raises(Doubtful):
        golds(WORLD, [doubtful])
