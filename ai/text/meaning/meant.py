"""All that tells a sentence that is meant from one beside it: one word off, and the answer is to another question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial

from ai.text.meaning.bearers import Bearer
from ai.text.meaning.contrast.contrast import Contrast
from ai.text.meaning.contrast.states import States
from ai.text.meaning.deeds.denied import Denied
from ai.text.meaning.deeds.roles import Roles
from ai.text.meaning.groups import Group
from ai.text.meaning.kinds import Kind
from ai.text.meaning.modifiers import Modifiers
from ai.text.meaning.periods import Periods
from ai.text.meaning.qualified import Qualified
from ai.text.meaning.stated import Stated
from retrieval.english.stems import root_of

_ROW = re.compile(r"[^:;.]{1,40}:\s[^;]{1,80};\s[^:;]{1,40}:\s")
"""Headers and cells, as a row of a table is told."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The statements of a question about days, names and contraries, months and rates, who did what, and which one."""

    contrast: Contrast
    periods: Periods
    roles: Roles
    modifiers: Modifiers
    stated: Stated
    bearer: Bearer
    kind: Kind
    group: Group
    qualified: Qualified
    states: States
    denied: Denied

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str]) -> Meant:
        """Reads the question, given the words of the sources."""
        return _by_itself(question)(
            periods=Periods.of(question, vocabulary),
            kind=Kind.of(question, vocabulary),
            group=Group.of(question, vocabulary),
        )

    def agrees(self, text: str, tokens: frozenset[str], *, read: bool = False) -> bool:
        """True unless the sentence, whose words are `tokens` with those of its title, is about something else. `read`:
        a reader found that it answers, so that it may say in other words what it is, how it came about, and which is
        the first or the largest."""
        own = frozenset(map(root_of, tokens))
        return (
            not self.group.unheld
            and self.periods.agrees(text)
            and self.roles.agrees(text, own)
            and self.modifiers.agrees(text, own, read=read)
            and self.qualified.agrees(text, own, read=read)
            and self.states.agree(text)
            and self.denied.agrees(text)
            and (text.endswith("?") or _ROW.match(text) is not None or self._states(text, read=read))
            and (read or self.kind.agrees(text, own))
            and self.contrast.agrees(text, tokens, read=read)
        )

    def _states(self, text: str, *, read: bool) -> bool:
        """True unless a sentence, neither a row nor a question with its answer behind it, states nothing of what is
        asked."""
        return self.stated.agrees(text, read=read) and (read or self.bearer.agrees(text))


@lru_cache(maxsize=128)  # the default model and the checks of its draft ask the same
def _by_itself(question: str) -> partial[Meant]:
    """The question read without any sources, for who reads the rest."""
    return partial(
        Meant,
        contrast=Contrast.of(question),
        roles=Roles.of(question),
        modifiers=Modifiers.of(question),
        stated=Stated.of(question),
        bearer=Bearer.of(question),
        qualified=Qualified.of(question),
        states=States.of(question),
        denied=Denied.of(question),
    )
