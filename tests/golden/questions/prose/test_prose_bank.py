"""The prose bank is sound: what answers stands in the documents, and the verdicts are what they are called."""

from __future__ import annotations

import pytest

from tests.golden.questions.prose.run import ProseQuestion, groups, plain, verdict


@pytest.mark.parametrize("group", groups(), ids=lambda group: group.name)
def test_what_answers_stands_in_the_documents_and_no_question_is_asked_twice(group) -> None:
    text = plain(" ".join(each.read_text("utf-8") for each in group.documents))
    assert [q.text for q in group.questions if plain(q.says) not in text] == []
    assert len({q.text for q in group.questions}) == len(group.questions)
    assert sum(not q.says for q in group.questions) == 10


@pytest.mark.parametrize(
    ("says", "sentences", "expected"),
    [
        ("to Texas", ["She was sent to\nTexas."], "right"),
        ("to Texas", ["She was sold.", "She went to Texas."], "partly"),
        ("to Texas", ["She was sold."], "beside"),
        ("to Texas", [], "missed"),
        ("", ["She was sold."], "false"),
        ("", [], "rightly none"),
    ],
)
def test_verdicts(says: str, sentences: list[str], expected: str) -> None:
    assert verdict(ProseQuestion("Where?", says), sentences) == expected
