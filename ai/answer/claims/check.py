"""Sentences of a draft against the admitted items: claims with their verdicts, and the markers that the system sets.

A sentence is checked against what it cites. Where that does not bear it out, or it cites nothing, the system looks for
the item that does and sets that item's number: it is the system's doing, and recorded as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ai.answer.claims.answering import Wanted
from ai.answer.claims.facts import Figures, read_figures
from ai.answer.claims.figures import Question, check_figures
from ai.answer.claims.prose import Match, compare
from ai.answer.claims.tokens import bare, keys_of, numbers_in, read_tokens, same, sentences_of, stemmed, words_in
from ai.model import AdmittedItem, Claim, ClaimKind, Sentence, hold
from ai.models.context import is_direct, title_of
from ai.models.prose import ReadSentences
from ai.models.reading.headed import Head
from ai.models.reading.parts import asked_apart
from ai.text.markdown import plain
from ai.text.support import folded_words
from retrieval.model import Intent

_JOINS = ("; ", ", and ", ", while ", ", whereas ", ", but ", " and ", " while ")
_QUOTED = re.compile(r"[\"“]([^\"“”]{8,}+)[\"”]")
_PIECE = re.compile(r"\w+")
_UNREAD = ReadSentences()
Paraphrased = Mapping[str, Mapping[int, str]]
"""Sentences of a draft that a reader found borne out: by the number of each source that does so, the sentence there
that does most for it, without what sets it."""
_LEAST_WORDS = 2
"""With fewer a piece of text is a fragment."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The admitted items as read for one draft. `parts`: of several questions in one, what
    each asks for that can be asked alone; `by_words`: what every one asks for, without what a reader found."""

    items: tuple[AdmittedItem, ...]
    direct: frozenset[int]
    figures: Figures
    words: dict[int, frozenset[str]]
    question: Question
    wanted: Wanted
    paraphrased: Paraphrased = field(default_factory=dict)
    parts: tuple[Wanted, ...] = ()
    by_words: tuple[Wanted, ...] = ()

    def paraphrase_of(self, sentence: Sentence) -> Mapping[int, str]:
        """The sentences of the sources that bear out what it says in its own words; none where it is no paraphrase."""
        judged = any(claim.kind == "paraphrase" for claim in sentence.claims or ())
        return self.paraphrased[sentence.text] if judged else {}

    @classmethod
    def of(
        cls,
        items: Sequence[AdmittedItem],
        intent: Intent,
        question: str,
        *,
        read: ReadSentences = _UNREAD,
        paraphrased: Paraphrased | None = None,
    ) -> Sources:
        """Read once for all sentences, and for all drafts of one question over the same items. `read` is what a reader
        made of the items' sentences, `paraphrased` what it found borne out of the draft's."""
        unread = _unread(_Same(tuple(items)), intent, question)
        parts = tuple(part.read_by(read) for part in unread.parts)
        return replace(unread, wanted=unread.wanted.read_by(read), parts=parts, paraphrased=paraphrased or {})


class _Same:
    """Items that are equal to themselves alone, so that to look for them compares none of their texts."""

    def __init__(self, items: tuple[AdmittedItem, ...]) -> None:
        self.items = items
        self._ids = tuple(map(id, items))

    def __hash__(self) -> int:
        return hash(self._ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._ids == other._ids


@lru_cache(maxsize=16)
def _unread(same: _Same, intent: Intent, question: str) -> Sources:
    """The items as read for a question, before a reader reads them: the default's draft, a model's and its repair are
    held to the same."""
    items = same.items
    direct = frozenset(item.index for item in items if is_direct(item, intent))
    figures = read_figures(items, direct)
    stated = {s.item for s in figures.stated}
    words = {item.index: _words(item) for item in items if item.index in stated}
    wanted = Wanted.of(question, intent, items)
    apart = [(part.open, Wanted.of(part.question, own, items)) for part, own in asked_apart(question, intent)]
    parts = tuple(each for is_open, each in apart if not is_open)
    by_words = tuple(each for _, each in apart)
    return Sources(items, direct, figures, words, Question.of(intent), wanted, parts=parts, by_words=by_words)


def check_sentence(sentence: Sentence, sources: Sources) -> Sentence:
    """The sentence with its claims, with the markers of the items that bear it out, and whether it says something of
    what was asked. A fixed phrase claims nothing."""
    if sentence.catalogue is not None:
        return replace(sentence, claims=(), answers=False)
    checked = _checked(sentence, sources)
    told = (n for n, wanted in enumerate(sources.by_words) if wanted.is_answered(checked, sources.direct))
    return replace(checked, answers=_answers(checked, sources), parts=tuple(told))


def answers_behind(sentence: Sentence, before: str, sources: Sources) -> Sentence:
    """The sentence, checked, with whether it says something of what was asked behind those that it leans on."""
    if sentence.answers:
        return sentence
    return replace(sentence, answers=_answers(sentence, sources, before))


def _answers(sentence: Sentence, sources: Sources, before: str = "") -> bool:
    rephrased = _rephrased(sentence, sources)
    every = (sources.wanted, *sources.parts)
    return any(wanted.is_answered(sentence, sources.direct, before, rephrased=rephrased) for wanted in every)


def _rephrased(sentence: Sentence, sources: Sources) -> frozenset[str]:
    """The sentences of what it cites that it says in other words, where it is borne out and a reader read them."""
    if not sources.wanted.rephrases or not sentence.holds:
        return frozenset()
    cited = [item for item in sources.items if item.index in sentence.markers]
    if said := sources.paraphrase_of(sentence):
        return frozenset(said[item.index] for item in cited if item.index in said)
    if _stating(sentence.text, cited):
        return frozenset()
    matches = ((head_of(item), _best(sentence.text, item, only_borne_out=True).of) for item in cited)
    return frozenset(bare(head.without(said) if head else said) for head, said in matches if said)


def _checked(sentence: Sentence, sources: Sources) -> Sentence:
    cited = frozenset(sentence.markers)
    found = _judge(sentence.text, cited, sources) if cited else None
    if found is not None and found.holds:
        kept = _kept(sentence.markers, found, sources)
        answering = _of_direct(sentence.text, kept, sources)
        if answering is None:
            return replace(sentence, claims=found.claims, markers=kept)
        markers = answering.markers(sources.direct)
        return replace(sentence, claims=answering.claims, markers=markers, unknown_markers=(), attribution="system")
    if sentence.unknown_markers and not cited:
        return replace(sentence, claims=_unsupported(sentence.text))
    every = frozenset(item.index for item in sources.items)
    anywhere = _judge(sentence.text, every, sources, tried=cited if found is not None else None)
    if anywhere.holds:
        markers = anywhere.markers(sources.direct)
        return replace(sentence, claims=anywhere.claims, markers=markers, unknown_markers=(), attribution="system")
    claims = (found.claims if found is not None else anywhere.claims) or _unsupported(sentence.text)
    return _as_paraphrase(replace(sentence, claims=claims), sources)


def _as_paraphrase(sentence: Sentence, sources: Sources) -> Sentence:
    """The sentence borne out as a whole, where a reader found it so and the words do not contradict it: of those that
    it cites, else of any, the sources that have its names and numbers."""
    said = sources.paraphrased.get(sentence.text, {})
    if not said or any(claim.verdict == "contradicted" for claim in sentence.claims or ()):
        return sentence
    bearing = tuple(i.index for i in sources.items if i.index in said and _has_particulars(sentence.text, i))
    if not bearing:
        return sentence
    kept = tuple(n for n in sentence.markers if n in bearing) or bearing[:1]
    claim = Claim("paraphrase", 0, len(sentence.text), "judged", bearing)
    if kept == sentence.markers and not sentence.unknown_markers:
        return replace(sentence, claims=(claim,))
    return replace(sentence, claims=(claim,), markers=kept, unknown_markers=(), attribution="system")


def _has_particulars(text: str, item: AdmittedItem) -> bool:
    """True if the item has each of the text's numbers and names, in whatever order."""
    first = item.evidence.first
    held = keys_of(f"{first.source.title}. {first.record.heading or ''}. {item.text}")
    told = [token for token in read_tokens(text).tokens if token.number or token.name]
    return all(token.key in held or (token.name and any(same(token.key, key) for key in held)) for token in told)


