"""The examples that docs/question-forms.md takes from the code are read, each by the form that gives it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from ai.intent.names import merged, readings, settle
from ai.intent.planning.plans import READERS
from ai.intent.planning.sets import Asked
from ai.intent.scanning.read import read_phrases
from ai.intent.tokens import Item, read_items
from tests.unit.test_intent import LEXICON, read

EXAMPLES = [
    (reader, example)
    for reader in READERS
    for example in re.findall("`([^`]+)`", " ".join((inspect.getdoc(reader) or "").split()))
]


def test_every_form_has_an_example() -> None:
    assert {reader for reader, _ in EXAMPLES} == set(READERS)


@pytest.mark.parametrize(("reader", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_an_example_is_read_by_its_form(reader: object, example: str) -> None:
    assert callable(reader)
    items = settle(read_items(example, LEXICON), LEXICON)
    phrases = read_phrases(merged(items, LEXICON))
    asked = Asked(phrases, LEXICON, items[0].text.split()[0], readings(items, LEXICON))
    assert not phrases.left
    assert reader(asked)


@pytest.mark.parametrize("example", [example for _, example in EXAMPLES])
def test_an_example_with_an_unknown_word_is_not_read(example: str) -> None:
    assert read(example).operations
    assert read(f"left-handed {example}").operations == ()
    assert read(f"{example.rstrip('?')} among beekeepers?").operations == ()


class Counted(list[Item]):
    """Items that count how often they are looked at."""

    looked = 0

    def __getitem__(self, at: Any) -> Any:
        type(self).looked += 1
        return super().__getitem__(at)


REPEATED = (
    "the", "both", "of the", "border the", "not", "Topeka,", "Topeka or", "in", "5", "more than the", "1930", "neither the",
    "except the", "from 5 to", "between 5", "Topeka and both", "which counties", "lost people and", "per square mile",
)  # fmt: skip


@pytest.mark.parametrize("words", REPEATED)
def test_twice_the_words_are_twice_the_work(words: str) -> None:
    work = []
    for times in (40, 80, 160):
        items = Counted(merged(settle(read_items(f"{words} " * times, LEXICON), LEXICON), LEXICON))
        Counted.looked = 0
        read_phrases(items)
        work.append(Counted.looked)
    assert work[2] - work[1] <= 2 * (work[1] - work[0]) + 50
