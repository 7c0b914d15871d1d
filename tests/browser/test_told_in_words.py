"""What the pages tell of forms, lists and faults: the words are of what is shown, and none is a program's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import Opened, watch, with_key

pytestmark = pytest.mark.services
LONG = "Which counties border Shawnee County, and " + "which of them had a mill " * 20 + "in 1930?"
SAY = """async ([phrase, values]) => (await import("/assets/text.js")).say(phrase, values)"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with page_server(tmp_path_factory.mktemp("words")) as running:
        yield running


@pytest.fixture
def opened(chromium: Browser, server: PageServer) -> Iterator[Opened]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    found = Opened(context.new_page())
    with_key(found.page, server)
    yield found
    context.close()
    assert found.faults == []


def shown(opened: Opened, address: str) -> None:
    """Open it once more: whatever was written there is gone."""
    opened.page.goto("about:blank")
    opened.page.goto(address)
    opened.page.wait_for_selector("html[data-state=ready]")


def test_the_number_of_a_phrase(opened: Opened, server: PageServer) -> None:
    watch(opened, server)
    counts = {1: "1 entry", 0: "0 entries", 2: "2 entries", "1": "1 entry", "1,000": "1,000 entries"}
    said = {count: opened.page.evaluate(SAY, ["{count} {count|entry|entries}", {"count": count}]) for count in counts}
    assert said == counts
    assert opened.page.evaluate(SAY, ["{other} {count|a|b}", {}]) == "{other} {count|a|b}"


SENTENCE = """async text => {
  const made = (await import("/assets/answer.js")).sentenceOf({ text, citations: [], i: 0 }, { citations: {} }, () => {});
  document.querySelector("main").append(made);
  getSelection().selectAllChildren(made);
  return [made.textContent.trim(), getSelection().toString().trim(), [...made.querySelectorAll("code")].map(each => each.innerText)];
}"""


@pytest.mark.parametrize(
    ("text", "copied", "code"),
    [
        (
            "To restart it, run: `sudo restart w` `w --all`",
            "To restart it, run: sudo restart w w --all",
            ["`sudo restart w`", "`w --all`"],
        ),
        ("`` echo `date` ``", "echo `date`", ["`` echo `date` ``"]),
        ("It's 5 o`clock, and no code.", "It's 5 o`clock, and no code.", []),
        ("`<b>bold</b>`", "<b>bold</b>", ["`<b>bold</b>`"]),
    ],
)
def test_code_is_shown_as_it_was_recorded_and_copied_without_its_marks(
    opened: Opened, server: PageServer, text: str, copied: str, code: list[str]
) -> None:
    watch(opened, server)
    assert opened.page.evaluate(SENTENCE, text) == [text, copied, code]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/audit?since=nonsense", "since"),
        ("/audit?rule=@@", "rule"),
        ("/audit/compare?a=nonsense&b=nonsense", "a"),
        ("/evidence/nothing", "query"),
    ],
)
def test_a_refused_request_says_which_field(opened: Opened, server: PageServer, path: str, said: str) -> None:
    shown(opened, server.origin + path)
    opened.page.wait_for_selector(".fault")
    assert re.search(rf"not valid\. {said}: ", opened.page.inner_text(".fault"))


def test_a_search_keeps_what_its_address_asks_for(opened: Opened, server: PageServer) -> None:
    """An outcome or a kind that no list offers is kept, too, when something else is searched for."""
    page = opened.page
    for name, value in (("outcome", "FAULT"), ("kind", "something-new")):
        shown(opened, f"{server.origin}/audit?{name}={value}")
        assert page.input_value(f"#{name}") == value
        page.fill("#text", "Shawnee")
        page.press("#text", "Enter")
        page.wait_for_url(re.compile("text=Shawnee"))
        assert f"{name}={value}" in page.url
    assert "FAULT" in page.locator("#outcome option").all_inner_texts()


def test_a_long_question_is_clipped_in_lists(opened: Opened, server: PageServer) -> None:
    watch(opened, server)
    opened.ask(LONG)
    entry = opened.page.inner_text("#entry-id")
    listed = opened.page.inner_text("#history button")
    assert LONG.startswith(listed.removesuffix(" …"))
    assert len(listed) < 250 < len(LONG)
    shown(opened, f"{server.origin}/audit")
    row = opened.page.locator(f"#results tr:has(a[href$='{entry}'])")
    assert LONG.startswith(row.locator("td").nth(1).inner_text().removesuffix(" …"))
    shown(opened, f"{server.origin}/audit/{entry}")
    assert opened.page.inner_text("[data-proved=question]") == LONG


def test_json_that_is_none_is_told(opened: Opened, server: PageServer) -> None:
    page = opened.page
    shown(opened, f"{server.origin}/policy")
    page.fill("#input", "{")
    page.click("#evaluate-form button")
    page.wait_for_selector("#decision .fault")
    page.eval_on_selector("#data-details", "each => { each.open = true }")
    data = page.input_value("#data")
    page.fill("#name", "spoilt")
    page.fill("#data", data[:-2])
    page.click("#draft")
    page.wait_for_selector("#candidate-state .fault")
    for place in ("#decision", "#candidate-state"):
        assert page.inner_text(place).startswith("This is not JSON: ")
    lowest = json.loads(data)
    lowest["roles"]["public_viewer"]["clearance"] = "internal"
    page.fill("#data", json.dumps(lowest))
    page.click("#draft")
    page.wait_for_selector("#candidate-state .fault")
    assert "data.json: the default role must have the lowest clearance" in page.inner_text("#candidate-state")


