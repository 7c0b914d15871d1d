"""Rows of a table that say which value belongs to which column: the row that a question names, asked for a column.

The reading is total: every word of the question names the row, a column or the table, or only asks. `How many ports
does the Nimbus Max have?` is not answered from the row of `Nimbus Pro`, nor `How long are the loppers?` from what they
weigh.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai.model import PromptSource
from ai.text.question_type import WantedKind, wanted_of
from ai.text.tables.held import rows_beside
from ai.text.tables.numbered import named_by_number
from ai.text.tables.words import roots, said_by
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_ASKS = frozenset(
    map(
        root_of,
        word_list(
            "a an the this that these of in on at for to from by it its there is are was were be been do does did has "
            "have had get gets got what which who whose when where how many much number tell give show please me row "
            "table need needs needed require required"
        ),
    )
)
"""Words that only ask. No denial, comparison, choice or exception is among them: such a question is not for one row."""
_PRICES = frozenset(map(root_of, word_list("cost costs price prices pay charge charged hire rent")))
_UNSAID = {
    WantedKind.TIME: frozenset(map(root_of, word_list("date day time year when month hours"))),
    WantedKind.PLACE: frozenset(map(root_of, word_list("place where location room hall address site venue"))),
    WantedKind.PERSON: frozenset(map(root_of, word_list("who name person contact by with"))),
}
"""Headers of columns that are asked for by the question word alone: `When is the book fair?`."""
_FEWEST, _HEADER_WORDS = 2, 6


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, by the header of their column, and the roots of the words of its table's title."""

    cells: Mapping[str, str]
    title: frozenset[str]

    @classmethod
    def of_source(cls, source: PromptSource) -> Row | None:
        """The row that a source is; None where it is something else."""
        return cls.of(source.statement, source.title) if source.statement and source.kind == "passage" else None

    @classmethod
    def of(cls, statement: str, title: str) -> Row | None:
        """A row from its pairs of header and value, as ingest writes them; None for another statement."""
        pairs = [part.partition(": ") for part in statement.removesuffix(".").split("; ")]
        headers = {header for header, mark, _ in pairs if mark and len(header.split()) <= _HEADER_WORDS}
        if len(pairs) < _FEWEST or len(headers) != len(pairs):
            return None
        return cls({header: value for header, _, value in pairs}, said_by(title))

    def answers(self, question: str) -> bool:
        """True if the question names this row by whole cells, or by a number behind the header of its column, and asks
        for a column that has a value in it."""
        asked = frozenset(roots(question))
        naming = {header: words for header, value in self.cells.items() if (words := _name(value)) and words <= asked}
        numbers = named_by_number(question, self.cells)
        naming |= {header: frozenset((*roots(header), *roots(self.cells[header]))) for header in numbers}
        wanted = asked.difference(_ASKS, *naming.values())
        told = {header: wanted & said_by(header) for header in self.cells}
        if any("per" in roots(header) for header, words in told.items() if words):
            wanted -= _PRICES  # `How much is a kayak per hour?`
        if not naming or not wanted <= self.title.union(*told.values()):
            return False
        kind = wanted_of(question)
        return any(words and _is_of(kind, self.cells[header]) for header, words in told.items() if header not in naming)

    def may_tell(self, question: str) -> bool:
        """True unless the question asks for a time, a number, a person or a place, and for no column whose value here
        is one (`Who built the Alma?` is not told by the year in `built`); or it says a number that this row lacks. Who
        names no row may ask for the first column: `Who was born in 2014?`."""
        asked = frozenset(roots(question))
        if not frozenset(filter(str.isdigit, asked)) <= frozenset(roots(" ".join(self.cells.values()))) | self._headed:
            return False
        kind = wanted_of(question)
        first = next(iter(self.cells.values()))
        if kind is WantedKind.ANY or (kind is WantedKind.PERSON and not _name(first) <= asked):
            return True
        naming = frozenset().union(*(_name(value) for value in self.cells.values()))
        wanted = (asked - naming) | _UNSAID.get(kind, frozenset())
        columns = (header for header in self.cells if not wanted.isdisjoint(said_by(header)))
        return any(_is_of(kind, self.cells[header]) for header in columns)

    @property
    def _headed(self) -> frozenset[str]:
        return self.title.union(*(frozenset(roots(header)) for header in self.cells))


def beside_question(question: str, sources: Iterable[tuple[PromptSource, Row | None]]) -> frozenset[int]:
    """The indexes of the sources that are rows about something else, whatever words of the question they have; each is
    given with the row that it is."""
    rows = {each.index: (each.title, row.cells) for each, row in sources if row is not None}
    return rows_beside(question, rows)


def _is_of(kind: WantedKind, value: str) -> bool:
    """True if a value may be of the kind that is asked for: `08:30` is no place."""
    if kind in {WantedKind.TIME, WantedKind.NUMBER}:
        return any(c.isdigit() for c in value)
    return kind is WantedKind.ANY or any(c.isalpha() for c in value)


def _name(value: str) -> frozenset[str]:
    """The roots of the words of a name; none of a number."""
    return frozenset(roots(value)) - _ASKS if any(c.isalpha() for c in value) else frozenset()
