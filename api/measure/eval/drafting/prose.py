"""Drafts in prose, right and wrong, made from sentences of the corpus by turning one thing in them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from api.measure.eval.drafting import exchanged as exchanged_kinds
from api.measure.eval.drafting import turned
from api.measure.eval.drafting.corpus import LEANS, SENTENCE
from api.measure.eval.drafting.model import Sources, Told, Trial
from api.measure.eval.drafting.turned import Turn, exchanged

_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]+(?: (?:of (?:the )?)?[A-Z][\w'’-]+)*")
_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d])|(?<![\d.,\w])\d+(?![\d.,]\d|\w)")
_TURNED = (
    ("largest", "smallest"), ("largest", "oldest"), ("highest", "lowest"), ("most", "least"), ("first", "last"),
    ("before", "after"), ("above", "below"), ("north", "south"), ("northern", "southern"), ("east", "west"),
    ("eastern", "western"), ("increased", "decreased"), ("rose", "fell"), ("won", "lost"), ("began", "ended"),
    ("killed", "saved"), ("more", "fewer"), ("greater", "smaller"), ("early", "late"), ("older", "younger"),
    ("success", "failure"), ("supported", "opposed"), ("built", "destroyed"), ("accepted", "rejected"),
    ("allowed", "forbidden"), ("entered", "left"), ("gained", "lost"), ("true", "false"), ("public", "private"),
    ("old", "new"), ("long", "short"), ("large", "small"), ("high", "low"), ("rich", "poor"), ("major", "minor"),
    ("husband", "wife"), ("father", "mother"), ("brother", "sister"), ("king", "queen"), ("summer", "winter"),
    ("buy", "sell"), ("bought", "sold"), ("friend", "enemy"), ("attacked", "defended"), ("founded", "closed"),
)  # fmt: skip
_QUANTITIES = (
    ("some", "all"), ("many", "few"), ("most", "all"), ("several", "no"), ("a few", "most"), ("often", "never"),
    ("usually", "always"), ("all", "some"), ("both", "neither of"), ("half", "all"), ("sometimes", "always"),
    ("generally", "never"), ("every", "hardly any"), ("each", "no"), ("almost all", "hardly any"),
    ("one of the", "the only"),
)  # fmt: skip
_ALIKE = (
    ("began", "started"), ("large", "big"), ("around", "about"), ("approximately", "about"), ("many", "numerous"),
    ("located", "situated"), ("called", "named"), ("built", "constructed"), ("near", "close to"), ("also", "too"),
    ("however", "yet"), ("used", "employed"), ("help", "aid"), ("whole", "entire"), ("important", "significant"),
    ("show", "demonstrate"), ("people", "persons"), ("often", "frequently"), ("buy", "purchase"), ("ended", "finished"),
    ("made", "produced"), ("received", "got"), ("common", "widespread"), ("main", "principal"), ("quickly", "rapidly"),
    ("kill", "slay"), ("children", "kids"), ("difficult", "hard"), ("city", "town"), ("country", "nation"),
)  # fmt: skip
_AUX = re.compile(r"\b(was|were|is|are|had been|has been|could|would|can|will|did)\b(?! not\b)")
_FRONT = re.compile(r"^((?:In|On|At|During|By|After|Before|Since) [^,]{2,40}), (.+)\.$")
_BACK = re.compile(r"^([A-Z][^,;:]+?) ((?:in|on|during|by|since) (?:the )?(?:\w+ ){0,2}\d{4})\.$")
_PLAIN_WORDS = ("The", "In", "A", "An", "It", "This", "These", "There", "He", "She", "They")
_ASIDE = re.compile(r" \([^()]{3,60}\)")


def trials(told: Sequence[Told], *, per_kind: int, seed: int) -> Iterator[Trial]:
    """`per_kind` of every kind, as far as the sentences have matter for it."""
    draw = random.Random(f"prose {seed}")  # noqa: S311  a sample, no secret
    near, told = [t for t in told if not t.answers], [t for t in told if t.answers]
    alone, leaning = [t for t in told if not t.before], [t for t in told if t.before]
    matter = {"verbatim": told, "leaning": leaning, "leaning on another": leaning}
    for kind, turn in {**_RIGHT, **_WRONG}.items():
        order, made = list(matter.get(kind, alone)), 0
        draw.shuffle(order)
        for each in order:
            if made == per_kind:
                break
            trial = _trial(kind, turn, each, draw, order)
            if trial is not None:
                made += 1
                yield trial
    yield from map(_beside, draw.sample(told, min(per_kind, len(told))))
    yield from map(_near_miss, draw.sample(near, min(per_kind, len(near))))


def _near_miss(told: Told) -> Trial:
    """A true sentence that seems to answer, word for word."""

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        at = [s.index for s in sources if told.sentence in " ".join(s.text.split())]
        return (f"{told.sentence} [{at[0]}]", (told.sentence,)) if at else None

    return Trial("prose", "near miss", told.question, write)


def _beside(told: Told) -> Trial:
    """A true sentence of a document that the question is not about."""

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        home = {s.title for s in sources if told.sentence in " ".join(s.text.split())}
        if not home:
            return None
        for source in sources:
            whole = [s for s in SENTENCE.split(" ".join(source.text.split())) if 8 <= len(s.split()) <= 32]
            if source.title not in home and len(whole) > 2 and source.kind == "passage":
                return f"{whole[1]} [{source.index}]", (whole[1],)
        return None

    return Trial("prose", "beside the point", told.question, write)


def _trial(kind: str, turn: Turn, told: Told, draw: random.Random, others: Sequence[Told]) -> Trial | None:
    text = turn(told.sentence, draw, others)
    wrong = text is not None and kind in _WRONG
    if kind == "leaning on another":
        return _behind_another(kind, told, draw.randrange(1000))
    if text is None or (wrong and (text == told.sentence or text in told.passage)):
        return None
    frame = {"chatter": "Of course! Here is the answer. {} [{}] I hope this helps.", "list": "- {} [{}]"}.get(kind)

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        at = [s.index for s in sources if told.sentence in " ".join(s.text.split())]
        other = [s.index for s in sources if s.index not in at]
        if not at or (kind == "miscited" and not other):
            return None
        if kind in ("uncited", "uncited right"):
            return text, (text,)
        on_trial = (told.before, text) if told.before else (text,)
        return (frame or "{} [{}]").format(text, other[0] if kind == "miscited" else at[0]), on_trial

    return Trial("prose", kind, told.question, write, (told.sentence,), adjoining=bool(told.before))


def _behind_another(kind: str, told: Told, chance: int) -> Trial:
    """A true sentence that leans on the one before it, set behind one on which it does not lean."""

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        at = [s.index for s in sources if told.sentence in " ".join(s.text.split())]
        others = [
            (each, source.index)
            for source in sources
            if source.kind == "passage"
            for each, after in pairwise([*SENTENCE.split(" ".join(source.text.split())), ""])
            if 8 <= len(each.split()) <= 32
            and each[0].isupper()
            and each[-1] == "."
            and told.sentence not in (each, after)
            and not LEANS.match(each)
        ]
        if not at or not others:
            return None
        other, n = others[chance % len(others)]
        return f"{other} [{n}] {told.sentence} [{at[0]}]", (other, told.sentence)

    return Trial("prose", kind, told.question, write, adjoining=True)


def _same(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return sentence


def _reworded(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """One paraphrase that keeps the meaning."""
    made = list(_paraphrases(sentence))
    return draw.choice(made) if made else None


def _paraphrases(sentence: str) -> Iterator[str]:
    if front := _FRONT.match(sentence):
        yield f"{front[2][:1].upper()}{front[2][1:]} {front[1][:1].lower()}{front[1][1:]}."
    if back := _BACK.match(sentence):
        yield f"{back[2][:1].upper()}{back[2][1:]}, {_lowered(back[1])}."
    if _ASIDE.search(sentence):
        yield _ASIDE.sub("", sentence)
    for old, new in _ALIKE:
        if re.search(rf"(?<!-)\b{old}\b(?!-)", sentence):
            yield re.sub(rf"\b{old}\b", new, sentence, count=1)
    yield f"According to the source, {_lowered(sentence)}"


def _lowered(sentence: str) -> str:
    first = sentence.split(" ", 1)[0]
    return sentence[:1].lower() + sentence[1:] if first in _PLAIN_WORDS else sentence


def _swapped_names(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """Two names with a word other than `and` or `or` between them, exchanged."""
    found = [m for m in _NAME.finditer(sentence) if m[0] != "I"]
    pairs = [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a[0] not in b[0]
        and b[0] not in a[0]
        and not re.fullmatch(
            r"(?:,|\s|\b(?:and|or|with|nor|near|between|the)\b)*(?:[^,]{1,30},)*\s*(?:and|or)?\s*",
            sentence[a.end() : b.start()],
        )
    ]
    if not pairs:
        return None
    a, b = draw.choice(pairs)
    return sentence[: a.start()] + b[0] + sentence[a.end() : b.start()] + a[0] + sentence[b.end() :]


def _other_name(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    found = [m for m in _NAME.finditer(sentence) if m[0] != "I"]
    foreign = [m[0] for told in others[:40] for m in _NAME.finditer(told.sentence) if m[0] not in sentence]
    if not found or not foreign:
        return None
    at = draw.choice(found)
    return sentence[: at.start()] + draw.choice(foreign) + sentence[at.end() :]


def _other_number(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    at = draw.choice(found)
    value = int(at[0].replace(",", ""))
    new = value + draw.choice((-7, -3, 2, 5, 11, 40)) if value > 12 else value + draw.choice((1, 2, 3))
    text = f"{new:,}" if "," in at[0] else str(new)
    return None if new <= 0 or text in sentence else sentence[: at.start()] + text + sentence[at.end() :]


def _swapped_numbers(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return exchanged(_NUMBER, sentence, draw)


def _replaced(pairs: Sequence[tuple[str, str]], sentence: str, draw: random.Random) -> str | None:
    fitting = [(a, b) for pair in pairs for a, b in (pair, pair[::-1]) if re.search(rf"(?<!-)\b{a}\b(?!-)", sentence)]
    if not fitting:
        return None
    old, new = draw.choice(fitting)
    return re.sub(rf"(?<!-)\b{old}\b(?!-)", new, sentence, count=1)


def _one_word(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return _replaced(_TURNED, sentence, draw)


def _quantity(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    fitting = [(a, b) for a, b in _QUANTITIES if re.search(rf"\b{a}\b", sentence)]
    if not fitting:
        return None
    old, new = draw.choice(fitting)
    return re.sub(rf"\b{old}\b", new, sentence, count=1)


def _negated(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    if draw.random() < 0.3 and " not " in sentence:
        return sentence.replace(" not ", " ", 1)
    found = list(_AUX.finditer(sentence))
    if not found:
        return None
    at = draw.choice(found)
    first, _, rest = at[0].partition(" ")
    return (
        sentence[: at.start()]
        + f"{first} {draw.choice(('not', 'never'))}{' ' + rest if rest else ''}"
        + sentence[at.end() :]
    )


def _added(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A true sentence, and something that no source says."""
    tail = draw.choice(
        (
            "which made it famous throughout the world",
            "and it was rebuilt ten years later",
            "against the advice of the governor",
            "because of a severe drought",
            "to the surprise of the whole region",
        )
    )
    return f"{sentence[:-1]}, {tail}." if sentence.endswith(".") else None


def _merged(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The subject of one sentence and what another one says."""
    verb = re.compile(r" (was|were|is|are|had|has|became|won|led|began|built) ")
    for other in others[:60]:
        mine, theirs = verb.search(sentence), verb.search(other.sentence)
        if mine is None or theirs is None or mine[1] != theirs[1]:
            continue
        if mine.start() < 80 and sentence[: mine.start()] != other.sentence[: theirs.start()]:
            return sentence[: mine.start()] + other.sentence[theirs.start() :]
    return None


_RIGHT: Mapping[str, Turn] = {
    "verbatim": _same,
    "leaning": _same,
    "paraphrase": _reworded,
    "list": _same,
    "chatter": _same,
    "uncited right": _same,
    "miscited": _same,
}
_WRONG: Mapping[str, Turn] = {
    "other name": _other_name,
    "exchanged arguments": _swapped_names,
    "exchanged number": _other_number,
    "numbers exchanged": _swapped_numbers,
    "one word turned": _one_word,
    "quantifier": _quantity,
    "negation": _negated,
    "merged items": _merged,
    "half true": _added,
    "uncited": _one_word,
    "leaning on another": _same,
    **turned.KINDS,
    **exchanged_kinds.KINDS,
}
