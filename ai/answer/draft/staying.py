"""Which sentences of a draft may stay, and what the default would have answered beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from ai.answer.claims.leaning import leans
from ai.answer.claims.tokens import keys_of, read_tokens
from ai.model import Draft, Quote, Sentence


def leaks(sentence: Sentence) -> bool:
    """True if the sentence says what a prompt must keep."""
    return any(each.kind.startswith(("canary", "system_prompt")) for each in sentence.findings)


def may_stay(sentence: Sentence) -> bool:
    """True if the answer point could release the sentence as an answer."""
    return is_sound(sentence) and sentence.answers


def is_sound(sentence: Sentence) -> bool:
    """True if the answer point could release the sentence beside an answer."""
    welcome = sentence.appeals is None or sentence.appeals.welcome
    return sentence.holds and welcome and bool(sentence.markers) and not leaks(sentence)


Group = tuple[Sentence, ...]
"""A sentence behind those that it leans on, which never stands without them."""


def filled(
    drafted: Draft,
    by_default: Draft,
    *,
    question: str,
    every: bool,
    grouped: bool = True,
    leading: bool = True,
    elliptical: bool = True,
) -> Draft:
    """The draft with what the default model says and it leaves out, so that a model never lowers what the default would
    have answered: the default's sentences in its place where nothing of it can be released; else, before it, the best
    of them, or `every` one, which its own do not cover. `grouped`: with the sentence that one leans on.
    `leading`: the best one comes first in the answer, whatever true sentences the draft has before it.
    `elliptical`: see `leans`."""
    staying = list(filter(may_stay, drafted.sentences))
    grouping = partial(_groups, grouped=grouped, elliptical=elliptical)
    offered = list(_offers(grouping(by_default.sentences)))
    if staying:
        told = offered if every else offered[:1]
        first, *later = filter(is_sound, drafted.sentences) if leading else staying

        def covered(group: Group) -> bool:
            behind = staying[1:] if group[0].text == first.text else later
            return _covered(group[-1], staying, behind, question, whole=every, led=grouped)

        offered = [each for each in told if not covered(each)]
    if not offered:
        return drafted
    groups = _joined(offered, grouping(drafted.sentences)) if staying else [_by_system(by_default.sentences)]
    sentences = tuple(replace(each, i=i) for i, each in enumerate(chain.from_iterable(groups)))
    return replace(drafted, sentences=sentences, filled=by_default.completion)


def _offers(groups: Sequence[Group]) -> Iterator[Group]:
    """The groups as far as they answer."""
    for group in groups:
        ends = [i for i, each in enumerate(group, start=1) if may_stay(each)]
        if ends:
            yield group[: ends[-1]]


def _joined(offered: Sequence[Group], own: Sequence[Group]) -> list[Group]:
    """The offered groups, then the draft's own without what both say; an offered one that goes on in the draft goes on
    here."""
    found: list[Group] = []
    left = [each for each in own if each[-1].text not in {group[-1].text for group in offered}]
    for group in offered:
        texts = [each.text for each in group]
        longer = next((each for each in left if [one.text for one in each[: len(group)]] == texts), ())
        left = [each for each in left if each is not longer]
        found.append((*_by_system(group), *longer[len(group) :]))
    return [*found, *left]


def _by_system(sentences: Sequence[Sentence]) -> Group:
    return tuple(replace(each, attribution="system") for each in sentences)


def _groups(sentences: Sequence[Sentence], *, grouped: bool, elliptical: bool) -> list[Group]:
    found: list[Group] = []
    for sentence in sentences:
        if grouped and found and leans(sentence, elliptical=elliptical):
            found[-1] = (*found[-1], sentence)
        else:
            found.append((sentence,))
    return found


def _covered(
    wanted: Sentence,
    staying: Sequence[Sentence],
    behind: Sequence[Sentence],
    question: str,
    *,
    whole: bool,
    led: bool,
) -> bool:
    """True if the names and numbers that a sentence answers with are in those that stay, where the `whole` of an item
    is the answer; else if the first of them (`led`; or any) stands on the same words. A sentence that stays
    `behind` others leads them."""
    if not whole and wanted.text in {each.text for each in behind}:
        return False  # it leads
    if not whole and led:
        return any(_meet(one, other) for one in wanted.quotes for other in staying[0].quotes)
    asked = keys_of(question)
    tokens = [token for token in read_tokens(wanted.text).tokens if token.key not in asked]
    telling = {token.key for token in tokens if token.name or token.number} or {token.key for token in tokens}
    if telling <= frozenset().union(*(keys_of(each.text) for each in staying)):
        return True
    return not whole and any(_meet(one, other) for one in wanted.quotes for other in _quotes(staying))


def _quotes(sentences: Sequence[Sentence]) -> Iterator[Quote]:
    for sentence in sentences:
        yield from sentence.quotes


def _meet(one: Quote, other: Quote) -> bool:
    """True if two quotes share words of one item."""
    if one.index != other.index:
        return False
    if one.locator is None or other.locator is None:
        return True
    return one.locator.start_char < other.locator.end_char and other.locator.start_char < one.locator.end_char
