// What became of a promise that this browser kept, as `exhibit ledger claim` says it. After verify.js, leaf.js and proof.js.
/* global check, Failed, leafForms, parseKeys, parseLeaf, parseReceipt, verifyCheckpoint, verifyInclusion */
import { ApiError, text } from "./api.js";
import { dueOf, isPromised, verifyPromise } from "./promise.js";
import { pathOf } from "./proving.js";
import { say, words } from "./text.js";

const w = words.ask;

// Against the receipt that the log shows now. Without one it is open, and after the merge delay the log has to say why.
async function verdictOf(promise) {
  const keys = await parseKeys((await text("/api/v1/ledger/vkeys")).trim());
  await verifyPromise(promise, keys);
  let shown;
  try { shown = await text(`${pathOf(promise.entry_id)}/receipt`); }
  catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { verdict: Date.now() < dueOf(promise) ? "pending" : "missing" };
  }
  const receipt = parseReceipt(shown), head = await verifyCheckpoint(receipt.checkpoint, keys);
  await verifyInclusion(receipt.leaf, receipt.index, receipt.proof, head);
  check(parseLeaf(receipt.leaf, leafForms(), receipt.index).id === promise.entry_id, "receipt", "receipt_other");
  return { verdict: await isPromised(promise, receipt.leaf) ? "covered" : "broken", index: receipt.index, size: head.size };
}

// The verdict in words, and its name.
export async function claim(promise) {
  try {
    const found = await verdictOf(promise), due = new Date(dueOf(promise)).toISOString().slice(0, 16).replace("T", " ");
    return { verdict: found.verdict, said: say(w[`promise_${found.verdict}`], { ...found, due }) };
  } catch (error) {
    return { verdict: "failed", said: say(w.promise_failed, { detail: error instanceof Failed ? error.message : String(error) }) };
  }
}
