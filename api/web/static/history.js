// The questions of this browser, newest first; they leave it only when they are asked.
import { byId, h } from "./dom.js";
import { words } from "./text.js";

const KEY = "exhibit.questions", MOST = 30;

function kept() {
  try { return JSON.parse(localStorage.getItem(KEY)) ?? []; } catch { return []; }
}

export function keep(request, body) {
  const same = JSON.stringify(request), others = kept().filter(each => JSON.stringify(each.request) !== same);
  const entry = { request, outcome: body.outcome, entry_id: body.provenance.entry_id };
  localStorage.setItem(KEY, JSON.stringify([entry, ...others].slice(0, MOST)));
}

export function showHistory(again) {
  const list = kept();
  byId("history").replaceChildren(...(list.length ? [
    h("ol", {}, list.map(each => h("li", {},
      h("button", { type: "button", className: "plain", onclick: () => again(each.request) }, each.request.question), " ",
      h("small", {}, words.ask[`outcome_${each.outcome}`], " · ", h("a", { href: `/audit/${each.entry_id}` }, words.ask.receipt))))),
    h("button", { type: "button", onclick: () => { localStorage.removeItem(KEY); showHistory(again); } }, words.ask.history_clear),
  ] : [h("p", { className: "hint" }, words.ask.history_empty)]));
}
