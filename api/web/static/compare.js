// The page `/audit/compare`: two entries beside each other, and in what they differ.
import { fault, get, keyForm, query, text } from "./api.js";
import { byId, h } from "./dom.js";
import { partsOf, pathOf } from "./proving.js";
import { wide } from "./table.js";
import { words } from "./text.js";

const w = words.compare, SIDES = ["a", "b"];
const optional = work => work.catch(() => null);

async function entryOf(id) {
  const entry = await get(pathOf(id)), parts = partsOf(await text(`${pathOf(id)}/receipt`));
  const intent = entry.refs.find(ref => ref.rel === "intent");
  const question = parts.get("question") ?? (intent ? await optional(text(`${pathOf(intent.entry_id)}/parts/question`)) : null);
  const decisions = (await optional(get(`/api/v1/policy/decisions/${encodeURIComponent(id)}`)))?.decisions ?? [];
  return { entry, question, decisions, body: parts.has("answer") ? JSON.parse(parts.get("answer")) : null };
}

// What is compared, as text of each side; an empty one is shown as such.
function rowsOf({ entry, question, decisions, body }) {
  const cited = Object.values(body?.citations ?? {});
  return [
    [w.recorded, new Date(entry.t_ms).toISOString()], [w.kind, entry.kind], [w.question, question ?? ""],
    [w.outcome, body?.outcome ?? ""], [w.reasons, (body?.reason_codes ?? []).join("\n")], [w.answer, body?.answer ?? ""],
    [w.understood, body?.interpretation?.reading ?? ""], [w.cited, cited.map(each => each.title).join("\n")],
    [w.versions, [...new Set(cited.map(each => each.document_id))].join("\n")],
    [w.items, (body?.evidence ?? []).map(each => each.chunk_id).join("\n")],
    [w.limitations, (body?.limitations ?? []).map(each => each.code).join("\n")],
    [w.policy, body?.policy?.bundle_digest ?? ""], [w.engine, body?.policy?.engine ?? ""],
    [w.model, [body?.provenance?.model, body?.provenance?.model_digest].filter(Boolean).join("\n")],
    [w.template, [body?.provenance?.template, body?.provenance?.template_digest].filter(Boolean).join("\n")],
    [w.decisions, decisions.map(each => `${each.point} ${each.run}: ${each.effect}, ${each.admit.length} ${each.reasons.map(reason => reason.code).join(" ")}`).join("\n")],
  ];
}

// Lines of one side, those that the other does not have marked.
const lines = (mine, theirs) => mine.split("\n").filter(Boolean).map(line => h("div", {}, theirs.split("\n").includes(line) ? line : h("mark", {}, line)));

function tableOf(ids, sides) {
  const [one, other] = sides.map(rowsOf);
  const rows = one.map(([name, mine], at) => {
    const theirs = other[at][1], same = mine === theirs;
    return h("tr", { className: same ? "same" : "differs" }, h("th", { scope: "row" }, name), h("td", {}, same ? w.same : w.differs), h("td", {}, lines(mine, theirs)), h("td", {}, lines(theirs, mine)));
  });
  const head = ids.map(id => h("th", { scope: "col" }, h("a", { href: `/audit/${id}` }, h("code", {}, id))));
  return wide(w.title, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, w.what), h("th", { scope: "col" }, w.difference), head)), h("tbody", {}, rows)));
}

async function show() {
  const given = new URLSearchParams(location.search), ids = SIDES.map(side => given.get(side)?.trim() ?? "");
  SIDES.forEach((side, at) => { byId(side).value = ids[at]; });
  byId("compared").replaceChildren();
  if (ids.every(Boolean)) {
    try {
      byId("compared").replaceChildren(tableOf(ids, await Promise.all(ids.map(entryOf))));
    } catch (error) {
      byId("compared").replaceChildren(fault(error));
      if (error.status === 401 || error.status === 403) key.open();
    }
  }
  document.documentElement.dataset.state = "ready";
}

byId("compare-form").addEventListener("submit", event => {
  event.preventDefault();
  history.pushState(null, "", query("/audit/compare", Object.fromEntries(SIDES.map(side => [side, byId(side).value.trim()]))));
  show();
});
addEventListener("popstate", show);
const key = keyForm(() => show());
show();
