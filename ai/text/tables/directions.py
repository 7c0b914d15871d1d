"""Columns that hold the two sides of one relation (`From` and `To`, `Seller` and `Buyer`, `Home` and `Away`), and on
which side a question puts a name: what leaves Withy does not arrive there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ai.text.tables.words import Cells, Word, is_name, roots, words_of
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_ONE, _OTHER = 0, 1
_ARTICLES = word_list("the a an")
_LINKS = word_list("is was are were be been being s the a an as called not also")
_BE = word_list("is was are were be been being get got")
_HELPS = word_list("did does do has have had will would can could may must should ever also then first last only")
_BEFORE = word_list(
    "from to into towards toward at in for by against over of v vs versus with between via on onto off near"
)
_LEADS = _BEFORE | _ARTICLES | _LINKS | _HELPS | word_list("and or")
_DASHED = word_list("v vs versus")
_ORDERS = word_list("to v vs versus")
_TO_OTHER = word_list("of to against over from for")
_DASHES = frozenset(map(chr, (0x2D, 0x2010, 0x2011, 0x2013, 0x2014, 0x2192, 0x3E)))
_NEAR, _FAR = 4, 12


@dataclass(frozen=True, slots=True)
class _Deed:
    """The sides on which who does something and what it is done to are; `behind` by a preposition."""

    doer: int | None = None
    done_to: int | None = None
    behind: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relation:
    """Words of headers for either side, deeds by root, and the sides behind a preposition, whatever the deed."""

    sides: tuple[frozenset[str], frozenset[str]]
    deeds: Mapping[str, _Deed]
    behind: Mapping[str, int] = field(default_factory=dict)

    def side_of(self, header: str) -> int | None:
        """The side that a column is of; None for one of neither, or of both."""
        said = [word.text for word in words_of(header)]
        found = {side for side in (_ONE, _OTHER) if any(self.role(word) == side for word in said)}
        return found.pop() if len(found) == 1 else None

    def role(self, word: str) -> int | None:
        """The side that a word of a header names: `seller`, `sellers`."""
        for side in (_ONE, _OTHER):
            if word in self.sides[side] or word.removesuffix("s") in self.sides[side]:
                return side
        return None


def _deeds(*rows: tuple[str, int | None, int | None, str]) -> dict[str, _Deed]:
    found = {}
    for words, doer, done_to, behind in rows:
        pairs = (each.split(":") for each in behind.split())
        deed = _Deed(doer, done_to, {word: int(side) for word, side in pairs})
        found.update({root_of(word): deed for word in words.split()})
    return found


_GIVES = (
    ("send ship deliver transfer give donate lend pay post dispatch forward grant export", 0, 1, "to:1 from:0 by:0"),
    ("receive get borrow import obtain collect", 1, 0, "from:0 by:1"),
)
_FROM_TO = {"from": 0, "to": 1, "into": 1, "towards": 1, "toward": 1, "onto": 1}
RELATIONS = (
    Relation(
        (
            word_list(
                "from origin source start starting depart departs departure departing leave leaving begins boarding "
                "embarkation pickup old former previous"
            ),
            word_list(
                "to destination end ending finish finishes arrive arrives arrival arriving terminus target reaches "
                "alighting disembarkation dropoff new next"
            ),
        ),
        _deeds(
            ("leave depart departure exit quit", None, 0, "at:0 in:0 from:0 for:1 to:1"),
            (
                "set sail go run travel head bound move transfer translate",
                None,
                None,
                "for:1 from:0 to:1",
            ),
            ("start begin originate embark board", None, None, "at:0 in:0 from:0 to:1 for:1"),
            ("arrive arrival reach land dock end terminate finish enter join disembark", None, 1, "at:1 in:1"),
            *_GIVES,
        ),
        _FROM_TO,
    ),
    Relation(
        (
            word_list("seller vendor supplier exporter merchant sold"),
            word_list("buyer purchaser customer importer client bought acquirer"),
        ),
        _deeds(
            ("sell supply export deliver ship send", 0, None, "to:1 by:0"),
            ("buy purchase import acquire order receive get", 1, None, "from:0 by:1"),
            ("pay", 1, 0, "to:0 by:1"),
        ),
        _FROM_TO,
    ),
    Relation(
        (
            word_list("sender donor giver lender payer consignor shipper sent exporter writer creditor"),
            word_list("recipient receiver beneficiary borrower payee consignee addressee received importer debtor"),
        ),
        _deeds(*_GIVES, ("owe", 1, 0, "to:0 by:1"), ("write", 0, 1, "to:1 from:0 by:0")),
        _FROM_TO,
    ),
    Relation(
        (word_list("home host hosts"), word_list("away visitor visiting guest")),
        _deeds(
            ("host entertain welcome", 0, 1, "by:0"),
            ("visit", 1, 0, "by:1"),
            ("travel go", 1, None, "to:0"),
        ),
        {"v": 1, "vs": 1, "versus": 1},
    ),
    Relation(
        (word_list("winner winning victor champion won"), word_list("loser losing runner beaten defeated lost")),
        _deeds(
            ("beat beaten defeat win overcome thrash", 0, 1, "against:1 over:1 by:0"),
            ("lose", 1, None, "to:0 against:0 by:1"),
        ),
    ),
    Relation(
        (word_list("landlord lessor owner"), word_list("tenant lessee renter occupier")),
        _deeds(("rent hire lease", 1, None, "from:0 to:1 by:1"), ("let", 0, None, "to:1 by:0")),
    ),
    Relation(
        (word_list("attacker predator plaintiff claimant hunter"), word_list("defender prey defendant respondent")),
        _deeds(
            ("attack sue hunt eat prey", 0, 1, "on:1 by:0"),
            ("defend", 1, None, "against:0 by:1"),
        ),
    ),
    Relation(
        (word_list("predecessor preceding outgoing"), word_list("successor following incoming")),
        _deeds(
            ("succeed replace follow", 1, 0, "by:1"),
            ("precede", 0, 1, "by:0"),
        ),
    ),
    Relation(
        (word_list("parent mother father"), word_list("child daughter son offspring")),
        _deeds(("bear raise", 0, 1, "by:0 to:0")),
    ),
    Relation(
        (word_list("teacher tutor coach mentor doctor"), word_list("pupil student trainee mentee patient")),
        _deeds(("teach tutor coach mentor treat", 0, 1, "by:0"), ("learn", 1, None, "from:0")),
    ),
)
"""The class of such columns; others are found by their values, and by their endings (`payer`, `payee`)."""


@dataclass(frozen=True, slots=True)
class Directed:
    """The names that a question puts on either side of the columns of a table."""

    columns: tuple[tuple[str, ...], tuple[str, ...]]
    asked: tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]

    def meets(self, row: Cells) -> bool:
        """True unless a side of the row names another than the question does."""
        for headers, names in zip(self.columns, self.asked, strict=True):
            held = [frozenset(roots(row[header])) for header in headers if header in row and is_name(row[header])]
            if names and held and not any(name <= cell for name in names for cell in held):
                return False
        return True


def directed(question: str, rows: Sequence[Cells]) -> tuple[Directed, ...]:
    """The names that a question puts on the two sides of each relation of a table."""
    return tuple(
        Directed(columns, _asked(question, relation, frozenset(_names(columns, rows))))
        for relation, columns in _relations(rows)
    )


def _relations(rows: Sequence[Cells]) -> Iterator[tuple[Relation, tuple[tuple[str, ...], tuple[str, ...]]]]:
    headers = tuple(dict.fromkeys(header for row in rows for header, value in row.items() if is_name(value)))
    taken = set[str]()
    for relation in RELATIONS:
        sides = {header: relation.side_of(header) for header in headers}
        columns = tuple(tuple(h for h in headers if sides[h] == side) for side in (_ONE, _OTHER))
        if all(columns):
            taken.update(*columns)
            yield relation, (columns[0], columns[1])
    for one, other in combinations([header for header in headers if header not in taken], 2):
        if _is_of_pair(one, other) or _share_values(one, other, rows):
            yield _of_doers(one, other), ((one,), (other,))


def _is_of_pair(one: str, other: str) -> bool:
    """True for who does and to whom it is done, by their endings: `Employer` and `Employee`."""
    stems = {word.casefold()[:-2] for word in (one, other)}
    return len(stems) == 1 and {one.casefold()[-2:], other.casefold()[-2:]} in ({"er", "ee"}, {"or", "ee"})


def _share_values(one: str, other: str, rows: Sequence[Cells]) -> bool:
    """True for columns of one set of names."""
    first, second = ({row[h].casefold() for row in rows if is_name(row.get(h, ""))} for h in (one, other))
    return len(first | second) > 1 and not first.isdisjoint(second)


def _of_doers(one: str, other: str) -> Relation:
    deeds = {}
    for side, header in enumerate((one, other)):
        word = header.casefold()
        if word.endswith(("er", "or")):
            deeds[root_of(word[:-2])] = deeds[root_of(word[:-1])] = _Deed(side, 1 - side, {"by": side})
        elif word.endswith("ee"):
            deeds.setdefault(root_of(word[:-2]), _Deed(1 - side, side, {"by": 1 - side}))
    first, second = (frozenset(word.text for word in words_of(header)) for header in (one, other))
    return Relation((first - second, second - first), deeds)


def _names(columns: tuple[tuple[str, ...], tuple[str, ...]], rows: Sequence[Cells]) -> Iterator[frozenset[str]]:
    """The names that stand on either side, by the roots of their words."""
    headers = (*columns[0], *columns[1])
    return (frozenset(roots(row[h])) for row in rows for h in headers if is_name(row.get(h, "")))


def _asked(
    question: str, relation: Relation, known: frozenset[frozenset[str]]
) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]:
    said = words_of(question)
    found: tuple[list[frozenset[str]], list[frozenset[str]]] = ([], [])
    before: int | None = None
    for first, end in _runs(said, known):
        place = _Place(question, said, first, end, relation)
        side = before if place.goes_on else place.side()
        if side is not None:
            found[side].append(frozenset(word.root for word in said[first:end]))
        before = side
    return tuple(found[0]), tuple(found[1])


def _runs(said: Sequence[Word], known: frozenset[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """The stretches of words of one known name each; none begins with a word that only leads to a name."""
    at = 0
    while at < len(said):
        end, names = at, known
        while end < len(said) and (end > at or said[end].text not in _LEADS):
            names = frozenset(name for name in names if said[end].root in name)
            if not names or said[end].root in {word.root for word in said[at:end]}:
                break
            end += 1
        while end > at and said[end - 1].text in _LEADS - _ARTICLES:
            end -= 1
        if end > at:
            yield at, end
        at = max(end, at + 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """A name in a question, between the words before and behind it."""

    question: str
    said: Sequence[Word]
    first: int
    end: int
    relation: Relation

    @property
    def goes_on(self) -> bool:
        """True if it is one more of a list of names."""
        return self._word(self._left()) in {"and", "or"}

    def side(self) -> int | None:
        left = self._left()
        word = self._word(left)
        if self._dashed(self.first):
            return _OTHER
        if word in _BEFORE:
            return self._behind(left)
        if (role := self._role_before(left)) is not None:
            return role
        if left >= 0 and (deed := self.relation.deeds.get(self.said[left].root)) and not self._is_role(left):
            return deed.done_to
        return self._before_deed(left)

    def _left(self) -> int:
        at = self.first - 1
        while at >= 0 and self.said[at].text in _ARTICLES:
            at -= 1
        return at

    def _word(self, at: int) -> str:
        return self.said[at].text if 0 <= at < len(self.said) else ""

    def _is_role(self, at: int) -> bool:
        """True for a word that is only the name of a side, and no deed: `seller`, `winner`, `parent`."""
        word = self._word(at)
        if self.relation.role(word) is None or word in _BEFORE or word in {"home", "away"}:
            return False
        return word.removesuffix("s").endswith(("er", "or", "ee")) or self.said[at].root not in self.relation.deeds

    def _behind(self, at: int) -> int | None:
        """The side of a name behind a preposition, by the deed or role before it."""
        word = self._word(at)
        if {self._word(at - 1), self._word(at - 2)} & {"and", "or"} and {"from", "to"} == {word, self._word(at - 2)}:
            return None  # `to and from Saltby`
        if word in _DASHED and self._side_by_order(word) is not None:
            return self._side_by_order(word)
        for before in range(at - 1, max(-1, at - _FAR), -1):
            role = self.relation.role(self._word(before)) if self._is_role(before) else None
            if role is not None and word in _TO_OTHER and word not in self.relation.behind:
                return 1 - role
            deed = self.relation.deeds.get(self.said[before].root)
            if deed is not None and word in deed.behind:
                return deed.behind[word]
            if deed is not None:
                break
        return self.relation.behind.get(word)

    def _side_by_order(self, word: str) -> int | None:
        return self.relation.behind.get(word) if word in _DASHED else None

    def _role_before(self, left: int) -> int | None:
        """The side of `the seller Acme`, `the winner was Acme`."""
        at = left
        while at >= 0 and self.said[at].text in _LINKS:
            at -= 1
        word = self._word(at)
        return self.relation.role(word) if word not in _BEFORE and (self._is_role(at) or at < left) else None

    def _before_deed(self, left: int) -> int | None:
        """The side of who does something, or has it done: `Acme sold`, `Acme was beaten`, `Acme is the seller`, and of
        the first of two names: `Withy to Saltby`."""
        at, passive = self.end, self._word(left) in _BE
        while at < len(self.said) and self.said[at].text in _LINKS | _HELPS | _BE:
            passive = passive or self.said[at].text in _BE
            at += 1
        word = self._word(at)
        if at == self.end and word in self.relation.behind and at + 1 < len(self.said):
            return 1 - self.relation.behind[word] if word in _ORDERS else None
        if self._dashed(self.end):
            return _ONE
        if (role := self.relation.role(word)) is not None and self._is_role(at):
            return role
        near = [self._word(each) for each in range(at, at + _NEAR)]
        if (place := next((each for each in near if each in {"home", "away"}), "")) and "away" in self.relation.sides[
            1
        ]:
            return self.relation.role(place)
        deed = self.relation.deeds.get(self.said[at].root) if at < len(self.said) else None
        if deed is None:
            return None
        return deed.done_to if passive and not word.endswith("ing") else deed.doer

    def _dashed(self, at: int) -> bool:
        """True if a dash stands between this word and the one before: `Withy–Saltby`."""
        if not 0 < at < len(self.said) or not self.relation.behind:
            return False
        return self.question[self.said[at - 1].end : self.said[at].start].strip() in _DASHES
