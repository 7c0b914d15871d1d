// The page of an entry: what was asked, decided, read and answered, in order, and its proof.
import { fault, get, keyForm, may, query, text } from "./api.js";
import { byId, facts, h, save } from "./dom.js";
import { twin } from "./links.js";
import { provGraph } from "./prov.js";
import { intentOf, partsOf, pathOf, prove } from "./proving.js";
import { replayForm } from "./replay.js";
import { say, words } from "./text.js";

const w = words.entry, id = location.pathname.split("/").at(-1);
const optional = work => work.catch(() => null);
const refused = error => [401, 403, 404].includes(error.status);
let shown = null;

const moment = (heading, ...children) => h("li", {}, h("h2", {}, heading), ...children);
const quoted = (said, name) => h("blockquote", { "data-proved": name }, said);

function leafOf(entry) {
  return facts([
    [w.recorded, new Date(entry.t_ms).toISOString()], [w.index, String(entry.index)], [w.hash, h("code", {}, entry.leaf_hash)],
    [w.request, h("code", {}, entry.request_id)], [w.parts, entry.parts.join(", ")],
    [w.refs, entry.refs.length ? h("span", {}, entry.refs.map(ref => [`${ref.rel} `, h("a", { href: `/audit/${ref.entry_id}` }, ref.entry_id), " "]).flat()) : null],
  ]);
}

// Duties with what their rule says, where the bundle that decided is in force still: an older one's rules are not known here.
const duty = (each, titles) => (titles?.has(each.rule) ? say(w.duty, { ...each, title: titles.get(each.rule) }) : `${each.op} (${each.rule})`);

function decisionOf(decision, bundle) {
  const titles = bundle?.bundle_digest === decision.stamp.bundle ? new Map(bundle.rules.map(rule => [rule.id, rule.title])) : null;
  return h("li", {}, say(w.decision, decision), decision.admit.length ? `, ${say(w.admitted, { count: decision.admit.length })}` : "",
    decision.reasons.length ? h("ul", {}, decision.reasons.map(each => h("li", {}, [each.text, " ", h("code", {}, [each.rule, each.code].filter(Boolean).join(" "))]))) : null,
    decision.obligations.length ? h("p", { className: "hint" }, `${w.obligations}: ${decision.obligations.map(each => duty(each, titles)).join(", ")}`) : null);
}

function* timeline({ entry, question, decisions, undecided, bundle, sources, body }) {
  if (question !== null) yield moment(w.question, quoted(question, "question"));
  if (entry.kind === "outcome" || decisions) {
    yield moment(w.decisions, decisions ? [h("ol", {}, decisions.map(each => decisionOf(each, bundle))), h("p", {}, h("a", { href: `/policy?entry=${id}` }, w.why))] : undecided ? fault(undecided) : h("p", { className: "hint" }, w.decisions_none));
  }
  if (sources.length) {
    yield moment(w.sources, h("ol", {}, sources.map(([n, source]) => h("li", { value: n }, source.title, source.text ? quoted(source.text, `sources/${n}`) : null))));
  }
  if (body) {
    yield moment(w.answer, quoted(body.answer, "answer"), h("p", {}, `${w.outcome}: `, h("strong", {}, body.outcome), " ",
      body.reason_codes.map(code => h("code", {}, code))));
  }
  yield moment(w.recorded, leafOf(entry));
}

// The receipt, the parts that it discloses, and what is wrong with one that is damaged: the rest of the entry is shown all the same.
async function receiptOf() {
  let receipt = "";
  try {
    receipt = await text(`${pathOf(id)}/receipt`);
    return { receipt, parts: partsOf(receipt), broken: null };
  } catch (error) {
    if ([401, 403].includes(error.status)) throw error;
    return { receipt, parts: new Map(), broken: say(w.receipt_broken, { detail: error.words ?? error.message }) };
  }
}

// The receipt discloses what this reader may see; the page shows just that.
async function load() {
  const entry = await get(pathOf(id)), { receipt, parts, broken } = await receiptOf();
  const intent = await intentOf(entry);
  const question = parts.get("question") ?? (intent ? await optional(text(`${pathOf(intent.id)}/parts/question`)) : null);
  let undecided = null;
  const decided = entry.parts.some(name => name.startsWith("policy.")) && await may("policy.author");
  const decisions = decided && await get(`/api/v1/policy/decisions/${encodeURIComponent(id)}`).catch(error => { undecided = refused(error) ? null : error; });
  const bundle = decisions ? await optional(get("/api/v1/policy/bundle")) : null;
  const answer = parts.get("answer");
  const numbered = [...parts].filter(([name]) => name.startsWith("sources/")).map(([name, data]) => [Number(name.slice(8)), JSON.parse(data)]);
  return { entry, receipt, broken, question, decisions: decisions?.decisions ?? null, undecided, bundle, intent,
    body: answer ? JSON.parse(answer) : null, sources: numbered.sort(([a], [b]) => a - b) };
}

const FIELDS = { answer: "answer" };

function onPage(parts) {
  const recorded = name => (name === "question" || !parts.has(name) ? parts.get(name) : JSON.parse(parts.get(name))[FIELDS[name] ?? "text"]);
  return [...document.querySelectorAll("[data-proved]")].map(each => [each.dataset.proved, each.textContent, recorded(each.dataset.proved)]);
}

async function show() {
  byId("id").textContent = id;
  byId("changes").href = query("/audit/changes", { entry: id });
  twin("json", `/audit/${id}.json`, `${id}.json`, "application/json");
  twin("prov", `${pathOf(id)}/prov`, `${id}.prov.json`, "application/json");
  byId("fault").replaceChildren(h("p", { className: "hint", role: "status" }, words.site.loading));
  byId("main").classList.remove("refused");
  try {
    shown = await load();
    byId("fault").replaceChildren(...(shown.broken ? [h("p", { className: "fault", role: "alert" }, shown.broken)] : []));
    byId("timeline").replaceChildren(...timeline(shown));
    if (!byId("vkeys").value) byId("vkeys").value = (await text("/api/v1/ledger/vkeys")).trim();
    byId("verify").disabled = byId("save").disabled = false;
    const prov = shown.entry.parts.includes("prov") && await may("ledger.audit") ? await optional(get(`${pathOf(id)}/prov`)) : null;
    byId("prov-graph").replaceChildren(...(prov ? provGraph(prov) : [h("p", { className: "hint" }, w.prov_none)]));
  } catch (error) {
    byId("main").classList.add("refused");
    byId("fault").replaceChildren(fault(error));
    if (error.status === 401 || error.status === 403) key.open();
  }
  document.documentElement.dataset.state = "ready";
}

// The body that the reader saved, with its promise; something else than JSON has none.
async function saved() {
  const [file] = byId("saved").files;
  if (!file) return null;
  try { return Object(JSON.parse(await file.text())); } catch { return {}; }
}

byId("verify").addEventListener("click", async () => {
  byId("result").dataset.state = "working";
  await prove({ id, receipt: shown.receipt, intent: shown.intent, vkeys: byId("vkeys").value, shown: onPage, body: await saved() });
});
byId("compare-form").addEventListener("submit", event => {
  event.preventDefault();
  location.assign(query("/audit/compare", { a: id, b: byId("other").value.trim() }));
});
byId("save").addEventListener("click", () => save(`${id}.receipt`, shown.receipt, "text/plain"));
const key = keyForm(() => show());
replayForm(id, () => key.open());
show();
