"""One of several things of a kind: the ash counter and the fault counter, the bridge and the wooden one before it.

A word before a noun need not be repeated, so that only two sentences are of another one: that which names one with
another word of those by which the passage tells them apart (`the ash counter`, where it has a `service counter` too),
and that which stands before the first mention of the one asked about, which comes as something new (`It replaced a
wooden bridge`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.text.support import all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, root_of

_HEAD = re.compile(
    r"(?P<before>(?<![\w,])[\w,]{1,40}+\s)?(?<![\w'’-])(?P<article>the|an?|another|its|his|her|their|our|this|that|each|every|both)\s"
    r"(?P<which>[a-z][a-z-]{1,40}+)\s(?P<noun>[a-z]{3,40}+)(?![\w'’-])",
    re.IGNORECASE,
)
_NEW = word_list("a an another")
_SAYS_IS = word_list("is are was were be been being as remained became become")
_DEFINITE = re.compile(r"\b(?:[Tt]he|[Tt]his|[Tt]hat)\s(?P<noun>[a-z]{3,})\b")
_DESCRIBES = re.compile(r"-|(?:ed|ing|er|est|ant|ent|al|ive|ful|ous|y|ish|ic|less|able|ible)\Z")
"""Words that describe a thing, which a text may do in others: `the distant replica` is the far one."""
_SAME = word_list("same whole entire other only very own new old large small great little good next last former")
"""Words that tell nothing apart, or that anything may have."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The things that a question names by a word before a noun, this as a root: `wooden bridge`."""

    asked: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, question: str) -> Heads:
        """Reads the question."""
        return cls(tuple(dict.fromkeys((which, noun) for which, noun, _ in _heads(question))))

    def agrees(self, text: str, before: Sequence[str], after: Sequence[str]) -> bool:
        """True unless the sentence speaks of another thing of the kind, by the sentences around it."""
        if not self.asked:
            return True
        roots, told = all_roots(text), {(which, noun) for which, noun, _ in _heads(text)}
        return not any(
            noun in roots
            and (which, noun) not in told
            and and_alike({root_of(which)}).isdisjoint(roots)
            and (_is_new_behind(which, noun, text, before, after) or _is_another(which, noun, text, (*before, *after)))
            for which, noun in self.asked
        )


def _is_new_behind(which: str, noun: str, text: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """True if the sentence speaks of the thing without the word, and one with it is first told of behind, as new."""
    if not any(
        root_of(fold(found["noun"])) == noun for found in _DEFINITE.finditer(text) if not is_many(found["noun"])
    ):
        return False
    if any({root_of(which), noun} <= all_roots(said) for said in before):
        return False
    return any((which, noun, True) in set(_heads(said)) for said in after)


def _is_another(which: str, noun: str, text: str, around: Sequence[str]) -> bool:
    """True if the sentence names one by another word each time, and the passage tells such things apart."""
    told = [one for one, of, _ in _heads(text) if of == noun]
    said = sum(root_of(fold(word)) == noun for word in re.findall(r"[A-Za-z]+", text))
    if not told or len(told) < said:
        return False
    others = {one for each in around for one, of, _ in _heads(each) if of == noun}
    if which in others:
        return True
    unheld = not any(root_of(which) in all_roots(each) for each in around)
    return unheld and len(others.union(told)) > 1 and _DESCRIBES.search(which) is None


def _heads(text: str) -> Iterator[tuple[str, str, bool]]:
    """Each word between an article and a noun, with the root of the noun, and whether it comes as something new. `It
    was a wooden bridge` says what one is that was told of before."""
    for found in _HEAD.finditer(text):
        which, noun = fold(found["which"]), fold(found["noun"])
        if which in UNWEIGHED_WORDS | _SAME or noun in UNWEIGHED_WORDS or which.endswith("ly"):
            continue
        before = fold((found["before"] or "").strip())
        new = fold(found["article"]) in _NEW and before not in _SAYS_IS and not before.endswith(",")
        yield which, root_of(noun), new
