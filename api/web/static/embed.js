// Elements for pages of other origins: <exhibit-answer> asks and shows an answer, <exhibit-evidence> what it cites.
import { fault, keyFrom } from "./api.js";
import { answerOf, featuresOf, sentenceOf } from "./answer.js";
import { h } from "./dom.js";
import { openEvidence } from "./evidence.js";
import { streamed } from "./stream.js";
import { words } from "./text.js";

keyFrom(() => null);  // a session of our own pages is none of theirs

const style = () => h("link", { rel: "stylesheet", href: new URL("embed.css", import.meta.url).href });

// The API key of every element on the page; null asks without one.
export function useKey(key) { keyFrom(() => key); }

// Attributes: `question` is asked as soon as it is set; `place` and `year` are its context. `ask(request)` takes the body of
// POST /api/v1/ai/query. Events, which bubble: `exhibit-answer` (the body, and its features as a FeatureCollection), `exhibit-cite` (the number of
// the citation and the place that were picked, and the body) and `exhibit-error`.
export class ExhibitAnswer extends HTMLElement {
  static observedAttributes = ["question", "place", "year"];
  #into = h("div", { "aria-live": "polite" }); #asking = null; #body = null; #soon = null;

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).append(style(), this.#into);
  }

  get body() { return this.#body; }

  attributeChangedCallback() {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => this.getAttribute("question") && this.ask(this.#request()));
  }

  #request() {
    const [question, place, year] = ["question", "place", "year"].map(name => this.getAttribute(name));
    const context = { ...(place ? (place.includes(":") ? { place_id: place } : { place }) : {}), ...(year ? { year: Number(year) } : {}) };
    return Object.keys(context).length ? { question, context } : { question };
  }

  async ask(request) {
    this.#asking?.abort();
    const asking = this.#asking = new AbortController();
    this.setAttribute("aria-busy", "true");
    this.#into.replaceChildren(h("p", {}, words.ask.working));
    try {
      this.#body = await streamed(request, { signal: asking.signal, tell: (event, data) => this.#tell(event, data) });
      this.#into.replaceChildren(...answerOf(this.#body, (n, opener, place = null) => this.pick(n, place, opener)));
      this.#say("exhibit-answer", { body: this.#body, features: { type: "FeatureCollection", features: featuresOf(this.#body) } });
    } catch (error) {
      if (error.name === "AbortError") return null;
      this.#into.replaceChildren(fault(error));
      this.#say("exhibit-error", { error });
    }
    this.removeAttribute("aria-busy");
    return this.#body;
  }

  // Lights a citation, and says that it was picked.
  pick(n, place = null, opener = null) {
    for (const each of this.#into.querySelectorAll("[data-n]")) {
      const lit = each.dataset.n.split(" ").includes(String(n));
      each.classList.toggle("lit", lit);
      if (each.matches(".chip")) each.setAttribute("aria-pressed", String(lit));
    }
    if (n !== null) this.#say("exhibit-cite", { n, place, body: this.#body, opener, answer: this });
  }

  #tell(event, { sentence, citations }) {
    if (event !== "sentence") return;
    if (!this.#into.querySelector("[data-coming]")) this.#into.replaceChildren(h("div", { id: "sentences", "data-coming": "yes" }));
    this.#into.firstChild.append(sentenceOf(sentence, { citations }, () => {}));
  }

  #say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true })); }
}

// Shows the citation that was picked last in the answer that `for` names, or in any answer of the page.
export class ExhibitEvidence extends HTMLElement {
  #pane = h("div", { hidden: true }); #heard = event => this.#show(event.detail);

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).append(style(), this.#pane);
  }

  connectedCallback() { document.addEventListener("exhibit-cite", this.#heard); }
  disconnectedCallback() { document.removeEventListener("exhibit-cite", this.#heard); }

  #show({ n, body, opener, answer }) {
    const wanted = this.getAttribute("for");
    if (!wanted || answer.id === wanted) openEvidence(body, n, opener, () => answer.pick(null), this.#pane);
  }
}

customElements.define("exhibit-answer", ExhibitAnswer);
customElements.define("exhibit-evidence", ExhibitEvidence);
