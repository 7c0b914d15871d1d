// The page `/audit/changes`: since when a question is answered differently, and by what. All of it comes from
// `GET /api/v1/ledger/entries/{id}/changes`, which the command `exhibit ledger bisect` prints too.
import { fault, get, keyForm, query } from "./api.js";
import { byId, h } from "./dom.js";
import { foot, twin } from "./links.js";
import { pathOf } from "./proving.js";
import { table } from "./table.js";
import { say, words } from "./text.js";

const w = words.changes, SHORT = 12;

const entryOf = each => h("a", { href: `/audit/${each.entry_id}` }, h("time", { dateTime: each.time }, each.time.slice(0, 19).replace("T", " ")));
const bundleOf = each => (each.policy ? h("code", { title: each.policy }, each.policy.replace("sha256:", "").slice(0, SHORT)) : "–");

function changeOf({ before, after, explanation }) {
  return h("li", {}, h("h3", {}, `${w.since} `, entryOf(after)),
    h("p", {}, say(w.turned, { before: before.outcome, after: after.outcome }), " ",
      h("a", { href: query("/audit/compare", { a: before.entry_id, b: after.entry_id }) }, w.compare)),
    h("p", { className: "cause" }, explanation.text),
    before.policy === after.policy ? null : h("p", { className: "hint" }, `${w.bundle}: `, bundleOf(before), " → ", bundleOf(after)));
}

function* shown({ question, entries, changes }) {
  yield h("blockquote", {}, question);
  yield h("p", {}, say(changes.length ? w.counted : w.same, { entries: entries.length, changes: changes.length }));
  if (changes.length) yield h("ol", { id: "changes", className: "timeline" }, changes.map(changeOf));
  yield h("details", {}, h("summary", {}, w.entries),
    table(w.entries, [w.recorded, w.outcome, w.bundle], entries.map(each => [entryOf(each), each.outcome, bundleOf(each)])));
}

async function show() {
  const id = new URLSearchParams(location.search).get("entry")?.trim() ?? "";
  byId("entry").value = id;
  byId("found").replaceChildren();
  byId("twins").hidden = true;
  for (const path of ["/audit/changes.json", "/audit/changes.csv"]) foot(path, query(path, { entry: id }));
  if (id) {
    byId("changes-state").textContent = w.working;
    try {
      byId("found").replaceChildren(...shown(await get(`${pathOf(id)}/changes`)));
      twin("json", query("/audit/changes.json", { entry: id }), `${id}.changes.json`, "application/json");
      twin("csv", query("/audit/changes.csv", { entry: id }), `${id}.changes.csv`, "text/csv");
      byId("twins").hidden = false;
    } catch (error) {
      byId("found").replaceChildren(fault(error));
      if (error.status === 401 || error.status === 403) key.open();
    }
    byId("changes-state").textContent = "";
  }
  document.documentElement.dataset.state = "ready";
}

byId("changes-form").addEventListener("submit", event => {
  event.preventDefault();
  history.pushState(null, "", query("/audit/changes", { entry: byId("entry").value.trim() }));
  show();
});
addEventListener("popstate", show);
const key = keyForm(() => show());
show();
