"""A thing that the passage names apart has a sentence of its own: what is said of the jug is not said of the vacuum
jug, nor what holds for all others of those who were named before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from ai.text.leaning import leans_back
from ai.text.meaning.otherwise.asked import Asked
from ai.text.meaning.otherwise.ellipsis import is_elliptical
from ai.text.question_type import WantedKind, denies, offers
from ai.text.support import WORD, all_roots, fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, root_of

_NEAR = 2
"""Sentences before one, and behind it, that are looked at."""
_ARTICLES = word_list("the a an our its their his her all both most any every each")
_OTHERS = re.compile(
    r"\b(?:(?:all|any|every|for|the)\s(?:the\s)?others?|others|(?:every|any)(?:one|body|where)\selse"
    r"|the\s(?:rest|remainder|remaining)|in\sall\sother\s[a-z]{1,40})\b",
    re.IGNORECASE,
)
_EXCEPT = (
    r"(?:except(?:ing)?(?:\sfor)?|excluding|unlike|apart\sfrom|aside\sfrom|other\sthan|with\sthe\sexception\sof)"
    r"\s(?!(?:that|when|where|if)\b)(?:the\s|an?\s|those\s|all\s)?"
    r"(?P<what{}>[\w'’-]{{1,40}}(?:\s[\w'’-]{{1,40}}){{0,5}})"
)
_SAVE = re.compile(rf"\A\W*+{_EXCEPT.format('')},|\b{_EXCEPT.format('_last')}[.!]?\Z", re.IGNORECASE)
"""An exception of which nothing further is told; else that may follow: `except the tenor, which was cast in Leeds`."""
_FOR = re.compile(
    r"\b(?:for|(?:free|open|closed|limited|available)\sto)\s(?!nothing\b|free\b)(?:the\s|all\s)?(?P<what>[\w'’-]{1,40}(?:\s[\w'’-]{1,40}){0,2})",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;:]")
"""Words for others than those named, who may stand in the sentence itself."""
_PLAIN = word_list("ordinary normal regular standard plain conventional")
"""Words for those of a kind that no other word singles out."""
_ANY = word_list("every each most many all some several few two three four five six new these those such more")
_TURNS = re.compile(r"\b(?:but|however|unlike|instead|only|own|contrast|exception|neither|nor)\b", re.IGNORECASE)


def is_of_it(text: str, before: Sequence[str], after: Sequence[str], asked: Asked) -> bool:
    """True unless another sentence of the passage is the one that speaks of the thing asked about, by its own name, or
    the sentence excludes it."""
    return not (
        _excludes(text, before, asked)
        or _is_special(text, asked)
        or any(_is_told_of(other, text, asked) for other in (*before[-_NEAR:], *after[:_NEAR]))
        or any(_speaks(other, text, asked, near=n == 0) for n, other in enumerate(after[:_NEAR]))
        or any(_is_told_of(other, text, asked) for other in (*before[-_NEAR:], *after[:_NEAR]))
        or any(_speaks(other, text, asked, earlier=True) for other in before[-_NEAR:])
    )


def _speaks(other: str, text: str, asked: Asked, *, near: bool = False, earlier: bool = False) -> bool:
    """True if another sentence begins with the thing asked about (`The vacuum jug`), which this one names without that
    word (`the jug`), and denies, or says as much of, what is asked. `near`: it comes right behind; `earlier`: it stands
    before, where `the jug` may be the same."""
    own, words = all_roots(text), [fold(word) for word in WORD.findall(text)]
    for which, noun in asked.pairs:
        if noun not in own or not and_alike({root_of(which)}).isdisjoint(own) or not _begins(other, which, noun):
            continue
        if earlier and _is_definite(words, noun):
            continue
        if near and (is_elliptical(other) or _TURNS.search(other) or (denies(other) and not denies(text))):
            return True
        rest = asked.roots - {root_of(which), noun}
        said, theirs = rest & and_alike(weighed_roots(text)), rest & and_alike(weighed_roots(other))
        if theirs and len(theirs) >= len(said) and _tells(other, asked):
            return True
    return False


def _is_told_of(other: str, text: str, asked: Asked) -> bool:
    """True if another sentence begins with what the deed is asked of and says the deed, and this one says it of another
    thing."""
    deeds = and_alike({asked.deed})
    if not asked.says_deed or not asked.head or deeds.isdisjoint(all_roots(text)) or deeds.isdisjoint(all_roots(other)):
        return False
    if not and_alike({asked.head}).isdisjoint(all_roots(text)) or leans_back(text) or not _tells(other, asked):
        return False
    words = [fold(word) for word in WORD.findall(other)[: len(asked.subject) + 1]]
    return asked.subject == frozenset(root_of(word) for word in words if word not in _ARTICLES)


def _tells(text: str, asked: Asked) -> bool:
    """True if a sentence tells what is asked for, or denies it."""
    return denies(text) or offers(text, asked.wanted, asked.question, loosely=True)


def _begins(text: str, which: str, noun: str) -> bool:
    """True if those two words are what a sentence begins with, but for an article."""
    words = [fold(word) for word in WORD.findall(text)[:4]]
    words = words[1:] if words and words[0] in _ARTICLES else words
    return len(words) > 1 and words[0] == which and root_of(words[1]) == noun


def _is_definite(words: Sequence[str], noun: str) -> bool:
    return any(
        root_of(word) == noun and words[at - 1] in {"the", "this", "that"} for at, word in enumerate(words) if at
    )


def _excludes(text: str, before: Sequence[str], asked: Asked) -> bool:
    """True if the sentence holds for all but what is asked about: `The fee for all others is £3`, right behind what
    names it, and `All plots except plot 7`, where something other than whether is asked."""
    if _OTHERS.search(asked.question) or _SAVE.search(asked.question) or denies(asked.question):
        return False
    roots, own = asked.roots, all_roots(text)
    others = _OTHERS.search(text)
    if others and before and not _PARTS.search(text, 0, others.start()):
        named = _named(before[-1])
        if named and named <= roots and not named <= own:
            return True
    if asked.is_yes_or_no or asked.wanted is WantedKind.ANY:
        return False
    rest = _SAVE.sub(" ", text)
    said = (_telling(found["what"] or found["what_last"]) for found in _SAVE.finditer(text))
    return any(each and each[0] in roots and each[0] not in all_roots(rest) for each in said)


def _named(text: str) -> frozenset[str]:
    """The thing of which a sentence speaks, in roots: that behind `for`, else its subject, up to a plural or a small
    word."""
    behind = _FOR.search(text)
    words = [fold(word) for word in WORD.findall(behind["what"] if behind else text)]
    words = words[1:] if words and words[0] in _ARTICLES else words
    said = [*takewhile(lambda word: word not in UNWEIGHED_WORDS, words[:4])]
    end = next((n for n, word in enumerate(said, 1) if is_many(word)), len(said))
    return frozenset(map(root_of, said[:end]))


def _telling(text: str) -> list[str]:
    return [root_of(fold(word)) for word in WORD.findall(text) if fold(word) not in UNWEIGHED_WORDS]


def _is_special(text: str, asked: Asked) -> bool:
    """True if the question asks for the ordinary ones of a kind and the sentence, which says nothing of others, begins
    with those that another word singles out."""
    plain = [noun for which, noun in asked.pairs if which in _PLAIN]
    words = [fold(word) for word in re.findall(r"[\w'’-]+", text)]
    words = words[1:] if words and words[0] in _ARTICLES else words
    if not plain or len(words) < 2 or root_of(words[1]) not in plain or not _PLAIN.isdisjoint(words):
        return False
    return _singles_out(words[0]) and "other" not in text.casefold()


def _singles_out(word: str) -> bool:
    telling = len(word) > 2 and word.replace("-", "").isalpha() and word not in UNWEIGHED_WORDS
    return telling and word not in _ANY and not word.endswith("ly")
