"""The doer of what is asked about: another one in `When did Toyota close the works?` and `Mitsubishi closed the
works`, in `What do whales eat?` and `Polar bears eat seals`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ai.text.meaning.deeds.clause import BE, MUTUAL, clause_of
from ai.text.support import all_roots, fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.parties import are_apart
from retrieval.english.stems import is_many, is_past, root_of

_RUN = re.compile(r"[^\W\d_][\w'’-]*|[^\w\s]|\d[\w.,]*")
_HELPERS = word_list("do does did will would can could shall should may might must")
_DO = word_list("do did")
_BETWEEN = word_list(
    "has have had can could will would may might must shall should do does did also then later first never not soon "
    "once always often only still even again"
)
_NOBODY = word_list(
    "he she it they i we you who which that this these those one some all many most few others another both each what "
    "there to is are was were be been being and or"
)
_NEW = word_list("a an another")
_DETERMINED = word_list(
    "the a an this that these those its his her their our my your each every some any other such both all no"
)
_BESIDE = word_list("and or with alongside")
_PLACED = word_list("in at of on by for from to under near after before during through against over into")
_CLAUSE = re.compile(
    r"\b(?:after|before|when|while|until|once|if)\s(?:the\s|an?\s)?(?P<noun>[a-z]{3,})\s(?P<verb>[a-z]{3,})\b",
    re.IGNORECASE,
)
_OF_WITHIN = 4
_LIKE = 4
"""Letters that `Britain` and `British` share."""


@dataclass(frozen=True, slots=True)
class Doer:
    """The doer: the roots of the words, each with those of like meaning, and the root of the deed; without words
    where the question asks it of nobody. `named`: it is a name; `said`: the roots of all words of the question;
    `head` is the root of the noun of several, `held` whether a source
    has it, `many` whether all of a kind are meant (`whales`), and `done` whether it is done to them. `other`: the root
    of what does something else in the question (`after the pump stops`)."""

    words: tuple[frozenset[str], ...] = ()
    deed: str = ""
    named: bool = False
    said: frozenset[str] = frozenset()
    head: str = ""
    held: bool = False
    many: bool = False
    done: bool = False
    other: str = ""

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str] = frozenset()) -> Doer:
        """Reads the question, given the words of the sources."""
        helper, words, verb = clause_of(question)
        if 1 < verb == len(words) - 1 and fold(helper) in _DO and is_many(fold(words[0])):
            verb = verb if fold(words[1]) in UNWEIGHED_WORDS else 1  # `Where do editors delete accounts?`
        doer = words[:verb]
        deed = fold(words[verb]) if verb else ""
        done = fold(helper) in BE and is_past(deed)
        helped = fold(helper) in _HELPERS or done
        if not helped or not doer or deed in UNWEIGHED_WORDS or not deed.isalpha():
            return cls()
        roots = tuple(and_alike({root}) for root in sorted(weighed_roots(" ".join(doer))))
        clause = _CLAUSE.search(question)
        found = cls(
            roots,
            root_of(deed),
            doer[-1][0].isupper(),
            all_roots(question),
            done=done,
            other=root_of(fold(clause["noun"])) if clause else "",
        )
        head = fold(next((one for one, of in pairwise(doer) if of == "of"), doer[-1]))
        if doer[0][0].isupper() or not is_many(head):
            return cls() if done else found
        bare = f"{helper} {doer[0]}".casefold() in question.casefold()
        held = root_of(head) in frozenset(map(root_of, vocabulary))
        return replace(found, head=root_of(head), held=held, many=bare)

    def agrees(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, says nothing of who does it, and each
        time that it is done says that another does: of names another name, of things a new one (`a boy`)."""
        heads = and_alike({self.head}) if self.head else frozenset[str]()
        if not self.words or not own.isdisjoint(heads):
            return True
        doers = list(_doers(text, self.deed, done=self.done))
        if self.head and self._is_by_another_group(text):
            return False
        if self._is_exchanged(doers) or self._is_by_another_name(text):
            return False
        if any(not own.isdisjoint(each) for each in self.words):
            return True
        return not doers or not all(self._is_another(doer, before) for doer, before in doers)

    def _is_another(self, doer: str, before: frozenset[str]) -> bool:
        """True unless it may be the one asked about by another name, as `the weavers` may, who were told of before."""
        if not doer or (not doer[0].isupper() if self.named else not doer.islower() or before.isdisjoint(_NEW)):
            return False
        heads = {root[:_LIKE] for each in self.words for root in each}
        return self.said.isdisjoint(all_roots(doer)) and fold(doer)[:_LIKE] not in heads

    def _is_exchanged(self, doers: Sequence[tuple[str, frozenset[str]]]) -> bool:
        """True if it is done by what does the other thing in the question: `The pump runs on after the burner stops`
        for `How long does the burner run on after the pump stops?`"""
        heads = frozenset[str]().union(*self.words)
        if not self.other or self.other in heads:
            return False
        return bool(doers) and all(root_of(fold(doer)) == self.other for doer, _ in doers)

    def _is_by_another_name(self, text: str) -> bool:
        """True if a name does it each time, and the one asked about stands beside that in another part: `Emil kept the
        books and Gustav travelled`, `Alden lies above Sarn`."""
        if not self.named or self.done or self.deed in MUTUAL:
            return False
        words = _RUN.findall(text)
        roots = frozenset[str]().union(*self.words)
        asked = [at for at, word in enumerate(words) if word[0].isupper() and root_of(fold(word)) in roots]
        deeds = [at for at, word in enumerate(words) if at and word.islower() and root_of(fold(word)) == self.deed]
        return bool(asked) and bool(deeds) and all(self._is_anothers(words, at, asked) for at in deeds)

    def _is_anothers(self, words: Sequence[str], deed: int, asked: Sequence[int]) -> bool:
        """True if the name before the deed does it, and the one asked about neither with it nor through it."""
        last = deed - 1
        while last >= 0 and (fold(words[last]) in _BETWEEN or fold(words[last]).endswith("ly")):
            last -= 1
        first = last
        while first > 0 and words[first - 1][0].isupper() and fold(words[first - 1]) not in UNWEIGHED_WORDS:
            first -= 1
        name = words[first : last + 1]
        if (
            not name
            or not words[last][0].isupper()
            or not {fold(word) for word in name}.isdisjoint(UNWEIGHED_WORDS | DATES)
        ):
            return False
        like = {word[:_LIKE].casefold() for at in asked for word in words[at : at + 1]}
        if any(first <= at <= last for at in asked) or any(fold(word)[:_LIKE] in like for word in name):
            return False
        led = [at for at in asked if at < first]
        if led:
            between = words[led[-1] + 1 : first]
            starts = _start_of(words, led[-1])
            owner = words[led[-1]].endswith(("'s", "’s"))
            placed = starts > 0 and fold(words[starts - 1]) in _PLACED
            does = any(is_past(fold(word)) or fold(word) in BE for word in between)
            return does and not owner and not placed and (not between or fold(between[-1]) not in _PLACED)
        if first and fold(words[first - 1]) in _PLACED | _BESIDE:
            return False
        return all(fold(words[_start_of(words, at) - 1]) not in _BESIDE for at in asked)

    def _is_by_another_group(self, text: str) -> bool:
        doers = list(_doers(text, self.deed, done=self.done, whole=True))
        return bool(doers) and all(self._is_another_group(doer, before) for doer, before in doers)

    def _is_another_group(self, doer: str, before: frozenset[str]) -> bool:
        """True for all of another kind, for `the rebels` where `the settlers` are told of elsewhere, and for who is
        never the other, as teachers are no students."""
        alike = {root[:_LIKE] for each in self.words for root in each}
        low = fold(doer)
        if not is_many(low) or low[:_LIKE] in alike or not self.said.isdisjoint(all_roots(doer)):
            return False
        if are_apart(self.head, root_of(low)):
            return True
        return self.many or self.held if before.isdisjoint(_DETERMINED) else self.held and "the" in before


