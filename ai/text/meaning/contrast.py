"""Words that tell the sentence that is meant from one beside it: the day, the rank, the place, the name, and words that
have a contrary. A question for the south gate is not answered by what is said of the north gate, however much else
agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import deed_of
from ai.text.meaning.relations import is_turned, objects_behind
from ai.text.question_type import asks_why, denies
from ai.text.support import WORD, carries, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import MONTHS, UNWEIGHED_WORDS, word_list
from retrieval.english.opposites import OPPOSITES
from retrieval.english.stems import root_of

DATES = frozenset(MONTHS) | word_list("monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_DAILY = re.compile(r"\b(?:daily|(?:every|each|any) day|all (?:week|days))\b", re.IGNORECASE)
_RANKED = re.compile(
    r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)[\s-]([a-z]{3,})\b", re.IGNORECASE
)
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = {word: str(number) for number, word in enumerate(_SMALL, 1)}
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12"}
_COUNTED = re.compile(
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\s+(?:(?:more|other|new|further)\s+)?([a-z]{3,})",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"\b(?P<noun>[A-Za-z]{3,})\s(?:(?:no\.?|number)\s)?"
    r"(?P<labels>(?:\d{1,4}[a-z]?|[A-HJ-Z]|[IVX]{2,4})\b"
    r"(?:(?:,\s|\s?[–-]\s?|\s(?:and|or|to)\s)(?:\d{1,4}[a-z]?|[A-HJ-Z])\b(?![.,]\d))*)(?!\s?[%°$£€]|[.,:]\d)"
)
_LABEL = re.compile(r"\d+[a-z]?|[A-Z]+")
_RANGE = re.compile(r"(?<!\d)(\d{1,4})(?:\s?[–-]\s?|\sto\s)(\d{1,4})(?!\d)")
_LONGEST_RANGE = 200
_NAME = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)+")
_NAME_AND_NEXT = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)++(?:\s++[a-z][\w'’-]*+)?+")
_AT_NAME = re.compile(r"\b(at|in|near|from|to)\s+(?:the\s+)?([A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)*)")
_SUBJECT = re.compile(
    r"(?:(?:The|Our|Its|His|Her|Their)\s(?P<one>(?:[A-Z][\w'’-]*+\s)+)|(?P<other>(?:[A-Z][\w'’-]*+\s){2,}))(?=[a-z])"
)
_BEHIND = re.compile(r"\s([a-z][\w'’-]*)")
_SINGLE = re.compile(r"(?<=[\w,;:]\s)[A-Z][\w'’-]*+")
_FOR = re.compile(
    r"\b(sp[eo]a?k\w*|vot\w+|argu\w+|testif\w+|campaign\w+|decid\w+|rul(?:ed|ing)|plead\w*|petition\w*|f[io]ught|fight\w*"
    r"|wr[io]t\w+|is|are|was|were)\s(for|in\sfavou?r|against)\b",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\b(?P<head>[a-z]{3,})\s(?P<by>of|by|for|with|about|against|through|between|towards?|at|in|on|near|outside|inside|behind"
    r"|beside|opposite|under|from|to|into)\s"
    r"(?P<what>(?:[A-Za-z][\w'’-]*\s?){1,4})",
    re.IGNORECASE,
)
_WHO_DID = re.compile(
    r"\W*who\s(?!(?:is|was|are|were|has|had|have|does|did|will|would|can|may|must)\b)(?P<deed>[a-z]{3,})\s(?:the\s)?(?P<name>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*)\W*\Z",
    re.IGNORECASE,
)
_FOLLOWERS = {
    root_of("succeeded"): word_list("successor heir"),
    root_of("replaced"): word_list("successor replacement"),
    root_of("followed"): word_list("successor"),
    root_of("preceded"): word_list("predecessor"),
    root_of("married"): word_list("husband wife spouse"),
}
_BE = word_list("is was be become became")
_SUBJECT_AT = re.compile(
    r"(?:The|An?|Its|Our|His|Her|Their)\s(?P<subject>(?:[a-z]+\s){1,2})(?:at|in|near|of|from)\s(?:the\s)?"
    r"(?P<name>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*)"
)
_FUNCTIONS = frozenset(map(root_of, UNWEIGHED_WORDS))
_NAMED_FIRST = re.compile(r"(?:the\s)?[A-Z][\w'’-]*\s[a-z]")
_WHERE = dict.fromkeys(word_list("at in on near outside inside behind beside opposite under"), "where")
_NO_WHAT = word_list("by in at on with from")
_ASKED_WHAT = word_list("what which whom whose who when if because while that how where why")
_ITSELF = word_list("it them him us me you itself themselves")
_TIMES = word_list(
    "war peace day days night morning afternoon evening week weekend month year years season spring summer autumn "
    "winter past future century decade meantime beginning end"
)
_CLAUSE = re.compile(r";\s+")
_DEAR = re.compile(r"\W*(?:my\s)?dear(?:est)?\s([A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*)", re.IGNORECASE)
_NEGATING = ("un", "in", "im", "ir", "il", "dis", "non")
_LEAST_BARE = 4
_NON = re.compile(r"\bnon-([a-z]{4,})", re.IGNORECASE)
_HOW_WORD = re.compile(r"\bhow\s+[a-z]+", re.IGNORECASE)
_AT_LEAST = re.compile(r"\b(?:at\s+(?:least|most|first|last|best|worst)|more\s+or\s+less|no\s+longer)\b", re.IGNORECASE)
_OR_MORE = re.compile(
    r"\bor\s(?:more|less|fewer|longer|later|earlier|older|younger|over|under|above|below|higher|lower|larger|bigger|smaller"
    r"|better|worse)\b",
    re.IGNORECASE,
)
_NOT_SO = re.compile(r"(?:\b(?:not|never|no|nor|cannot|neither)|n['’]t)\b(?P<said>(?:\s+[\w'’-]+){1,4})", re.IGNORECASE)
_LEAST_SHARED = 4
"""Letters that a name and the word for who is of it share: `Asia` and `Asian`."""
_HELPS = re.compile(r"\b(?:do|does|did|can|could|will|would|shall|should|may|might|must)\b", re.IGNORECASE)
Opposed = tuple[frozenset[str], frozenset[str]]
Phrase = tuple[str, str, frozenset[str], bool]
"""A head, how it is bound, the roots of what to, and whether that is a name."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The words by which a question tells the sentence that it means from one beside it. `days`: days of the week;
    `ranks`: nouns, each with its rank (`first class`), its small number (`two keys`) or its label (`hive 3`); `places`:
    the last words of names behind `at`, `in` and the like, each with that word; `names`: the words of each name of
    several; `opposed`: the roots of what a word says, each with those of its contrary; `sides`: the deeds for something
    and those against it; `single`: the words of its names, and `alone` those that stand for themselves (not `the
    Lecompton constitution`); `of_what`: what something is of, by or for (`the journey by ship`), as roots; `small`: the
    roots of its words that are no names; `done_to`: the deed and the name in `Who succeeded Ida Holm?`. `rooted`: names
    are compared by the roots of their words, and a place that the title names may be `the city` in the sentence.
    `related`: `before` is the contrary of `after` for the same thing alone, what is denied of a contrary is none, a
    pronoun is no other thing, and where a reader found that the sentence answers it need not say the day."""

    days: frozenset[str]
    ranks: frozenset[tuple[str, str]]
    places: frozenset[tuple[str, str]]
    names: tuple[tuple[str, ...], ...]
    opposed: tuple[Opposed, ...]
    sides: frozenset[tuple[str, bool]]
    single: frozenset[str]
    alone: frozenset[str]
    of_what: tuple[Phrase, ...]
    small: frozenset[str]
    done_to: tuple[str, ...]
    rooted: bool
    related: bool
    question: str

    @classmethod
    def of(cls, question: str, *, rooted: bool = True, related: bool = True) -> Contrast:
        """Reads the question."""
        single = frozenset(fold(name) for name in _SINGLE.findall(question) if name.isalpha())
        single -= DATES | {"i"}
        named, opposed = _names(question), tuple(_opposed(question, related=related))
        of_what = tuple(_phrases(question, asks=True, related=related))
        days, places, sides = _days(question), _places(question), _sides(question)
        ranks = _ranks(question, rooted=rooted)
        if related:  # of `What does code 2 mean?` nobody counts means
            ranks -= {each for each in ranks if each[1] == f"{deed_of(question)} counted"}
        small = frozenset(root for root in _small_roots(question) if root not in _FUNCTIONS)
        return cls(
            days,
            ranks,
            places,
            named,
            opposed,
            sides,
            single,
            single & _alone(question),
            of_what,
            small,
            _done_to(question),
            rooted,
            related,
            question,
        )

    def agrees(self, text: str, tokens: frozenset[str], *, read: bool = False) -> bool:
        """True unless the sentence, whose words are `tokens` with those of its title, is of another day, rank, number
        or name, or says the contrary of a word that it lacks. `read`: a reader found that it answers."""
        told_days = _days(text)
        if not (self.days <= told_days | _days(" ".join(tokens)) or _DAILY.search(text)) and (told_days or not read):
            return False
        said = _ranks(text, rooted=self.rooted)
        if any((rank, noun) not in said and noun in {each for _, each in said} for rank, noun in self.ranks):
            return False
        told = _sides(text) if self.sides else frozenset[tuple[str, bool]]()
        if any((deed, side) not in told and (deed, not side) in told for deed, side in self.sides):
            return False
        if self.names and _names_another(text, self.names, rooted=self.rooted, related=self.related):
            return False
        if self.done_to and _has_done(text, self.done_to, related=self.related):
            return False
        own = frozenset(map(root_of, tokens)) - {root_of(fold(word)) for word in _NON.findall(text)}
        return not (self._contradicted(text, own) or self._of_another(text, own) or self._only_names(text, own))

    def lies(self, text: str, tokens: frozenset[str], around: frozenset[str], known: frozenset[str]) -> bool:
        """True if the sentence is of the places that the question names: one of them is said around it, and where the
        sentence itself, of the words `tokens`, does not say it, it names no other there (`at Brekke` for `at Tangen`).
        `known` are words of names that were read as places or things: those are looked for elsewhere."""
        for beside, name in self.places:
            if name in known or carries(tokens, name):
                continue
            if not carries(around, name) or any(where == beside for where, _ in _places(text)):
                return False
        return True

    def means(self, text: str, own: frozenset[str], known: frozenset[str], around: frozenset[str]) -> bool:
        """True unless a name of the question is not said near the sentence (`around`), or the sentence is about another
        name, and its words `own`, with those of its title and of what its pronoun means, say nothing of the question's:
        `The Alma has run` for `has the Birgit run`."""
        asked = self.single - known
        subject, addressed = _SUBJECT.match(text), _DEAR.match(text)
        if addressed and not asked.isdisjoint(map(fold, WORD.findall(addressed[1]))):
            return False
        if asked and ";" in text and not self._means_clause(text, asked):
            return False
        if not all(_is_near(name, around) for name in self.alone - known):
            return False
        if not asked or subject is None or any(carries(own, name) for name in asked):
            return True
        return not {fold(word) for word in WORD.findall(subject["one"] or subject["other"])}.isdisjoint(self.single)

    def names_day(self, text: str) -> bool:
        """True if the question is about a day of the week, and the sentence says it."""
        return bool(self.days) and self.days <= _days(text)

    def _means_clause(self, text: str, asked: frozenset[str]) -> bool:
        """True unless all clauses that say a word of the question are about another name: of `Mo and Suki came in 2022;
        Suki had three cubs` the second."""
        said = [(clause, [fold(word) for word in WORD.findall(clause)]) for clause in _CLAUSE.split(text)]
        telling = [(clause, words) for clause, words in said if not self.small.isdisjoint(map(root_of, words))]
        other = [words for clause, words in telling if _NAMED_FIRST.match(clause) and asked.isdisjoint(words)]
        return not telling or len(other) < len(telling)

    def _only_names(self, text: str, own: frozenset[str]) -> bool:
        """True if a word of the question is said only where the subject is: `The museum at Castle Bray opens`."""
        found = _SUBJECT_AT.match(text)
        named = {root_of(fold(word)) for word in WORD.findall(found["name"])} if found else frozenset[str]()
        if found is None or self.small.isdisjoint(named):
            return False
        said = frozenset(root_of(fold(word)) for word in WORD.findall(text))
        besides = frozenset(root_of(fold(word)) for word in WORD.findall(f"{found['subject']} {text[found.end() :]}"))
        return not self.small.isdisjoint(named - besides - (own - said))

    def _of_another(self, text: str, own: frozenset[str]) -> bool:
        """True if the sentence says nothing of what something is of, and that it is of something else. What the title
        names is no other for being called `the city` here."""
        said = frozenset(root_of(fold(word)) for word in WORD.findall(text))
        if self.related:
            said |= {"".join(word[0] for word in name) for name in _names(text)}
        missing = [each for each in self.of_what if said.isdisjoint(each[2])]
        told = list(_phrases(text, related=self.related)) if missing else []
        return any(
            (head, by) == (one, beside)
            and not (self.rooted and named and not other and not own.isdisjoint(what))
            and not (self.related and not what.isdisjoint(_TIMES) and other_what.isdisjoint(_TIMES))
            for head, by, what, named in missing
            for one, beside, other_what, other in told
        )

    def _contradicted(self, text: str, own: frozenset[str]) -> bool:
        text = _OR_MORE.sub(" ", text) if self.related else text
        told = _small_roots(text) | _small_words(text)
        return any(
            own.isdisjoint(asked) and not told.isdisjoint(contrary) and self._denies(text, asked, contrary & told)
            for asked, contrary in self.opposed
        )

    def _denies(self, text: str, asked: frozenset[str], contrary: frozenset[str]) -> bool:
        """True unless the contrary is said of something else, or denied itself: `is not known` is no contrary of
        `unknown`."""
        if not self.related:
            return True
        if is_turned(asked):
            return objects_behind(asked, self.question).meet(objects_behind(contrary, text))
        negated = {fold(word) for found in _NOT_SO.finditer(text) for word in WORD.findall(found["said"])}
        said = {f"{prefix}{form}" for prefix in _NEGATING for word in contrary for form in (word, root_of(word))}
        by_prefix = not said.isdisjoint(asked)
        return not (by_prefix and contrary <= negated)


def labelled(text: str) -> Iterator[tuple[str, str]]:
    """Each label of a noun: of `hives 1 and 3` and of `pages 2 to 9` all that they mean."""
    for found in _LABELLED.finditer(text):
        noun = fold(found["noun"])
        if noun not in UNWEIGHED_WORDS and noun not in DATES:
            yield from ((label, f"{root_of(noun)} labelled") for label in _labels(found["labels"]))


def _labels(said: str) -> Iterator[str]:
    yield from (label.casefold() for label in _LABEL.findall(said))
    for first, last in _RANGE.findall(said):
        yield from map(str, range(int(first) + 1, min(int(last), int(first) + _LONGEST_RANGE)))


def _alone(question: str) -> frozenset[str]:
    """The words of names with no noun behind them."""
    deed = deed_of(question)
    behind = ((fold(found[0]), _BEHIND.match(question, found.end())) for found in WORD.finditer(question))
    return frozenset(
        name
        for name, after in behind
        if after is None or fold(after[1]) in UNWEIGHED_WORDS or root_of(fold(after[1])) == deed
    )


def _is_near(name: str, around: frozenset[str]) -> bool:
    """True if the words hold a form of the name: `Persia` and `Persian`."""
    if carries(around, name):
        return True
    stem = name[: max(_LEAST_BARE, len(name) - 3)]
    return len(name) > _LEAST_BARE and any(word.startswith(stem) for word in around)


def _sides(text: str) -> frozenset[tuple[str, bool]]:
    """The deeds that are for something (true) and against it."""
    return frozenset((root_of(fold(deed)), fold(side) != "against") for deed, side in _FOR.findall(text))


def _days(text: str) -> frozenset[str]:
    return frozenset(found.casefold() for found in _WEEKDAY.findall(text))


def _ranks(text: str, *, rooted: bool) -> frozenset[tuple[str, str]]:
    """`rooted`: `War II` is war 2."""
    ranked = ((rank.casefold(), root_of(fold(noun))) for rank, noun in _RANKED.findall(text))
    counted = ((number.casefold(), f"{root_of(fold(noun))} counted") for number, noun in _COUNTED.findall(text))
    labels = [(_ROMAN.get(label, label) if rooted else label, noun) for label, noun in labelled(text)]
    return frozenset([*ranked, *((_NUMBER.get(number, number), noun) for number, noun in counted), *labels])


def _places(text: str) -> frozenset[tuple[str, str]]:
    """Months, days and models (`R2`) are no places."""
    found = (
        (beside, fold(name.split()[-1].removesuffix("'s").removesuffix("’s")))
        for beside, name in _AT_NAME.findall(text)
    )
    return frozenset((beside, name) for beside, name in found if name.isalpha() and name not in DATES)


def _names(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(fold, WORD.findall(name))) for name in _NAME.findall(text))


def _names_another(text: str, names: tuple[tuple[str, ...], ...], *, rooted: bool, related: bool) -> bool:
    """True if the text does not say one of the names, but one that begins like it and ends otherwise (`New York` for
    `New Mexico`). `rooted`: `Academic Rankings` begins and ends like `Academic Ranking`. `related`: and `Central Asian`
    like `Central Asia`, `European Union law` like `European Law`."""
    said = _names(text)
    whole = tuple(tuple(map(fold, WORD.findall(name))) for name in _NAME_AND_NEXT.findall(text)) if related else ()
    if related:
        names, said = _without_article(names), _without_article(said)
    if rooted:
        names, said, whole = _by_roots(names), _by_roots(said), _by_roots(whole)
    for name in names:
        if any(set(name) <= set(other) for other in said):
            continue
        if any(all(any(_is_of(word, each) for each in other) for word in name) for other in whole):
            continue
        if any(name[0] == other[0] and name[-1] not in other and other[-1] not in name for other in said):
            return True
    return False


def _is_of(name: str, word: str) -> bool:
    """True if a word is the name, or whoever and whatever is of it: `Germany` and `German`."""
    return name == word or (
        min(len(name), len(word)) >= _LEAST_SHARED
        and abs(len(name) - len(word)) <= 2
        and (word.startswith(name) or name.startswith(word))
    )


def _without_article(names: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The names of several words: `The New York office` speaks of New York."""
    bare = (name[1:] if name[0] == "the" else name for name in names)
    return tuple(name for name in bare if len(name) > 1)