def test_what_is_tried_is_what_is_shown(opened: Opened, server: PageServer) -> None:
    """Data that were changed since they were saved are not passed over for those that were, and what was found of others goes."""
    page = opened.page
    shown(opened, f"{server.origin}/policy")
    data = json.loads(page.input_value("#data"))
    page.eval_on_selector("#data-details", "each => { each.open = true }")

    def tried(purpose: str) -> str:
        """The trial of the data with one more purpose, which nobody saved."""
        page.fill("#data", json.dumps(data | {"purposes": data["purposes"] | {purpose: {"clearance": "public"}}}))
        assert page.inner_text("#found") == page.inner_text("#candidate-state") == ""
        assert not page.is_visible("#publish-form")
        page.click("#trial")
        page.wait_for_selector("#publish-form", state="visible", timeout=400_000)
        return page.inner_text("#found")

    page.fill("#name", "shown")
    assert "teaching" in tried("teaching")
    found = tried("farming")
    assert "farming" in found
    assert "teaching" not in found
    page.fill("#name", "another")
    assert not page.is_visible("#publish-form")


def test_files_of_a_run_are_named_and_not_where_the_server_keeps_them(
    chromium: Browser, server: PageServer, tmp_path: Path
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    with_key(page, server, "curator")
    page.goto(f"{server.origin}/corpus")
    page.wait_for_selector("#upload-form:visible")
    for name in ("mill.txt", "ferry.txt"):
        (tmp_path / name).write_text(f"The {name[:-4]} of Withy was built in 1784.", "utf-8")
    page.set_input_files("#upload-files", [tmp_path / "mill.txt", tmp_path / "ferry.txt"])
    page.select_option("#upload-label", "public")
    page.click("#upload-send")
    page.wait_for_function("() => document.querySelector('#runs')?.textContent.includes('ferry.txt')", timeout=60_000)
    files = page.locator("#runs details:first-child td[data-column=File]").all_inner_texts()
    assert sorted(files) == ["ferry.txt", "mill.txt"]
    assert str(server.home) not in page.inner_text("main")
    assert page.input_value("#upload-label") == "public"  # for the next files
    row = page.locator("#versions tr", has_text="mill")
    assert "licence not stated" in row.inner_text()
    context.close()


def test_a_computation_is_told_by_what_it_was_made_of(opened: Opened, server: PageServer) -> None:
    """Its rows in words come first; the parameters are there for who unfolds them."""
    answered(opened, server)
    page = opened.page
    page.click(".chip")
    page.wait_for_function("() => document.querySelectorAll('#evidence .inputs blockquote').length > 1")
    assert "{" not in page.inner_text("#evidence")
    page.click("#evidence details summary")
    assert "{" in page.inner_text("#evidence details")


DAMAGED = json.dumps(
    {"error": {"code": "VALIDATION_FAILED", "message": "the part does not open", "request_id": "none"}}
)


def answered(opened: Opened, server: PageServer) -> str:
    """The entry of an answer."""
    watch(opened, server)
    opened.ask("Which counties border Shawnee County?")
    return opened.page.inner_text("#entry-id")


@pytest.mark.parametrize(("status", "body"), [(200, ""), (200, "no receipt"), (422, DAMAGED), (404, DAMAGED)])
def test_an_entry_whose_receipt_is_damaged_is_shown_without_it(
    opened: Opened, server: PageServer, status: int, body: str
) -> None:
    entry, page = answered(opened, server), opened.page
    page.route(f"**/entries/{entry}/receipt", lambda route: route.fulfill(status=status, body=body))
    shown(opened, f"{server.origin}/audit/{entry}")
    assert page.inner_text("#fault").startswith("The receipt of this entry cannot be read")
    assert "Error:" not in page.inner_text("#fault")
    assert "Policy point" in page.inner_text("#timeline")
    assert "Leaf hash" in page.inner_text("#timeline")
    page.click("#verify")
    page.wait_for_selector("#result[data-state=failed]")
    assert page.get_attribute("#steps [data-step=receipt]", "data-state") == "failed"


@pytest.mark.parametrize(("status", "told"), [(422, "the part does not open"), (403, "capability policy.author")])
def test_decisions_that_are_damaged_are_not_those_that_one_may_not_read(
    opened: Opened, server: PageServer, status: int, told: str
) -> None:
    entry, page = answered(opened, server), opened.page
    page.route("**/policy/decisions/*", lambda route: route.fulfill(status=status, body=DAMAGED))
    shown(opened, f"{server.origin}/audit/{entry}")
    assert told in page.inner_text("#timeline")


def test_entries_that_are_damaged_do_not_hide_the_log(opened: Opened, server: PageServer) -> None:
    page = opened.page
    page.route(re.compile(r"/ledger/entries\?"), lambda route: route.fulfill(status=422, body=DAMAGED))
    shown(opened, f"{server.origin}/audit")
    assert "the part does not open" in page.inner_text("#results .fault")
    assert "Latest checkpoint" in page.inner_text("#log")
    assert page.locator("#facets a").count() > 0
    page.unroute(re.compile(r"/ledger/entries\?"))
