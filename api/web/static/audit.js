// The page `/audit`: a search of the ledger, whose address is the search.
import { fault, get, keyForm, query } from "./api.js";
import { byId, h } from "./dom.js";
import { twin } from "./links.js";
import { say, words } from "./text.js";

const w = words.audit, PAGE = 50, DAY = /^\d{4}-\d{2}-\d{2}$/;
const form = byId("filters");

// Outcomes, unless the address says which kind. Asked for a time, the API says outcome, model and rules of each.
const DEFAULTS = { kind: "outcome", since: "1970-01-01" };

// What the address asks for, as the API takes it: a day begins at midnight, UTC.
function wanted() {
  const given = { ...DEFAULTS, ...Object.fromEntries(new URLSearchParams(location.search)) };
  if (given.kind === "any") delete given.kind;
  for (const name of ["since", "until"]) if (DAY.test(given[name] ?? "")) given[name] += "T00:00:00Z";
  return { limit: PAGE, ...given };
}

function fill() {
  const given = new URLSearchParams(location.search);
  for (const field of form.elements) if (field.name) field.value = given.get(field.name) ?? (field.name === "kind" ? DEFAULTS.kind : "");
}

function go(values) {
  history.pushState(null, "", query("/audit", values));
  fill();
  show();
}

function row(entry) {
  const time = new Date(entry.t_ms).toISOString();
  return h("tr", {}, h("td", {}, h("time", { dateTime: time }, time.slice(0, 19).replace("T", " "))),
    h("td", {}, entry.outcome ?? entry.kind), h("td", {}, (entry.rules ?? []).join(", ")), h("td", {}, entry.model ?? ""),
    h("td", {}, h("a", { href: `/audit/${entry.entry_id}` }, h("code", {}, entry.entry_id))));
}

const table = entries => h("div", { className: "table", tabIndex: 0, role: "region", "aria-label": w.results }, h("table", {},
  h("thead", {}, h("tr", {}, [w.time, w.outcome, w.rule, w.model, w.entry].map(name => h("th", { scope: "col" }, name)))),
  h("tbody", {}, entries.map(row))));

// Values that occur on this page and how often; each narrows the search.
function facetsOf(entries) {
  const counts = new Map();
  const count = (name, value) => value && counts.set(`${name} ${value}`, (counts.get(`${name} ${value}`) ?? 0) + 1);
  for (const each of entries) {
    count("kind", each.kind);
    count("outcome", each.outcome);
    count("model", each.model);
    (each.rules ?? []).forEach(rule => count("rule", rule));
  }
  const given = Object.fromEntries(new URLSearchParams(location.search)), chosen = wanted();
  return [...counts].filter(([key]) => !chosen[key.split(" ")[0]]).sort(([, a], [, b]) => b - a).slice(0, 16).map(([key, many]) => {
    const [name, ...value] = key.split(" ");
    const { after, ...kept } = given;
    return h("button", { type: "button", onclick: () => go({ ...kept, [name]: value.join(" ") }) }, `${w[name]}: ${value.join(" ")} (${many})`);
  });
}

async function show() {
  const asked = wanted();
  byId("status").textContent = words.site.loading;
  twin("json", query("/audit.json", asked), "audit.json", "application/json");
  twin("csv", query("/audit.csv", asked), "audit.csv", "text/csv");
  try {
    const { entries, next } = await get(query("/api/v1/ledger/entries", asked));
    byId("results").replaceChildren(entries.length ? table(entries) : h("p", {}, w.none));
    byId("facets").replaceChildren(...facetsOf(entries));
    byId("status").textContent = say(w.count, { count: entries.length });
    const { after, ...kept } = Object.fromEntries(new URLSearchParams(location.search));
    for (const [id, shown, values] of [["next", next !== null, { ...kept, after: next }], ["first", after !== undefined, kept]]) {
      byId(id).hidden = !shown;
      byId(id).href = query("/audit", values);
    }
  } catch (error) {
    byId("status").textContent = "";
    byId("facets").replaceChildren();
    byId("results").replaceChildren(fault(error));
    if (error.status === 401 || error.status === 403) key.open();
  }
  document.documentElement.dataset.state = "ready";
}

const key = keyForm(() => show());
form.addEventListener("submit", event => { event.preventDefault(); go(Object.fromEntries(new FormData(form))); });
form.addEventListener("reset", event => { event.preventDefault(); go({}); });
addEventListener("popstate", () => { fill(); show(); });
fill();
show();
