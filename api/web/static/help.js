// What a reader may do about a question that was not answered: change the request, or ask what would be answered.
import { get, query } from "./api.js";
import { byId, h } from "./dom.js";
import { words } from "./text.js";

const w = words.ask, FEW = 4;
const FIELDS = { place: /a place/, from: /a time/, layers: /a layer/ }; // what the advice names, and the field where it is given

const action = (said, work) => h("button", { type: "button", className: "plain", onclick: work }, said);

function focusOn(id) {
  const field = id === "layers" ? document.querySelector("input[name=layer]") : byId(id);
  for (let each = field.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  field.focus();
  field.select?.();
}

// The changes that this outcome calls for; `again` is called with another request.
function* changes(request, body, again) {
  const advice = body.limitations.find(each => each.code === "CLARIFICATION_HELPS")?.message ?? "";
  if (body.reason_codes.includes("GATE_REJECTED")) yield [w.help_gate, " ", action(w.help_question, () => focusOn("question"))];
  for (const [name, named] of Object.entries(FIELDS)) {
    const offered = name === "layers" ? document.querySelector("input[name=layer]") : byId(name);
    if (offered && named.test(advice)) yield [action(w[`help_${name}`], () => focusOn(name))];
  }
  if (request.context) yield [action(w.help_context, () => again({ question: request.question }))];
  if (!body.reason_codes.includes("GATE_REJECTED")) yield [w.help_rights, " ", action(w.help_key, () => focusOn("key"))];
}

// Questions about the same place that would be answered, put into a list once they are known.
async function held(request, body, again, into) {
  const [place] = body.interpretation?.plan.flatMap(each => each.place_ids ?? []) ?? [], { context = {} } = request;
  const asked = place ?? context.place_id ?? context.place;
  const found = await get(query("/api/v1/ai/suggestions", { place: asked, limit: FEW })).catch(() => null);
  if (!found?.suggestions.length) return;
  into.append(h("h4", {}, asked ? w.held_there : w.held_here), h("ul", {}, found.suggestions.map(each => h("li", {}, action(each.question, () => again({ question: each.question }))))));
}

// The links for an outcome, and an element for what is held.
export function helpFor(request, again) {
  return body => {
    const later = h("div", { className: "held" });
    held(request, body, again, later);
    return { links: [...changes(request, body, again)], held: later };
  };
}
