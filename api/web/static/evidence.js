// The evidence pane: what a citation quotes, where it is in its document, or how it was computed.
import { get } from "./api.js";
import { byId, facts, h, pageOf, safe, section } from "./dom.js";
import { say, words } from "./text.js";

const w = words.evidence, FEW = 8, MOST = 160;

// Answers of earlier versions lead to the first row in place of the computation.
const proved = cited => cited.computed && cited.href.includes("/computations/");

function whereIn(locator) {
  if (!locator) return null;
  if (locator.row !== null) return locator.column === null ? say(w.row, { row: locator.row + 1 }) : say(w.row_column, { row: locator.row + 1, column: locator.column });
  if (locator.feature !== null) return say(w.feature, { feature: locator.feature });
  const chars = say(w.chars, { start: locator.start_char, end: locator.end_char });
  return locator.page === null ? chars : `${say(w.place, { page: locator.page })}, ${chars}`;
}

// Text in which the occurrence of `part` is marked, or all of it where it is the part.
function marked(text, part) {
  const at = part ? text.indexOf(part) : -1;
  if (at < 0) return [h("mark", {}, text)];
  return [text.slice(0, at), h("mark", {}, text.slice(at, at + part.length)), text.slice(at + part.length)];
}

// Text with the places marked that the API names, in characters of the text.
function markedAt(text, places) {
  const characters = [...text], piece = (from, to) => characters.slice(from, to).join("");
  const ends = [0, ...places.map(each => each.end)];
  return [...places.flatMap(({ start, end }, at) => [piece(ends[at], start), h("mark", {}, piece(start, end))]), piece(ends.at(-1))];
}

// The line of a table; its cell is marked where no other part of the line reads the same.
const lineOf = (text, cell) => (text.indexOf(cell) === text.lastIndexOf(cell) ? marked(text, cell) : [text]);

// A cell with the header of its column and of its row.
function cellOf({ cell, measurement, locator }) {
  const row = measurement ? measurement.place : say(w.row, { row: locator.row + 1 });
  return h("table", { id: "cell" }, h("caption", { className: "hint" }, measurement ? say(measurement.unit ? w.measured : w.measured_unitless, measurement) : w.cell),
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, locator.column))),
    h("tbody", {}, h("tr", {}, h("th", { scope: "row" }, row), h("td", {}, h("mark", {}, cell)))));
}

// A row that was computed with: its title, and what it states where that may be shown.
function rowOf(row) {
  const stated = row.statement ?? row.text;
  return h("li", {}, h("a", { href: safe(pageOf(row.href)) }, row.title ?? row.chunk_id), stated ? h("blockquote", {}, stated.slice(0, MOST)) : null);
}

// The rows as they are read now, in place of their names.
async function rowsOf(cited, into) {
  try {
    const found = await get(`${cited.href}?limit=${FEW}`);
    into.replaceChildren(...found.inputs.map(rowOf),
      ...(found.inputs_total > FEW ? [h("li", {}, say(w.more_inputs, { count: found.inputs_total - FEW }))] : []));
  } catch (error) {
    into.after(h("p", { className: "fault" }, say(w.retry, { message: error.message })));
  }
}

function computedOf(cited) {
  const computed = cited.computed, inputs = computed.inputs.slice(0, FEW).map(rowOf);
  const rows = h("ul", { className: "inputs", "aria-live": "polite" }, inputs,
    computed.inputs.length > FEW ? h("li", {}, say(w.more_inputs, { count: computed.inputs.length - FEW })) : null);
  if (proved(cited)) rowsOf(cited, rows);
  return section(w.computed, h("p", {}, computed.statement), facts([[w.operation, computed.operation]]), h("h4", {}, w.inputs), rows,
    h("details", {}, h("summary", {}, w.parameters), h("pre", {}, JSON.stringify(computed.parameters, null, 2))));
}

function quotesOf(body, n) {
  const quotes = body.sentences.flatMap(sentence => sentence.citations).filter(each => each.n === n);
  return quotes.filter((each, at) => quotes.findIndex(other => other.quote === each.quote) === at);
}

// The fields of a feature, as terms; null where the slice is anything else.
function fieldsOf({ locator, text }) {
  if (locator?.feature === null || locator?.feature === undefined) return null;
  try {
    const stated = JSON.parse(text);
    return Object(stated) === stated && !Array.isArray(stated) ? facts(Object.entries(stated).map(([name, value]) => [name, Object(value) === value ? JSON.stringify(value) : value === null ? null : String(value)])) : null;
  } catch { return null; }
}

// A slice of a document as it stands there, what is quoted of it marked. The fields of a feature come first in words, then as they are stored.
export function sliceOf(slice, quote) {
  const at = whereIn(slice.locator), inTable = slice.locator?.row !== null && slice.locator?.column !== null && slice.cell, fields = fieldsOf(slice);
  const stored = h("blockquote", { id: "slice" }, inTable ? lineOf(slice.text, slice.cell) : slice.marked?.length ? markedAt(slice.text, slice.marked) : quote ? marked(slice.text, quote) : [slice.text]);
  return [at ? h("p", { className: "hint" }, at) : "", inTable ? cellOf(slice) : "", ...(fields ? [fields, h("details", {}, h("summary", {}, w.as_stored), stored)] : [stored])];
}

async function inDocument(cited, quotes, into) {
  into.replaceChildren(h("p", { className: "hint" }, words.site.loading));
  try {
    const slice = await get(cited.href);
    into.replaceChildren(h("h3", {}, w.in_document), ...sliceOf(slice, quotes[0]?.quote ?? slice.text), facts([[w.digest, h("code", {}, slice.document_sha256)]]));
  } catch (error) {
    into.replaceChildren(h("p", { className: "fault" }, say(w.retry, { message: error.message })));
  }
}

// Opens the pane over one citation; `opener` gets the focus back when it is closed.
export function openEvidence(body, n, opener, closed, pane = byId("evidence")) {
  const cited = body.citations[n], quotes = quotesOf(body, n), slice = h("section", { "aria-live": "polite" });
  const close = () => { pane.hidden = true; closed(); opener?.focus(); };
  const heading = h("h2", { tabIndex: -1, id: "evidence-heading" }, say(w.heading, { n, title: cited.title }));
  pane.replaceChildren(
    h("button", { type: "button", className: "close", onclick: close }, w.close), heading,
    ...(cited.computed ? [] : quotes).map(each => section(w.quote, h("blockquote", {}, each.quote))),
    ...(cited.computed ? [computedOf(cited)] : [slice]),
    facts([
      [w.time, cited.time_range ? `${cited.time_range.start} – ${cited.time_range.end}` : null],
      [w.attribution, cited.attribution], [w.license, cited.license === "unstated" ? words.ask.unstated : cited.license],
      [w.no_geometry, cited.no_geometry?.message],
    ]),
    h("p", {}, h("a", { href: safe(pageOf(cited.href)) }, proved(cited) ? w.open_computation : w.open), cited.uri && safe(cited.uri) ? [" · ", h("a", { href: safe(cited.uri), rel: "noreferrer" }, w.original)] : null),
  );
  pane.onkeydown = event => { if (event.key === "Escape") close(); };
  pane.hidden = false;
  heading.focus();
  if (!cited.computed) inDocument(cited, quotes, slice);
}
