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
from ai.text.meaning.periods import Periods
from ai.text.meaning.qualified import Qualified
from ai.text.meaning.sides import ROW, Sides
from ai.text.meaning.stated import Stated
from ai.text.meaning.things.things import Things
from ai.text.meaning.things.told import Told
from ai.text.meaning.where import Where
from retrieval.english.stems import root_of

RULES = 8
"""Raised with every change of these rules; earlier ones still run for entries that name them. 1: a plural name was
another one; 2: who asks why something is not so was told that it is so, and a denied reason was one; 3: of `was born
and raised in Tarn` only the second deed had a place, `how often` was told by any time, and a group of which no source
speaks (`among beekeepers`) limited nothing; 4: a gold medal was won by who won a silver one, what another did was done
by who is asked about, and two names that end alike were one; 5: `before` was the contrary of `after` whatever stood
behind, a pronoun was another thing, and what a reader found to answer had to say `the advantage`, or by what it was
made; 6: who asks of the killed was told of the injured, of one group of another, of one day of another, what another
`he` did, what was not done, or what did it for what it was done to; 7: what the next sentence refutes, and one
thing for another that the source tells apart."""
FIRST_RULES, ROOTED_SINCE, DENIED_SINCE, SHARED_SINCE, QUALIFIED_SINCE, RELATED_SINCE, EXCHANGED_SINCE = range(1, 8)
OTHERWISE_SINCE = 8


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
    things: Things
    related: bool

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str], *, rules: int = RULES) -> Meant:
        """Reads the question, given the words of the sources, by the rules of a version."""
        related, exchanged = rules >= RELATED_SINCE, rules >= EXCHANGED_SINCE
        return cls(
            Contrast.of(question, rooted=rules >= ROOTED_SINCE, related=related),
            Periods.of(question, vocabulary, occasions=exchanged),
            Roles.of(question, denied=rules >= DENIED_SINCE, things=exchanged),
            Modifiers.of(question),
            Kind.of(question, vocabulary, related=related),
            Sides.of(question),
            Stated.of(question, denied=rules >= DENIED_SINCE, often=rules >= SHARED_SINCE, related=related),
            Bearer.of(question),
            Where.of(question, shared=rules >= SHARED_SINCE),
            Group.of(question, vocabulary) if rules >= SHARED_SINCE else Group(unheld=False),
            Qualified.of(question) if rules >= QUALIFIED_SINCE else Qualified(),
            Doer.of(question, vocabulary, groups=exchanged) if rules >= QUALIFIED_SINCE else Doer(),
            Namesakes.of(question) if rules >= QUALIFIED_SINCE else Namesakes(),
            Behalf.of(question) if exchanged else Behalf(),
            Owners.of(question) if exchanged else Owners(),
            States.of(question) if exchanged else States(),
            Antecedent.of(question) if exchanged else Antecedent(),
            Object.of(question) if exchanged else Object(),
            Narrator.of(question) if exchanged else Narrator(),
            Heads.of(question) if exchanged else Heads(),
            Denied.of(question) if exchanged else Denied(),
            Things.of(question) if rules >= OTHERWISE_SINCE else Things(),
            related,
        )

    def agrees(self, text: str, tokens: frozenset[str], *, read: bool = False, reworded: bool = False) -> bool:
        """True unless the sentence, whose words are `tokens` with those of its title, is about something else. `read`:
        a reader found that it answers, and so on which of its sides that stands, of what it is and how it came about.
        `reworded`: and so that it says in other words which is the first or the largest."""
        own, by_reader = frozenset(map(root_of, tokens)), read and self.related
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
            and self.kind.agrees(text, own, read=by_reader)
            and (read or self.sides.agrees(text))
            and (text.endswith("?") or ROW.match(text) is not None or self._states(text, read=by_reader))
            and self.contrast.agrees(text, tokens, read=by_reader)
        )

    def follows(
        self, text: str, before: Sequence[str], after: Sequence[str] = (), title: frozenset[str] = frozenset()
    ) -> bool:
        """True unless by the sentences around it its pronoun, its first person or its noun means somebody or something
        else than the question. `title`: the words of its title, folded."""
        return (
            self.antecedent.agrees(text, before)
            and self.narrator.agrees(text, (*before, *after))
            and self.heads.agrees(text, before, after)
            and self.things.agree(Told.of(text, before, after, title))
        )

    def _states(self, text: str, *, read: bool) -> bool:
        """True unless a sentence, neither a row nor a question with its answer behind it, states nothing of what is
        asked."""
        return self.stated.agrees(text, read=read) and self.bearer.agrees(text) and self.where.agrees(text)
