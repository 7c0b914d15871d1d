"""Two questions in one: `When was the mill built and who built it?`, `Who founded Tarn? What is made there?`

Each part is a question of its own: what `it` means is put in its place, and a part that names nothing is about what the
parts before it name. Not every `and` joins questions: behind it another one has to begin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from retrieval.english.stems import is_past

_BEFORE = r"(?:(?:in|at|by|from|to|for|on|since|until|of|with|under)\s)?"
_WORD = r"(?:who|whom|whose|what|which|when|where|why|how)"
_BE = r"(?:is|are|was|were)"
_DO = r"(?:do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
_OPENS = re.compile(
    rf"\W*(?P<asks>{_BEFORE}(?:(?:who|whom|what|(?:whose|which|what)(?:\s[\w'’-]+){{1,4}}?|how\s(?:many|much)\s[\w'’-]+)"
    rf"(?=\s[\w'’-]+\s?)|(?:when|where|why|how(?:\s[\w'’-]+){{0,4}}?)(?=\s(?:{_BE}|{_DO})\s)))"
    r"\s(?P<verb>[\w'’-]+)(?P<rest>(?:\s.+)?)",
    re.IGNORECASE | re.DOTALL,
)
_BOTH = re.compile(
    rf"\W*(?P<one>{_BEFORE}(?:when|where|why|how|whom))\s(?:and|or)\s(?P<two>{_BEFORE}(?:when|where|why|how|whom))\s"
    rf"(?P<rest>(?:{_BE}|{_DO})\s.+)",
    re.IGNORECASE | re.DOTALL,
)
_JOIN = re.compile(rf",?\s(?:and|but)\s(?:also\s)?(?={_BEFORE}{_WORD}\b)", re.IGNORECASE)
_AUXILIARY = re.compile(rf"(?:{_BE}|{_DO})", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:(?P<owner>its|their|his|her(?=\s[\w'’-]+\s?\w))|(?P<thing>it|they|them|he|him|she|her)|(?P<there>there|then|this|that|these|those))\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(?:he|him|his|she|her)", re.IGNORECASE)
_BEHIND = re.compile(r"\b(?:of|in|at)\s(?P<named>(?:the\s)?[^\W\d_a-z][\w'’-]*(?:\s[\w'’-]+){0,5})\Z")
_NAMES = re.compile(r"(?:(?:the|our|my|your)\s\w|[^\W\d_a-z])")
_MOST_PARTS, _FEWEST_WORDS, _MOST_NAMING = 3, 3, 8
_LONGEST = 1_000
"""Characters of a question that is looked at for others in it: each `and` is looked at together with all behind it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several questions, as it is asked alone; `said` is how it was asked. `open`: what its pronoun means is not
    known before another part is answered, so that it cannot be asked alone."""

    said: str
    question: str
    open: bool = False


@lru_cache(maxsize=128)
def parts_of(question: str) -> tuple[Part, ...]:
    """The questions that were asked in one, in order; none where it is one question."""
    said = _split(question)
    found: list[Part] = []
    for place, each in enumerate(said):
        alone = _alone(each, said[:place])
        asked = alone or each
        found.append(Part(each, asked[:1].upper() + asked[1:], open=not alone))
    return tuple(found)


def _split(question: str) -> tuple[str, ...]:
    if len(question) > _LONGEST:
        return ()
    text = " ".join(question.split())
    both = _BOTH.fullmatch(text)
    if both is not None:
        return (f"{both['one']} {both['rest']}", f"{both['two']} {both['rest']}")
    sentences = [each.strip() for each in text.split("?") if each.strip()]
    found = [part for each in sentences for part in _joined(each)]
    if not 2 <= len(found) <= _MOST_PARTS or not all(map(_is_question, found)):
        return ()
    return tuple(f"{part.rstrip(' ,.;')}?" for part in found)


def _joined(sentence: str) -> list[str]:
    """The questions that `and` joins in a sentence. A clause behind another one that begins with the same word is no
    question: `the people who came and who stayed`."""
    found, start = list[str](), 0
    for join in _JOIN.finditer(sentence):
        before, after = sentence[start : join.start()], sentence[join.end() :]
        opened = _OPENS.fullmatch(after)
        if opened is None or not _is_question(before):
            continue
        word = opened["asks"].split()[-1].casefold()
        clause = not _AUXILIARY.fullmatch(opened["verb"]) and word in before.casefold().split()[1:]
        if not clause:
            found.append(before)
            start = join.end()
    return [*found, sentence[start:]]


def _is_question(text: str) -> bool:
    """True if it begins as a question does: `when does it rain`, and not as a clause does: `when it rains`."""
    return _OPENS.fullmatch(text) is not None and len(text.split()) >= _FEWEST_WORDS


def _alone(part: str, before: tuple[str, ...]) -> str:
    """The part with what its pronouns mean in their place; empty where that is not known."""
    pronoun = _PRONOUN.search(part)
    if pronoun is None or not before:
        return part
    named = "" if pronoun["there"] else _named_in(before[-1], person=_PERSON.fullmatch(pronoun[0]) is not None)
    if not named:
        return ""
    return _PRONOUN.sub(lambda found: f"{named}’s" if found["owner"] else named, part)


def _named_in(question: str, *, person: bool) -> str:
    """The thing that a question is about, in its own words; empty where a pronoun behind it may mean its answer."""
    opened = _OPENS.fullmatch(question.rstrip("? "))
    if opened is None:
        return ""
    asks, verb, rest = opened["asks"].casefold().split()[0], opened["verb"].casefold(), opened["rest"].strip()
    if asks in ("what", "which", "whose") or (asks == "who" and person):
        return ""
    if asks == "who" and re.fullmatch(_BE, verb):
        behind = _BEHIND.search(rest)
        named = behind["named"] if behind else ""
    elif _AUXILIARY.fullmatch(verb):
        named, _, deed = rest.rpartition(" ")
        named = named if not re.fullmatch(_BE, verb) or is_past(deed.casefold()) else rest
    else:
        named = rest
    fits = bool(named) and len(named.split()) <= _MOST_NAMING and _NAMES.match(named) and not _PRONOUN.search(named)
    return named if fits else ""
