"""Groups of people of which each is another one beside the others: what the students demanded is not what the teachers
did."""

from __future__ import annotations

from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_FIELDS = (
    "teacher master lecturer professor / student pupil learner schoolchild / parent",
    "officer / soldier private trooper / sailor / civilian",
    "doctor physician surgeon / nurse / patient",
    "member / guest visitor / stranger",
    "employer manager director / worker employee labourer hand / customer client",
    "landlord owner / tenant lodger",
    "buyer purchaser / seller vendor",
    "driver / passenger / conductor / pedestrian",
    "rebel insurgent / loyalist / policeman / bystander",
    "man / woman / child / girl / boy",
    "farmer / miller / baker / brewer / smith / weaver / fisherman / miner / carter / mason / carpenter / "
    "tailor / shepherd",
    "judge / juror / witness / lawyer / prisoner",
    "player / referee / fan supporter spectator",
    "author writer / reader / publisher / editor / translator",
    "lender creditor / borrower debtor",
    "monk / nun / priest / layman",
    "actor / musician / dancer / singer",
)
_BY_ROOT = {
    root_of(word): (field, place)
    for field, said in reversed([*enumerate(_FIELDS)])
    for place, party in enumerate(said.split("/"))
    for word in word_list(party)
}


def are_apart(one: str, other: str) -> bool:
    """True if two roots are those of two groups of one field."""
    mine, theirs = _BY_ROOT.get(one), _BY_ROOT.get(other)
    return mine is not None and theirs is not None and mine[0] == theirs[0] and mine[1] != theirs[1]
