"""The journey of an auditor in a real browser: every answer that used a source, one of them opened and verified with the
network gone, replayed, held against another, and since when and why the question is answered differently. And that of an
author, who changes a rule."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.altered_logs import changed, forged
from tests.browser.page_server import PageServer, page_server
from tests.browser.test_ask_page import QUESTION
from tests.browser.test_audit_page import verdict
from tests.browser.test_journeys import BORDERS, Open, journey  # noqa: F401 - a fixture
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
FORGED = "What was the population of Riley County in 1940?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[PageServer]:
    """It and the commands beside it compile with the pinned `opa`."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EXHIBIT_OPA_BIN", str(pinned_opa(pytestconfig).path))
        with page_server(tmp_path_factory.mktemp("audited"), before=with_a_forgery) as running:
            yield running


async def with_a_forgery(home: Path) -> None:
    """An answer of 1940 on the log, with its figure changed by somebody who holds the log's keys."""
    await forged(home, FORGED, {"answer": lambda answer: answer.replace(b"20,617", b"20,671")})


def asked(server: PageServer, question: str) -> dict[str, Any]:
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(f"{server.origin}/api/v1/ai/query", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        found: dict[str, Any] = json.loads(response.read())
    return found


def cites(body: dict[str, Any], source: str) -> bool:
    return any(
        f"{source}@" in cited["href"] or f"{source}@" in json.dumps(cited) for cited in body["citations"].values()
    )


def test_an_auditor_finds_every_answer_that_used_a_source(journey: Open, server: PageServer) -> None:  # noqa: F811
    years = [
        f"What was the population of {county} County in {year}?"
        for county in ("Shawnee", "Douglas")
        for year in (1900, 1930, 1950)
    ]
    bodies = [asked(server, each) for each in (*years, BORDERS, "Who invented the cheese wheel of Mars?")]
    used = {each["provenance"]["entry_id"] for each in bodies if cites(each, "county-population")}
    assert 6 <= len(used) < len(bodies)
    used.add(first_answer(server))  # the forged one cites it too
    found = journey("/audit", "auditor")
    page = found.page
    page.fill("#cited", "county-population")
    page.press("#cited", "Enter")
    page.wait_for_function("many => document.querySelectorAll('#results tbody tr').length === many", arg=len(used))
    listed = page.eval_on_selector_all("#results tbody a", "all => all.map(each => each.getAttribute('href'))")
    assert {each.removeprefix("/audit/") for each in listed} == used
    with page.expect_download() as download:
        page.click("#csv")
    rows = csv.DictReader(io.StringIO(download.value.path().read_text("utf-8")))
    assert {row["entry_id"] for row in rows} == used


def test_one_is_verified_with_the_network_gone_and_a_changed_one_is_refused(journey: Open, server: PageServer) -> None:  # noqa: F811
    entry = asked(server, QUESTION)["provenance"]["entry_id"]
    page = journey(f"/audit/{entry}", "auditor").page
    page.wait_for_selector("#verify:not([disabled])", timeout=30_000)
    sent = list[object]()
    page.context.set_offline(True)
    page.on("request", lambda request: sent.append(request))  # noqa: PLW0108 - the driver refuses a builtin
    assert verdict(page) == ("verified", None)
    assert page.locator("#steps [data-state=passed]").count() == 7
    assert sent == []
    page.evaluate("document.querySelector('[data-proved=answer]').textContent += ' '")
    assert verdict(page) == ("failed", "page")


def first_answer(server: PageServer) -> str:
    """The first outcome on the log, as the auditor's key finds it: the forged one."""
    url = f"{server.origin}/api/v1/ledger/entries?kind=outcome&limit=1"
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {server.keys['auditor']}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        [found] = json.loads(response.read())["entries"]
    return str(found["entry_id"])


def replayed(page: Page, mark: str) -> str:
    """What the page says of the replay, once it shows a verdict of that class."""
    page.click("#replay-form button")
    page.wait_for_selector(f"#replayed .{mark}", timeout=60_000)
    return page.inner_text("#replayed")


def test_one_is_replayed(journey: Open, server: PageServer) -> None:  # noqa: F811
    entry = asked(server, "What was the population of Riley County in 1930?")["provenance"]["entry_id"]
    page = journey(f"/audit/{entry}", "auditor").page
    assert "Reproduced: R1." in replayed(page, "good")
    assert page.locator("#replayed .sides").count() == 0


def test_a_record_of_another_figure_is_verified_but_not_reproduced(journey: Open, server: PageServer) -> None:  # noqa: F811
    """Whoever holds the log's keys can commit it to a figure that was never found: its receipt verifies, and
    the replay shows both figures side by side."""
    page = journey(f"/audit/{first_answer(server)}", "auditor").page
    page.wait_for_selector("#verify:not([disabled])", timeout=30_000)
    assert verdict(page) == ("verified", None)
    assert "Reproduced" not in replayed(page, "fault")
    row = page.locator("#replayed .sides tr:has(th:text-is('answer'))")
    recorded, again = row.locator("td").all_inner_texts()
    assert ("20,671" in recorded, "20,617" in again) == (True, True)
    assert [each[:2] for each in row.locator("mark").all_inner_texts()] == ["71", "17"]


def test_a_record_that_was_altered_on_the_disk_is_named(journey: Open, server: PageServer) -> None:  # noqa: F811
    entry = asked(server, "What was the population of Riley County in 1920?")["provenance"]["entry_id"]
    page = journey(f"/audit/{entry}", "auditor").page
    where = f"name = 'answer' AND idx = (SELECT idx FROM leaves WHERE id = '{entry}')"
    with changed(server.home, f"UPDATE blobs SET blob = flip(blob) WHERE {where}"):
        told = replayed(page, "fault")
    assert "commitment answer" in told
    assert "Reproduced: R1." in replayed(page, "good")  # put back


def ingest(server: PageServer, folder: Path, figure: str) -> None:
    """The figures again, with another one for Shawnee County in 1930."""
    corpus = server.home.parent / "corpus"
    table = corpus / "county-population.csv"
    table.write_text(
        re.sub(r"(?m)^(20177,Shawnee County,\d+,\d+,\d+),\d+", rf"\g<1>,{figure}", table.read_text("utf-8")), "utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "api.cli.main",
        "ingest",
        "--manifest",
        str(corpus / "manifest.toml"),
        "--home",
        str(server.home),
    ]
    subprocess.run(command, check=True, capture_output=True)


def test_since_when_and_why_a_question_is_answered_differently(
    journey: Open,  # noqa: F811
    server: PageServer,
    tmp_path: Path,
) -> None:
    """A figure is corrected in its source, while the server runs."""
    question = "How many people lived in Shawnee County in 1930?"
    before = asked(server, question)
    assert "85,200" in before["answer"]
    ingest(server, tmp_path, "85201")
    after = asked(server, question)
    assert "85,201" in after["answer"]
    ids = [each["provenance"]["entry_id"] for each in (before, after)]
    page = journey(f"/audit/{ids[0]}", "auditor").page
    page.click("#changes")
    page.wait_for_selector("#changes > li", timeout=60_000)
    assert page.locator("#changes > li").count() == 1
    assert page.get_attribute("#changes h3 a", "href") == f"/audit/{ids[1]}"
    page.click("#changes p a")
    page.wait_for_selector("#compared table", timeout=60_000)
    row = page.locator("#compared tr:has(th:text-is('Answer'))")
    assert [each for each in row.locator("mark").all_inner_texts() if "85,20" in each]
    assert "differs" in page.inner_text("#compared tr:has(th:text-is('Versions of sources'))")
    assert page.inner_text("#explanation p")


DIGEST = "sha256:" + "0" * 64
CHANGES = {
    "candidates": {"name": "draft", "data": {}},
    "candidates/draft/trial": {},
    "publish": {"candidate": "draft", "bundle_digest": DIGEST, "accept": [], "why": "to see"},
    "rollback": {"bundle_digest": DIGEST, "why": "to see"},
}


def status_of(server: PageServer, path: str, key: str, headers: dict[str, str]) -> int:
    sent = {"content-type": "application/json", "authorization": f"Bearer {server.keys[key]}", **headers}
    body = json.dumps(CHANGES[path]).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{server.origin}/api/v1/policy/{path}", body, sent), timeout=30
        ) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("path", CHANGES)
