"""Everyday words that say nearly the same, by root: a text with one of a family may answer who asks with another."""

from __future__ import annotations

from collections.abc import Mapping

from retrieval.english.stems import root_of

_FAMILIES = (
    "begin start commence initiate launch | end finish stop cease conclude terminate | build construct erect | "
    "found establish create introduce institute debut | make create produce manufacture | kill die perish | "
    "say state claim argue believe think assert suggest propose describe remark comment | "
    "write author compose pen publish novel book | get receive obtain acquire gain win earn award grant give bestow | "
    "buy purchase acquire | show display exhibit reveal | appear feature star portray act | play perform | "
    "help assist aid advise support | rule reign govern | combine merge consolidate unite join | hold keep have | "
    "call name entitle nickname dub title | abolish outlaw ban prohibit forbid | movie film | quake earthquake | "
    "near close adjacent next | big large great huge | small little tiny | fast quick rapid | "
    "reveal announce disclose unveil release publish | ask request | lead head command direct | "
    "allow permit let | need require | use utilise utilize employ | live reside dwell inhabit | "
    "reduce decrease lower shrink | increase rise grow raise | change alter modify | choose select pick elect | "
    "try attempt | repair fix mend | teach instruct lesson | marry wed wife husband spouse | hurt injure wound | "
    "job work occupation profession | car vehicle automobile | "
    "send dispatch deliver | travel journey go | answer reply respond | record register | sing song | "
    "cause lead spark prompt result reason | damage destroy ruin | save rescue | hide conceal | "
    "contribute donate give | cook prepare | clean wash | throw discard dispose"
)


def _read(families: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for family in families.split("|"):
        roots = {root_of(word) for word in family.split()}
        for root in roots:
            found.setdefault(root, set()).update(roots)
    return {root: frozenset(roots) for root, roots in found.items()}


ALIKE = _read(_FAMILIES)
"""By a root those that say nearly the same, itself included."""
