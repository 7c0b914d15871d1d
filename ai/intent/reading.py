"""The question as the rules see it: lower-case words, with `@i` for the i-th mention and `#i` for the i-th time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ai.intent.times import TimeSpan
from ai.intent.words import COMPARISONS, NOT_PLACES, RELATION_CUES, TYPES
from retrieval.gazetteer import Gazetteer
from retrieval.model import EntityRef, Mention

_WORD = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?|[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_IN_STATE = r"(?:,|,? in)? (?:the )?(?:state of )?"


@dataclass(frozen=True, slots=True)
class Reading:
    """`masked` has single spaces and no punctuation but commas between mentions; `kinds` maps words to types of
    place."""

    masked: str
    mentions: tuple[Mention, ...]
    times: tuple[TimeSpan, ...]
    kinds: dict[str, str]

    @property
    def kind_pattern(self) -> str:
        """Alternation of every word for a kind of place, the longest first."""
        return "|".join(re.escape(word) for word in sorted(self.kinds, key=lambda w: (-len(w), w)))

    def place(self, index: str | int) -> EntityRef | None:
        """The place that mention `@index` names: the first candidate that lies somewhere."""
        mention = self.mentions[int(index)]
        return next((c for c in mention.candidates if c.type not in NOT_PLACES), None)

    @property
    def places(self) -> tuple[EntityRef, ...]:
        """Each mentioned place once, in order."""
        found = (self.place(i) for i in range(len(self.mentions)))
        return tuple(dict.fromkeys(p for p in found if p is not None))


def read_kinds(gazetteer: Gazetteer) -> dict[str, str]:
    """Every word for a kind of place, with the type it means."""
    kinds = {word: kind for kind, words in TYPES.items() for word in words}
    for kind in sorted(gazetteer.types - NOT_PLACES - TYPES.keys()):
        word = kind.replace("_", " ").casefold()
        kinds.setdefault(word, kind)
        kinds.setdefault(word[:-1] + "ies" if word.endswith("y") else word + "s", kind)
    return kinds


def read(text: str, mentions: Sequence[Mention], times: Sequence[TimeSpan], gazetteer: Gazetteer) -> Reading:
    """Masks the question and settles which candidates its mentions keep."""
    times = [t for t in times if not any(m.candidates and _overlap(m, t) for m in mentions)]
    mentions = [m for m in mentions if m.candidates or not any(_overlap(m, t) for t in times)]
    kinds = read_kinds(gazetteer)
    first = Reading(_mask(text, mentions, times), tuple(mentions), tuple(times), kinds)
    settled = [_settled(text, first, i, gazetteer) for i in range(len(mentions))]
    return replace(first, mentions=tuple(settled))


def _overlap(mention: Mention, time: TimeSpan) -> bool:
    return mention.start_char < time.end_char and time.start_char < mention.end_char


def _mask(text: str, mentions: Sequence[Mention], times: Sequence[TimeSpan]) -> str:
    marks = [(m.start_char, m.end_char, f"@{i}") for i, m in enumerate(mentions)]
    marks += [(t.start_char, t.end_char, f"#{i}") for i, t in enumerate(times)]
    words: list[str] = []
    end = 0
    for start, stop, mark in sorted(marks):
        words += [*_plain(text[end:start]), mark]
        end = stop
    return " ".join([*words, *_plain(text[end:])])


def _plain(text: str) -> list[str]:
    text = re.sub(r"^['\u2019]s\b", "", text)
    return [w.group().casefold().replace("\u2019", "'").replace(",", "") for w in _WORD.finditer(text)]


def _settled(text: str, reading: Reading, i: int, gazetteer: Gazetteer) -> Mention:
    """The mention with the candidates that the words around it leave."""
    unlocated = reading.mentions[i]
    mention = replace(unlocated, candidates=_lying(unlocated.candidates, text, reading, i, gazetteer))
    if not mention.candidates:
        return mention
    cue = _kind_cue(text, reading, i)
    if cue is not None:
        word, kind = cue
        kept = tuple(c for c in mention.candidates if c.type == kind)
        fuller = gazetteer.named(f"{mention.surface} {kind}")
        kept = kept or tuple(c for c in _lying(fuller, text, reading, i, gazetteer) if c.type == kind)
        if kept:
            return replace(mention, candidates=_at_home(kept, gazetteer))
        if word is not None:  # `Topeka County`: a county of that name is not known, and the city is no substitute
            end = mention.end_char + len(word)
            return replace(mention, surface=text[mention.start_char : end], end_char=end, candidates=())
    people = tuple(c for c in mention.candidates if c.type in NOT_PLACES)
    places = tuple(c for c in mention.candidates if c.type not in NOT_PLACES)
    if people and re.search(RELATION_CUES, reading.masked):
        return replace(mention, candidates=people)
    return replace(mention, candidates=(*_at_home(_cities_first(places), gazetteer), *people))


def _lying(
    candidates: tuple[EntityRef, ...], text: str, reading: Reading, i: int, gazetteer: Gazetteer
) -> tuple[EntityRef, ...]:
    """The candidates without those that lie elsewhere than the state that follows the mention: `Topeka, Missouri` is
    not the Topeka whose names say Kansas. A state that nobody knows follows a comma (`Topeka, Oregon`)."""
    following = reading.mentions[i + 1] if i + 1 < len(reading.mentions) else None
    if following is None:
        return candidates
    states = [c for c in following.candidates if c.type == "state"]
    between = text[reading.mentions[i].end_char : following.start_char]
    pattern = rf"(?: (?:{reading.kind_pattern}))?{_IN_STATE if states else ', ?'}"
    if bool(following.candidates) != bool(states) or not re.fullmatch(pattern, between, re.IGNORECASE):
        return candidates
    said, known = _names_of(states, gazetteer), _names_of(gazetteer.of_type("state"), gazetteer)
    return tuple(c for c in candidates if not (told := _after_comma(c, gazetteer) & known) or told & said)


def _names_of(entities: Iterable[EntityRef], gazetteer: Gazetteer) -> set[str]:
    return {name.casefold() for entity in entities for name in gazetteer.names(entity.entity_id)}


def _after_comma(place: EntityRef, gazetteer: Gazetteer) -> set[str]:
    """What stands after the comma of its names: `kansas` for Topeka."""
    return {name.rpartition(",")[2].strip().casefold() for name in gazetteer.names(place.entity_id)}


def _kind_cue(text: str, reading: Reading, i: int) -> tuple[str | None, str] | None:
    """The kind that the words beside a mention give it, and the words after it when they are part of the name."""
    mention = reading.mentions[i]
    after = re.match(r"[ ]+([^\W\d_]+)", text[mention.end_char :])
    if after is not None and (kind := reading.kinds.get(after[1].casefold())) is not None:
        has_kind = any(c.type == kind for c in mention.candidates)
        singular = after[1].casefold() == kind or has_kind
        attributive = after[1][0].islower() and any(c.type == "state" for c in mention.candidates)
        if singular and not (attributive and not has_kind):
            return after.group(), kind
    listed = re.search(
        rf"@{i}\b(?: (?:and|or|versus|vs) @\d+| @\d+)+ (?P<kind>{reading.kind_pattern})\b", reading.masked
    )
    if listed is not None:
        return None, reading.kinds[listed["kind"]]
    choice = re.search(
        rf"\b(?:which|what) (?P<kind>{reading.kind_pattern}) .*?(?P<of>@\d+(?: @\d+)* or @\d+)\b", reading.masked
    )
    if choice is not None and f"@{i}" in choice["of"].split() and re.search(COMPARISONS, reading.masked):
        return None, reading.kinds[choice["kind"]]  # `Which county has more inhabitants, Shawnee or Douglas?`
    before = re.search(rf"\b(?P<kind>{reading.kind_pattern}) of (?:@\d+ (?:and |or )?)*@{i}\b", reading.masked)
    if before is not None and not re.search(
        rf"(?:largest|biggest|smallest|which|what|many) {before.group()}", reading.masked
    ):
        kind = reading.kinds[before["kind"]]
        return (None, kind) if any(c.type == kind for c in mention.candidates) else None
    return None


def _cities_first(places: tuple[EntityRef, ...]) -> tuple[EntityRef, ...]:
    """A bare name is rather the city's; who means the county says so."""
    return tuple(sorted(places, key=lambda p: p.type != "city"))


def _at_home(places: tuple[EntityRef, ...], gazetteer: Gazetteer) -> tuple[EntityRef, ...]:
    """Of several places of one type those that also carry the home state's name, when there are any."""
    home = gazetteer.home("state")
    if len(places) < 2 or home is None:
        return places
    tails = {" " + name.casefold() for name in gazetteer.names(home.entity_id)}
    near = {p for p in places if any(n.casefold().endswith(t) for n in gazetteer.names(p.entity_id) for t in tails)}
    kinds = {p.type for p in near}
    return tuple(p for p in places if p in near or p.type not in kinds)
