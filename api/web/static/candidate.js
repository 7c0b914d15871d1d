// A candidate: drafted from the data in force, tried on every gate, compared, and published with a reason.
import { fault, get, post, typed } from "./api.js";
import { byId, h, section } from "./dom.js";
import { table } from "./table.js";
import { say, words } from "./text.js";

const w = words.policy, P = "/api/v1/policy", LOOK_MS = 700;

const gatesOf = gates => h("ol", { className: "steps" }, gates.map(each => h("li", { "data-state": each.passed ? "passed" : "failed" }, each.name, ": ",
  h("b", {}, each.passed ? w.gate_open : w.gate_closed), each.problems.length ? h("ul", {}, each.problems.map(problem => h("li", {}, problem))) : null)));

function backtestOf(found) {
  if (!found) return h("p", { className: "hint" }, w.backtest_hidden);
  if (found.refused) return h("p", { className: "fault" }, w.backtest_refused);
  const rows = found.differences.map(each => [h("a", { href: `/audit/${each.entry_id}` }, h("code", {}, each.entry_id)), each.becomes ? `${each.outcome} → ${each.becomes}` : each.outcome,
    each.gained.map(item => item.id).join(", "), each.lost.map(item => `${item.id} (${item.rules.join(", ")})`).join(", "),
    [...each.opened.map(name => `+ ${name}`), ...each.closed.map(name => `− ${name}`)].join("; ")]);
  return h("div", {}, h("p", {}, say(w.backtest_count, { requests: found.requests, changed: rows.length })),
    rows.length ? table(w.backtest, [w.entry_column, w.outcome, w.gained, w.lost, w.classes], rows) : null);
}

export class Candidate {
  #trial = null; #published; #saved = ""; // #saved: the data that are in force, or were saved last

  // `published` is called with each change that was made.
  constructor(published) {
    this.#published = published;
    byId("draft-form").addEventListener("submit", event => { event.preventDefault(); this.#told(() => this.#draft()); });
    byId("trial").addEventListener("click", () => byId("draft-form").reportValidity() && this.#told(() => this.#try()));
    byId("draft-form").addEventListener("input", () => this.#forget()); // what is shown was found of another
    byId("publish-form").addEventListener("submit", event => { event.preventDefault(); this.#told(() => this.#publish()); });
  }

  // The data in force, where a draft begins; one that was begun stays.
  inForce(data) {
    if (byId("data").value === this.#saved) byId("data").value = data;
    this.#saved = data;
  }

  #forget() {
    this.#trial = null;
    byId("candidate-state").textContent = "";
    byId("found").replaceChildren();
    byId("publish-form").hidden = true;
  }

  async #told(work) {
    const buttons = ["draft", "trial"].map(byId);
    buttons.forEach(each => { each.disabled = true; });
    try { await work(); } catch (error) { byId("candidate-state").replaceChildren(fault(error)); }
    buttons.forEach(each => { each.disabled = false; });
  }

  async #draft() {
    this.#forget();
    const name = byId("name").value, data = byId("data").value;
    const { bundle_digest: digest } = await post(`${P}/candidates`, { name, data: typed(data) });
    this.#saved = data;
    byId("candidate-state").textContent = say(w.drafted, { digest });
  }

  async #try() {
    if (byId("data").value !== this.#saved) await this.#draft(); // or others would be tried than those that are shown
    const path = `${P}/candidates/${encodeURIComponent(byId("name").value)}/trial`;
    this.#forget();
    byId("candidate-state").textContent = words.site.loading;
    let trial = this.#trial = await post(path, {});
    while (trial.state === "running") {
      byId("candidate-state").textContent = say(w.trying, { count: trial.gates.length });
      byId("found").replaceChildren(section(w.gates, gatesOf(trial.gates)));
      await new Promise(done => setTimeout(done, LOOK_MS));
      const next = await get(path);
      if (this.#trial !== trial) return; // the form was changed meanwhile
      trial = this.#trial = next;
    }
    this.#show();
  }

  #show() {
    const trial = this.#trial;
    byId("candidate-state").textContent = say(w[`trial_${trial.state}`], { fault: trial.fault ?? "" });
    byId("found").replaceChildren(section(w.gates, gatesOf(trial.gates)), ...trial.notes.map(note => h("p", { className: "hint" }, note)),
      trial.state === "passed" ? section(w.difference, trial.widenings.length ? table(w.difference, [w.widening, w.detail], trial.widenings.map(each => [h("code", {}, each.name), each.detail])) : h("p", {}, w.widenings_none)) : "",
      trial.state === "passed" ? section(w.narrowings, trial.narrowings.length ? table(w.narrowings, [w.narrowing, w.detail], trial.narrowings.map(each => [h("code", {}, each.name), each.detail])) : h("p", {}, w.narrowings_none)) : "",
      section(w.backtest, backtestOf(trial.backtest)));
    byId("widenings").replaceChildren(byId("widenings").querySelector("legend"), ...(trial.widenings.length
      ? trial.widenings.map(each => h("label", { className: "check" }, h("input", { type: "checkbox", name: "widening", value: each.name, required: true }), each.name))
      : [h("p", { className: "hint" }, w.widenings_none)]));
    byId("publish-form").hidden = trial.state !== "passed" || trial.bundle_digest === trial.active_digest;
  }

  async #publish() {
    const accept = [...document.querySelectorAll("input[name=widening]:checked")].map(each => each.value);
    const { candidate, bundle_digest } = this.#trial;
    const change = await post(`${P}/publish`, { candidate, bundle_digest, accept, why: byId("why").value });
    byId("publish-form").hidden = true;
    byId("candidate-state").textContent = "";
    await this.#published(change);
  }
}