def test_neither_who_lacks_the_capability_nor_a_page_of_elsewhere_changes_policy(
    journey: Open,  # noqa: F811
    server: PageServer,
    path: str,
) -> None:
    page = journey("/policy", "viewer").page
    assert "FORBIDDEN" in page.inner_text("#fault")
    assert not page.is_visible("#draft-form")
    assert status_of(server, path, "viewer", {}) == 403
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://elsewhere.example"},
    ):
        assert status_of(server, path, "auditor", headers) == 403


def command(server: PageServer, *words: str) -> None:
    whole = [sys.executable, "-m", "api.cli.main", *words, "--home", str(server.home)]
    found = subprocess.run(whole, check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def candidate(server: PageServer, name: str, old: str, new: str) -> None:
    """A folder of the home with the bundle in force, in which the text of one rule is another, compiled."""
    folder = server.home / "policy" / "candidates" / name
    command(server, "policy", "export", str(folder))
    rules = folder / "rego" / "kfm" / "ai" / "query.rego"
    before = rules.read_text("utf-8")
    assert before.count(old) == 1
    rules.write_text(before.replace(old, new), "utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "policy", "build", str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr


def tried(page: Page, name: str) -> str:
    page.fill("#name", name)
    page.click("#trial")
    page.wait_for_function(
        "() => document.querySelector('#candidate-state')?.textContent.match(/^(Every|A gate|The trial)/)",
        timeout=500_000,
    )
    return page.inner_text("#candidate-state")


def test_an_author_changes_a_rule_in_a_folder_publishes_it_with_a_reason_and_rolls_back(
    journey: Open,  # noqa: F811
    server: PageServer,
) -> None:
    asked(server, QUESTION)
    candidate(server, "open-all", "\tnot collection_open(name)\n", "")
    candidate(server, "reworded", "There is no such collection, or it is", "No collection is called that, or it is")
    page = journey("/policy", "auditor").page
    assert tried(page, "open-all") == "A gate is closed, so it cannot be published."
    assert page.locator("#found li[data-state=failed]").count() >= 1
    assert not page.is_visible("#publish-form")
    assert tried(page, "reworded") == "Every gate is open.", page.inner_text("#found")
    assert page.locator("#found li[data-state=passed]").count() >= 3
    assert "requests, of which 0 would end differently" in page.inner_text("#found")
    before = page.inner_text("#force code")
    page.fill("#why", "Plainer words")
    page.click("#publish-form button")
    page.wait_for_function(
        "old => document.querySelector('#force code').textContent !== old", arg=before, timeout=60_000
    )
    row = page.locator("#changes tr:has(td:text-is('Plainer words'))")
    row.wait_for(timeout=30_000)
    entry = str(row.locator("a").get_attribute("href"))
    page.click("#rules-count")
    assert "No collection is called that" in page.inner_text("#rules")
    recorded = journey(entry, "auditor").page
    assert "Recorded" in recorded.inner_text("#timeline")
    assert recorded.inner_text("#id") == entry.removeprefix("/audit/")
    page.select_option("#archived", before)
    page.fill("#rollback-why", "Back again")
    page.click("#rollback-form button")
    page.wait_for_function(
        "old => document.querySelector('#force code').textContent === old", arg=before, timeout=60_000
    )
    page.wait_for_selector("#changes td:text-is('Back again')")