def _of_direct(text: str, cited: Sequence[int], sources: Sources) -> Judged | None:
    """The sentence against the items that answer the question, where it cites none of them and they bear it out."""
    if not sources.direct or not sources.direct.isdisjoint(cited):
        return None
    found = _judge(text, sources.direct, sources, tried=frozenset())
    return found if found.holds else None


@dataclass(frozen=True, slots=True)
class Judged:
    """Claims, and for each of those that hold the items that bear it out."""

    claims: tuple[Claim, ...]
    bearers: tuple[frozenset[int], ...] = ()

    @property
    def holds(self) -> bool:
        """True if everything that is claimed is borne out."""
        return hold(self.claims)

    def markers(self, direct: frozenset[int]) -> tuple[int, ...]:
        """One item for each claim: a direct one before others, else the first."""
        chosen = [min(each, key=lambda n: (n not in direct, n)) for each in self.bearers if each]
        return tuple(dict.fromkeys(chosen))


def _judge(text: str, cited: frozenset[int], sources: Sources, *, tried: frozenset[int] | None = None) -> Judged:
    """The sentence against some of the items: word for word, as figures, as prose, and as parts that items bear out
    apart. A direct item that contradicts a figure overrules what other items say. `tried` are those of which none bears
    it out as prose; why it is not borne out is not asked for then."""
    items = [item for item in sources.items if item.index in cited]
    exact = _stating(text, items)
    if exact:
        return Judged(_borne_out(text, exact), (exact,))
    figures = check_figures(text, sources.figures.of(cited), sources.figures, sources.words, sources.question)
    if figures.holds:
        return Judged(figures.claims, figures.bearers)
    vetoed = any(
        c.verdict == "contradicted" and any(n in sources.direct for n in c.items) and c.kind == "figure"
        for c in figures.claims
    )
    if vetoed:
        return Judged(figures.claims)
    return _as_prose(text, items, figures.claims, tried)


