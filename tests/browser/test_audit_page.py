"""The pages of an auditor in a real browser: search with a key of the tab, an entry as a timeline, and its proof step by
step, with a named step where something is not what was recorded."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from api.home.configuration import load
from api.wiring import key_store
from ledger.notes.note import SigningKey
from tests.browser.page_server import PageServer, page_server, signed_in
from tests.browser.test_ask_page import AXE, QUESTION, Opened, entry_of, violations, watch, with_key

pytestmark = pytest.mark.services
UNANSWERED = {"question": "What was the population of Shawnee County in 1790?"}
DENIED = {"question": "What was the population of Shawnee County in 1930?", "options": {"collections": ["memoirs"]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with page_server(tmp_path_factory.mktemp("audit")) as running:
        yield running


@pytest.fixture(scope="module")
def entry(chromium: Browser, server: PageServer) -> str:
    """An answer that somebody without a key was given."""
    return entry_of(chromium, server)


@pytest.fixture
def opened(chromium: Browser, server: PageServer) -> Iterator[Opened]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    found = Opened(context.new_page())
    yield found
    context.close()
    assert [url for url in found.asked if not url.startswith((server.origin, "blob:"))] == []
    assert found.faults == []


def verdict(page: Page) -> tuple[str, str | None]:
    """The result's state, and the first step that failed."""
    page.click("#verify")
    page.wait_for_selector("#result[data-state=verified], #result[data-state=failed]", timeout=30_000)
    failed = page.locator("#steps [data-state=failed]")
    step = failed.first.get_attribute("data-step") if failed.count() else None
    return str(page.get_attribute("#result", "data-state")), step


def test_an_auditor_enters_a_key_finds_an_answer_and_verifies_it(
    opened: Opened, server: PageServer, entry: str
) -> None:
    page = opened.page
    watch(opened, server, "/audit")
    page.wait_for_selector("#results .fault")
    page.fill("#key", server.keys["auditor"])
    page.press("#key", "Enter")
    page.wait_for_selector("#results table")
    assert QUESTION in page.inner_text("#results table")
    page.select_option("#outcome", "ANSWER")
    page.fill("#source", "county-population")
    page.press("#source", "Enter")
    page.wait_for_selector(f"#results a[href='/audit/{entry}']")
    assert "source=county-population" in page.url
    with page.expect_download() as download:
        page.click("#csv")
    assert entry in download.value.path().read_text("utf-8")
    page.click(f"#results a[href='/audit/{entry}']")
    page.wait_for_selector("#verify:not([disabled])", timeout=30_000)
    assert page.inner_text("[data-proved=question]") == QUESTION
    assert page.locator("#timeline > li").count() == 5
    assert verdict(page) == ("verified", None)


def test_a_facet_narrows_the_search_and_going_back_widens_it(opened: Opened, server: PageServer, entry: str) -> None:
    with_key(opened.page, server)
    watch(opened, server, "/audit?kind=any")
    rows = opened.page.locator("#results tbody tr")
    everything = rows.count()
    assert "kind=retrieval" in str(opened.page.get_attribute("#facets a:has-text('retrieval')", "href"))
    opened.page.click("#facets a:has-text('outcome')")
    opened.page.wait_for_function(
        "most => document.querySelectorAll('#results tbody tr').length < most", arg=everything
    )
    assert rows.count() >= 1
    opened.page.go_back()
    opened.page.wait_for_function(
        "most => document.querySelectorAll('#results tbody tr').length >= most", arg=everything
    )


def test_a_source_a_place_and_a_day_narrow_the_search(opened: Opened, server: PageServer, entry: str) -> None:
    page = opened.page
    with_key(page, server)
    watch(opened, server, "/audit")
    for name, value in (("cited", "county-population"), ("place", "Shawnee County"), ("day", "20")):
        page.locator(f"#facets a[href*='{name}=']:has-text('{value}')").first.click()
        page.wait_for_selector(f"#facets strong:has-text('{value}')")
        assert page.input_value(f"#{name}").startswith(value)
    assert page.locator(f"#results a[href='/audit/{entry}']").count() == 1