def _by_roots(names: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(root_of, name)) for name in names)


def _phrases(text: str, *, asks: bool = False, related: bool = True) -> Iterator[Phrase]:
    """`journey by ship`, `keeper of the old mill`. `asks`: what ends a question with a helping verb is its own verb.
    `related`: a question word, a conjunction and a pronoun are nothing that something is of."""
    for found in _OF.finditer(_AT_LEAST.sub(" ", text) if related else text):
        head, what = fold(found["head"]), [fold(word) for word in WORD.findall(found["what"])]
        if head in UNWEIGHED_WORDS or (what and what[0] in _NO_WHAT):  # `It was paid for by the guild`
            continue
        first = next((n for n, word in enumerate(what) if word not in UNWEIGHED_WORDS), len(what))
        if related and what and (what[0] in _ITSELF or not _ASKED_WHAT.isdisjoint(what[: first + 1])):
            continue
        after = (n for n, word in enumerate(what) if n > first and word in UNWEIGHED_WORDS)
        said = what[first : next(after, len(what))]
        if asks and len(said) > 1 and not text[found.end() :].strip(" ?.!") and _HELPS.search(text, 0, found.start()):
            said = said[:-1]
        roots = frozenset(root_of(word) for word in said)
        if not roots:
            continue
        by = fold(found["by"])
        if roots <= DATES:
            continue
        yield (
            root_of(head),
            _WHERE.get(by, by),
            and_alike(roots) if asks else roots,
            any(word[0].isupper() for word in found["what"].split()),
        )


