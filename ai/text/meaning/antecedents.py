"""Whom a sentence that begins with a pronoun speaks of: `Her cousin Walter Kerr went to sea. He drowned` tells nothing
of Agnes Kerr.

Without a parser, only what is plain counts: the nearest sentence before whose subject is a name, other than the one
asked about and without that one beside it. Where that is not plain, the sentence may mean whom it likes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ai.text.meaning.deeds.clause import clause_of
from ai.text.meaning.deeds.narrators import relative_named, relative_that_does
from ai.text.meaning.namesakes import TITLES
from ai.text.question_type import first_word
from ai.text.spelling import unaccented
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.persons import pronoun_of_title
from retrieval.english.stems import is_many, is_past, root_of

_PRONOUN = re.compile(
    r"\A\W*(?:(?:then|later|soon|also|afterwards|eventually|finally|there|here|meanwhile|thus|however|instead|today|now|again"
    r"|[a-z]+ly|(?:in|on|at|by|from|during|until|after|before|since|for|with|within|over|two|three|four|five|six|seven|eight"
    r"|nine|ten|some|many|several|a|the|that|one|this|as)(?:\s[\w'’-]+){1,5}?),?\s)?(?P<by>he|she|they|his|her|their)\s",
    re.IGNORECASE,
)
"""At the beginning, or behind when, where or how: `Two years later he moved`."""
_MALE, _ONE, _MANY = word_list("he his him"), word_list("he she his her"), word_list("they their them")
_OWNS = word_list("his her their")
_NAME = re.compile(
    r"(?<![\w'’-])(?:[A-Z][\w'’-]*|[A-Z]\.)(?:\s(?:(?:de|van|von|der|la|al|bin)\s){0,2}(?:[A-Z][\w'’-]*|[A-Z]\.))*"
)
_MANY_FIRST = re.compile(
    r"\A\W*(?:The|These|Those|Both)\s(?:[a-z-]+\s){0,2}?(?P<noun>[a-z]{3,}s|men|women|children|people)\s(?=[a-z])"
)
_GOES_ON = re.compile(r",?\s(?!(?:and|or)\s[A-Z])[a-z]|,\s|\W*\Z")
_BY = word_list(
    "in at on to from of for by with about near under over through into onto against between behind beside opposite "
    "across along around toward towards inside outside within beyond off upon via the an a this that"
)
"""Behind these stands no subject, or no person's name."""
_THERE = word_list("in at to from near")
_VERBS = word_list(
    "is was are were be been has have had did does do will would can could may might must shall should came went "
    "took made gave saw met told said wrote knew"
)
_BE = word_list("is was are were became remained")
_PARENTS = word_list("father mother parents grandfather grandmother stepfather stepmother ancestors family")
"""`His father Karl Roth was a smith. He went to school in Berlin`: whose father he was."""
_TITLES = TITLES | word_list("earl baron reverend rev pastor councillor")
_NO_PERSON = word_list(
    "company bank river county street road university college school church council parliament committee court "
    "army navy regiment museum hall house bridge castle abbey city town village island lake mountain valley club "
    "league party union association society institute act treaty war battle office department ministry railway "
    "line station hospital street square park press times north south east west northern southern eastern "
    "western great new old royal national congress senate assembly board commission agency service "
    "corporation inc ltd group team festival prize award"
)
_WOMEN = word_list("mother sister daughter aunt niece grandmother wife granddaughter stepmother")
_OBJECTS = word_list("it them him her")
_OWNER = re.compile(r"['’]s?\Z")
_LIKE = 4
"""Letters that a name and its misspelling share."""
_WALK = 6
"""Sentences before at which one is looked for."""