def _as_prose(
    text: str,
    items: Sequence[AdmittedItem],
    figures: tuple[Claim, ...],
    tried: frozenset[int] | None,
) -> Judged:
    """The sentence against each sentence of the items, then in parts; `figures` are its claims as figures, which stay
    where nothing bears it out."""
    told = not all(c.holds for c in figures)
    only_borne_out = told or tried is not None
    left = [item for item in items if item.index not in (tried or ())]
    matches = {item.index: _best(text, item, only_borne_out=only_borne_out) for item in left}
    bearing = frozenset(n for n, match in matches.items() if match.verdict == "borne_out")
    quoted = _QUOTED.findall(text)
    if quoted and bearing:
        bearing &= frozenset(item.index for item in left if _holds(item, quoted))
        if not bearing:
            return Judged((Claim("quotation", 0, len(text), "not_in_source", (), f"nowhere stands “{quoted[0]}”"),))
    if bearing:
        return Judged(_borne_out(text, bearing), (bearing,))
    parts = () if quoted else _in_parts(text, items)
    if parts:
        return Judged(_borne_out(text, frozenset().union(*parts)), parts)
    if told:
        return Judged(figures)
    return Judged((_of_match(text, matches),) if matches else _unsupported(text))


def _holds(item: AdmittedItem, quoted: Iterable[str]) -> bool:
    """True if the item has the quoted words as they stand."""
    said = _run(f"{item.statement or ''} {item.text}")
    return all(_run(each) in said for each in quoted)


@lru_cache(maxsize=512)
def _run(text: str) -> str:
    return f" {' '.join(_PIECE.findall(text.casefold()))} "


def _of_match(text: str, matches: dict[int, Match]) -> Claim:
    """The claim of the item that comes nearest."""
    index, match = max(matches.items(), key=lambda each: (each[1].held, -each[0]))
    start, end = (match.start, match.end) if match.end else (0, len(text))
    return Claim(_kind(text), start, end, match.verdict, (index,), match.reason)


def _unsupported(text: str) -> tuple[Claim, ...]:
    return (Claim(_kind(text), 0, len(text), "not_in_source", (), "no admitted item says it"),)


def _borne_out(text: str, items: Iterable[int]) -> tuple[Claim, ...]:
    return (Claim(_kind(text), 0, len(text), "borne_out", tuple(sorted(items))),)


def _kind(text: str) -> ClaimKind:
    reading = read_tokens(text)
    if '"' in text or "“" in text:
        return "quotation"
    if any(t.mark == "not" for t in reading.tokens):
        return "negation"
    if any(t.number for t in reading.tokens):
        return "figure"
    return "event" if sum(t.name for t in reading.tokens[1:]) else "prose"


def _kept(markers: Sequence[int], found: Judged, sources: Sources) -> tuple[int, ...]:
    """The markers of the model that bear something out; those that bear nothing out are not shown."""
    bearing = frozenset[int]().union(*found.bearers)
    kept = tuple(n for n in markers if n in bearing)
    return kept or found.markers(sources.direct)


