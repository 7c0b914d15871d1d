"""Short forms that old American texts use for states, titles and units. Data only."""

from __future__ import annotations

ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    "kansas": ("Kans.", "Kan.", "Kas.", "K.T."),
    "missouri": ("Mo.",),
    "nebraska": ("Nebr.", "Neb.", "N.T."),
    "oklahoma": ("Okla.",),
    "colorado": ("Colo.",),
    "texas": ("Tex.",),
    "territory": ("Ter.", "T."),
    "county": ("Co.",),
    "river": ("R.",),
    "railroad": ("R.R.", "Rd."),
    "company": ("Co.",),
    "captain": ("Capt.",),
    "lieutenant": ("Lieut.", "Lt."),
    "colonel": ("Col.",),
    "general": ("Gen.",),
    "governor": ("Gov.",),
    "secretary": ("Sec.", "Secy."),
    "mount": ("Mt.",),
    "fort": ("Ft.",),
    "saint": ("St.",),
    "north": ("N.",),
    "south": ("S.",),
    "inhabitants": ("inhab.",),
    "population": ("pop.",),
}
