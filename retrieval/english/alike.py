"""Everyday words that say nearly the same, by root: a text with one of a family may answer who asks with another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


_FORMS = (
    "sell sale seller | buy purchase | pay payment | choose choice | arrive arrival | decide decision | succeed "
    "success successor | destroy destruction | produce production product | lose loss | marry marriage | grow "
    "growth | believe belief | think thought | fly flight | speak speech speaker | sing singer | weigh weight "
    "heavy | hot heat temperature | old age aged | long length last lasts | high height tall | wide width | deep "
    "depth | strong strength | explode explosion | invade invasion | expand expansion | discover discovery | "
    "deliver delivery | enter entry entrance | remove removal | refuse refusal | approve approval | propose "
    "proposal | bury burial | survive survival survivor | close closure closing shut | fail failure | depart "
    "departure leave | store storage | permit permission | admit admission | describe description | prove proof | "
    "apply application applicant | compete competition | collide collision | divide division | conclude "
    "conclusion | sign signature | know knowledge | free freedom | deny denial | try trial | rob robbery | repeat "
    "repetition | vary variation variety | sick illness ill | reside resident residence | lawsuit sue | inhabit "
    "inhabitant resident | vocal voice | usable use | attack assault | develop development"
)
"""A deed and the noun of it, a quality and its measure: forms of one word that no stem shows."""
_EVERYDAY = (
    "cost price fee charge | cost buy purchase | change replace substitute swap exchange | throw discard "
    "dispose bin dump | mend repair fix | guarantee warranty | photo photograph picture | doctor physician | sick "
    "ill | chair preside | vote ballot | elect appoint | choose appoint | hold contain | hold host organise | "
    "wear put | fasten attach fix mount install fit | attach connect plug link | remove delete | rent hire lease "
    "| border adjoin neighbour | cancel scrap | postpone delay defer | reject refuse decline | accept approve | "
    "arrive come reach | leave depart | last take continue | begin open | open inaugurate | end close expire "
    "finish | shut close | switch turn | collect gather | collect fetch | gather meet assemble | allow authorise "
    "| forbid disallow | forbidden prohibited banned | store keep | look watch see | charge oversee responsible | "
    "manage run direct lead | own possess | need must require | wash rinse | warm heat | cool chill refrigerate | "
    "cut chop slice | prize award medal | sue lawsuit | praise commend | sole only | base headquarters | illness "
    "disease sickness | boss manager | staff employee worker personnel | pupil student | rain rainfall | house "
    "home | shop store | film movie | money fund | feature commemorate | stay remain | hint tip | big size "
    "measure area | large size | get collect pick | set place put | connect join | paint repaint | tie fasten | "
    "rebuild reconstruct | restore repair renovate | attend visit | kill murder | fight battle | win victory | "
    "employ hire | resign quit | injure hurt | drown sink | assist help | aim goal purpose | baby infant | happy "
    "glad | retain keep | lend loan | borrow loan | repay refund reimburse | dismiss sack | broken snapped | "
    "perform undertake | invent devise | frighten scare | forecast predict | rubbish waste | "
    "rucksack backpack | torch flashlight"
)
"""Everyday words; a word may stand in several, and what is alike to one of them is not alike to another's."""


def _read(families: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for family in families.split("|"):
        roots = {root_of(word) for word in family.split()}
        for root in roots:
            found.setdefault(root, set()).update(roots)
    return {root: frozenset(roots) for root, roots in found.items()}


ALIKE = _read(" | ".join((_FAMILIES, _FORMS, _EVERYDAY)))
"""By a root those that say nearly the same, itself included."""


def and_alike(roots: Iterable[str]) -> frozenset[str]:
    """These roots, with those that say nearly the same as one of them."""
    said = frozenset(roots)
    return said.union(*(ALIKE.get(root, frozenset()) for root in said))


WE = frozenset({"we", "our", "us"})
_WRITERS = (
    "school company firm library museum church parish society association hotel hostel shop restaurant cafe hospital "
    "clinic surgery practice university college council charity farm bakery brewery cooperative organisation "
    "organization orchestra theatre shelter team group choir club band office business centre center nursery garden "
    "market campsite zoo gym pool studio agency trust foundation branch department"
)
WRITERS = frozenset(_WRITERS.split())
"""Those who write `we` of themselves: in their own texts it says the same as the word for them."""
