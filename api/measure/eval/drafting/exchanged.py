"""Turns that leave the words of a true sentence and exchange what they say of what: quantities, roles, ends of a way,
cause and effect, months and days. Weaker quantities are left out: what holds of all holds of some."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from api.measure.eval.drafting.model import Told
from api.measure.eval.drafting.turned import MONTHS, Turn

_STRONGER: Mapping[str, tuple[str, ...]] = {
    "some": ("all", "most", "no", "only some"),
    "several": ("all", "most", "no"),
    "a few": ("all", "most", "many"),
    "few": ("many", "most", "all"),
    "many": ("all", "few", "no", "hardly any"),
    "most": ("all", "few", "hardly any"),
    "all": ("no", "few", "hardly any", "not all"),
    "every": ("hardly any", "no", "not every"),
    "each": ("no", "not each"),
    "only": ("not only", "not even"),
    "no": ("some", "all", "many"),
    "usually": ("always", "rarely", "never"),
    "often": ("always", "rarely", "never"),
    "sometimes": ("always", "usually", "never"),
    "always": ("never", "rarely"),
    "never": ("always", "sometimes"),
}
"""Each with what says more than it, or the contrary."""
_PLURAL = re.compile(r"(?<![\w-])(the|these|those|The|These|Those) (?=(?:[a-z]+ )?[a-z]{3,}s\b)")
_NOUNS = (
    r"(?:(?:the|a|an|his|her|their|its|The|A|An|His|Her|Their|Its) (?:[a-z-]+ ){0,2}[a-z-]+"
    r"|[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*)"
)
_ACTIVE = re.compile(
    rf"^({_NOUNS}) ((?:[a-z]+ly )?(?:[a-z]+ed|made|took|built|gave|told|sent|led|held|won|lost|saw|met|found|left|kept"
    rf"|drew|brought|bought|sold|struck|drove|shot|overtook|chose|wrote)) ({_NOUNS})"
    r"(?= (?:in|on|at|by|to|from|with|for|near|and)\b|[,.;])"
)
_OF = re.compile(
    r"(?<![\w-])(?:the|The) ([a-z]{3,}) of (?:the ([a-z]{3,})|([A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*))(?![\w-])"
)
_WAY = re.compile(
    r"\bfrom ((?:[\w’'-]+ ){0,4}?[\w’'-]+) to ((?:[\w’'-]+ ){0,4}?[\w’'-]+)"
    r"(?=[,.;]| (?:in|on|by|and|at|for|with|was|were|is|are|who|which|that|as)\b)"
)
_CLAUSES = re.compile(
    r"^([A-Z][^,;:]{12,}?),? (because|before|after|until|so that|in order to|although) ([^,;:]{12,})\.$"
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATED = re.compile(
    rf"\b(?:{'|'.join((*(month for month in MONTHS if month != 'May'), *_WEEKDAYS))})\b"
    r"|\b(?:in|of|since|until|by|On|In|last) May\b"
)
_A_NAME = r"[A-Z][\w’'-]+(?: (?:(?:of|de|von|van) )?[A-Z][\w’'-]+)*"
_DID = r"(?:was|were|is|are|had|has|became|won|led|took|made|began|built|wrote|died|went|sold|gave|saw|met|[a-z]+ed)"
_DOES = re.compile(rf"((?:The |A |An )?{_A_NAME}) {_DID}\b")
_OF_ANOTHER = re.compile(
    rf"\b(?:to|of|with|by|for|after|while|when|because|although|before|and) ({_A_NAME})(?:,? who)?"
    rf" ({_DID} (?:[\w’'-]+ ){{1,12}}[\w’'-]+)(?=[,.;])"
)
_NTH = re.compile(r"\b([12]?\d|3[01])(st|nd|rd|th)(?= (?:of|day|instant|ultimo))")


def _cased(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _quantity(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A word that quantifies replaced by one that says more, or set where there is none."""
    found = list(re.finditer(rf"(?<![\w-])(?:{'|'.join(_STRONGER)})(?![\w-])", sentence, re.IGNORECASE))
    if found:
        at = draw.choice(found)
        word = _cased(draw.choice(_STRONGER[at[0].lower()]), at[0])
        return f"{sentence[: at.start()]}{word}{sentence[at.end() :]}"
    plurals = list(_PLURAL.finditer(sentence))
    if not plurals:
        return None
    at = draw.choice(plurals)
    word = draw.choice(("only {}", "none of {}", "hardly any of {}", "not all of {}")).format(at[1].lower())
    return f"{sentence[: at.start()]}{_cased(word, at[1])} {sentence[at.end() :]}"


def _agent(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The doer of a deed and the one it is done to, in a sentence in the active voice."""
    found = _ACTIVE.match(sentence)
    if found is None or found[1].lower() == found[3].lower():
        return None
    agent = (
        found[1] if found[1].split()[0] not in ("The", "A", "An", "His", "Her", "Their", "Its") else _lower(found[1])
    )
    return f"{found[3][:1].upper()}{found[3][1:]} {found[2]} {agent}{sentence[found.end() :]}"


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def _whole_and_part(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """`the governor of the territory` as `the territory of the governor`."""
    found = [m for m in _OF.finditer(sentence) if m[1] != (m[2] or m[3])]
    if not found:
        return None
    at = draw.choice(found)
    first = f"the {at[2]}" if at[2] else at[3]
    text = f"{first} of the {at[1]}"
    return f"{sentence[: at.start()]}{_cased(text, at[0])}{sentence[at.end() :]}"


def _ends(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The two ends of a way, a span or a change."""
    found = [m for m in _WAY.finditer(sentence) if m[1] != m[2]]
    if not found:
        return None
    at = draw.choice(found)
    return f"{sentence[: at.start()]}from {at[2]} to {at[1]}{sentence[at.end() :]}"


def _clauses(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """Cause and effect, or what came before and what after."""
    found = _CLAUSES.match(sentence)
    if found is None or found[1].split()[0] in ("I", "He", "She", "They", "We", "It"):
        return None
    return f"{found[3][:1].upper()}{found[3][1:]} {found[2]} {_lower(found[1])}."


def _month(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """Another month, another day of the week or of the month."""
    found = [*_DATED.finditer(sentence), *_NTH.finditer(sentence)]
    if not found:
        return None
    at = draw.choice(found)
    if at.re is _NTH:
        day = int(at[1]) % 28 + 1
        tail = "th" if 10 < day % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        return f"{sentence[: at.start()]}{day}{tail}{sentence[at.end() :]}"
    word = at[0].split()[-1]
    series = _WEEKDAYS if word in _WEEKDAYS else MONTHS
    other = draw.choice([each for each in series if each != word])
    return f"{sentence[: at.end() - len(word)]}{other}{sentence[at.end() :]}"


def _deed(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The subject of the sentence with what one of its clauses says of another."""
    subject = _DOES.match(sentence)
    if subject is None:
        return None
    found = [
        m
        for m in _OF_ANOTHER.finditer(sentence, subject.end())
        if subject[1] not in m[1] and m[1] not in sentence[: subject.end()]
    ]
    return f"{subject[1]} {draw.choice(found)[2]}." if found else None


KINDS: Mapping[str, Turn] = {
    "stronger quantity": _quantity,
    "agent and patient": _agent,
    "whole and part": _whole_and_part,
    "from and to": _ends,
    "cause and effect": _clauses,
    "other month": _month,
    "deed of another": _deed,
}
