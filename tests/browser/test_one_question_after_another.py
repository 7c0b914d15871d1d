"""Questions one after the other on the page that asks: what is shown belongs to the question that is shown, whatever became of
the one before, and what is sent is what was written."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import QUESTION, Opened, watch

pytestmark = pytest.mark.services
OTHER = "Which counties border Shawnee County?"
STREAM = "**/api/v1/ai/stream"
REFUSED = {"code": "VALIDATION_FAILED", "message": "The request is not valid.", "request_id": "none"}
COLOUR = """async ([picture, x, y]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return [...canvas.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3);
}"""
CUT_OFF = quote('{"question": ')
CITED = [179, 84, 30]
"""The colour of what is cited, on the light map."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with page_server(tmp_path_factory.mktemp("after"), more=("cities.csv",)) as running:
        yield running


@pytest.fixture
def opened(chromium: Browser, server: PageServer) -> Iterator[Opened]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    found = Opened(context.new_page())
    watch(found, server)
    yield found
    context.close()
    assert found.faults == []


def invalid(route: Route) -> None:
    fields = [{"field": "context.place", "code": "odd", "message": "There is no such shape of name"}]
    route.fulfill(
        status=422, content_type="application/json", body=json.dumps({"error": {**REFUSED, "details": fields}})
    )


def waits(route: Route) -> None:
    """Nothing comes."""
    del route


def broken(route: Route) -> None:
    route.abort()


@pytest.mark.parametrize("becomes", [invalid, broken, waits])
def test_nothing_of_an_answer_stays_beside_another_question(opened: Opened, becomes: Callable[[Route], None]) -> None:
    page = opened.page
    opened.ask(QUESTION)
    page.click(".chip")
    page.wait_for_selector(".marker")
    page.route(STREAM, becomes)
    page.fill("#question", OTHER)
    page.press("#question", "Enter")
    page.wait_for_selector(".sentence", state="detached")
    page.wait_for_selector(".marker", state="detached")
    if becomes is not waits:
        page.wait_for_selector("#answer:not([aria-busy]) .fault")
    assert page.text_content("#asked") == OTHER  # what is printed above it
    assert not page.is_visible("#copy")
    assert not page.is_visible("#evidence")


def test_the_field_that_is_not_valid_is_named(opened: Opened) -> None:
    opened.page.route(STREAM, invalid)
    opened.page.fill("#question", OTHER)
    opened.page.press("#question", "Enter")
    opened.page.wait_for_selector("#answer .fault")
    assert "place: There is no such shape of name." in opened.page.inner_text("#answer .fault")


def test_back_and_forward_lead_through_the_questions(opened: Opened) -> None:
    page = opened.page
    opened.ask(QUESTION)
    first = page.inner_text("#entry-id")
    opened.ask(OTHER)
    second = page.inner_text("#entry-id")
    for turn, question, entry in ((page.go_back, QUESTION, first), (page.go_forward, OTHER, second)):
        turn()
        page.wait_for_function("entry => document.querySelector('#entry-id')?.textContent === entry", arg=entry)
        assert page.input_value("#question") == question
    page.go_back()
    page.go_back()
    page.wait_for_selector(".sentence", state="detached")
    assert page.input_value("#question") == ""
    assert not page.is_visible("#copy")


def test_a_question_that_was_loaded_again_waits_to_be_asked(opened: Opened, server: PageServer) -> None:
    page = opened.page
    opened.ask(QUESTION)
    page.reload()
    page.wait_for_selector("html[data-state=ready]")
    assert page.input_value("#question") == QUESTION
    assert "Press Ask" in page.inner_text("#answer-body")
    opened.ask(QUESTION)
    page.goto(f"{server.origin}/?request={CUT_OFF}")
    page.wait_for_selector("html[data-state=ready]")
    assert "Press Ask" not in page.inner_text("#answer-body")


def test_one_may_stop_waiting(opened: Opened) -> None:
    page = opened.page
    opened.ask(QUESTION)
    assert not page.is_visible("#stop")
    page.route(STREAM, waits)
    page.fill("#question", OTHER)
    page.press("#question", "Enter")
    page.wait_for_selector("#stop", state="visible")
    page.click("#stop")
    assert not page.is_visible("#stop")
    assert page.get_attribute("#answer", "aria-busy") is None
    assert "no longer wait" in page.inner_text("#answer-body")
    page.unroute(STREAM)
    opened.ask(OTHER)


def test_a_browser_that_keeps_nothing_shows_the_answer(chromium: Browser, server: PageServer) -> None:
    context = chromium.new_context()
    context.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    )
    found = Opened(context.new_page())
    watch(found, server)
    found.ask(QUESTION)
    assert found.page.locator(".sentence").count() == 1
    context.close()


def message(page: Page, field: str) -> str:
    """The reason why a form cannot be sent, as the browser tells it at that field."""
    page.press("#question", "Enter")
    said: str = page.eval_on_selector(f"#{field}", "each => each.validationMessage")
    return said


def test_what_cannot_be_sent_is_told_at_its_field(opened: Opened) -> None:
    page, sent = opened.page, list[str]()
    page.on("request", lambda request: sent.append(request.url) if "/ai/" in request.url else None)
    page.wait_for_load_state("networkidle")
    sent.clear()
    page.fill("#question", "harbour " * 600)
    assert "4,799" in message(page, "question")  # and it was not cut off
    page.fill("#question", " \u00a0 ")
    assert message(page, "question")
    page.fill("#question", QUESTION)
    page.fill("#from", "1950")
    page.fill("#to", "1900")
    assert "before" in message(page, "to")
    page.fill("#to", "0")
    assert message(page, "to")
    page.wait_for_timeout(800)  # suggestions are read once the context has come to rest
    assert [url for url in sent if "suggestions" not in url or "1950%2F1900" in url] == []
    page.fill("#to", "")
    page.fill("#from", "1930")
    opened.ask(QUESTION)


def test_the_name_of_a_point_stands_above_it(opened: Opened) -> None:
    page = opened.page
    page.wait_for_selector("#map[data-state=ready]", timeout=60_000)
    opened.ask("What was the population of Topeka in 1930?")
    page.wait_for_selector(".marker")
    page.wait_for_timeout(1500)  # the map has come to rest
    label = page.locator(".marker").first.bounding_box()
    assert label is not None
    picture = base64.b64encode(page.screenshot()).decode()
    below = [picture, label["x"] + label["width"] / 2, label["y"] + label["height"] + 9]
    assert page.evaluate(COLOUR, below) == CITED


def test_what_is_printed_is_cited(opened: Opened) -> None:
    page = opened.page
    opened.ask(OTHER)
    page.click(".chip")
    page.wait_for_load_state("networkidle")
    page.emulate_media(media="print")
    assert page.inner_text(".printed") == OTHER
    assert re.search(r"\[1\]$", page.locator(".sentence").last.inner_text())
    assert "Jackson County" in page.inner_text(".places")
    assert not page.is_visible("#verify")
    assert page.eval_on_selector("#answer", "each => each.clientWidth") > 1000  # the whole sheet