def test_facets_count_what_the_search_finds_and_can_be_left_again(
    opened: Opened, server: PageServer, entry: str
) -> None:
    page = opened.page
    with_key(page, server)
    watch(opened, server, "/audit?outcome=ANSWER&source=county-population")
    many = page.inner_text("#facets a:has-text('extractive')").removeprefix("extractive (").removesuffix(")")
    assert f"{many} in all" in page.inner_text("#status")
    page.click("#facets a:has-text('extractive')")
    page.wait_for_selector("#facets strong:text-is('extractive')")
    assert "model=extractive" in page.url
    assert f"{many} in all" in page.inner_text("#status")
    page.click("#facets a[aria-label='Model: any']")
    page.wait_for_selector("#facets a:has-text('extractive')")
    assert "model=extractive" not in page.url
    with page.expect_download() as download:
        page.click("#facets-csv")
    assert f"model,extractive,{many}" in download.value.path().read_text("utf-8").splitlines()


def test_the_health_of_the_log_is_told(opened: Opened, server: PageServer, entry: str) -> None:
    with_key(opened.page, server)
    watch(opened, server, "/audit")
    told = opened.page.inner_text("#log")
    assert "No gap is known." in told
    assert "none are asked" in told
    with opened.page.expect_download() as download:
        opened.page.click("#json")
    page = json.loads(download.value.path().read_text("utf-8"))
    assert f"of the first {page['log']['checkpoint']['size']} entries" in told
    assert set(page) == {"entries", "damaged", "next", "facets", "log"}


def test_gaps_are_told_in_words(opened: Opened, server: PageServer, entry: str) -> None:
    def late(route: Route) -> None:
        body = json.loads(route.fetch().text())
        route.fulfill(json=body | {"gaps": ["FORKED", "UNSIGNED", "UNWITNESSED", "UNFINISHED"], "quorum": False})

    opened.page.route("**/api/v1/ledger/health", late)
    with_key(opened.page, server)
    watch(opened, server, "/audit")
    told = opened.page.inner_text("#log .fault")
    assert all(word in told for word in ("contradicts", "waited", "lacks cosignatures", "cut off"))


def test_the_provenance_is_drawn_and_told(opened: Opened, server: PageServer, entry: str) -> None:
    with_key(opened.page, server)
    watch(opened, server, f"/audit/{entry}")
    opened.page.wait_for_selector("#prov-graph svg", timeout=30_000)
    told = opened.page.evaluate(
        """async ([entry, key]) => {
          const headers = { authorization: `Bearer ${key}` };
          const prov = await (await fetch(`/api/v1/ledger/entries/${entry}/prov`, { headers })).json();
          const count = names => names.flatMap(name => Object.keys(prov[name] ?? {})).length;
          return [count(["agent", "activity", "entity"]),
            count(["used", "wasGeneratedBy", "wasInformedBy", "wasAssociatedWith", "wasAttributedTo", "wasDerivedFrom"])];
        }""",
        [entry, server.keys["auditor"]],
    )
    drawn = opened.page.evaluate(
        "['.node', '.edge', 'tbody tr'].map(each => document.querySelectorAll(`#prov-graph ${each}`).length)"
    )
    assert drawn == [told[0], told[1], told[1]]
    assert min(told) > 5
    opened.page.hover("#prov-graph .node.entity >> nth=0")
    assert opened.page.locator("#prov-graph .edge.lit").count() > 0


def test_an_entry_is_replayed(opened: Opened, server: PageServer, entry: str) -> None:
    with_key(opened.page, server)
    watch(opened, server, f"/audit/{entry}")
    opened.page.select_option("#to", "R2")
    opened.page.click("#replay-form button")
    opened.page.wait_for_selector("#replayed .good", timeout=60_000)
    assert "Reproduced: R2." in opened.page.inner_text("#replayed")
    assert "R2" in opened.page.inner_text("#replayed tr:has(code:text-is('answer'))")
    assert opened.page.locator("#replayed .sides").count() == 0


