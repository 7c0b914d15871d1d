// The page `/`: a question with its context, the answer, its evidence and the map, which light each other.
import "./links.js";
import { fault, get, keyForm, text } from "./api.js";
import { answerOf, featuresOf, plainText, sentenceOf } from "./answer.js";
import { ContextBar } from "./context.js";
import { byId, h } from "./dom.js";
import { openEvidence } from "./evidence.js";
import { helpFor } from "./help.js";
import { keep, showHistory } from "./history.js";
import { intentOf, pathOf, prove } from "./proving.js";
import { streamed } from "./stream.js";
import { Suggestions } from "./suggestions.js";
import { words } from "./text.js";

const w = words.ask;
let map = null, shown = null, asking = null, at = location.search;
const answers = new Map(); // by address, of this page: shown again by Back and Forward, and gone with it
const bar = new ContextBar(() => suggestions.follow(bar.request.context));
const suggestions = new Suggestions(question => { byId("question").value = question; bar.show(); ask(); });

// The citation that is lit in sentences, places, sources and on the map; null for none.
function light(n, place = null) {
  for (const each of document.querySelectorAll("#answer [data-n]")) {
    const lit = n !== null && each.dataset.n.split(" ").includes(String(n));
    each.classList.toggle("lit", lit && (!each.dataset.place || !place || each.dataset.place === place));
    if (each.matches(".chip")) each.setAttribute("aria-pressed", String(lit));
  }
  map?.light(n);
}

function pick(n, opener, place = null) {
  light(n, place);
  const found = shown.body.citations[n].places.find(each => each.place_id === place);
  if (found?.bbox) map?.fit(found.bbox);
  openEvidence(shown.body, n, opener, () => light(null));
}

function show(request, body) {
  clear(request.question, ...answerOf(body, pick, verify, helpFor(request, again)));
  shown = { request, body };
  byId("copy").hidden = false;
  map?.showAnswer(featuresOf(body), body.bbox);
}

// Nothing of an answer stays beside another question: neither its words nor its places, its evidence or what is copied.
function clear(question, ...said) {
  shown = null;
  byId("evidence").hidden = true;
  byId("asked").textContent = question;
  byId("answer-body").replaceChildren(...said);
  byId("copy").hidden = true;
  byId("copy-state").textContent = "";
  map?.showAnswer([], null);
}

const hint = said => h("p", { className: "hint" }, said);

// What is on this page, against what the ledger holds of it.
function onPage(parts) {
  const recorded = parts.has("answer") ? JSON.parse(parts.get("answer")).sentences.map(each => each.text) : [];
  const said = [...document.querySelectorAll("#sentences [data-proved]")].map(each => each.textContent);
  return [["question", shown.request.question, parts.get("question")], ["answer", said.join("\n"), recorded.join("\n")]];
}

async function verify() {
  const id = shown.body.provenance.entry_id;
  try {
    const [entry, receipt, vkeys] = await Promise.all([get(pathOf(id)), text(`${pathOf(id)}/receipt`), text("/api/v1/ledger/vkeys")]);
    await prove({ id, receipt, vkeys: vkeys.trim(), intent: await intentOf(entry), shown: onPage, body: shown.body });
  } catch (error) { byId("result").replaceChildren(fault(error)); }
}

// What happened before the body: a step is named, a sentence is shown.
function tell(event, data) {
  if (event === "stage") byId("status").textContent = w[`stage_${data.stage}`];
  if (event !== "sentence") return;
  if (!byId("sentences")?.dataset.coming) byId("answer-body").replaceChildren(h("div", { id: "sentences", "data-coming": "yes" }));
  byId("sentences").append(sentenceOf(data.sentence, data, () => {}));
}

async function ask() {
  const request = bar.request, address = `?request=${encodeURIComponent(JSON.stringify(request))}`;
  if (!byId("ask").reportValidity()) return;
  asking?.abort();
  asking = new AbortController();
  if (new URL(address, location).search !== location.search) history.pushState(null, "", address);
  at = location.search;
  clear(request.question);
  byId("status").textContent = w.working;
  byId("answer").setAttribute("aria-busy", "true");
  try {
    const body = await streamed(request, { signal: asking.signal, tell });
    answers.set(at, { request, body });
    keep(request, body);
    showHistory(again);
    show(request, body);
  } catch (error) {
    if (error.name === "AbortError") return;
    clear(request.question, fault(error));
  }
  rest();
}

function rest() {
  byId("status").textContent = "";
  byId("answer").removeAttribute("aria-busy");
}

function stop(question, ...said) {
  asking?.abort();
  clear(question, ...said);
  rest();
}

function again(request) {
  bar.request = request;
  ask();
}

async function openMap(layers) {
  if (layers?.length === 0) {
    byId("main").classList.add("mapless");
    byId("map-section").replaceChildren(h("p", { className: "hint" }, w.layers_none));
    return;
  }
  try {
    const { EvidenceMap } = await import("./map.js");
    map = new EvidenceMap(byId("map"));
  } catch {
    byId("map").replaceChildren(h("p", { className: "hint" }, w.no_map));
    return;
  }
  map.addEventListener("pick", event => pick(event.citation, byId("map").querySelector("canvas"), event.place));
  bar.follow(map);
  byId("attribution").textContent = [...new Set((layers ?? []).map(each => each.attribution).filter(Boolean))].join(" · ");
  await map.showLayers(layers ?? []);
  byId("map").dataset.state = "ready";
}

async function load() {
  try {
    const { layers } = await get("/api/v1/layers");
    bar.offerLayers(layers);
    return layers;
  } catch (error) {
    byId("layers").replaceChildren(fault(error));
    return null;
  }
}

// A link to a question holds the request; it is shown, and asked only when its reader says so. So is one that was asked
// before the page was loaded again.
function linked() {
  let request = null;
  try { request = JSON.parse(new URLSearchParams(location.search).get("request")); } catch { /* a link that was cut off */ }
  if (typeof request?.question !== "string") return null;
  bar.request = request;
  return request;
}

// Back and Forward lead through the questions of this page; a leap inside of it (`#main`) is none.
function turned() {
  if (location.search === at) return;
  at = location.search;
  const request = linked(), answered = answers.get(at);
  if (!request) bar.request = { question: "" };
  stop(request?.question ?? "", hint(request ? w.answer_linked : w.answer_empty));
  if (answered) show(answered.request, answered.body);
}

byId("ask").addEventListener("submit", event => { event.preventDefault(); ask(); });
byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(plainText(shown.request.question, shown.body, location.origin));
    byId("copy-state").textContent = w.copied;
  } catch { byId("copy-state").textContent = w.copy_failed; }
});
byId("stop").addEventListener("click", () => { stop(bar.request.question, hint(w.stopped)); byId("question").focus(); });
addEventListener("popstate", turned);
addEventListener("storage", () => showHistory(again)); // what another tab asked, or forgot
keyForm(() => location.reload());
showHistory(again);
const layers = await load();
if (linked()) byId("answer-body").replaceChildren(hint(w.answer_linked));
await openMap(layers).catch(error => byId("map").append(fault(error)));
document.documentElement.dataset.state = "ready";