def _done_to(question: str) -> tuple[str, ...]:
    """The root of the deed, and the words of the name that it was done to."""
    found = _WHO_DID.match(question)
    return (root_of(fold(found["deed"])), *map(fold, WORD.findall(found["name"]))) if found else ()


def _has_done(text: str, done_to: tuple[str, ...], *, related: bool) -> bool:
    """True if the sentence says that the name did it, or is the one who did: `Ida Holm succeeded`, `her successor is
    Ida Holm`. `related`: not of a group that is `led by` somebody."""
    deed, *name = done_to
    words = [fold(word) for word in WORD.findall(text)]
    for at in range(len(words) - len(name) + 1):
        if words[at : at + len(name)] != name:
            continue
        after, before = words[at + len(name) : at + len(name) + 2], words[max(0, at - 3) : at]
        if [root_of(word) for word in after[:1]] == [deed] and not (related and after[1:] == ["by"]):
            return True
        if before and before[-1] in _BE and not _FOLLOWERS.get(deed, frozenset()).isdisjoint(before):
            return True
    return False


def _opposed(question: str, *, related: bool) -> Iterator[Opposed]:
    """Not of `how high`, which asks for the height of what is low too, and not where the question says both. `related`:
    nor of `or more`, nor where it asks why something is not so: that is told by the contrary."""
    if related and asks_why(question) and denies(question):
        return
    question = _OR_MORE.sub(" ", question) if related else question
    roots = _small_roots(_HOW_WORD.sub(" ", question))
    for root in sorted(roots & OPPOSITES.keys()):
        alike = and_alike({root})
        contrary = OPPOSITES[root] - roots - alike
        if contrary:
            yield alike, contrary
    for word in sorted(_small_words(question)):
        bare = {word.removeprefix(prefix) for prefix in _NEGATING if word.startswith(prefix)}
        negated = {f"{prefix}{word}" for prefix in _NEGATING} if len(word) >= _LEAST_BARE else set[str]()
        contrary = frozenset(negated | {each for each in bare if len(each) >= _LEAST_BARE})
        yield frozenset({root_of(word)}), contrary - _small_words(question)


def _small_roots(text: str) -> frozenset[str]:
    return frozenset(map(root_of, _small_words(text)))


def _small_words(text: str) -> frozenset[str]:
    """The words that are no names: those in small letters, and the first. `non-smoking` is one."""
    words = WORD.findall(_NON.sub(r"non\1", _AT_LEAST.sub(" ", text)))
    return frozenset(fold(word) for n, word in enumerate(words) if n == 0 or word[0].islower())
