// The page `/policy`: the bundle in force, roles against labels, rules, an entry or an input tried, candidates, changes.
import { fault, get, keyForm, post, typed } from "./api.js";
import { byId, facts, h } from "./dom.js";
import { twin } from "./links.js";
import { Candidate } from "./candidate.js";
import { moment, table, wide } from "./table.js";
import { say, words } from "./text.js";

const w = words.policy, P = "/api/v1/policy";
const short = digest => h("code", { title: digest }, `${digest.slice(0, 19)}…`);
const shown = value => w[`cell_${value}`] ?? value;

function force(bundle) {
  return facts([[w.digest, h("code", {}, bundle.bundle_digest)], [w.engine, bundle.engine], [w.shadow, bundle.shadow ? short(bundle.shadow) : w.none],
    [w.files, String(Object.keys(bundle.files).length)], [w.rules, String(bundle.rules.length)]]);
}

function matrixOf({ labels, tags, cells }) {
  const body = Object.entries(cells).map(([role, row]) => h("tr", {}, h("th", { scope: "row" }, role), row.map(cell => h("td", { className: `cell ${cell === "visible" || cell === "hidden" ? cell : "obliged"}` }, shown(cell)))));
  return wide(w.matrix, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, w.role), [...labels, ...tags].map(name => h("th", { scope: "col" }, name)))), h("tbody", {}, body)));
}

const rulesOf = ({ rules }) => table(w.rules, [w.rule, w.code, w.severity, w.title_column, w.reader, w.owner, w.file, w.spoke],
  rules.map(each => [each.id, h("code", {}, each.code), each.severity, each.title, each.reader, each.owner, h("code", {}, `${each.file}:${each.row}`), each.spoke === null ? "–" : String(each.spoke)]));

const flipOf = flip => say(w.flip, { becomes: flip.becomes, changes: flip.changes.map(each => `${each.what} ${each.value}`).join(" + ") });

function explanationOf(found) {
  const rows = found.candidates.map(each => [each.title || each.record_id, h("code", {}, each.record_id), each.verdict, each.stage,
    each.because.map(reason => h("div", {}, h("code", {}, `${reason.rule} ${reason.code}`), ` ${Object.entries(reason.facts).map(([name, value]) => `${name} ${[value].flat().join("+") || "–"}`).join(", ")}`)),
    each.flip ? flipOf(each.flip) : "–"]);
  const reasons = found.request.reasons.map(each => h("li", {}, each.text, " ", h("code", {}, `${each.rule} ${each.code}`)));
  return [facts([[w.outcome, found.outcome], [w.digest, short(found.policy)], [w.effect, found.request.effect], [w.request_flip, found.request.flip ? flipOf(found.request.flip) : null]]),
    reasons.length ? h("ul", {}, reasons) : null,
    rows.length ? table(w.explanation, [w.source, w.item, w.verdict, w.stage, w.because, w.smallest], rows) : h("p", {}, w.explanation_none)].filter(Boolean);
}

const itemOf = ({ kind, ref }) => `${kind} ${ref}`.trim();

// Every rule of the point, and what it spoke of.
function traceOf(found) {
  const spoke = found.trace.filter(each => each.spoke.length).length;
  return h("details", {}, h("summary", {}, say(w.rules_asked, { count: found.trace.length, spoke })),
    table(w.rules_traced, [w.rule, w.code, w.severity, w.title_column, w.target], found.trace.map(each => [h("code", {}, each.rule), h("code", {}, each.code), each.severity, each.title,
      each.spoke.length ? each.spoke.map(itemOf).join(", ") : "–"])));
}

// The smallest change of each item, which can be made in the input and tried.
function flipsOf(found) {
  const make = flip => { byId("input").value = JSON.stringify(changed(typed(byId("input").value), flip), null, 2); byId("evaluate-form").requestSubmit(); };
  return found.flips.length ? table(w.flips, [w.item, w.verdict, w.smallest, w.digest, w.flip_make], found.flips.map(each => [itemOf(each.item), each.before, flipOf(each), short(each.input_digest),
    h("button", { type: "button", onclick: () => make(each) }, w.flip_make)])) : h("p", {}, w.flips_none);
}

// The input with the fields of a flip set.
function changed(input, flip) {
  for (const [pointer, value] of flip.changes.flatMap(each => Object.entries(each.sets))) {
    const path = pointer.split("/").slice(1), last = path.pop();
    path.reduce((place, part) => place[part], input)[last] = value;
  }
  return input;
}

function decisionOf(found) {
  const reasons = found.reasons.map(each => [h("code", {}, each.rule), h("code", {}, each.code), each.severity, `${each.target.kind} ${each.target.ref}`, each.text]);
  return [facts([[w.effect, found.effect], [w.admitted, found.admit.join(", ") || w.none], [w.obligations, found.obligations.map(each => `${each.op} (${each.rule}) ${each.target.ref}`).join("; ") || w.none]]),
    reasons.length ? table(w.trace, [w.rule, w.code, w.severity, w.target, w.reader], reasons) : h("p", {}, w.trace_none), traceOf(found), flipsOf(found)];
}