def _stating(text: str, items: Iterable[AdmittedItem]) -> frozenset[int]:
    """The items that have the sentence word for word: as their statement, or as a sentence of their text."""
    if len(read_tokens(text).tokens) < _LEAST_WORDS:
        return frozenset()
    wanted = bare(text)
    return frozenset(
        item.index
        for item in items
        if (item.statement is not None and bare(item.statement) == wanted) or wanted in _said(item)
    )


def _said(item: AdmittedItem) -> frozenset[str]:
    return frozenset() if item.evidence.computed is not None else _plain_sentences(item.text, head_of(item))


def head_of(item: AdmittedItem) -> Head | None:
    """The date or version that heads its section, which may stand before each of its sentences."""
    return None if item.statement is not None else Head.of(title_of(item))


@lru_cache(maxsize=512)
def _plain_sentences(text: str, head: Head | None) -> frozenset[str]:
    # a model may be offered, and may quote, what the finer cut takes apart
    said = (*sentences_of(text), *sentences_of(text, finer=False), *stemmed(text))
    said = (*said, *map(plain, said))
    return frozenset(map(bare, (*said, *map(head.over, said)) if head else said))


@lru_cache(maxsize=512)
def _said_by(
    statement: str | None, text: str, head: Head | None
) -> tuple[tuple[tuple[str, frozenset[str]], ...], frozenset[str]]:
    """The statement and the sentences of an item, each with its words, also with the date or version that heads them;
    and all of these words."""
    whole = () if statement is None else (statement,)
    told = (*sentences_of(text), *stemmed(text))
    headed = (form for each in told for form in head.forms(each)) if head else ()
    said = tuple((each, words_in(each)) for each in (*whole, *told, *headed))
    return said, frozenset().union(*(words for _, words in said))


_NOWHERE = Match("not_in_source", "no cited item says it", 0)


def _best(text: str, item: AdmittedItem, *, only_borne_out: bool = False) -> Match:
    """The sentence of the item that bears the text out, else the one that comes nearest. `only_borne_out`: the nearest
    is not asked for, so that sentences without the text's numbers are not compared."""
    best = _NOWHERE
    keys, numbers = keys_of(text), numbers_in(text)
    prose = "" if item.evidence.computed is not None else item.text
    said, held = _said_by(item.statement, prose, head_of(item))
    if 3 * (len(keys & held) + len(numbers)) < len(keys):
        return best
    reading, context = read_tokens(text), context_of(item)
    for source, words in said:
        if 3 * (len(keys & words) + len(numbers)) < len(keys):
            continue  # too few words in common, whatever their forms
        theirs = keys_of(source)
        if 3 * len(keys & theirs) < len(keys) or (only_borne_out and not numbers <= theirs):
            continue
        match = compare(reading, source, context, only_borne_out=only_borne_out)
        if match.verdict == "borne_out":
            return match
        best = max(best, match, key=lambda m: m.held)
    return best


def _in_parts(text: str, items: Sequence[AdmittedItem]) -> tuple[frozenset[int], ...]:
    """The text cut in two where it joins clauses, each with a subject of its own, each borne out by itself."""
    for join in _JOINS:
        at = text.find(join)
        while at > 0:
            parts = (text[:at], text[at + len(join) :])
            if all(map(_has_subject, reversed(parts))):  # seldom has the second one
                found = [
                    _stating(part, items)
                    | {i.index for i in items if _best(part, i, only_borne_out=True).verdict == "borne_out"}
                    for part in parts
                ]
                if all(found):
                    return tuple(found)
            at = text.find(join, at + 1)
    return ()


def _has_subject(part: str) -> bool:
    words = part.split(maxsplit=1)
    if not words or not (words[0][0].isupper() or words[0] in ("the", "a", "an", "in", "on")):
        return False
    tokens = read_tokens(part).tokens
    return len(tokens) >= 4 and any(token.name or token.number for token in tokens)


def context_of(item: AdmittedItem) -> frozenset[str]:
    """The words of its title and heading, which a sentence of it may lean on."""
    first = item.evidence.first
    return folded_words(f"{first.source.title} {first.record.heading or ''}")


def _words(item: AdmittedItem) -> frozenset[str]:
    """Every word that the item holds or is about."""
    first = item.evidence.first
    named = " ".join(f"{e.name} {e.type}" for s in item.evidence.records[:12] for e in s.record.entities)
    measured = " ".join(
        f"{s.record.measurement.measure} {s.record.measurement.unit} {s.record.measurement.place.type}"
        for s in item.evidence.records[:1]
        if s.record.measurement is not None
    )
    text = " ".join((first.source.title, first.record.heading or "", item.statement or "", named, measured))
    return folded_words(text.replace("_", " "))
