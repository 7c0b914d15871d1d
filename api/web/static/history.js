// The questions of this browser, newest first; they leave it only when they are asked.
import { claim } from "./claims.js";
import { byId, h } from "./dom.js";
import { clipped, say, words } from "./text.js";

const KEY = "exhibit.questions", MOST = 30;
const w = words.ask;

function kept() {
  try { return JSON.parse(localStorage.getItem(KEY)) ?? []; } catch { return []; }
}

export function keep(request, body) {
  const same = JSON.stringify(request), others = kept().filter(each => JSON.stringify(each.request) !== same);
  const entry = { request, outcome: body.outcome, entry_id: body.provenance.entry_id, promise: body.promise };
  try { localStorage.setItem(KEY, JSON.stringify([entry, ...others].slice(0, MOST))); }
  catch { /* a browser that keeps nothing; the answer is shown all the same */ }
}

// A button that holds the log to what it promised for an earlier answer, and what came of it.
function promiseOf({ promise, request }) {
  if (!promise) return null;
  const said = h("small", { role: "status" });
  const button = h("button", { type: "button", className: "plain promise", "aria-label": say(w.check_promise_of, { question: request.question }), onclick: async () => {
    const found = await claim(promise);
    said.textContent = found.said;
    said.dataset.verdict = found.verdict;
  } }, w.check_promise);
  return [" · ", button, " ", said];
}

const forget = again => () => {
  try { localStorage.removeItem(KEY); } catch { /* nothing was kept */ }
  showHistory(again);
};

export function showHistory(again) {
  const list = kept();
  byId("history").replaceChildren(...(list.length ? [
    h("ol", {}, list.map(each => h("li", {},
      h("button", { type: "button", className: "plain", onclick: () => again(each.request) }, clipped(each.request.question)), " ",
      h("small", {}, w[`outcome_${each.outcome}`], " · ", h("a", { href: `/audit/${each.entry_id}` }, w.receipt), promiseOf(each))))),
    h("button", { type: "button", onclick: forget(again) }, w.history_clear),
  ] : [h("p", { className: "hint" }, w.history_empty)]));
}