@dataclass(frozen=True, slots=True)
class Antecedent:
    """The person whose deed is asked for, by the folded words of the name without titles; or the group of people (`the
    bakers`), by the root of its noun. `deed`: the root of the verb; `pronoun`: by a
    title (`Mrs`)."""

    name: tuple[str, ...] = ()
    group: str = ""
    deed: str = ""
    pronoun: str = ""

    @classmethod
    def of(cls, question: str) -> Antecedent:
        """Reads the question."""
        _, words, verb = clause_of(question)
        subject = words[: verb - 1] if verb and fold(words[verb]) in _OBJECTS else words[:verb]
        if not subject or any(_OWNER.search(word) for word in subject):
            return cls()
        if all(word[0].isupper() for word in subject):
            name = tuple(word for word in map(fold, subject) if word not in _TITLES and word != "i")
            thing = not _NO_PERSON.isdisjoint(name) or f"the {subject[0]}" in question
            deed = root_of(fold(words[verb])) if verb else ""
            pronoun = next(filter(None, map(pronoun_of_title, map(fold, subject))), "")
            return cls(() if thing else tuple(map(unaccented, name)), deed=deed, pronoun=pronoun)
        last = subject[-1]
        return cls(group=root_of(fold(last))) if last.islower() and is_many(last) else cls()

    @property
    def names_one(self) -> bool:
        """True if the question asks for the deed of somebody."""
        return bool(self.name or self.group)

    def agrees(self, text: str, before: Sequence[str]) -> bool:
        """True unless the sentence speaks of another one by its first pronoun. `before`: the sentences before it."""
        pronoun = _PRONOUN.search(text) if self.names_one else None
        if pronoun is None or self._is_said(text) or _has_subject(text[: pronoun.start("by")]):
            return True
        by = fold(pronoun["by"])
        if by in _MANY:
            return not self.group or not self._is_of_another_group(before)
        return not self.name or not self._is_another(by, (*before, text), before[-_WALK:])

    def _is_another(self, by: str, known: Sequence[str], before: Sequence[str]) -> bool:
        """True if the nearest subject before, by name, is another than the one asked about."""
        taken = False  # the nearest is whom a pronoun of the other kind means
        for sentence in reversed(before):
            first = first_word(sentence)
            subject = _subject(sentence, known)
            if self._is_said(sentence):
                return subject is not None and not self._is(subject) and self._only_owns(sentence, subject)
            relative = _relative(by, sentence) if subject is None else ""
            if relative:
                own = {relative_named(said, self.name) for said in known} - {""}
                return bool(own) and relative not in own
            if subject is None:
                taken = taken or (first in _ONE and (first in _MALE) != (by in _MALE))
            elif taken:
                taken = False
            else:
                return not self._may_own(sentence, subject, by)
        return False

    def _may_own(self, sentence: str, subject: str, by: str) -> bool:
        """True if the pronoun may mean whose the subject is: `His father Karl Roth was a smith. He went to school.`"""
        lead = [fold(word) for word in WORD.findall(sentence[: sentence.find(subject)])]
        owner = next((word for word in lead if word in _OWNS), "")
        return bool(owner) and (owner in _MALE) == (by in _MALE) and not _PARENTS.isdisjoint(lead)

    def _is_of_another_group(self, before: Sequence[str]) -> bool:
        """True if the sentence right before is of another group, and the one asked about is told of earlier."""
        found = _MANY_FIRST.match(before[-1]) if before else None
        if found is None or self._is_said(before[-1]):
            return False
        return root_of(fold(found["noun"])) != self.group and any(map(self._is_said, before[:-1]))

    def _is_said(self, text: str) -> bool:
        if self.group:
            return not and_alike({self.group}).isdisjoint(all_roots(text))
        return any(self._is(found[0]) for found in _NAME.finditer(text))

    def _is(self, name: str) -> bool:
        """True if a name may be that of the one asked about: it shares a word, and the first names are no others."""
        words = [unaccented(fold(word)) for word in WORD.findall(name)]
        words = [word for word in words if word not in _TITLES and word not in UNWEIGHED_WORDS]
        if not any(_alike(one, other) for one in words for other in self.name):
            return False
        if len(words) == 1 or len(self.name) == 1 or any(_alike(words[0], each) for each in self.name):
            return True
        return words[0][0] == self.name[0][0] and 1 in (len(words[0]), len(self.name[0]))

    def _only_owns(self, sentence: str, subject: str) -> bool:
        """True if the one asked about stands before the subject alone, as whose it is: `Agnes's cousin Walter Kerr`."""
        at = sentence.find(subject)
        said = [found for found in _NAME.finditer(sentence) if self._is(found[0])]
        return all(found.start() < at and found[0].endswith(("'s", "’s")) for found in said)


def _relative(by: str, sentence: str) -> str:
    """The word for the narrator's relative whom the pronoun may mean: the subject of a sentence, without a name."""
    who, lead = relative_that_does(sentence)
    return "" if not who or _has_subject(lead) or (who in _WOMEN) == (by in _MALE) else who


def _alike(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= _LIKE and one[:_LIKE] == other[:_LIKE])


def _has_subject(lead: str) -> bool:
    """True if what stands before a pronoun has a subject or an owner of its own."""
    words = WORD.findall(lead)
    verb = any(word in _VERBS or word in _OWNS or is_past(word) for word in map(fold, words))
    return verb or any(word[0].isupper() and fold(word) not in DATES for word in words[1:])


def _subject(sentence: str, known: Sequence[str]) -> str | None:
    """The name of a person that is the subject of a sentence, or said to be it; None where there is none in plain
    sight."""
    for found in _NAME.finditer(sentence):
        name, first = found[0], not sentence[: found.start()].strip(" \"“‘'(")
        words = [fold(word) for word in WORD.findall(name)]
        if first and words and (words[0] in UNWEIGHED_WORDS or words[0] in _BY or words[0] in _OWNS):
            continue
        if name.endswith(("'s", "’s")) or not words or not _may_be_person(name, words, known, first=first):
            continue
        lead = [fold(word) for word in WORD.findall(sentence[: found.start()])]
        if lead and lead[-1] in _BY and not sentence[: found.start()].rstrip().endswith(","):
            continue
        verbs = [word for word in lead if word in _VERBS or is_past(word)]
        if verbs and not (lead[-1] in _BE and len(verbs) == 1 and lead[0] in _OWNS | {"the", "my", "our"}):
            return None
        after = sentence[found.end() :]
        return name if _GOES_ON.match(after) else None
    return None


def _may_be_person(name: str, words: Sequence[str], known: Sequence[str], *, first: bool) -> bool:
    """True for several words, none of them a thing's, or for one that stands elsewhere too and in no place's name."""
    said = [word for word in words if word not in _TITLES]
    if not said or not (_NO_PERSON | DATES).isdisjoint(said):
        return False
    if len(words) > 1:
        return True
    before = {pair[0] for said in known for pair in pairwise(["", *WORD.findall(said)]) if pair[1] == name}
    return before.isdisjoint(_THERE) and not (first and before <= {""})
