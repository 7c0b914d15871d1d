// The proof of an entry, step by step, on a page. After verify.js, leaf.js and proof.js, whose functions prove.
/* global check, Failed, leafForms, parseKeys, parseLeaf, parseReceipt, text8, verifyCheckpoint, verifyDisclosures, verifyInclusion */
import { text } from "./api.js";
import { byId, h } from "./dom.js";
import { isPromised, verifyPromise } from "./promise.js";
import { say, words } from "./text.js";

const w = words.entry;
export const pathOf = entry => `/api/v1/ledger/entries/${encodeURIComponent(entry)}`;

// The question that an entry answers: its id and its receipt (null where it cannot be read), so that the proof needs no
// network; null for entries without one.
export async function intentOf(entry) {
  const ref = entry.refs.find(each => each.rel === "intent");
  return ref ? { id: ref.entry_id, receipt: await text(`${pathOf(ref.entry_id)}/receipt`).catch(() => null) } : null;
}

// The parts that a receipt discloses, as text by name.
export const partsOf = receipt => new Map(parseReceipt(receipt).disclosures.map(each => [each.name, text8(each.data)]));

// Each step with what it proves of `given`; a step may use what those before it found.
const STEPS = [
  ["key", async (found, given) => { found.keys = await parseKeys(given.vkeys); }],
  ["receipt", async (found, given) => { found.receipt = parseReceipt(given.receipt); }],
  ["signature", async found => { found.head = await verifyCheckpoint(found.receipt.checkpoint, found.keys); }],
  ["inclusion", async found => { await verifyInclusion(found.receipt.leaf, found.receipt.index, found.receipt.proof, found.head); }],
  ["leaf", async (found, given) => {
    found.leaf = parseLeaf(found.receipt.leaf, leafForms(), found.receipt.index);
    check(found.leaf.id === given.id, "leaf", "receipt_other");
  }],
  ["commitment", async (found, given) => {
    found.parts = await verifyDisclosures(found.leaf, found.receipt.disclosures);
    if (given.intent === null) return;
    check(given.intent.receipt !== null, "intent", "intent_unread");
    const intent = parseReceipt(given.intent.receipt), head = await verifyCheckpoint(intent.checkpoint, found.keys);
    await verifyInclusion(intent.leaf, intent.index, intent.proof, head);
    const leaf = parseLeaf(intent.leaf, leafForms(), intent.index);
    check(leaf.id === given.intent.id, "intent", "intent");
    const parts = await verifyDisclosures(leaf, intent.disclosures);
    if (parts.has("question")) found.parts.set("question", parts.get("question"));
  }],
  ["promise", async (found, given) => {
    await verifyPromise(given.body.promise, found.keys, given.body);
    check(await isPromised(given.body.promise, found.receipt.leaf), "promise", "promise_leaf");
  }],
  ["page", async (found, given) => {
    const proved = new Map([...found.parts].map(([name, data]) => [name, text8(data)]));
    for (const [name, said, recorded] of given.shown(proved)) {
      check(recorded !== undefined, "page", "page_unproved", { name });
      check(said === recorded, "page", "page_other", { name });
    }
  }],
];

// Proves an entry, its steps listed in #steps and the result in #result. `given` has id, receipt, vkeys, intent, the body that was
// released where there is one, and `shown`: from the proved parts as text by name it gives the name of each thing on the page, what is
// shown of it, and what was recorded.
export async function prove(given) {
  const steps = STEPS.filter(([name]) => name !== "promise" || given.body);
  const lines = steps.map(([name]) => h("li", { "data-step": name, "data-state": "skipped" }, w[`step_${name}`], ": ", h("b", {}, w.skipped)));
  const found = {}, result = byId("result");
  byId("steps").replaceChildren(...lines);
  result.dataset.state = "working";
  for (const [at, [, step]] of steps.entries()) {
    const said = lines[at].querySelector("b");
    try {
      await step(found, given);
      lines[at].dataset.state = "passed";
      said.textContent = w.passed;
    } catch (error) {
      lines[at].dataset.state = "failed";
      said.textContent = say(w.failed, { detail: error instanceof Failed ? error.message : String(error) });
      result.textContent = w.broken;
      result.dataset.state = "failed";
      return;
    }
  }
  result.textContent = say(w.verified, { index: found.receipt.index, size: found.head.size, origin: found.head.origin });
  result.dataset.state = "verified";
}
