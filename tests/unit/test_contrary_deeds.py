"""The contrary of a deed is no answer: who lends a picture does not borrow it, and what is switched on is not off."""

from __future__ import annotations

import pytest

from ai.text.meaning.meant import Meant
from ai.text.support import folded_words

# the deed as it is asked, done and told in the imperative, each beside its contrary
DEEDS = (
    ("lock", "locked", "unlock", "unlocked"),
    ("wrap", "wrapped", "unwrap", "unwrapped"),
    ("zip", "zipped", "unzip", "unzipped"),
    ("load", "loaded", "unload", "unloaded"),
    ("mount", "mounted", "unmount", "unmounted"),
    ("install", "installed", "uninstall", "uninstalled"),
    ("fill", "filled", "empty", "emptied"),
    ("heat", "heated", "cool", "cooled"),
    ("lengthen", "lengthened", "shorten", "shortened"),
    ("widen", "widened", "narrow", "narrowed"),
    ("freeze", "frozen", "defrost", "defrosted"),
    ("freeze", "frozen", "thaw", "thawed"),
    ("lose", "lost", "find", "found"),
    ("open", "opened", "close", "closed"),
    ("break", "broken", "repair", "repaired"),
    ("connect", "connected", "disconnect", "disconnected"),
    ("attach", "attached", "detach", "detached"),
    ("enable", "enabled", "disable", "disabled"),
    ("activate", "activated", "deactivate", "deactivated"),
    ("arm", "armed", "disarm", "disarmed"),
    ("encrypt", "encrypted", "decrypt", "decrypted"),
    ("plug in", "plugged in", "unplug", "unplugged"),
    ("switch on", "switched on", "switch off", "switched off"),
    ("turn on", "turned on", "turn off", "turned off"),
    ("switch on", "switched on", "turn off", "turned off"),
    ("put on", "put on", "take off", "taken off"),
    ("put up", "put up", "take down", "taken down"),
    ("put out", "put out", "bring in", "brought in"),
    ("put out", "put out", "light", "lit"),
)  # fmt: skip
TRADES = (("buy", "bought", "sell", "sold"), ("lend", "lent", "borrow", "borrowed"))
WITHOUT_OBJECT = (
    ("log in", "log out"),
    ("sign in", "sign out"),
    ("check in", "check out"),
    ("move in", "move out"),
    ("get on", "get off"),
    ("enter", "leave"),
    ("arrive", "leave"),
)
THINGS = ("blue van", "largest press of the mill")


def agrees(question: str, text: str, *, read: bool = True) -> bool:
    """Whether a sentence is of what the question means."""
    tokens = folded_words(text)
    return Meant.of(question, tokens).agrees(text, tokens, read=read)


def parted(deed: str, thing: str) -> str:
    """`switch the van on` for `switch on`."""
    verb, _, particle = deed.partition(" ")
    return f"{verb} {thing} {particle}".strip()


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize(("one", "done", "other", "undone"), [*DEEDS, *((c, d, a, b) for a, b, c, d in DEEDS)])
def test_the_contrary_deed_is_no_answer(one: str, done: str, other: str, undone: str, thing: str) -> None:
    told = (
        f"The {thing} was {done} on Friday by the warden.",
        f"{one.capitalize()} the {thing} with the lever under the stairs.",
        f"To {one} the {thing}, see the warden on Friday.",
        f"{parted(one, f'the {thing}').capitalize()} with the lever under the stairs.",
        f"Staff can {parted(one, f'the {thing}')} by asking the warden on Friday.",
    )
    for deed, does in ((one, True), (other, False)):
        for asked in (
            f"How do I {deed} the {thing}?",
            f"How can I {parted(deed, f'the {thing}')}?",
            f"When should we {deed} the {thing}?",
            f"When was the {thing} {done if does else undone}?",
            f"Who has {done if does else undone} the {thing}?",
            f"Who may {deed} the {thing}?",
        ):
            for text in told:
                assert agrees(asked, text) or not does, (asked, text)
                if not does:
                    assert not agrees(asked, text), (asked, text)
            both = f"{told[0].removesuffix('.')}, and the {thing} is {undone} at noon."
            assert agrees(asked, both), (asked, both)


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize(("one", "done", "other", "undone"), [*TRADES, *((c, d, a, b) for a, b, c, d in TRADES)])
def test_a_trade_that_was_done_has_two_sides(one: str, done: str, other: str, undone: str, thing: str) -> None:
    for told in (f"The {thing} was {done} on Friday by the warden.", f"On Friday the warden {done} the {thing}."):
        for asked, asks in ((one, done), (other, undone)):
            for question in (
                f"When was the {thing} {asks}?",
                f"Who {asks} the {thing}?",
                f"When did they {asked} the {thing}?",
            ):
                assert agrees(question, told) == (asked == one), (question, told)
    for told in (f"The {thing}s are {done} at the pier.", f"They {one} every {thing} at the pier."):
        for question in (
            f"Where can I {other} a {thing}?",
            f"Where do you {other} a {thing}?",
            f"Where are {thing}s {undone}?",
        ):
            assert agrees(question, told), (question, told)


