"""All that tells a sentence that is meant from one beside it: one word off, and the answer is to another question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.antecedents import Antecedent
from ai.text.meaning.bearers import Bearer
from ai.text.meaning.contrast.contrast import Contrast
from ai.text.meaning.contrast.heads import Heads
from ai.text.meaning.contrast.states import States
from ai.text.meaning.deeds.behalf import Behalf
from ai.text.meaning.deeds.denied import Denied
from ai.text.meaning.deeds.doers import Doer
from ai.text.meaning.deeds.narrators import Narrator
from ai.text.meaning.deeds.objects import Object
from ai.text.meaning.deeds.owners import Owners
from ai.text.meaning.deeds.roles import Roles
from ai.text.meaning.groups import Group
from ai.text.meaning.kinds import Kind
from ai.text.meaning.modifiers import Modifiers
from ai.text.meaning.namesakes import Namesakes
from ai.text.meaning.otherwise.otherwise import Otherwise
from ai.text.meaning.periods import Periods
from ai.text.meaning.qualified import Qualified
from ai.text.meaning.sides import ROW, Sides
from ai.text.meaning.stated import Stated
from ai.text.meaning.things.things import Things
from ai.text.meaning.things.told import Told
from ai.text.meaning.where import Where
from retrieval.english.stems import root_of


@dataclass(frozen=True, slots=True)
class Meant:
    """The statements of a question about days, names and contraries, months and rates, who did what, and which one."""

    contrast: Contrast
    periods: Periods
    roles: Roles
    modifiers: Modifiers
    kind: Kind
    sides: Sides
    stated: Stated
    bearer: Bearer
    where: Where
    group: Group
    qualified: Qualified
    doer: Doer
    namesakes: Namesakes
    behalf: Behalf
    owners: Owners
    states: States
    antecedent: Antecedent
    object: Object
    narrator: Narrator
    heads: Heads
    denied: Denied
    otherwise: Otherwise
    things: Things

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str]) -> Meant:
        """Reads the question, given the words of the sources."""
        return cls(
            Contrast.of(question),
            Periods.of(question, vocabulary),
            Roles.of(question),
            Modifiers.of(question),
            Kind.of(question, vocabulary),
            Sides.of(question),
            Stated.of(question),
            Bearer.of(question),
            Where.of(question),
            Group.of(question, vocabulary),
            Qualified.of(question),
            Doer.of(question, vocabulary),
            Namesakes.of(question),
            Behalf.of(question),
            Owners.of(question),
            States.of(question),
            Antecedent.of(question),
            Object.of(question),
            Narrator.of(question),
            Heads.of(question),
            Denied.of(question),
            Otherwise.of(question),
            Things.of(question),
        )

    def agrees(self, text: str, tokens: frozenset[str], *, read: bool = False, reworded: bool = False) -> bool:
        """True unless the sentence, whose words are `tokens` with those of its title, is about something else. `read`:
        a reader found that it answers, and so on which of its sides that stands, of what it is and how it came about.
        `reworded`: and so that it says in other words which is the first or the largest."""
        own = frozenset(map(root_of, tokens))
        return (
            not self.group.unheld
            and self.periods.agrees(text)
            and self.roles.agrees(text, own)
            and self.modifiers.agrees(text, own, reworded=reworded)
            and self.qualified.agrees(text, own, read=read)
            and self.doer.agrees(text, own)
            and self.namesakes.agrees(text, own)
            and self.behalf.agrees(text, own)
            and self.owners.agree(text, own)
            and self.states.agree(text)
            and self.object.agrees(text)
            and self.denied.agrees(text)
            and self.kind.agrees(text, own, read=read)
            and (read or self.sides.agrees(text))
            and (text.endswith("?") or ROW.match(text) is not None or self._states(text, read=read))
            and self.contrast.agrees(text, tokens, read=read)
        )

    def follows(
        self,
        text: str,
        before: Sequence[str],
        after: Sequence[str] = (),
        title: frozenset[str] = frozenset(),
        *,
        answered: bool = False,
        known: bool = False,
    ) -> bool:
        """True unless by the sentences around it its pronoun, its first person or its noun means somebody or something
        else than the question, or the source says otherwise there. `title`: the words of its title, folded;
        `answered`: see `Otherwise`; `known`: its pronoun is known to mean the one asked about."""
        return (
            (known or self.antecedent.agrees(text, before))
            and self.narrator.agrees(text, (*before, *after))
            and self.heads.agrees(text, before, after)
            and self.otherwise.agrees(text, before, after, answered=answered)
            and self.things.agree(Told.of(text, before, after, title))
        )

    def _states(self, text: str, *, read: bool) -> bool:
        """True unless a sentence, neither a row nor a question with its answer behind it, states nothing of what is
        asked."""
        return self.stated.agrees(text, read=read) and self.bearer.agrees(text) and self.where.agrees(text)
