"""Inputs that once took the square of their length or more: each is read where a hang would be noticed. And what the
search for slow inputs (`tests/slowest`) looks at."""

from __future__ import annotations

import re

import pytest

from retrieval.errors import LoadError
from retrieval.ingest.formats.html import read_html
from tests.hang_guard import run_guarded
from tests.slowest.__main__ import MADE_WHILE_RUNNING
from tests.slowest.growth import FLOOR_S, Growth, growth
from tests.slowest.patterns import expressions, pumps
from tests.slowest.stages import STAGES, Stage

PARTS = "from ai.agent.decompose import parts_of as read"
MARKED = "from ai.answer.draft.citations import parse_marked as read"
SENTENCES = "from ai.text.sentences import split_sentences as read"
SLOW = [
    (PARTS, "'between ' + 'a and ' * 20_000 + ','"),
    (PARTS, "'a, ' * 20_000 + 'or'"),
    (PARTS, "'the ' * 40_000"),
    (PARTS, "'between a and ' * 10_000 + ','"),
    (MARKED, "'[' + ' ' * 20_000 + 'x'"),
    (MARKED, "'[^' + ' ' * 20_000 + 'x'"),
    (MARKED, "'[†' * 100_000 + ']'"),
    (MARKED, "'[[1]source 1 ' * 20_000 + ']' * 20_000"),
    (MARKED, "'a' + ' ' * 400_000 + 'b'"),
    ("from ai.answer.claims import prose\nread = lambda t: [v.match(t) for v in vars(prose).values() if hasattr(v, 'match') and hasattr(v, 'pattern')]", "'Aa' * 200 + chr(0)"),
    (SENTENCES, "'.' * 400_000 + 'a'"),
    (SENTENCES, "'[source' + ' ' * 20_000 + 'x'"),
    ("from ai.text.question_type import topic_of as read", "'what is a' + '.' * 400_000 + '\\x00'"),
    ("from ai.gate import check_prompt, shipped_rules\nread = lambda t: check_prompt(t, rules=shipped_rules())", "'Ignore all previous instructions' + '.' * 400_000 + 'a'"),
    ("from retrieval.ingest.parsing.structure import bare as read", "'![a' * 200_000"),
    ("from retrieval.ingest.parsing.structure import bare as read", "'[a](b' * 200_000"),
    ("from retrieval.ingest.parsing.structure import bare as read", "'a' + ' -' * 200_000 + '!a'"),
    ("from retrieval.ingest.parsing.structure import text_blocks\nread = lambda t: list(text_blocks(t))", "' ' * 400_000"),
    ("from ai.intent.times import read_times as read", "'september' + ' ' * 200_000"),
    ("from retrieval.ingest.formats.html import read_html\nread = lambda t: read_html('x', t) if '</div>' in t else None", "'<div>' * 900 + 'a' + '<p>b' * 20_000 + '</div>'"),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "text"), SLOW)
def test_an_input_that_once_took_the_square_of_its_length_is_read(reader: str, text: str) -> None:
    assert run_guarded(f"{reader}\nread({text})\nprint('read')") == "read\n"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<div>" * 1_001 + "a", "1000 elements"),
        ("a" + "<b><i>" * 600, "1000 elements"),
        ("<table>" * 2_000, "elements"),
    ],
)
def test_a_page_that_nests_too_deep_is_refused(page: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        read_html("page.html", page)


@pytest.mark.parametrize("page", ["<p>a" * 5_000, "<ul>" + "<li>a" * 5_000, "<div>a</div>" * 5_000, "a<br>" * 5_000])
def test_a_long_page_is_not(page: str) -> None:
    assert "a" in read_html("page.html", page).text


def test_every_regular_expression_is_pumped_or_accounted_for() -> None:
    found = list(expressions())
    assert len(found) > 150
    assert {each.module for each in found if each.pattern is None} <= set(MADE_WHILE_RUNNING)
    assert {use for each in found for use in each.uses} <= {"search", "match", "fullmatch", "finditer"}


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"\s*a?\s*b", r"x\w*\d\w*y", r"(?:a|aa)+c", r"[^,]+,?[^,]+;"])
def test_what_repeats_within_a_pattern_is_pumped(pattern: str) -> None:
    texts = [pump(400) for pump in pumps(re.compile(pattern))]
    assert texts
    assert any(len(set(text)) <= 4 and len(text) >= 390 for text in texts)


@pytest.mark.parametrize(
    ("seconds", "linear"),
    [
        ((1.0, 2.0, 4.0, 8.0), True),
        ((1.0, 2.2, 4.9, 11.0), True),
        ((1.0, 4.0, 16.0, 64.0), False),
        ((0.1, 0.3, 1.1, 4.2), False),
        ((1e-9, 1e-7, 1e-5, FLOOR_S / 2), True),
        ((0.0002, 0.0003, 0.014, 0.02), True),
        ((0.0002, 0.0003, 0.014, 0.056), False),
    ],
)
def test_time_per_character_tells_growth(seconds: tuple[float, ...], linear: bool) -> None:
    assert Growth((100, 200, 400, 800), seconds).is_linear is linear


def test_what_does_not_come_back_is_a_find_and_what_refuses_is_not() -> None:
    assert not Growth((100, 200, 400, 800), (), hung=True).is_linear
    assert growth(int, "x".__mul__, 10).is_linear


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_is_called_as_it_wants_to_be(stage: Stage) -> None:
    """A search that calls a stage wrongly would find it fast for ever."""
    for text in ("Who signed?", "{}", "", *stage.words):
        try:
            stage.run(text)
        except (TypeError, AttributeError, NameError):
            raise
        except Exception:
            continue