@pytest.mark.parametrize(("one", "other"), [*WITHOUT_OBJECT, *((b, a) for a, b in WITHOUT_OBJECT)])
def test_the_contrary_of_a_deed_without_object_is_no_answer(one: str, other: str) -> None:
    for told in (f"Visitors {one} at the front desk.", f"Staff may {one} through the side door before nine."):
        for asked in ("Where do visitors {}?", "Where may staff {}?", "When can staff {}?"):
            assert agrees(asked.format(one), told), (one, told)
            assert not agrees(asked.format(other), told) or one == "leave", (other, told)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who bought the shop?", "The shop was sold in 1990 to the Ewing family."),
        ("Who bought the farm?", "In 1954 Tove Lind sold the farm to the council."),
        ("Who sold the shop?", "The council bought the shop from the Ewing family."),
        ("Who borrowed the picture?", "The picture was lent to Dr Fyfe."),
        ("Who lent the picture?", "The museum borrowed the picture from Dr Fyfe."),
        ("How much did the guild borrow?", "The bank lent the guild 900 pounds."),
        ("How do I remove the lid?", "Put on gloves and twist the lid."),
        ("How do I lock the screen?", "Press the lock button twice."),
        ("Where can I find the lost property office?", "Lost property is kept at reception."),
        ("Where do I leave my bike?", "Park in the yard, and use the racks on the left."),
        ("Where can I buy a ticket?", "Tickets are sold on the pier."),
        ("Do I have to buy the second tray?", "The second tray is sold separately."),
        ("Where can I borrow a tent?", "The club lends tents at the hut."),
        ("Where can I sell my books?", "The shop in Mill Lane buys old books."),
        ("How do I take down the awning?", "Take off the cover and take the awning down."),
        ("Where do we take off shoes?", "Take your shoes off in the hall."),
        ("Where do you take your shoes off?", "Take off your shoes in the hall."),
        ("How do I cool the cellar?", "Heat pumps are set to eight degrees."),
        ("How do I unlock the door?", "Turn the key in the lock."),
        ("How do I turn off the light?", "Press the light switch on the wall."),
        ("How do I switch on the freezer?", "Plug in the freezer after a storm."),
        ("How do I put out the lamp?", "The light goes out when you turn the wheel."),
        ("Where do I take off the shoes?", "Put the shoes on the rack by the door."),
        ("What do I do with a lost key?", "You find the form at the desk."),
        ("How do I unload the van?", "The load is tipped by a lever."),
        ("When is the shop open?", "It is closed on Mondays."),
        ("Until when is the shop open?", "The shop closes at five."),
        ("When does the shop close?", "The shop is open from nine to five."),
        ("When does the shop close?", "The shop is open daily, 9–17."),
        ("How do I disconnect the hose?", "Pull the connector of the hose."),
    ],
)
def test_these_tell_what_is_asked(question: str, text: str) -> None:
    assert agrees(question, text), (question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who bought the shop?", "The shop was sold by the Ewing family."),
        ("Who borrowed the picture?", "The picture was lent by Dr Fyfe."),
        ("When do the gates close?", "The gates open at six."),
        ("When does the exhibition close?", "The exhibition begins on 3 May."),
        ("How do I turn on dark mode?", "To save power, turn off animations in Settings."),
        ("How do I turn off the boiler?", "Switch the boiler on with the lever under the stairs."),
        ("When are the bins brought back in?", "Bins are put out on Thursday evening."),
        ("Where are keys returned?", "Keys are handed out at reception."),
        ("How do I take down the awning?", "Take off the awning's cover in the hall."),
        ("How do I unwrap glasses?", "Wrap glasses in the blue paper."),
        ("When was the lift repaired?", "The lift was inspected in March."),
    ],
)
def test_these_tell_the_contrary(question: str, text: str) -> None:
    assert not agrees(question, text), (question, text)
