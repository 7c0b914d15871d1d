"""Those of whom a question asks who did it to them, or to whom they did it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from ai.text.meaning.deeds.clause import ARTICLES, BE, ENDS_VERB, HELPER, behind_place, clause_of, phrase_of
from ai.text.support import WORD, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_DOES = re.compile(
    rf"\A\W*who\s(?!{HELPER}\b)(?P<deed>[a-z]{{3,}})\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){{0,3}})\W*\Z",
    re.IGNORECASE,
)
_DONE_BY = re.compile(
    r"\A\W*who\s(?:is|was|were|are)\s(?P<deed>[a-z]{3,})\sby\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){0,3})\W*\Z",
    re.IGNORECASE,
)
_DOES_WHOM = re.compile(
    r"\A\W*whom?\s(?:did|does|do|has|have|had)\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){0,3})\s(?P<deed>[a-z]{3,})\W*\Z",
    re.IGNORECASE,
)
_DOES_BY = re.compile(
    r"\A\W*(?:who\s(?:is|was|were|are)\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){0,3}?)\s(?P<deed>[a-z]{3,})\sby"
    r"|by\swhom\s(?:is|was|were|are)\s(?:the\s|an?\s)?(?P<named>[\w'’-]+(?:\s[\w'’-]+){0,3}?)\s(?P<done>[a-z]{3,}))\W*\Z",
    re.IGNORECASE,
)
_DOES_WHAT = re.compile(r"\A\W*(?:what|which(?:\s[a-z'’-]+){1,2})\s(?:did|does|do)\s", re.IGNORECASE)
_MUTUAL = frozenset(
    map(root_of, word_list("marry meet border adjoin join touch face match equal resemble mean cross connect link"))
)
"""Deeds that are done to each other."""
_INTO = word_list("into onto to from over under through")
_WHAT_IS_DONE = re.compile(r"\A\W*(?:what|whom?|how\s(?:much|many))\b", re.IGNORECASE)
_DO = word_list("do does did")
_TO = word_list("to from")
_ADVERBS = word_list("also then later first never not again soon once always often")
_BY_WITHIN, _TO_WITHIN, _NAME_WORDS = 7, 8, 4


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody or something of which a question asks who or what did it to them, or to whom or what they did it: the
    words of the name. `way`: the preposition between the deed and the name: `flows into the Aller`."""

    deed: str
    name: tuple[str, ...]
    does: bool
    way: str = ""

    @classmethod
    def of(cls, question: str) -> Party | None:
        """`does`: the name is of who does it (`Whom did Ann Berg teach?`); false in `Who taught Ben Holt?` and
        `What replaced the mule?`."""
        if (party := cls._of_thing(question)) is not None:
            return party
        for pattern, does in ((_DOES, False), (_DOES_BY, False), (_DONE_BY, True), (_DOES_WHOM, True)):
            found = pattern.match(question)
            if found is not None:
                said = found.groupdict()
                return cls._named(said.get("deed") or said["done"], said.get("name") or said["named"], does=does)
        helper, words, verb = clause_of(question)
        passive = fold(helper) in BE
        if not verb or (passive and not is_past(fold(words[verb]))):
            return None
        object_follows = words[verb + 1 :] and (words[verb + 1][0].isupper() or fold(words[verb + 1]) in ARTICLES)
        transitive = object_follows or (words[verb + 1 :] and _WHAT_IS_DONE.match(question))
        if not (passive or transitive):  # `When did the gate open?` is answered by who opened the gate
            return None
        name = words[:1] if behind_place(words) else words[:verb]
        return cls._named(words[verb], " ".join(name), does=not passive)

    @classmethod
    def _of_thing(cls, question: str) -> Party | None:
        """The thing done to, or doing: `Which press replaced the T4?`, `What did the T4 replace?`."""
        if _DOES_WHAT.match(question):
            _, said, verb = clause_of(question)
            ends = 0 < verb == len(said) - 1  # else it names whom as well: `What did the cook give the boy?`
            party = cls._named(said[verb], " ".join(said[:verb]), does=True, labelled=True) if ends else None
            return None if party is None or party.deed in _MUTUAL else party
        words = question.strip(" ?!.").split()
        first = words[0].casefold() if words else ""
        at = next((n for n in (2, 3) if _is_verb(words[n : n + 1])), 0) if first == "which" else 1
        if first not in ("who", "what", "which") or not at or not _is_verb(words[at : at + 1]):
            return None
        deed, behind = words[at], words[at + 1 :]
        helped = any(re.fullmatch(HELPER, word, re.IGNORECASE) for word in (deed, *behind[:1]))  # `What types are`
        if helped or not deed.isalpha() or root_of(fold(deed)) in _MUTUAL:
            return None
        way = fold(behind[0]) if behind and fold(behind[0]) in _INTO else ""
        behind = behind[1:] if way else behind
        behind = behind[1:] if behind and fold(behind[0]) in ARTICLES else behind
        name = list(takewhile(lambda word: fold(word) not in ENDS_VERB, behind))
        party = cls._named(deed, " ".join(name), does=False, labelled=True) if len(name) <= _NAME_WORDS else None
        return None if party is None else replace(party, way=way)

    @classmethod
    def of_object(cls, question: str) -> Party | None:
        """The council in `How much did the guild lend to the council?`: it is not who does it."""
        helper, words, verb = clause_of(question)
        if not verb or fold(helper) not in _DO:
            return None
        after = words[verb + 1 :]
        if after and fold(after[0]) in _TO:
            after = after[1:]
        low = [fold(word) for word in after]
        if not low or not (low[0] in ARTICLES or after[0][0].isupper()):
            return None
        return cls._named(words[verb], " ".join(phrase_of(low if low[0] in ARTICLES else ["the", *low])), does=False)

    @classmethod
    def _named(cls, deed: str, name: str, *, does: bool, labelled: bool = False) -> Party | None:
        """`labelled`: a capital in the name counts for itself: the `T` of `T2`."""
        said = WORD.findall(name)
        words = tuple(fold(w) for w in said if fold(w) not in UNWEIGHED_WORDS or (labelled and w.isupper()))
        return cls(root_of(fold(deed)), words, does) if words else None

    def agrees(self, text: str) -> bool:
        """True unless the sentence gives the name the other part alone."""
        words = [fold(word) for word in WORD.findall(text)]
        parts = {does for at in self._places(words) for does in self._part(words, at)}
        return self.does in parts or not parts

    def tells_whom(self, text: str) -> bool:
        """True if the sentence gives the one who does it that part, and says to whom without a name: `the miller`."""
        words = [fold(word) for word in WORD.findall(text)]
        if not any(does for at in self._places(words) for does in self._part(words, at)):
            return False
        rooted = [root_of(word) for word in words]
        return any(
            (words[at + 1 : at + 2] and words[at + 1] in ARTICLES)
            or (at > 1 and words[at - 1] in BE and words[0] in ARTICLES)
            for at, root in enumerate(rooted)
            if root == self.deed
        )

    def _places(self, words: list[str]) -> Iterator[int]:
        size = len(self.name)
        return (at for at in range(len(words) - size + 1) if tuple(words[at : at + size]) == self.name)

    def _part(self, words: list[str], at: int) -> Iterator[bool]:
        """Yields True where the name at that place does the deed, False where the deed is done to it."""
        after = [word for word in words[at + len(self.name) :][:5] if word not in _ADVERBS and not word.endswith("ly")]
        before = [word for word in words[max(0, at - 4) : at] if word not in {"the", "a", "an"}]
        if after and root_of(after[0]) == self.deed and after[0] not in BE:
            if after[1:2] == ["by"]:  # `Ben Holt, taught by Ann Berg`
                yield False
            elif after[1:] and (
                after[1] in (*ARTICLES, self.way) or after[1] not in ENDS_VERB
            ):  # not `The ship sank in 1904`
                yield True
        has = after[:1] and after[0] in {"has", "have", "had"}
        if has and len(after) > 1 and root_of(after[1]) == self.deed:
            yield True
        passive = [word for word in after[:3] if word in BE]
        if passive and root_of(next((w for w in after if w not in {*BE, "has", "have", "had"}), "")) == self.deed:
            yield False
        told = before[:-1] if self.way and before[-1:] == [self.way] else before
        if told and root_of(told[-1]) == self.deed:
            yield False
        if before[-1:] == ["to"] and self.deed in map(root_of, words[max(0, at - _TO_WITHIN) : at]):
            yield False  # `sent every month to an archive`
        if before[-1:] == ["by"] and self.deed in map(root_of, words[max(0, at - _BY_WITHIN) : at]):
            yield True


def _is_verb(words: Sequence[str]) -> bool:
    """True for a first word that may be a verb: of `press replaced the` the second."""
    word = fold(words[0]) if words and words[0][0].islower() else ""
    return bool(word) and (is_past(word) or (word.endswith("s") and not word.endswith("ss")))
