"""Which sentences of a draft may stay, and what the default would have answered beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ai.answer.claims.tokens import keys_of, read_tokens
from ai.model import Draft, Quote, Sentence


def leaks(sentence: Sentence) -> bool:
    """True if the sentence says what a prompt must keep."""
    return any(each.kind.startswith(("canary", "system_prompt")) for each in sentence.findings)


def may_stay(sentence: Sentence) -> bool:
    """True if the answer point could release the sentence as an answer."""
    borne_out = bool(sentence.claims) and all(claim.verdict == "borne_out" for claim in sentence.claims or ())
    welcome = sentence.appeals is None or sentence.appeals.welcome
    return borne_out and welcome and sentence.answers and bool(sentence.markers) and not leaks(sentence)


def filled(drafted: Draft, by_default: Draft, *, question: str, every: bool) -> Draft:
    """The draft with what the default model says and it leaves out, so that a model never lowers what the default would
    have answered: the default's sentences in its place where nothing of it can be released; else, before it, the best
    of them, or `every` one, which its own do not cover."""
    staying = list(filter(may_stay, drafted.sentences))
    offered = list(filter(may_stay, by_default.sentences))
    if staying:
        told = offered if every else offered[:1]
        offered = [each for each in told if not _covered(each, staying, question, every)]
    if not offered:
        return drafted
    said = {each.text for each in offered}
    kept = [each for each in drafted.sentences if each.text not in said] if staying else []
    added = (replace(each, attribution="system") for each in (offered if staying else by_default.sentences))
    sentences = tuple(replace(each, i=i) for i, each in enumerate((*added, *kept)))
    return replace(drafted, sentences=sentences, filled=by_default.completion)


def _covered(wanted: Sentence, staying: Sequence[Sentence], question: str, whole: bool) -> bool:
    """True if the names and numbers that a sentence answers with are in those that stay; or, where not the `whole` of
    an item is the answer, if they stand on the same words of it. A sentence that stays behind others leads them."""
    if not whole and wanted.text in {each.text for each in staying[1:]}:
        return False  # it leads
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
