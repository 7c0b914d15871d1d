// Questions that would be answered now, in the context that is shown; one press asks one of them.
import { get, query } from "./api.js";
import { byId, h } from "./dom.js";

const FEW = 4, SETTLED_MS = 500;

export class Suggestions {
  #ask; #settling; #asked = null; #context = null;

  constructor(ask) { this.#ask = ask; }

  // Reads them anew once the context has come to rest.
  follow(context = {}) {
    const { place_id: id, place = id, bbox, year, year_range: years = year ? [year, year] : null, active_layers: [layer] = [] } = context;
    const wanted = query("/api/v1/ai/suggestions", { place, bbox: bbox?.join(","), time: years?.map(each => String(each).padStart(4, "0")).join("/"), layer, limit: FEW });
    if (wanted === this.#context || years?.[0] > years?.[1]) return;
    this.#context = wanted;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#read(wanted), SETTLED_MS);
  }

  async #read(wanted) {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const found = await get(wanted, { signal: this.#asked.signal }).catch(() => null);
    if (!found) return;
    byId("suggested").replaceChildren(...found.suggestions.map(each => h("li", {},
      h("button", { type: "button", className: "plain", onclick: () => this.#ask(each.question) }, each.question))));
    byId("suggestions").hidden = !found.suggestions.length;
    byId("example").hidden = Boolean(found.suggestions.length);
  }
}
