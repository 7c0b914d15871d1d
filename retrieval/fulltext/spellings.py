"""Spellings of one word that old and new, British and American texts use side by side. Data only; each line names the
forms that count as its first."""

from __future__ import annotations

SPELLINGS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in """
    aging ageing
    aluminum aluminium
    armor armour
    catalog catalogue
    center centre
    check cheque
    color colour
    defense defence
    enroll enrol
    favor favour
    fiber fibre
    fort ft
    gray grey
    harbor harbour
    honor honour
    jail gaol
    jewelry jewellery
    labor labour
    liter litre
    marshal marshall
    meter metre
    mold mould
    mount mt
    neighbor neighbour
    offense offence
    plow plough
    program programme
    saint st
    skeptic sceptic
    sulfur sulphur
    theater theatre
    tire tyre
    traveler traveller
    wagon waggon
    arkansas arkansaw
    cheyenne shyenne chayenne
    comanche camanche
    kansa kanza konza
    missouri missoury
    otoe ottoe oto
    potawatomi pottawatomie pottawatomi potawatomie
    shawnee shawanoe shawano
    wichita witchita
    wyandot wyandotte wyandott
    """.strip().splitlines()
)
