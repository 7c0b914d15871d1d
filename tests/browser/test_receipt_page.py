"""The receipt's page verifies itself in a real browser, from a file, without a network, and names what fails."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from api.audit.erasure.erasing import carry_out
from api.audit.erasure.erasure import Order
from api.home.configuration import load
from api.web.page import page
from api.web.receipt_page import receipt_page
from api.wiring import open_ledger, open_system
from ledger.erasure.redaction import Target
from ledger.errors import MalformedNote
from ledger.model import Kind
from ledger.notes.note import SigningKey, parse_checkpoint_text, parse_note, sign_note
from tests.api_world import POPULATION, make_world
from tests.harness import ask
from tests.ledger_vectors import FOLDER, KEY, MALFORMED

pytestmark = pytest.mark.services
DATA = re.compile(r'(<script type="application/json" id="receipts">)(.*?)(</script>)', re.DOTALL)


async def _pages(folder: Path) -> tuple[str, str]:
    """The page of an answer, and that of an abstention, of one log."""
    world = await make_world(folder)
    configuration = load({}, home=world.configuration.home)
    async with open_system(configuration) as system:
        bodies = [await ask(system, POPULATION), await ask(system, "Who invented <b>cheese</b> & wine?")]
    async with open_ledger(configuration) as ledger:
        first, second = [await receipt_page(ledger, body["provenance"]["entry_id"]) for body in bodies]
    return first, second


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    with ThreadPoolExecutor(1) as thread:  # the browser's driver has this thread's event loop
        return thread.submit(lambda: asyncio.run(_pages(folder))).result()


def pressed(chromium: Browser, file: Path, *, key: str | None = None) -> tuple[str, str | None, str]:
    """State, failed step and text after the button was pressed; the page asked for nothing but itself."""
    context = chromium.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(file.as_uri())
    if key is not None:
        page.fill("#vkeys", key)
    page.click("#verify")
    page.wait_for_selector("#result[data-state=verified], #result[data-state=failed]", timeout=30_000)
    result = page.locator("#result")
    found = (str(result.get_attribute("data-state")), result.get_attribute("data-step"), result.inner_text())
    assert (asked, faults) == ([file.as_uri()], [])
    context.close()
    return found


def written(folder: Path, page: str) -> Path:
    file = folder / "receipt.html"
    file.write_text(page, "utf-8")
    return file


def test_an_answer_verifies_from_a_file_without_a_network(
    chromium: Browser, pages: tuple[str, str], tmp_path: Path
) -> None:
    state, step, text = pressed(chromium, written(tmp_path, pages[0]))
    assert (state, step) == ("verified", None), text
    assert "unwitnessed" in text


async def _without_the_question(folder: Path) -> str:
    world = await make_world(folder)
    configuration = load({}, home=world.configuration.home)
    async with open_system(configuration) as system:
        body = await ask(system, POPULATION)
        [intent] = await system.services.ledger.entries(kind=Kind.INTENT)
    await carry_out(configuration, Order(Target.ENTRY, intent.leaf.entry_id, "default", "x"))
    async with open_ledger(configuration) as ledger:
        return await receipt_page(ledger, body["provenance"]["entry_id"])


def test_an_answer_verifies_whose_question_was_erased(chromium: Browser, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as thread:
        made = thread.submit(lambda: asyncio.run(_without_the_question(tmp_path / "world"))).result()
    assert "The question was erased." in made
    assert "population of Shawnee County in 1930?" not in made
    assert pressed(chromium, written(tmp_path, made))[0] == "verified"


def test_a_carriage_return_is_shown_as_it_stands(chromium: Browser, tmp_path: Path) -> None:
    """A parser of HTML makes it a newline, which is not what was quoted."""
    text = "a\r\nb\rc"
    opened = chromium.new_page()
    opened.goto(written(tmp_path, page("receipt.html.j2", scripts=(), question=text, receipts={}, forms={})).as_uri())
    assert opened.locator("[data-proved=question]").evaluate("each => each.textContent") == text


# What Python calls malformed, by the part of the receipt in which the page finds it.
FORM = {"receipt", "checkpoint", "leaf", "key"}
BOTH = [
    (form, each)
    for form in ("receipts", "checkpoints", "vkeys")
    for lists in [json.loads((FOLDER / f"{form}.json").read_text())]
    for each in (*lists["positive"], *lists["negative"])
]
CALLS = {
    "receipts": ("text", "([each, key]) => verifyReceipt(each, key)"),
    "checkpoints": ("note", "async ([each, key]) => verifyCheckpoint(each, await parseKeys(key))"),
    "vkeys": ("vkey", "([each]) => parseKey(each)"),
}


def expected(form: str, vector: dict[str, str]) -> str:
    """The verdict; the page reads all of a checkpoint before it looks at signatures, as for a receipt."""
    if form == "checkpoints":
        try:
            parse_checkpoint_text(parse_note(vector["note"]).text)
        except MalformedNote:
            return MALFORMED
    return vector["verdict"]


def test_the_page_is_as_strict_as_python(chromium: Browser, pages: tuple[str, str], tmp_path: Path) -> None:
    key, opened = str(KEY.verifier), chromium.new_page()
    golden = json.loads((FOLDER / "golden.json").read_text())["vkey"]
    opened.goto(written(tmp_path, pages[0]).as_uri())
    wrong = []
    for form, vector in BOTH:
        field, call = CALLS[form]
        ask = f"async asked => ({call})(asked).then(() => 'ok', error => error.step ?? String(error))"
        step = opened.evaluate(ask, [vector[field], golden if form == "receipts" else key])
        if (MALFORMED if step in FORM else step) != expected(form, vector):
            wrong.append((form, vector["name"], vector["verdict"], step))
    assert wrong == []


def test_an_abstention_verifies_and_its_question_is_text(
    chromium: Browser, pages: tuple[str, str], tmp_path: Path
) -> None:
    assert "<b>cheese" not in pages[1]
    assert pressed(chromium, written(tmp_path, pages[1]))[0] == "verified"


def lines(change: Callable[[list[str]], None]) -> Callable[[str], str]:
    def changed(receipt: str) -> str:
        split = receipt.split("\n")
        change(split)
        return "\n".join(split)

    return changed


def flipped(encoded: str, at: int = 0) -> str:
    data = bytearray(base64.b64decode(encoded))
    data[at] ^= 1
    return base64.b64encode(data).decode()


def extra(change: Callable[[dict[str, Any]], None]) -> Callable[[str], str]:
    def on(split: list[str]) -> None:
        body = json.loads(base64.b64decode(split[1].removeprefix("extra ")))
        change(body)
        packed = json.dumps(body, sort_keys=True, separators=(",", ":"))
        split[1] = "extra " + base64.b64encode(packed.encode()).decode()

    return lines(on)


def at(name: str, field: str, to: Callable[[str], str] = flipped) -> Callable[[dict[str, Any]], None]:
    def on(body: dict[str, Any]) -> None:
        [part] = [each for each in body["disclosures"] if each["name"] == name]
        part[field] = to(part[field])

    return on


def put(number: int, text: Callable[[str], str]) -> Callable[[list[str]], None]:
    def on(split: list[str]) -> None:
        split[number] = text(split[number])

    return on


def signature(split: list[str]) -> None:
    dash, name, encoded = split[-2].split(" ")
    split[-2] = f"{dash} {name} {flipped(encoded, 10)}"


def size_of(split: list[str]) -> int:
    return split.index("") + 2


RECEIPTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "another header": ("receipt", lines(put(0, lambda _: "c2sp.org/tlog-proof@v2"))),
    "no extra": ("receipt", lines(put(1, lambda line: line.replace("extra ", "more ")))),
    "an index with a zero before it": ("receipt", lines(put(2, lambda line: line.replace("index ", "index 0")))),
    "another index": ("inclusion-proof", lines(put(2, lambda _: "index 0"))),
    "an index beyond the tree": ("inclusion-proof", lines(put(2, lambda _: "index 4000000000000000000"))),
    "a bit of a proof hash": ("inclusion-proof", lines(put(3, flipped))),
    "a proof hash too few": ("inclusion-proof", lines(lambda split: split.pop(3) and None)),
    "a proof hash too many": ("inclusion-proof", lines(lambda split: split.insert(3, split[3]))),
    "a short proof hash": ("receipt", lines(put(3, lambda _: base64.b64encode(b"x" * 31).decode()))),
    "a bit of the signature": ("signature", lines(signature)),
    "another size": ("signature", lines(lambda split: split.__setitem__(size_of(split), "5"))),
    "another root": (
        "signature",
        lines(lambda split: split.__setitem__(size_of(split) + 1, flipped(split[size_of(split) + 1]))),
    ),
    "no signature": ("checkpoint", lines(lambda split: split.pop(-2) and None)),
    "a bit of the leaf": ("inclusion-proof", extra(lambda body: body.update(leaf=flipped(body["leaf"], 200)))),
    "a bit of the answer": ("commitment", extra(at("answer", "bytes"))),
    "a bit of the answer's salt": ("commitment", extra(at("answer", "salt"))),
    "a bit of the provenance": ("commitment", extra(at("prov", "bytes"))),
    "a bit of the list of sources": ("commitment", extra(at("sources", "bytes"))),
    "a bit of a source": ("sources", extra(at("sources/1", "bytes"))),
    "a short salt": ("receipt", extra(at("answer", "salt", lambda _: base64.b64encode(b"x" * 31).decode()))),
    "a part that the leaf does not have": ("commitment", extra(at("answer", "name", lambda _: "answer2"))),
    "no list of sources": (
        "sources",
        extra(lambda body: body.update(disclosures=[d for d in body["disclosures"] if d["name"] != "sources"])),
    ),
}


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_changed_receipt_fails_at_a_named_step(
    chromium: Browser, pages: tuple[str, str], tmp_path: Path, name: str
) -> None:
    step, change = RECEIPTS[name]
    found = DATA.search(pages[0])
    assert found is not None
    data = json.loads(found[2])
    changed = {**data, "outcome": change(data["outcome"])}
    assert changed != data
    page = DATA.sub(lambda match: match[1] + json.dumps(changed).replace("<", "\\u003c") + match[3], pages[0])
    state, failed_at, text = pressed(chromium, written(tmp_path, page))
    assert (state, failed_at) == ("failed", step), text


def shown(name: str, old: str, new: str) -> Callable[[str], str]:
    """Another text in the first element of that name."""
    return lambda page: page.replace(f'data-proved="{name}">{old}', f'data-proved="{name}">{new}', 1)


SHOWN = {
    "entry": shown("entry", "0", "1"),
    "log": shown("log", "exhibit.local", "example.org"),
    "time": shown("time", "20", "19"),
    "question": shown("question", "What", "Why"),
    "answer": shown("answer", "Shawnee", "Topeka"),
    "outcome": shown("outcome", "ANSWER", "DENY"),
    "model": shown("model", "", "gpt-"),
    "title": shown("title", "[1] ", "[1] The true "),
    "quote": shown("quote", "", "not "),
    "document": shown("document", "", "x"),
    "source": shown("source", "", "x"),
    "provenance": shown("provenance", "", "x"),
    "a time in the provenance": lambda page: re.sub(
        r'(data-proved="provenance">)20(\d\d-)', r"\g<1>19\2", page, count=1
    ),
    "a digest in the provenance": lambda page: page.replace("digest sha256:", "digest sha256:0", 1),
    "a quote more": lambda page: page.replace("<h2>Sources", '<p data-proved="quote">so it was</p><h2>Sources'),
    "a quote less": lambda page: re.sub(r'<blockquote data-proved="quote">.*?</blockquote>', "", page, count=1),
    "something more at the end": lambda page: page.replace("</main>", '<p data-proved="quote">so it was</p></main>'),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_must_be_what_is_proved(
    chromium: Browser, pages: tuple[str, str], tmp_path: Path, name: str
) -> None:
    changed = SHOWN[name](pages[0])
    assert changed != pages[0]
    state, failed_at, text = pressed(chromium, written(tmp_path, changed))
    assert (state, failed_at) == ("failed", "page"), text


def test_the_question_of_another_answer_is_refused(chromium: Browser, pages: tuple[str, str], tmp_path: Path) -> None:
    ours, theirs = (DATA.search(page) for page in pages)
    assert ours is not None
    assert theirs is not None
    mixed = {**json.loads(ours[2]), "intent": json.loads(theirs[2])["intent"]}
    page = DATA.sub(lambda match: match[1] + json.dumps(mixed) + match[3], pages[0])
    assert pressed(chromium, written(tmp_path, page))[1] == "intent"


OTHER = SigningKey.from_seed("exhibit.local/ledger", bytes(32))


@pytest.mark.parametrize(
    ("key", "step"),
    [
        (str(OTHER.verifier), "signature"),
        (str(SigningKey.from_seed("another.log", bytes(32)).verifier), "signature"),
        ("", "key"),
        ("exhibit.local/ledger", "key"),
        (str(OTHER.verifier)[:-4] + "AAA=", "key"),
        (str(OTHER.verifier).replace("+", "+0", 1), "key"),
    ],
)
def test_with_another_key_it_does_not_verify(
    chromium: Browser, pages: tuple[str, str], tmp_path: Path, key: str, step: str
) -> None:
    state, failed_at, text = pressed(chromium, written(tmp_path, pages[0]), key=key)
    assert (state, failed_at) == ("failed", step), text


def test_a_checkpoint_of_another_origin_is_refused(chromium: Browser, pages: tuple[str, str], tmp_path: Path) -> None:
    """Signed by the right key, of a log that the key does not name."""
    found = DATA.search(pages[0])
    assert found is not None
    data = json.loads(found[2])
    head, _, checkpoint = data["outcome"].partition("\n\n")
    text = checkpoint.partition("\n\n")[0].replace("exhibit.local/ledger", "exhibit.local/other", 1) + "\n"
    data["outcome"] = f"{head}\n\n{sign_note(text, [OTHER])}"
    page = DATA.sub(lambda match: match[1] + json.dumps(data) + match[3], pages[0])
    assert pressed(chromium, written(tmp_path, page), key=str(OTHER.verifier))[1] == "origin"