def _start_of(words: Sequence[str], at: int) -> int:
    """Where the name begins that has a word there."""
    while at > 0 and words[at - 1][0].isupper():
        at -= 1
    return at


def _doers(text: str, deed: str, *, done: bool = False, whole: bool = False) -> Iterator[tuple[str, frozenset[str]]]:
    """The word before each verb that says the deed, empty where that is nobody's name, nor a thing; and the two words
    before it. `done`: it is done to them; `whole`: `the students of St Bride's` are students."""
    words = _RUN.findall(text)
    for at, word in enumerate(words):
        if at == 0 or not word.islower() or root_of(fold(word)) != deed:
            continue
        before = at - 1
        between = _BETWEEN | BE if done else _BETWEEN
        while before >= 0 and (fold(words[before]) in between or fold(words[before]).endswith("ly")):
            before -= 1
        near = words[max(0, before - _OF_WITHIN) : max(0, before)] if whole else []
        if "of" in near and all(each[0].isalpha() for each in near):
            before -= len(near) - near.index("of") + 1
        doer = words[before] if before >= 0 and not word.endswith("ing") else ""
        low = fold(doer)
        known = doer[:1].isalpha() and low not in _NOBODY and low not in UNWEIGHED_WORDS
        yield doer if known else "", frozenset(map(fold, words[max(0, before - 2) : max(0, before)]))