const changesOf = changes => (changes.length ? table(w.changes, [w.time, w.action, w.after, w.by, w.why, w.entry_column], changes.map(each => [moment(each.t_ms), each.action,
  short(each.after), each.by ?? "–", each.why || "–", h("a", { href: `/audit/${each.entry_id}` }, h("code", {}, each.entry_id))])) : h("p", { className: "hint" }, w.changes_none));

async function showReleases() {
  const found = await get(`${P}/releases`);
  byId("changes").replaceChildren(changesOf(found.changes));
  byId("names").replaceChildren(...found.candidates.map(name => h("option", { value: name })));
  const others = found.archived.filter(each => each !== found.active);
  byId("archived").replaceChildren(...others.map(each => h("option", { value: each }, each)));
  byId("rollback-form").hidden = !others.length;
  // Any later publication makes a proposal void.
  const latest = found.changes.find(each => each.action !== "taken up");
  const open = latest?.action === "propose" ? latest : null;
  byId("accept-form").hidden = !open;
  byId("accept-form").dataset.digest = open?.after ?? "";
  byId("proposed").textContent = open ? say(w.proposed, { digest: open.after }) : "";
  byId("second").replaceChildren(byId("second").querySelector("legend"), ...(open?.widenings ?? []).map(each =>
    h("label", { className: "check" }, h("input", { type: "checkbox", name: "second", value: each, required: true }), each)));
}

async function show() {
  twin("json", "/policy.json", "policy.json", "application/json");
  byId("fault").replaceChildren(h("p", { className: "hint", role: "status" }, words.site.loading));
  byId("main").classList.remove("refused");
  try {
    const bundle = await get(`${P}/bundle`);
    const [matrix, rules] = await Promise.all([get(`${P}/matrix`), get(`${P}/rules`)]);
    byId("fault").replaceChildren();
    byId("force").replaceChildren(force(bundle));
    byId("matrix").replaceChildren(matrixOf(matrix));
    byId("rules").replaceChildren(rulesOf(rules));
    byId("rules-count").textContent = say(w.rules_count, { count: rules.rules.length });
    byId("rules-hint").textContent = rules.entries === null ? w.spoke_hidden : say(w.spoke_hint, { count: rules.entries });
    await showReleases();
    const { data } = await get(`${P}/data`);
    candidate.inForce(JSON.stringify(data, null, 2));
  } catch (error) {
    byId("main").classList.add("refused");
    byId("fault").replaceChildren(fault(error));
    if (error.status === 401 || error.status === 403) key.open();
  }
  document.documentElement.dataset.state = "ready";
}

// Work that a form starts; what goes wrong is told in `into`.
function onSubmit(form, into, work) {
  byId(form).addEventListener("submit", async event => {
    event.preventDefault();
    try { byId(into).replaceChildren(...[await work()].flat()); } catch (error) { byId(into).replaceChildren(fault(error)); }
  });
}

// The server takes a change up within a second; the page waits until it decides.
async function takenUp(change) {
  if (change.state === "proposed") await show();
  if (change.state === "proposed") return void byId("change-state").replaceChildren(say(w.proposed, { digest: change.bundle_digest }));
  for (let waited = 0; waited < 20 && (await get(`${P}/bundle`)).bundle_digest !== change.bundle_digest; waited += 1) await new Promise(done => setTimeout(done, 250));
  await show();
  const entry = change.entry_id ? h("a", { href: `/audit/${change.entry_id}` }, change.entry_id) : w.none;
  byId("change-state").replaceChildren(say(w.changed, { digest: change.bundle_digest }), " ", entry);
}

// The recorded input of the chosen point, for those who may read it, to be changed and tried.
async function fillInput(entry) {
  const found = await get(`${P}/decisions/${entry}`).catch(() => ({ decisions: [] }));
  const recorded = found.decisions.find(each => each.point === byId("point").value)?.input;
  if (recorded) byId("input").value = JSON.stringify(recorded, null, 2);
}

onSubmit("explain-form", "explanation", async () => {
  const wanted = encodeURIComponent(byId("entry").value.trim());
  await fillInput(wanted);
  return explanationOf(await get(`${P}/explanations/${wanted}`));
});
byId("point").addEventListener("change", () => byId("entry").value && fillInput(encodeURIComponent(byId("entry").value.trim())));
onSubmit("evaluate-form", "decision", async () => decisionOf(await post(`${P}/evaluate`, { point: byId("point").value, input: typed(byId("input").value) })));
onSubmit("accept-form", "change-state", async () => {
  const accept = [...document.querySelectorAll("input[name=second]:checked")].map(each => each.value);
  await takenUp(await post(`${P}/accept`, { bundle_digest: byId("accept-form").dataset.digest, accept, why: byId("accept-why").value }));
});

onSubmit("rollback-form", "change-state", async () => {
  await takenUp(await post(`${P}/rollback`, { bundle_digest: byId("archived").value, why: byId("rollback-why").value }));
  return [...byId("change-state").childNodes];
});
const candidate = new Candidate(takenUp);
const key = keyForm(() => show());
const entry = new URLSearchParams(location.search).get("entry");
await show();
if (entry) {
  byId("entry").value = entry;
  byId("explain-form").requestSubmit();
}
