"""Columns that hold the two sides of one relation (`From` and `To`, `Seller` and `Buyer`, `Home` and `Away`), and on
which side a question puts a name: what leaves Withy does not arrive there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ai.text.tables.relations import ONE, OTHER, RELATIONS, Deed, Relation
from ai.text.tables.words import Cells, Word, is_name, roots, words_of
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

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
class Directed:
    """The names that a question puts on either side of the columns of a table; `both`: two that it puts on a side each,
    whichever."""

    columns: tuple[tuple[str, ...], tuple[str, ...]]
    asked: tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]
    both: tuple[frozenset[str], ...] = ()

    def meets(self, row: Cells) -> bool:
        """True unless a side of the row names another than the question does."""
        sides = [frozenset(roots(row[h])) for headers in self.columns for h in headers if is_name(row.get(h, ""))]
        if len(sides) > 1 and not all(any(name <= cell for cell in sides) for name in self.both):
            return False
        for headers, names in zip(self.columns, self.asked, strict=True):
            held = [frozenset(roots(row[header])) for header in headers if header in row and is_name(row[header])]
            if names and held and not any(name <= cell for name in names for cell in held):
                return False
        return True


def directed(question: str, rows: Sequence[Cells]) -> tuple[Directed, ...]:
    """The names that a question puts on the two sides of each relation of a table."""
    return tuple(
        Directed(columns, *_asked(question, relation, frozenset(_names(columns, rows))))
        for relation, columns in _relations(rows)
    )


def _relations(rows: Sequence[Cells]) -> Iterator[tuple[Relation, tuple[tuple[str, ...], tuple[str, ...]]]]:
    headers = tuple(dict.fromkeys(header for row in rows for header, value in row.items() if is_name(value)))
    taken = set[str]()
    for relation in RELATIONS:
        sides = {header: relation.side_of(header) for header in headers}
        columns = tuple(tuple(h for h in headers if sides[h] == side) for side in (ONE, OTHER))
        if all(columns):
            taken.update(*columns)
            yield relation, (columns[0], columns[1])
    for one, other in combinations([header for header in headers if header not in taken], 2):
        if _is_of_pair(one, other) or _share_values(one, other, rows):
            yield _of_doers(one, other, headers[0]), ((one,), (other,))


def _is_of_pair(one: str, other: str) -> bool:
    """True for who does and to whom it is done, by their endings: `Employer` and `Employee`."""
    stems = {word.casefold()[:-2] for word in (one, other)}
    return len(stems) == 1 and {one.casefold()[-2:], other.casefold()[-2:]} in ({"er", "ee"}, {"or", "ee"})


def _share_values(one: str, other: str, rows: Sequence[Cells]) -> bool:
    """True for columns of one set of names."""
    first, second = ({row[h].casefold() for row in rows if is_name(row.get(h, ""))} for h in (one, other))
    return len(first | second) > 1 and not first.isdisjoint(second)


def _of_doers(one: str, other: str, first: str) -> Relation:
    """Two columns by their own headers; what a doer does is done to the one of a pair, or to whom the row is of."""
    deeds = {}
    for side, (header, another) in enumerate(((one, other), (other, one))):
        word = header.casefold()
        if word.endswith(("er", "or")):
            done_to = 1 - side if another == first or _is_of_pair(one, other) else None
            deeds[root_of(word[:-2])] = deeds[root_of(word[:-1])] = deeds[root_of(word)] = Deed(
                side, done_to, {"by": side}
            )
        elif word.endswith("ee"):
            deeds.setdefault(root_of(word[:-2]), Deed(1 - side, side, {"by": 1 - side}))
    said, others = (frozenset(word.text for word in words_of(header)) for header in (one, other))
    return Relation(
        (said - others, others - said), deeds, own=[one, other].index(first) if first in {one, other} else None
    )


def _names(columns: tuple[tuple[str, ...], tuple[str, ...]], rows: Sequence[Cells]) -> Iterator[frozenset[str]]:
    """The names that stand on either side, by the roots of their words."""
    headers = (*columns[0], *columns[1])
    return (frozenset(roots(row[h])) for row in rows for h in headers if is_name(row.get(h, "")))


def _asked(
    question: str, relation: Relation, known: frozenset[frozenset[str]]
) -> tuple[tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]], tuple[frozenset[str], ...]]:
    said = words_of(question)
    found: tuple[list[frozenset[str]], list[frozenset[str]]] = ([], [])
    names, listed = list[frozenset[str]](), False
    before: int | None = None
    for first, end in _runs(said, known):
        place = _Place(question, said, first, end, relation)
        listed = listed or (place.goes_on and "between" not in {word.text for word in said[:first]})
        side = before if place.goes_on else place.side()
        names.append(frozenset(word.root for word in said[first:end]))
        if side is not None:
            found[side].append(names[-1])
        before = side
    two = tuple(names) if len(names) == len(found) and not listed else ()
    return (tuple(found[0]), tuple(found[1])), two


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
            return OTHER
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
        if "away" in self.relation.sides[OTHER] and (side := self._at_home(at)) is not None:
            return side
        if word == "of" and self.relation.own is not None and not self._is_role(at - 1):
            return self.relation.own
        if {self._word(at - 1), self._word(at - 2)} & {"and", "or"} and {"from", "to"} == {word, self._word(at - 2)}:
            return None  # `to and from Saltby`
        return self.relation.behind.get(word) if word in _DASHED else self._by_deed(at)

    def _by_deed(self, at: int) -> int | None:
        word = self._word(at)
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

    def _at_home(self, at: int) -> int | None:
        """The side behind `at home to`, `away to` and `the home game of`."""
        if self._word(at) in {"to", "at", "against"} and self._word(at - 1) in {"home", "away"}:
            return OTHER if self._word(at - 1) == "home" else ONE
        if self._word(at) == "of" and (place := {self._word(at - 1), self._word(at - 2)} & {"home", "away"}):
            return OTHER if "away" in place else ONE
        return None

    def _role_before(self, left: int) -> int | None:
        """The side of `the seller Acme`, `the winner was Acme`."""
        at = left
        while at >= 0 and self.said[at].text in _LINKS:
            at -= 1
        word = self._word(at)
        if at == left and not (self._is_role(at) and any(word in side for side in self.relation.sides)):
            return None
        return self.relation.role(word) if word not in _BEFORE else None

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
            return ONE
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
