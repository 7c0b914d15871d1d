"""Yes/no questions that a sentence denies outright: `Was anyone killed?`, `Nobody was killed`; `Had the captain been
drinking?`, `The captain was not tired and had not been drinking`.

The denial is of the same deed, of nothing that the question does not say, and has no exception. What is beside the deed
(`when the mill burned down`) is said in the sentence, or in one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ai.text.leaning import means_another
from ai.text.support import fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import SUBJECT_PRONOUNS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[,;:—–()]")
_AUXILIARY = word_list("is are was were am do does did has have had can could will would may might must should shall")
_BEEN = word_list("been being be ever also even actually really")
_ARTICLES = word_list("the a an this that these those my our your its his her their")
_NOBODY, _NOTHING = word_list("nobody none"), word_list("nothing")
_ANYBODY, _ANYTHING = word_list("anyone anybody"), word_list("anything")
_ENDS = word_list("but and although though because while whereas so as which who , ; : — – ( )")
_LIMITS = re.compile(
    r"\b(?:except\w{0,5}|excluding|besides|only|until|unless|yet|if|apart\sfrom|other\sthan|save\sfor"
    r"|but\sfor)\b|\bbut\s(?:the|an?|his|her|one|two|three)(?:\s[\w'’-]{1,30}){1,2}\W?\Z",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:sa(?:y|ys|id)|claim\w{0,3}|believ\w{1,3}|fear\w{0,3}|hop(?:e|es|ed)|thought|reported|rumou?r\w{0,3}|told)\b",
    re.IGNORECASE,
)
"""A verb by which something is only said, feared or hoped: it denies nothing."""


@dataclass(frozen=True, slots=True)
class YesNo:
    """A question for yes or no as it may be denied: the roots of its subject, the root of its deed, what `any` stands
    before (empty: anybody, None: no `any`) and the roots of all else. `before`: the subject of the deed, where `any`
    stands behind it; `there`: it asks whether there is any."""

    subject: tuple[str, ...]
    deed: str
    kind: str | None
    rest: frozenset[str]
    behind: bool = False
    there: bool = False

    def is_denied_by(self, text: str) -> bool:
        """True if the sentence denies the deed outright; what stands beside it may be elsewhere."""
        if _LIMITS.search(text) or _SAYS.search(text):
            return False
        said = [word for word in _words(text) if word not in _ARTICLES]
        return any(self._may_end(said[at:]) for at in self._denials(said))

    def _denials(self, said: Sequence[str]) -> Iterator[int]:
        """The places behind each denial of the deed."""
        if self.kind is None:
            yield from self._denied_of_subject(said)
            return
        for at in range(len(said)):
            end = self._none_at(said, at)
            if not end:
                continue
            if self.there:
                if "there" in said[:at]:
                    yield end
            elif self.behind:
                before = set(map(root_of, said[:at]))
                if at and self._does(said[at - 1]) and before >= set(self.subject):
                    yield end
            else:
                while end < len(said) and (said[end] in _AUXILIARY or said[end] in _BEEN):
                    end += 1
                if end < len(said) and self._does(said[end]):
                    yield end + 1

    def _denied_of_subject(self, said: Sequence[str]) -> Iterator[int]:
        """The place behind `not` and the deed, of which the subject opens the sentence; other denials of the same
        subject may stand between: `was not tired and had not been drinking`."""
        if (*map(root_of, said[: len(self.subject)]),) != self.subject:
            return
        at = len(self.subject)
        while at < len(said):
            while at < len(said) and said[at] in _AUXILIARY:
                at += 1
            if at >= len(said) or said[at] not in ("not", "never"):
                return
            at += 1
            while at < len(said) and said[at] in _BEEN:
                at += 1
            if at < len(said) and root_of(said[at]) == self.deed:
                yield at + 1
                return
            while at < len(said) and said[at] not in ("and", "nor", "or", ","):
                at += 1
            while at < len(said) and said[at] in ("and", "nor", "or", ","):
                at += 1

    def _none_at(self, said: Sequence[str], at: int) -> int:
        """The place behind `nobody`, `nothing` or `no` with the noun that is asked for; 0 where none stands there."""
        word, after = said[at], said[at + 1 : at + 2]
        if not self.kind:
            one = word == "no" and after == ["one"]
            return at + 1 + one if word in _NOBODY or one else 0
        if self.kind == "thing":
            return at + 1 if word in _NOTHING else 0
        return at + 2 if word == "no" and after and root_of(after[0]) == self.kind else 0

    def _does(self, word: str) -> bool:
        return not self.deed or root_of(word) in and_alike([self.deed])

    def _may_end(self, behind: Sequence[str]) -> bool:
        """True if nothing behind the denial, in its clause, limits it to what the question does not say."""
        own = {*self.rest, *self.subject, self.deed, self.kind or ""}
        for word in behind:
            if word in _ENDS:
                return True
            if word not in UNWEIGHED_WORDS and root_of(word) not in own:
                return False
        return True


def denies_another(question: str, text: str, around: frozenset[str]) -> bool:
    """True if a sentence denies of another what a question for yes or no asks: none of the words for the subject is in
    it; or it denies all, and something that the question says is nowhere in its text. `around`: the roots of that."""
    said = weighed_roots(text)
    for asked in yes_no_of(question):
        if asked.kind is None:
            if means_another(text) or asked.deed not in _denied_roots(text):
                continue
            subject = and_alike(root for root in asked.subject if root not in UNWEIGHED_WORDS)
            if subject and subject.isdisjoint(said):
                return True
        elif asked.is_denied_by(text) and any(and_alike([root]).isdisjoint(around) for root in asked.rest):
            return True
    return False


@lru_cache(maxsize=1024)
def _denied_roots(text: str) -> frozenset[str]:
    """The roots of the words right behind `not`."""
    said = [word for word in _words(text) if word not in _BEEN]
    return frozenset(root_of(after) for word, after in pairwise(said) if word in ("not", "never"))


@lru_cache(maxsize=128)
def yes_no_of(question: str) -> tuple[YesNo, ...]:
    """The ways in which a question may be read that a denial may answer; none where it asks otherwise, or denies
    something itself."""
    said = [word for word in _words(question) if word not in _ARTICLES]
    if len(said) < 3 or said[0] not in _AUXILIARY or {"not", "never", "no", "nobody", "or"} & set(said):
        return ()
    marks = [at for at, word in enumerate(said) if word == "any" or word in _ANYBODY or word in _ANYTHING]
    if len(marks) > 1:
        return ()
    return tuple(_plainly(said, question)) if not marks else tuple(_of_any(said, marks[0], question))


def _of_any(said: Sequence[str], at: int, question: str) -> Iterator[YesNo]:
    kind = "" if said[at] in _ANYBODY else "thing" if said[at] in _ANYTHING else root_of("".join(said[at + 1 : at + 2]))
    after = at + 1 + (said[at] == "any")
    if said[1] == "there" and kind and said[at] == "any":
        yield YesNo((), "", kind, _rest(question, {kind}), there=True)
    elif at == 1:
        while after < len(said) and said[after] in _BEEN:
            after += 1
        if after < len(said) and said[after] not in UNWEIGHED_WORDS:
            deed = root_of(said[after])
            yield YesNo((), deed, kind, _rest(question, {deed, kind}))
    elif said[at - 1] not in UNWEIGHED_WORDS:
        subject = tuple(root_of(word) for word in said[1 : at - 1] if word not in UNWEIGHED_WORDS)
        deed = root_of(said[at - 1])
        if subject:
            yield YesNo(subject, deed, kind, _rest(question, {deed, kind, *subject}), behind=True)


def _plainly(said: Sequence[str], question: str) -> Iterator[YesNo]:
    """A subject of one to four words, and each word behind it as the deed."""
    for at in range(2, min(len(said), 6)):
        subject, deed = said[1:at], [word for word in said[at:] if word not in _BEEN][:1]
        while subject and subject[-1] in _BEEN:
            subject = subject[:-1]
        if len(subject) > 1 and subject[0] in SUBJECT_PRONOUNS:
            return  # `Can I get a refund?`: behind a pronoun no word is of the subject
        if subject and deed and deed[0] not in UNWEIGHED_WORDS and all(map(str.isalpha, subject)):
            roots = tuple(map(root_of, subject))
            root = root_of(deed[0])
            yield YesNo(roots, root, None, _rest(question, {root, *roots}))


def _rest(question: str, told: set[str]) -> frozenset[str]:
    light = {*map(root_of, _ANYBODY | _ANYTHING), "any"}
    return weighed_roots(question) - told - light


@lru_cache(maxsize=1024)
def _words(text: str) -> list[str]:
    """The words and pauses, in order; `n't` is `not`."""
    found: list[str] = []
    for each in _WORD.findall(text):
        word = fold(each)
        if word.endswith("n't"):
            found += [{"ca": "can", "wo": "will"}.get(word[:-3], word[:-3]), "not"]
        elif word == "cannot":
            found += ["can", "not"]
        else:
            found.append(word)
    return found
