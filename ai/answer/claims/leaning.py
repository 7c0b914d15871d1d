"""A sentence of a draft that begins with a word for something named before it: the sentence that names it has to stand
before it, as it does in the source; else it comes from there, or the sentence falls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ai.answer.claims.check import Sources, context_of
from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import bare, keys_of, read_tokens, same
from ai.model import AdmittedItem, Claim, Sentence
from ai.models.candidates import is_whole
from ai.models.context import prompt_source
from ai.models.reading.source import ReadSentence, ReadSource
from ai.text.leaning import leans_back, means_another
from ai.text.question_type import first_word
from ai.text.support import WORD, fold, weighed_roots
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past

_EMPTY = re.compile(
    r"\W*(?:it\s+(?:\w+\s+)?(?:is|was|be|been|were)\b(?:[\s,]+(?!(?:the|an?|that|this|his|her|their)\b)\w+){1,5}[\s,]+that\b"
    r"|it\s+(?:is|was)[\s,]+(?:\w+[\s,]+){0,2}(?:necessary|important|possible|impossible|proper|right|wrong|easy|hard"
    r"|difficult|better|best|useless|useful)[\s,]+(?:\w+[\s,]+){0,2}(?:to|for|that)\b"
    r"|that\s+(?:it|the|he|she|they|we|there|no|such|an?)\b)",
    re.IGNORECASE,
)
"""`It was also agreed that`, `That it was never intended is manifest`: the word means nothing before it."""
_PRONOUNS = word_list("he she it they his her its their")
_THINGS = word_list("it they its their")
_POINTING = word_list("this these")
_MOST_LEADS = 4
_MOST_WORDS = 160
"""Of all the sentences that are set before one."""


@dataclass(frozen=True, slots=True)
class Leads:
    """The sentences that another leans on, in the order of their source, and the number of the item that they stand
    in."""

    texts: tuple[str, ...]
    index: int


def leans(sentence: Sentence) -> bool:
    """True if it is borne out and begins with a word for something named before it."""
    return sentence.holds and _means_another(sentence.text)


def _means_another(text: str) -> bool:
    return means_another(text) and not _EMPTY.match(text)


def bound(sentence: Sentence, before: str | None, sources: Sources) -> Leads | Sentence:
    """The sentence as it may stay behind `before`, the last of those that stay (None: it is the first), or those that
    it needs before it. One that must fall has a claim that says so. What a row or a computation states means what was
    asked."""
    passages = [item for item in sources.items if item.index in sentence.markers and is_prose(item)]
    if len(passages) < len(sentence.markers):
        return sentence
    if before is None and bare(sentence.text) in sources.wanted.set_out:
        return sentence  # the question says who or what is meant, as the heading does
    found: list[Leads] = []
    for item in passages:
        source = prompt_source(item, sources.wanted.intent)
        read = ReadSource.of(source, lined=True, carried=True)
        context = context_of(item)
        for place, said in enumerate(read.sentences):
            named = _named(sentence.text, said.text, context)
            if named is None:
                continue
            plain = _is_plain(said, sources.wanted.question) or _is_of_heading(read, place, sources.wanted.question)
            if said.carried.headed or (before is None and plain):
                return sentence  # the heading or the question names whom or what it means
            if named:
                if _told(named, sources.wanted.question if before is None else before):
                    return sentence
                continue
            behind = read.sentences[place - 1].text if place else ""
            if before is not None and behind and _named(before, behind, context) is not None:
                return sentence
            texts = _leads_of(read, place) or _naming(read, place)
            if before is not None and texts and bare(before) in map(bare, texts):
                texts = texts[[*map(bare, texts)].index(bare(before)) + 1 :]
            found += [Leads(texts, item.index)] if texts else []
    return found[0] if found else fallen(sentence)


def _is_plain(said: ReadSentence, question: str) -> bool:
    """True if the sentence begins with a pronoun that the question says too, or opens its paragraph with a noun for
    what the heading names: `This open boat carried customs officers`."""
    first, *rest = [fold(word) for word in WORD.findall(said.text)[:2]] or [""]
    if first in _PRONOUNS:
        return first in {fold(word) for word in WORD.findall(question)}
    noun = rest[0] if rest else ""
    verb = is_past(noun) or noun in UNWEIGHED_WORDS or (first == "this" and noun.endswith("s"))
    return first in _POINTING and not said.follows and noun.isalpha() and not verb


def _is_of_heading(read: ReadSource, place: int, question: str) -> bool:
    """True if the sentence, and all before it, begin with a word for what the heading names, and the question says most
    of that: of `Climbing Rose Ophelia` that it flowers in May."""
    heading = weighed_roots(read.source.title.rpartition(" — ")[2].rpartition(" > ")[2])
    asked = " — " in read.source.title and 2 * len(heading & weighed_roots(question)) > len(heading)
    return asked and all(first_word(each.text) in _THINGS for each in read.sentences[: place + 1])


def _leads_of(read: ReadSource, place: int) -> tuple[str, ...]:
    """The sentences before it, back to one that leans on nothing; none where there is none within reach. A list, a
    heading and what is no whole sentence part them."""
    texts: list[str] = []
    for at in range(place, max(0, place - _MOST_LEADS), -1):
        before, after = read.sentences[at - 1], read.sentences[at]
        parted = not after.follows and (before.item or after.item)
        words = sum(text.count(" ") + 1 for text in (before.text, *texts))
        if parted or words > _MOST_WORDS or not is_whole(before.text, read.source, coded=False):
            break
        texts.insert(0, before.text)
        if not leans_back(before.text):
            break
    return tuple(texts) if texts and not _means_another(texts[0]) else ()


def _naming(read: ReadSource, place: int) -> tuple[str, ...]:
    """The nearest sentence before it that names whom its pronoun means, and leans on none."""
    meant = read.sentences[place].carried.opening
    if meant is None:
        return ()
    for each in reversed(read.sentences[:place]):
        if meant.name in each.text and not leans_back(each.text) and is_whole(each.text, read.source, coded=False):
            return (each.text,)
    return ()


def is_prose(item: AdmittedItem) -> bool:
    """True unless it is a row, a cell, a feature or computed."""
    return item.statement is None and item.evidence.computed is None


def _named(text: str, source: str, context: frozenset[str]) -> frozenset[str] | None:
    """The words that the source sentence has in the place of the word that the text begins with; none where it has that
    word too. None: it does not bear the text out."""
    if bare(text) == bare(source):
        return frozenset()
    said, read = read_tokens(text), read_tokens(source)
    if compare(said, source, context, only_borne_out=True).verdict != "borne_out":
        return None
    keys = {token.key for token in said.tokens}
    first = next((i for i, token in enumerate(read.tokens) if same(token.key, said.tokens[0].key)), 0)
    return frozenset(token.key for token in read.tokens[:first]) - keys


def _told(words: Iterable[str], text: str) -> bool:
    return all(any(same(word, key) for key in keys_of(text)) for word in words)


def fallen(sentence: Sentence) -> Sentence:
    """The sentence with the claim that nothing says what it leans on."""
    word = first_word(sentence.text)
    reason = f"no sentence before it says who or what “{word}” is"
    claim = Claim("prose", 0, len(word), "not_in_source", sentence.markers, reason)
    return replace(sentence, claims=(*(sentence.claims or ()), claim), answers=False, support_milli=0)
