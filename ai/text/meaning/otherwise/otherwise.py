"""All by which the source itself says otherwise than a sentence that seems to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.otherwise.asked import Asked
from ai.text.meaning.otherwise.carried import has_subject
from ai.text.meaning.otherwise.ellipsis import completes
from ai.text.meaning.otherwise.hearsay import answer_behind, tells_fact
from ai.text.meaning.otherwise.hours import tells_hours
from ai.text.meaning.otherwise.sisters import is_of_it


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A question, held against a sentence and those around it; one that was not read agrees with everything."""

    asked: Asked | None = None

    @classmethod
    def of(cls, question: str) -> Otherwise:
        """Reads the question."""
        return cls(Asked.of(question))

    def agrees(self, text: str, before: Sequence[str], after: Sequence[str], *, answered: bool = False) -> bool:
        """True unless by the sentences around it, or by its own clauses, the sentence tells something else. `answered`:
        it comes with the one behind it that says whether what is believed is so."""
        asked = self.asked
        if asked is None or text.endswith("?"):
            return True
        return (
            tells_hours(text, (*before, *after), asked)
            and has_subject(text, asked)
            and (answered or tells_fact(text, after, asked))
            and completes(text, before, asked)
            and is_of_it(text, before, after, asked)
        )

    def behind(self, text: str, after: Sequence[str]) -> str:
        """The sentence right behind one that tells only what is believed or said, where it answers whether that is so;
        else empty."""
        return answer_behind(text, after, self.asked) if self.asked is not None else ""