def test_a_difference_is_shown_side_by_side(opened: Opened, server: PageServer, entry: str) -> None:
    def other(route: Route) -> None:
        sent = {**route.request.headers, "sec-fetch-site": "same-origin"}  # as the browser sends it from this page
        body = json.loads(route.fetch(headers=sent).text())
        [stage] = [each for each in body["stages"] if each["name"] == "answer"]
        excerpt = {"recorded": "population 85,200<b>", "again": "population 85,201", "at": 16}
        stage |= {"same": False, "detail": "byte 16", "excerpt": excerpt}
        route.fulfill(json=body | {"verdict": "differs", "grade": "R0", "differs_at": "answer"})

    opened.page.route("**/replay", other)
    with_key(opened.page, server)
    watch(opened, server, f"/audit/{entry}")
    opened.page.click("#replay-form button")
    opened.page.wait_for_selector("#replayed .fault", timeout=60_000)
    assert opened.page.locator("#replayed .sides mark").all_inner_texts() == ["0<b>", "1"]


def test_nobody_replays_without_a_key(opened: Opened, server: PageServer, entry: str) -> None:
    watch(opened, server, f"/audit/{entry}")
    opened.page.click("#replay-form button")
    opened.page.wait_for_selector("#replayed .fault", timeout=60_000)
    assert "FORBIDDEN" in opened.page.inner_text("#replayed")
    assert opened.page.evaluate("document.querySelector('#key-details').open")


@pytest.mark.parametrize(("asked", "told"), [(UNANSWERED, "obligations"), (DENIED, "reasons")])
def test_decisions_are_told_with_the_texts_of_their_rules(
    opened: Opened, server: PageServer, asked: dict[str, object], told: str
) -> None:
    """A reason with what its rule says to readers, an obligation with what its rule is for."""
    reply = opened.page.request.post(f"{server.origin}/api/v1/ai/query", data=asked)
    entry = reply.json()["provenance"]["entry_id"]
    with_key(opened.page, server)
    watch(opened, server, f"/audit/{entry}")
    read = "path => fetch(path).then(reply => reply.json())"
    decided = opened.page.evaluate(read, f"/api/v1/policy/decisions/{entry}")["decisions"]
    rules = opened.page.evaluate(read, "/api/v1/policy/bundle")["rules"]
    titles = {rule["id"]: rule["title"] for rule in rules}
    wanted = {"reasons": lambda each: each["text"], "obligations": lambda each: titles[each["rule"]]}
    texts = [wanted[told](each) for one in decided for each in one[told]]
    assert texts and all(texts)
    shown = opened.page.inner_text("#timeline")
    assert [each for each in texts if each not in shown] == []


@pytest.mark.parametrize("path", ["/audit?outcome=ANSWER", "/audit/compare?a={0}&b={0}", "/audit/changes?entry={0}"])
def test_what_is_at_the_foot_is_what_the_page_shows(opened: Opened, server: PageServer, entry: str, path: str) -> None:
    """The twins of a page that was asked something are asked the same."""
    with_key(opened.page, server)
    watch(opened, server, path.format(entry))
    asked = opened.page.eval_on_selector_all("footer a", "all => all.map(each => each.getAttribute('href'))")
    wanted = path.format(entry).split("?")[1].split("&")
    assert [
        each for each in asked if "log." not in each and not set(wanted) <= set(each.split("?")[-1].split("&"))
    ] == []
    for each in asked:
        assert opened.page.evaluate("path => fetch(path).then(reply => reply.status)", each) == 200, each


