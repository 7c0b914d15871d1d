"""Relations of which tables hold the two sides in two columns, in the words of their headers and of questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ai.text.tables.words import words_of
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

ONE, OTHER = 0, 1
"""The sides: who gives, leaves or wins, and who gets, is reached or loses."""


@dataclass(frozen=True, slots=True)
class Deed:
    """The sides on which who does something and what it is done to are; `behind` by a preposition."""

    doer: int | None = None
    done_to: int | None = None
    behind: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relation:
    """Words of headers for either side, deeds by root, and the sides behind a preposition, whatever the deed. `own`:
    the side of the names of the rows themselves."""

    sides: tuple[frozenset[str], frozenset[str]]
    deeds: Mapping[str, Deed]
    behind: Mapping[str, int] = field(default_factory=dict)
    own: int | None = None

    def side_of(self, header: str) -> int | None:
        """The side that a column is of; None for one of neither, or of both."""
        said = [word.text for word in words_of(header)]
        found = {side for side in (ONE, OTHER) if any(self.role(word) == side for word in said)}
        return found.pop() if len(found) == 1 else None

    def role(self, word: str) -> int | None:
        """The side that a word of a header names: `seller`, `sellers`."""
        for side in (ONE, OTHER):
            if word in self.sides[side] or word.removesuffix("s") in self.sides[side]:
                return side
        return None


def _deeds(*rows: tuple[str, int | None, int | None, str]) -> dict[str, Deed]:
    found = {}
    for words, doer, done_to, behind in rows:
        pairs = (each.split(":") for each in behind.split())
        deed = Deed(doer, done_to, {word: int(side) for word, side in pairs})
        found.update({root_of(word): deed for word in words.split()})
    return found


_GIVES = (
    ("send ship deliver transfer give donate lend post dispatch forward grant export", 0, 1, "to:1 from:0 by:0"),
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
            ("sign buy", 1, None, "for:1 from:0 by:1"),
            ("sell", 0, None, "to:1 by:0"),
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
            word_list("sender donor giver lender owner payer consignor shipper sent exporter writer creditor"),
            word_list("recipient receiver beneficiary borrower payee consignee addressee received importer debtor"),
        ),
        _deeds(
            *_GIVES,
            ("pay", 0, 1, "to:1 from:0 by:0"),
            ("own", 0, None, "by:0"),
            ("owe", 1, 0, "to:0 by:1"),
            ("write", 0, 1, "to:1 from:0 by:0"),
        ),
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
