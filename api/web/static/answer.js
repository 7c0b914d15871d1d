// An answer in words: its sentences with their citations, or why there is none.
import { h, pageOf, save, section, safe } from "./dom.js";
import { dueOf } from "./promise.js";
import { say, words } from "./text.js";

const w = words.ask;

// The features to draw, one for each place of each citation.
export function featuresOf(body) {
  return Object.entries(body.citations).flatMap(([n, cited]) => {
    const feature = (geometry, bbox, more) => ({ type: "Feature", geometry, bbox, properties: { citation: Number(n), ...more } });
    const drawn = cited.places.filter(place => place.geometry);
    if (drawn.length) return drawn.map(place => feature(place.geometry, place.bbox, { name: place.name, role: place.role, place_id: place.place_id }));
    return cited.geometry ? [feature(cited.geometry, cited.bbox, { name: cited.title, role: "subject", place_id: "" })] : [];
  });
}

const numbers = sentence => [...new Set(sentence.citations.map(each => each.n))];

function chip(n, cited, pick) {
  return h("button", { type: "button", className: "chip", "data-n": n, "aria-pressed": "false",
    "aria-label": say(w.cite, { n, title: cited.title }), onclick: event => pick(n, event.currentTarget) }, `[${n}]`);
}

// Code in its line; its marks are part of what was recorded, and are left behind when it is copied.
const tick = mark => h("span", { className: "tick" }, mark);
const codeIn = text => text.split(/(``[^\n]+?``|`[^`\n]+`)/).map((part, at) => {
  const mark = at % 2 ? /^`+/.exec(part)[0] : "";
  return mark ? h("code", {}, tick(mark), part.slice(mark.length, -mark.length), tick(mark)) : part;
});

export function sentenceOf(sentence, body, pick) {
  const cited = numbers(sentence);
  const element = h("p", { className: "sentence", "data-n": cited.join(" "), "data-i": sentence.i }, h("span", { "data-proved": "sentence" }, codeIn(sentence.text)), " ",
    cited.map(n => chip(n, body.citations[n], pick)));
  if (cited.length) {
    element.addEventListener("click", event => { if (!event.target.closest("button")) pick(cited[0], element.querySelector("button")); });
  }
  return element;
}

function placesOf(body, pick) {
  const places = Object.entries(body.citations).flatMap(([n, cited]) => [
    ...cited.places.map(place => h("li", { "data-n": n }, h("button", { type: "button", className: "plain", "data-n": n,
      "data-place": place.place_id, onclick: event => pick(Number(n), event.currentTarget, place.place_id) },
    say(w.place_item, { name: place.name, role: w[`role_${place.role}`] })), ` [${n}]`)),
    ...(cited.places_omitted ? [h("li", {}, say(w.omitted, { count: cited.places_omitted }))] : []),
    ...(cited.no_geometry ? [h("li", { "data-n": n }, `[${n}] ${cited.no_geometry.message}`)] : []),
  ]);
  return section(w.places, places.length ? h("ul", { className: "places" }, places) : h("p", { className: "hint" }, w.places_none));
}

const NOT_READ = ["NOT_UNDERSTOOD", "PLACE_NOT_NAMED", "UNKNOWN_PLACE"], ADVICE = ["CLARIFICATION_HELPS"];
const told = (limitations, ...more) => h("ul", {}, limitations.map(each => h("li", {}, each.message, " ", h("code", {}, each.code))), more);

