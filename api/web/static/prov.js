// The provenance of an entry, drawn: agents, activities in order of time, and entities, joined by their relations. A table of the relations says
// the same.
import { h } from "./dom.js";
import { table, wide } from "./table.js";
import { say, words } from "./text.js";

const w = words.entry, SVG = "http://www.w3.org/2000/svg";
const WIDTH = 250, HEIGHT = 40, GAP = 14, COLUMN = 330, MARGIN = 8, SHOWN = 34;
const ENDS = { // the two ends of each relation: from what is later to what was before it
  used: ["activity", "entity"], wasGeneratedBy: ["entity", "activity"], wasInformedBy: ["informed", "informant"],
  wasAssociatedWith: ["activity", "agent"], wasAttributedTo: ["entity", "agent"], wasDerivedFrom: ["generatedEntity", "usedEntity"],
};
const KINDS = ["agent", "activity", "entity"];

function s(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const local = name => name.slice(name.indexOf(":") + 1);
const typeOf = record => local([record["prov:type"]].flat().map(each => each.$).find(each => each.startsWith("exhibit:")) ?? ":");
const short = text => (text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text);

// Every node with its kind and place: activities by time, the others by name.
function nodesOf(prov) {
  const found = new Map();
  KINDS.forEach((kind, column) => {
    const records = Object.entries(prov[kind] ?? {});
    records.sort(([one, a], [other, b]) => (a["prov:startTime"] ?? "").localeCompare(b["prov:startTime"] ?? "") || one.localeCompare(other));
    records.forEach(([id, record], row) => found.set(id, { id, kind, type: typeOf(record), x: MARGIN + column * COLUMN, y: MARGIN + row * (HEIGHT + GAP) }));
  });
  return found;
}

function relationsOf(prov, nodes) {
  return Object.entries(ENDS).flatMap(([name, ends]) => Object.values(prov[name] ?? {})
    .map(record => ({ name, ends: ends.map(end => nodes.get(record[`prov:${end}`])) })))
    .filter(({ ends }) => ends.every(Boolean));
}

// A line from the side of one node to the facing side of the other; inside a column it swings out to the right.
function edge({ name, ends: [one, other] }) {
  const from = [one.x < other.x ? one.x + WIDTH : one.x > other.x ? one.x : one.x + WIDTH, one.y + HEIGHT / 2];
  const to = [one.x < other.x ? other.x : one.x > other.x ? other.x + WIDTH : other.x + WIDTH, other.y + HEIGHT / 2];
  const bend = one.x === other.x ? [from[0] + 40, to[0] + 40] : [(from[0] + to[0]) / 2, (from[0] + to[0]) / 2];
  return s("path", { class: `edge ${name}`, "data-one": one.id, "data-other": other.id, "marker-end": "url(#arrow)",
    d: `M${from} C${bend[0]},${from[1]} ${bend[1]},${to[1]} ${to}` }, s("title", {}, `${local(one.id)} ${name} ${local(other.id)}`));
}

const box = node => s("g", { class: `node ${node.kind}`, "data-id": node.id, transform: `translate(${node.x} ${node.y})` },
  s("title", {}, local(node.id)), s("rect", { width: WIDTH, height: HEIGHT, rx: node.kind === "entity" ? 20 : 4 }),
  s("text", { x: 12, y: 17, class: "type" }, node.type), s("text", { x: 12, y: 33 }, short(local(node.id))));

// Lights the relations of what the pointer is on.
function follow(drawing) {
  drawing.addEventListener("pointerover", event => {
    const id = event.target.closest(".node")?.dataset.id;
    for (const each of drawing.querySelectorAll(".edge")) each.classList.toggle("lit", each.dataset.one === id || each.dataset.other === id);
  });
}

// The drawing and the table of one PROV-JSON document.
export function provGraph(prov) {
  const nodes = nodesOf(prov), relations = relationsOf(prov, nodes);
  const height = Math.max(...[...nodes.values()].map(node => node.y)) + HEIGHT + MARGIN, width = 2 * COLUMN + WIDTH + 60;
  const arrow = s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0,0 L8,4 L0,8 z" }));
  const drawing = s("svg", { class: "prov", role: "img", "aria-label": say(w.prov_label, { nodes: nodes.size, relations: relations.length }), viewBox: `0 0 ${width} ${height}`, width, height },
    s("defs", {}, arrow), ...relations.map(edge), ...[...nodes.values()].map(box));
  follow(drawing);
  return [wide(w.prov_drawn, drawing),
    h("details", {}, h("summary", {}, say(w.prov_table, { count: relations.length })), table(w.prov_relations, [w.prov_from, w.prov_relation, w.prov_to],
      relations.map(({ name, ends: [one, other] }) => [h("code", {}, local(one.id)), name, h("code", {}, local(other.id))])))];
}