def test_two_entries_are_compared(chromium: Browser, opened: Opened, server: PageServer, entry: str) -> None:
    context = chromium.new_context()
    asker = Opened(context.new_page())
    watch(asker, server)
    asker.ask("What was the population of Shawnee County in 1940?")
    other = asker.page.inner_text("#entry-id")
    context.close()
    with_key(opened.page, server)
    watch(opened, server, f"/audit/{entry}")
    opened.page.fill("#other", other)
    opened.page.press("#other", "Enter")
    opened.page.wait_for_selector("#compared table", timeout=30_000)
    assert f"a={entry}&b={other}" in opened.page.url
    row = opened.page.locator("#compared tr:has(th:text-is('Answer'))")
    assert "differs" in row.inner_text()
    assert row.locator("mark").count() == 2
    assert "same" in opened.page.inner_text("#compared tr:has(th:text-is('Policy bundle'))")
    opened.page.fill("#b", entry)
    opened.page.press("#b", "Enter")
    opened.page.wait_for_function(
        "() => document.querySelector('#compared table') && !document.querySelector('#compared .differs')"
    )


def test_since_when_an_answer_is_another(opened: Opened, server: PageServer, entry: str) -> None:
    """Nothing has changed on this server, so a change is put into what the API says; the rest is as it is."""
    with_key(opened.page, server)
    watch(opened, server, f"/audit/{entry}")
    opened.page.click("#changes")
    opened.page.wait_for_selector("#found blockquote", timeout=60_000)
    assert opened.page.url.endswith(f"/audit/changes?entry={entry}")
    assert "has never changed" in opened.page.inner_text("#found")
    opened.page.click("#found summary")
    assert opened.page.locator(f"#found a[href='/audit/{entry}']").count() == 1

    def changed(route: Route) -> None:
        told = route.fetch().json()
        one, bundle = told["entries"][0], "sha256:" + "0" * 64
        cause = {
            "status": "explained",
            "text": "With policy of the second entry alone.",
            "causes": ["policy"],
            "effects": [],
        }
        later = one | {"outcome": "ABSTAIN", "policy": bundle}
        route.fulfill(json=told | {"changes": [{"before": one, "after": later, "explanation": cause}]})

    opened.page.route(f"**/entries/{entry}/changes", changed)
    opened.page.press("#entry", "Enter")
    opened.page.wait_for_selector("#changes", timeout=30_000)
    said = opened.page.inner_text("#changes")
    assert "ANSWER became ABSTAIN" in said and "With policy" in said and "000000000000" in said
    assert opened.page.get_attribute("#changes p a", "href") == f"/audit/compare?a={entry}&b={entry}"


def test_who_asked_reads_and_verifies_the_own_entry_without_a_key(
    opened: Opened, server: PageServer, entry: str
) -> None:
    watch(opened, server, f"/audit/{entry}")
    assert "85,200" in opened.page.inner_text("[data-proved=answer]")
    assert verdict(opened.page) == ("verified", None)


def test_an_entry_that_does_not_exist_is_told(opened: Opened, server: PageServer) -> None:
    watch(opened, server, "/audit/01a2031f-1fc5-776c-bb33-2bf6a0c1861e")
    assert "NOT_FOUND" in opened.page.inner_text("#fault")
    assert opened.page.is_disabled("#verify")


def test_another_key_does_not_verify(opened: Opened, server: PageServer, entry: str) -> None:
    watch(opened, server, f"/audit/{entry}")
    name = opened.page.input_value("#vkeys").split("+")[0]
    opened.page.fill("#vkeys", str(SigningKey.from_seed(name, bytes(32)).verifier))
    assert verdict(opened.page) == ("failed", "signature")
    opened.page.fill("#vkeys", "no key")
    assert verdict(opened.page) == ("failed", "key")


def test_an_answer_that_was_changed_on_its_way_is_named(opened: Opened, server: PageServer, entry: str) -> None:
    def changed(route: Route) -> None:
        text = route.fetch().text().split("\n")
        body = json.loads(base64.b64decode(text[1].removeprefix("extra ")))
        [part] = [each for each in body["disclosures"] if each["name"] == "answer"]
        part["bytes"] = base64.b64encode(base64.b64decode(part["bytes"]).replace(b"85,200", b"85,201")).decode()
        packed = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
        text[1] = "extra " + base64.b64encode(packed).decode()
        route.fulfill(body="\n".join(text), content_type="text/plain")

    opened.page.route(f"**/entries/{entry}/receipt", changed)
    watch(opened, server, f"/audit/{entry}")
    assert "85,201" in opened.page.inner_text("[data-proved=answer]")
    assert verdict(opened.page) == ("failed", "commitment")


