"""Somebody's relative: a child of Alice is not the child Alice, and where an aunt studied is not where her niece was
born."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.things.told import NAME, NO_NOUN, Told
from ai.text.spelling import unaccented
from ai.text.support import WORD, all_roots, fold, folded_words
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS
from retrieval.english.stems import root_of

_RELATIVES = (
    "wife husband widow widower sister brother mother father son daughter child uncle aunt nephew niece cousin "
    "grandson granddaughter grandfather grandmother friend servant assistant apprentice secretary deputy successor "
    "predecessor heir neighbour neighbor colleague partner rival"
).replace(" ", "|")
_RELATIVE_OF = re.compile(
    rf"\b(?:is|was|are|were|do|does|did|has|had|can|could|will|would)\s(?P<name>{NAME})['’]s?\s(?:[a-z]+\s){{0,1}}(?P<who>{_RELATIVES})\b"
)
_PARENTS = frozenset(map(root_of, ("father", "mother")))
_BORN_TO = re.compile(r"\b(?:son|daughter|child|born)\b[^;]{0,60}?\s(?:of|to)\s(?!the\b)")
"""`born to Ida and Emil Roth`, `the daughter of a weaver`: a parent is told without that word."""
_THEIR_RELATIVE = re.compile(rf"\A\W*(?:His|Her|Their|Its)\s(?:[a-z-]+\s){{0,2}}(?:{_RELATIVES})\b")
_ROLE = re.compile(
    r"\A\W*who(?:['’]s|\s(?:is|was|are|were))\sthe\s(?:[a-z-]+\s){0,2}?(?P<role>[a-z-]{3,})(?=\s(?:of|at|in|for|to)\b|\W*\Z)",
    re.IGNORECASE,
)
_CHILDREN = re.compile(
    r"\bhow\smany\s(?:[a-z]+\s){0,2}?(?:children|sons|daughters|brothers|sisters|siblings|grandchildren)\s(?:did|does|do|had|has)\s"
    rf"(?P<name>{NAME})",
    re.IGNORECASE,
)
_CHILD = re.compile(
    r"\b(?:child(?:ren)?|sons?|daughters?|boys?|girls?|brothers?|sisters?|siblings),?\s(?:(?:named|called)\s)?"
    r"(?P<names>[A-Z][\w'’-]*(?:(?:,|,?\sand)?\s[A-Z][\w'’-]*){0,5})"
)
_WHO_TO_NAME = re.compile(
    r"\A\W*[Ww]ho\s(?!(?:is|was|are|were|did|does|do|has|had)\b)[a-z]{3,}\s(?:(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord)\.?\s)?(?P<name>[A-Z][\w'’-]*)\b"
)
_HIS = re.compile(r"\A\W*(?:He|She|His|Her)\s")
_TELLS_OF = re.compile(rf"\A\W*{NAME},?\s(?:was|is|had|has|who|whose|[a-z]+ed|went|came|took|became|began)\b")


@dataclass(frozen=True, slots=True)
class Kin:
    """Somebody whom others tell by relation. `role`: that of `Who is the headmistress?`; `parent`: the name of whose
    children are counted; `relative`: a name, and the root of whose relative is asked for; `whom`: the name to whom
    somebody unknown did something."""

    role: str = ""
    parent: str = ""
    relative: tuple[str, str] = ("", "")
    whom: str = ""

    @classmethod
    def of(cls, question: str) -> Kin:
        """Reads the question."""
        role, parent = _ROLE.match(question), _CHILDREN.search(question)
        relative, whom = _RELATIVE_OF.search(question), _WHO_TO_NAME.match(question)
        return cls(
            root_of(fold(role["role"])) if role and fold(role["role"]) not in NO_NOUN else "",
            parent["name"].split()[0] if parent and parent["name"][0].isupper() else "",
            (relative["name"].split()[0], root_of(fold(relative["who"]))) if relative else ("", ""),
            unaccented(fold(whom["name"])) if whom and fold(whom["name"]) not in UNWEIGHED_WORDS else "",
        )

    def agrees(self, told: Told) -> bool:
        """True unless it is another relation, or another's."""
        return not (
            (self.role and self._is_of_relative(told.text))
            or (self.parent and any(self.parent in WORD.findall(each["names"]) for each in _CHILD.finditer(told.text)))
            or (self.relative[0] and self._is_of_whose(told.text))
            or (self.whom and self._is_of_another(told))
        )

    def _is_of_relative(self, text: str) -> bool:
        """True if the sentence tells of somebody's relative, and says nothing of the role."""
        return _THEIR_RELATIVE.match(text) is not None and self.role not in all_roots(text)

    def _is_of_whose(self, text: str) -> bool:
        """True if the sentence is of whose relative it is, and does not say the relative."""
        name, who = self.relative
        if who in _PARENTS and _BORN_TO.search(text):
            return False
        return text.startswith(name) and and_alike({who}).isdisjoint(all_roots(text))

    def _is_of_another(self, told: Told) -> bool:
        """True if the sentence begins with a pronoun, and those before it tell of a name, but not of that one."""
        near = {unaccented(word) for word in folded_words(" ".join((told.text, *told.before)))}
        if _HIS.match(told.text) is None or self.whom in near or root_of(self.whom) in told.title:
            return False
        return any(_TELLS_OF.match(said) for said in told.before)
