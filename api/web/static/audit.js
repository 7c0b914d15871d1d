// The page `/audit`: a search of the ledger, whose address is the search.
import { fault, get, keyForm, query } from "./api.js";
import { byId, facts, h } from "./dom.js";
import { foot, twin } from "./links.js";
import { moment, table } from "./table.js";
import { clipped, say, words } from "./text.js";

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
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = given.get(field.name) ?? (field.name === "kind" ? DEFAULTS.kind : "");
    if (field.options && ![...field.options].some(each => each.value === value)) field.append(h("option", {}, value)); // or a search would lose it
    field.value = value;
  }
}

function go(values) {
  history.pushState(null, "", query("/audit", values));
  fill();
  show();
}

const COLUMNS = [w.time, w.question, w.outcome, w.rule, w.model, w.entry];
const found = entries => table(w.results, COLUMNS, entries.map(each => [moment(each.t_ms), each.damaged ? h("span", { className: "fault" }, w.damaged_part) : clipped(each.summary?.question ?? ""), each.outcome ?? each.kind,
  (each.rules ?? []).join(", "), each.model ?? "", h("a", { href: `/audit/${each.entry_id}` }, h("code", {}, each.entry_id))]));

// Values of all entries that match and how often they occur; each is the address of the narrower search.
function facetsOf({ facets, complete }) {
  const { after, ...given } = Object.fromEntries(new URLSearchParams(location.search)), chosen = wanted();
  const link = (values, text, label) => h("a", { href: query("/audit", values), "aria-label": label, onclick: event => { event.preventDefault(); go(values); } }, text);
  const groups = facets.map(({ name, values }) => {
    if (!chosen[name]) return [name, values.map(({ value, count }) => link({ ...given, [name]: value }, `${value} (${count.toLocaleString("en")})`))];
    const kept = { ...given, [name]: name in DEFAULTS ? "any" : "" };
    return [name, [h("strong", {}, chosen[name]), link(kept, w.widen, say(w.widen_label, { name: w[name] }))]];
  }).filter(([, values]) => values.length);
  return [facts(groups.map(([name, values]) => [w[name], h("span", { className: "facets" }, values)])), complete ? "" : h("p", { className: "hint" }, w.incomplete)];
}

const OLD = [["age_days", 86_400], ["age_hours", 3_600], ["age_minutes", 60], ["age_seconds", 1]];

// How long before the reading that was, in the largest unit that fits.
function age(then, now) {
  const seconds = Math.max(0, Math.round((now - then) / 1_000)), [phrase, unit] = OLD.find(([, each]) => seconds >= each) ?? OLD.at(-1);
  return say(w[phrase], { count: Math.floor(seconds / unit) });
}

const when = (then, log) => (then === null ? null : [moment(then), ` (${age(then, log.at_ms)})`]);

function witnessOf(each, log) {
  const said = each.size === null ? w.cosigned_none : [`${say(w.cosigned, { size: each.size.toLocaleString("en") })} `, ...when(each.cosigned_ms, log)];
  return h("li", {}, h("strong", {}, each.name), " ", said);
}

function healthOf(log) {
  const { checkpoint, open_requests: open } = log, requests = open.slice(0, 5).map(each => h("li", {}, h("a", { href: `/audit/${each.entry_id}` }, moment(each.t_ms))));
  return [
    h("p", { className: log.gaps.length ? "fault" : "good" }, log.gaps.length ? log.gaps.map(code => w[`gap_${code}`]).join(" ") : w.gap_none),
    facts([
      [w.origin, h("code", {}, log.origin)], [w.entries, log.entries.toLocaleString("en")],
      [w.checkpoint, checkpoint ? say(w.covers, { size: checkpoint.size.toLocaleString("en") }) : w.checkpoint_none],
      [w.covered_until, checkpoint ? when(checkpoint.newest_ms, log) : null],
      [w.unsigned, log.unsigned ? [log.unsigned.toLocaleString("en"), ", ", say(w.oldest, { age: age(log.unsigned_since_ms, log.at_ms) })] : "0"],
      [w.witnesses, log.quorum === null ? w.witnesses_none : log.quorum ? w.quorum_made : w.quorum_missing],
      [w.open, open.length ? String(open.length) : "0"],
    ]),
    log.witnesses.length ? h("ul", {}, log.witnesses.map(each => witnessOf(each, log))) : "",
    requests.length ? [h("p", { className: "hint" }, w.open_hint), h("ul", {}, requests)] : "",
    h("p", { className: "hint" }, w.log_hint),
  ].flat();
}

async function show() {
  const asked = wanted(), { limit, after, ...named } = asked;
  byId("status").textContent = words.site.loading;
  const twins = { json: ["/audit.json", asked], csv: ["/audit.csv", { ...asked, summary: true }], "facets-json": ["/audit/facets.json", named], "facets-csv": ["/audit/facets.csv", named] };
  for (const [name, [path, values]] of Object.entries(twins)) {
    foot(path, query(path, values));
    twin(name, query(path, values), path.split("/").at(-1), path.endsWith(".csv") ? "text/csv" : "application/json");
  }
  const listed = await part("results", () => showEntries(asked));
  if (!listed.made) for (const id of ["next", "first"]) byId(id).hidden = true;
  if (listed.refused) {
    byId("status").textContent = "";
    for (const id of ["facets", "log"]) byId(id).replaceChildren();
  } else {
    const counted = await part("facets", () => showFacets(named));
    byId("status").textContent = listed.made && counted.made ? say(w.count, { count: listed.made.length, of: counted.made.entries.toLocaleString("en") }) : "";
    await part("log", async () => byId("log").replaceChildren(...healthOf(await get("/api/v1/ledger/health"))));
  }
  document.documentElement.dataset.state = "ready";
}

// A part of the page. What goes wrong with it is told in its place, so that one damaged entry does not hide the log; who may see nothing is
// told once.
async function part(id, work) {
  try { return { made: await work() }; } catch (error) {
    byId(id).replaceChildren(fault(error));
    const refused = error.status === 401 || error.status === 403;
    if (refused) key.open();
    return { refused };
  }
}

async function showEntries(asked) {
  const { entries, damaged, next } = await get(query("/api/v1/ledger/entries", { ...asked, summary: true }));
  const broken = damaged.map(each => h("li", {}, h("code", {}, each.entry_id), ` ${each.damaged}`));
  byId("results").replaceChildren(...(broken.length ? [h("p", { className: "fault" }, w.damaged), h("ul", {}, broken)] : []),
    entries.length ? found(entries) : h("p", {}, w.none));
  const { after: before, ...kept } = Object.fromEntries(new URLSearchParams(location.search));
  for (const [id, shown, values] of [["next", next !== null, { ...kept, after: next }], ["first", before !== undefined, kept]]) {
    byId(id).hidden = !shown;
    byId(id).href = query("/audit", values);
  }
  return entries;
}

async function showFacets(named) {
  const counted = await get(query("/api/v1/ledger/facets", named));
  byId("facets").replaceChildren(...facetsOf(counted));
  return counted;
}

const key = keyForm(() => show());
form.addEventListener("submit", event => { event.preventDefault(); go(Object.fromEntries(new FormData(form))); });
form.addEventListener("reset", event => { event.preventDefault(); go({}); });
addEventListener("popstate", () => { fill(); show(); });
fill();
show();
