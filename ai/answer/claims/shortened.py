"""A sentence that is a part of one of its source: that sentence, and what is left out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ai.answer.claims.tokens import Token, bare, keys_of, read_tokens, same


def part_of(text: str, sentences: Sequence[str]) -> str | None:
    """The sentence that has all words of `text` and more; None where none has, or one says just that."""
    keys = keys_of(text)
    if not keys or any(bare(text) == bare(each) for each in sentences):
        return None
    return next((each for each in sentences if _has(each, keys)), None)


def _has(sentence: str, keys: frozenset[str]) -> bool:
    theirs = keys_of(sentence)
    if 2 * len(keys & theirs) < len(keys):
        return False  # too few words in common, whatever their forms
    return all(key in theirs or any(same(key, each) for each in theirs) for key in keys)


def left_out(text: str, source: str) -> Iterator[Token]:
    """The words of the source that a part of it leaves out, but for names, numbers, and those right before one that it
    keeps: `new` of `the new hall`."""
    keys, tokens = keys_of(text), read_tokens(source).tokens
    kept = [any(same(token.key, key) for key in keys) for token in tokens]
    for at, token in enumerate(tokens):
        if not (kept[at] or token.name or token.number or _goes_with_kept(at, tokens, kept, source)):
            yield token


def _goes_with_kept(at: int, tokens: Sequence[Token], kept: Sequence[bool], source: str) -> bool:
    for n in range(at + 1, len(tokens)):
        if not _adjoin(tokens[n - 1], tokens[n], source):
            return False
        if kept[n]:
            return True
    return False


def is_cut_short(text: str, source: str) -> bool:
    """True if the source goes on behind the last word that a part of it keeps, in the same clause: `The beach is
    guarded` of `The beach is guarded in July`."""
    keys, tokens = keys_of(text), read_tokens(source).tokens
    last = max(
        (at for at, token in enumerate(tokens) if any(same(token.key, key) for key in keys)), default=len(tokens)
    )
    return last + 1 < len(tokens) and not tokens[last + 1].after_comma


def is_one_of_several(text: str, source: str, sentences: Sequence[str]) -> bool:
    """True if a part leaves out a word that says which, where others of the kind are told of: `The hostel has no
    heating` of the old hostel, beside a new one."""
    keys, tokens = keys_of(text), read_tokens(source).tokens
    for before, noun in pairwise(tokens):
        own = any(same(noun.key, key) for key in keys) and not any(same(before.key, key) for key in keys)
        which = own and not (before.number or before.mark or noun.name) and _adjoin(before, noun, source)
        if which and any(_other_of(noun, before, each) for each in sentences):
            return True
    return False


def _other_of(noun: Token, before: Token, sentence: str) -> bool:
    for one, two in pairwise(read_tokens(sentence).tokens):
        which = same(two.key, noun.key) and _adjoin(one, two, sentence) and not (one.number or one.mark)
        if which and not same(one.key, before.key):
            return True
    return False


def _adjoin(one: Token, two: Token, text: str) -> bool:
    return not text[one.end : two.start].strip(" -")
