// The context bar: what is asked beside the question. What it shows is what is sent.
import { get, query } from "./api.js";
import { byId, h } from "./dom.js";
import { say, words } from "./text.js";

const MOST = 4000; // characters of a question, as the API takes them
const ASKED = /(?![\u115f\u1160\u3164\uffa0])[\p{L}\p{N}]/u; // as the server has it: signs and what is not shown ask nothing
const whole = text => (/^\d{1,4}$/.test(text.trim()) ? Number(text) : null);

export class ContextBar {
  #places = new Map(); #map = null; #asked = null;

  constructor(changed) {
    this.changed = changed;
    for (const id of ["place", "from", "to", "box", "question"]) byId(id).addEventListener("input", () => this.show());
    byId("place").addEventListener("input", () => this.#offer());
  }

  follow(map) {
    this.#map = map;
    byId("box").disabled = false;
    map.addEventListener("move", () => this.show());
  }

  offerLayers(layers) {
    byId("layers").replaceChildren(...layers.map(layer => h("label", { className: "check" },
      h("input", { type: "checkbox", name: "layer", value: layer.id, oninput: () => this.show() }), layer.title)));
    if (!layers.length) byId("layers").append(h("p", { className: "hint" }, words.ask.layers_none));
    this.show();
  }

  // The body of the request.
  get request() {
    const context = {}, place = byId("place").value.trim();
    if (place) Object.assign(context, this.#places.has(place) ? { place_id: this.#places.get(place) } : { place });
    if (byId("box").checked && this.#map) context.bbox = this.#map.box;
    const from = whole(byId("from").value), to = whole(byId("to").value);
    if (from && to && from !== to) context.year_range = [from, to];
    else if (from || to) context.year = from ?? to;
    const layers = [...document.querySelectorAll("input[name=layer]:checked")].map(each => each.value);
    if (layers.length) context.active_layers = layers;
    const question = byId("question").value.trim();
    return Object.keys(context).length ? { question, context } : { question };
  }

  set request({ question, context = {} }) {
    byId("question").value = question;
    byId("place").value = context.place ?? [...this.#places].find(([, id]) => id === context.place_id)?.[0] ?? "";
    if (context.place_id && !byId("place").value) {
      this.#places.set(context.place_id, context.place_id);
      byId("place").value = context.place_id;
    }
    const [from, to] = context.year_range ?? [context.year ?? "", ""];
    byId("from").value = from;
    byId("to").value = to;
    byId("box").checked = Boolean(context.bbox);
    if (context.bbox) this.#map?.fit(context.bbox);
    for (const each of document.querySelectorAll("input[name=layer]")) {
      each.checked = (context.active_layers ?? []).includes(each.value);
    }
    this.show();
  }

  // What keeps it from being sent, told at its field; what the markup says of a field is checked by the browser.
  #check() {
    const { question, context: { year_range: [from, to] = [] } = {} } = this.request, length = [...question].length, w = words.ask;
    byId("question").setCustomValidity(length > MOST ? say(w.question_long, { most: MOST.toLocaleString("en"), count: length.toLocaleString("en") })
      : byId("question").value && !ASKED.test(question) ? w.question_blank : "");
    byId("to").setCustomValidity(from > to ? w.years_turned : "");
  }

  show() {
    this.#check();
    byId("request").textContent = JSON.stringify(this.request, null, 2);
    this.changed?.();
  }

  async #offer() {
    const typed = byId("place").value.trim();
    if (typed.length < 2 || this.#places.has(typed)) return;
    this.#asked?.abort();
    this.#asked = new AbortController();
    const found = await get(query("/api/v1/places", { q: typed, limit: 8 }), { signal: this.#asked.signal }).catch(() => null);
    if (!found) return;
    const options = found.places.map(place => ({ ...place, label: `${place.name} (${place.type})` }));
    options.forEach(place => this.#places.set(place.label, place.place_id));
    byId("places-offered").replaceChildren(...options.map(place => h("option", { value: place.label })));
    this.show();
  }
}