// What was not understood, what is held, and what to change; `help`, if given, makes the links of the last two.
function whyNot(body, help) {
  const reasons = body.policy.reasons.map(reason => h("li", {}, reason.message, " ", h("code", {}, reason.code)));
  const of = codes => body.limitations.filter(each => codes.includes(each.code)), unread = of(NOT_READ), advice = of(ADVICE);
  const others = body.limitations.filter(each => ![...NOT_READ, ...ADVICE].includes(each.code)), { links = [], held = null } = help?.(body) ?? {};
  return h("section", { className: "why" }, h("h3", {}, w.why_not), h("ul", {}, reasons),
    unread.length ? [h("h4", {}, w.not_read), told(unread)] : null,
    others.length ? [h("h4", {}, w.known), told(others)] : null,
    body.related?.length ? [h("h4", {}, w.held), h("ul", {}, body.related.map(each => h("li", {}, each.text, " ",
      each.citations.map(cited => h("a", { href: safe(pageOf(cited.href)) }, cited.title)))))] : null,
    advice.length || links.length ? [h("h4", {}, w.change), told(advice, ...links.map(each => h("li", { className: "help" }, each)))] : null, held);
}

// Attribution and licence as they stand in the manifest; a source without a licence says so.
const licenceOf = each => [each.attribution, each.license === "unstated" ? w.unstated : each.license].filter(Boolean).join(" · ");

function sourcesOf(body) {
  const cited = Object.entries(body.citations).map(([n, each]) => h("li", { value: Number(n), "data-n": n }, each.title,
    h("small", {}, ` ${licenceOf(each)}`)));
  const others = body.evidence.filter(each => !each.cited);
  return [
    cited.length ? section(w.sources, h("ol", {}, cited)) : null,
    others.length ? h("details", {}, h("summary", {}, `${w.retrieved} (${others.length})`),
      h("ul", {}, others.map(each => h("li", {}, h("a", { href: safe(pageOf(each.href)) }, each.title), h("small", {}, ` ${each.snippet}`))))) : null,
  ];
}

function recordOf(body, verify) {
  const id = body.provenance.entry_id;
  return section(w.receipt, h("p", {}, `${w.receipt_hint} `, h("code", { id: "entry-id" }, id), ". ",
    h("a", { href: safe(`/audit/${id}`), id: "record-link" }, w.read_record), "."),
  ...(verify ? [h("p", { className: "hint", id: "promised" }, say(w.promised, { due: new Date(dueOf(body.promise)).toISOString().slice(0, 16).replace("T", " ") })),
    h("p", {}, h("button", { type: "button", id: "verify", onclick: verify }, w.verify), " ",
      h("button", { type: "button", id: "save-answer", onclick: () => save(`${id}.json`, JSON.stringify(body), "application/json") }, w.save_answer)),
    h("ol", { id: "steps", className: "steps" }), h("output", { id: "result", "aria-live": "polite" })] : []));
}

// Everything that is said of an answer; `pick` is called with the number of a citation and what was pressed, `verify`, if given,
// to prove the record, and `help`, if given, says what to do where there is no answer.
export function answerOf(body, pick, verify, help) {
  const answered = body.outcome === "ANSWER";
  const sentences = body.sentences.map(sentence => sentenceOf(sentence, body, pick));
  return [
    h("p", { className: `outcome ${body.outcome.toLowerCase()}` }, w[`outcome_${body.outcome}`]),
    h("div", { id: "sentences" }, sentences),
    body.interpretation?.reading ? section(w.understood, h("p", {}, body.interpretation.reading)) : null,
    answered ? null : whyNot(body, help),
    answered && body.limitations.length ? section(w.limitations, told(body.limitations)) : null,
    answered ? placesOf(body, pick) : null,
    ...sourcesOf(body),
    recordOf(body, verify),
  ].filter(Boolean);
}

// The answer as plain text, with its references.
export function plainText(question, body, origin) {
  const lines = [question, "", body.answer];
  const cited = Object.entries(body.citations);
  if (cited.length) lines.push("", w.references);
  for (const [n, each] of cited) lines.push(`[${n}] ${[each.title, each.attribution, each.license === "unstated" ? null : each.license, `${origin}${pageOf(each.href)}`].filter(Boolean).join(". ")}`);
  lines.push("", `${origin}/audit/${body.provenance.entry_id}`);
  return `${lines.join("\n")}\n`;
}