def test_a_saved_answer_is_held_against_its_promise(opened: Opened, server: PageServer) -> None:
    question = json.dumps({"question": QUESTION}).encode()
    asked = urllib.request.Request(f"{server.origin}/api/v1/ai/query", question, {"content-type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as response:
        body = json.loads(response.read())
    watch(opened, server, f"/audit/{body['provenance']['entry_id']}")
    other = body | {"answer": body["answer"].replace("85,200", "85,201")}
    unsigned = body | {"promise": body["promise"] | {"rseq": body["promise"]["rseq"] + 1}}
    for saved, found in (
        (body, ("verified", None)),
        *((each, ("failed", "promise")) for each in (other, unsigned, {}, [])),
    ):
        file = {"name": "answer.json", "mimeType": "application/json", "buffer": json.dumps(saved).encode()}
        opened.page.set_input_files("#saved", file)  # type: ignore[arg-type]
        assert verdict(opened.page) == found
        assert opened.page.locator("#steps [data-step=promise]").count() == 1


def test_words_that_were_changed_on_the_page_are_named(opened: Opened, server: PageServer, entry: str) -> None:
    watch(opened, server, f"/audit/{entry}")
    opened.page.evaluate("document.querySelector('[data-proved=answer]').textContent = 'Nobody lived there.'")
    assert verdict(opened.page) == ("failed", "page")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_keeps_anyone_out(chromium: Browser, server: PageServer, entry: str, theme: str, width: int) -> None:
    context = chromium.new_context(color_scheme=theme, viewport={"width": width, "height": 900}, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    with_key(page, server)
    for path in ("/audit", f"/audit/compare?a={entry}&b={entry}", f"/audit/changes?entry={entry}", f"/audit/{entry}"):
        watch(Opened(page), server, path)
        page.add_script_tag(path=str(AXE))
        if path == f"/audit/{entry}":
            verdict(page)
            page.click("#replay-form button")
            page.wait_for_selector("#replayed .good", timeout=60_000)
            ends, begins = (page.locator(each).bounding_box() for each in ("#replayed", "#compare-heading"))
            assert ends is not None
            assert begins is not None
            assert begins["y"] - ends["y"] - ends["height"] >= 16
            assert page.locator("footer a").all_inner_texts() == [f"/audit/{entry}.json", f"/audit/{entry}.csv"]
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.parametrize("role", ["auditor", "policy_author", "admin"])
def test_the_page_of_an_entry_asks_for_nothing_that_its_reader_may_not_see(
    opened: Opened, server: PageServer, entry: str, role: str
) -> None:
    """A refusal stands in the browser's console, and reads like a fault of the page."""
    store = key_store(load({}, home=server.home))
    signed_in(opened.page, server, store.create(name=role, tenant="default", roles=(role, "auditor"))[1])
    entries = [entry]
    for kind in ("intent", "config"):
        with urllib.request.urlopen(asked_for(server, f"/api/v1/ledger/entries?kind={kind}"), timeout=30) as response:
            entries += [each["entry_id"] for each in json.load(response)["entries"][:1]]
    refused: list[str] = []
    opened.page.on("response", lambda told: refused.append(told.url) if told.status >= 400 else None)
    for entry_id in entries:
        opened.page.goto(f"{server.origin}/audit/{entry_id}")
        opened.page.wait_for_selector("html[data-state=ready]", timeout=60_000)
        opened.page.wait_for_load_state("networkidle")
    assert refused == []


def asked_for(server: PageServer, path: str) -> urllib.request.Request:
    """A request of the auditor."""
    return urllib.request.Request(server.origin + path, headers={"authorization": f"Bearer {server.keys['auditor']}"})
