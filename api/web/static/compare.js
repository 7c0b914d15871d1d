// The page `/audit/compare`: two entries beside each other, in what they differ, and what explains the answer. All of it
// comes from `GET /api/v1/ledger/difference`, which the command `exhibit ledger diff` prints too.
import { fault, get, keyForm, query } from "./api.js";
import { byId, h } from "./dom.js";
import { foot } from "./links.js";
import { line, rows, wide } from "./table.js";
import { words } from "./text.js";

const w = words.compare, SIDES = ["a", "b"];

// Lines of one side, those that the other does not have marked.
const lines = (mine, theirs) => mine.map(line => h("div", {}, theirs.includes(line) ? line : h("mark", {}, line)));

function tableOf(entries, compared) {
  const names = [w.what, w.difference, w.one, w.other];
  const heads = entries.map(each => h("a", { href: `/audit/${each.entry_id}` }, h("code", {}, each.entry_id)));
  return wide(w.title, rows([w.what, w.difference, ...heads], compared.map(({ name, same, one, other }) =>
    line(names, [w[name], same ? w.same : w.differs, lines(one, other), lines(other, one)], { className: same ? "same" : "differs", head: true })), "beside"));
}

function explanationOf({ text, effects }) {
  const told = effects.map(({ name, effect }) => h("tr", {}, h("th", { scope: "row" }, w[name] ?? name), h("td", {}, w[effect])));
  const table = wide(w.explanation, h("table", {},
    h("thead", {}, h("tr", {}, [w.what, w.alone].map(each => h("th", { scope: "col" }, each)))), h("tbody", {}, told)));
  return h("section", { id: "explanation" }, h("h2", {}, w.explanation), h("p", {}, text), effects.length ? table : null);
}

async function show() {
  const given = new URLSearchParams(location.search), ids = SIDES.map(side => given.get(side)?.trim() ?? "");
  SIDES.forEach((side, at) => { byId(side).value = ids[at]; });
  byId("compared").replaceChildren();
  for (const path of ["/audit/compare.json", "/audit/compare.csv"]) foot(path, query(path, { a: ids[0], b: ids[1] }));
  if (ids.every(Boolean)) {
    try {
      const found = await get(query("/api/v1/ledger/difference", { a: ids[0], b: ids[1] }));
      byId("compared").replaceChildren(tableOf(found.entries, found.rows), explanationOf(found.explanation));
    } catch (error) {
      byId("compared").replaceChildren(fault(error));
      if (error.status === 401 || error.status === 403) key.open();
    }
  }
  document.documentElement.dataset.state = "ready";
}

byId("compare-form").addEventListener("submit", event => {
  event.preventDefault();
  history.pushState(null, "", query("/audit/compare", Object.fromEntries(SIDES.map(side => [side, byId(side).value.trim()]))));
  show();
});
addEventListener("popstate", show);
const key = keyForm(() => show());
show();
