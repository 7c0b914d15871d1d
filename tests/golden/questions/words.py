"""The words of the specification language, each a method that is named `w_...`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.golden.questions.figures import FigureWords
from tests.golden.questions.gold import Gold, merged
from tests.golden.questions.happenings import EventWords
from tests.golden.questions.lookups import Some
from tests.golden.questions.sets import SetWords
from tests.golden.questions.world import plain


class Words(SetWords, FigureWords, EventWords):
    """All words over one world in one reading."""

    def word(self, name: str) -> Callable[..., Any]:
        """The method of that word. Raises AttributeError for a word that the language does not have."""
        return getattr(self, f"w_{name}")  # type: ignore[no-any-return]

    def gold(self, value: Any) -> Gold:
        """The gold of a value that an expression came to."""
        if isinstance(value, Some):
            self.may.add(len(value.ids))
            kinds = frozenset(self.world.kinds[i] for i in value.ids) or frozenset({"county", "city"})
            value = Gold(
                names=frozenset(value.ids),
                order=value.ids if value.ranked else (),
                kinds=kinds,
                total=len(value.ids),
            )
        assert isinstance(value, Gold), value
        return replace(
            value,
            may=value.may | frozenset(self.may) | frozenset(n for v in self.own.values() for n in v),
            may_names=value.may_names | frozenset(self.named),
            years=value.years | frozenset(self.years),
            own=merged([value.own, self.own]),
            kinds=value.kinds or frozenset(self.world.kinds[i] for i in self.named),
        )

    def w_words(self, *words: str) -> Gold:
        """Prose: one of these words, all of which the texts hold."""
        for word in words:
            if not any(plain(word) in plain(text) for text in self.world.texts.values()):
                raise KeyError(f"no text holds {word!r}")
        return Gold(words=words)

    def w_said(self, value: Any, word: str) -> Gold:
        """A right answer only if it says the word: the reading that not everybody would take."""
        return replace(self.gold(value), said=word)
