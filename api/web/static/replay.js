// An entry computed again on the server: its grade, that of each part, and what differs side by side.
import { fault, post } from "./api.js";
import { byId, facts, h } from "./dom.js";
import { pathOf } from "./proving.js";
import { line, rows, table, wide } from "./table.js";
import { say, words } from "./text.js";

const w = words.entry;
const gradeOf = grade => (grade === null ? "–" : grade === "NONE" ? w.grade_NONE : h("span", { title: w[`grade_${grade}`] }, grade));

// A piece of text whose rest, from the first difference on, is marked.
const marked = (text, at) => [text.slice(0, at), at < text.length ? h("mark", {}, text.slice(at)) : h("em", {}, w.replay_ends)];

function differences(stages) {
  const apart = stages.filter(each => !each.same);
  if (!apart.length) return [];
  const names = [w.replay_stage, w.replay_recorded, w.replay_now];
  const told = apart.map(({ name, detail, excerpt }) => line(names, [name, ...(excerpt
    ? [h("pre", {}, marked(excerpt.recorded, excerpt.at)), h("pre", {}, marked(excerpt.again, excerpt.at))]
    : [detail || w.replay_differs, ""])], { head: true }));
  return [h("h3", {}, w.replay_difference), wide(w.replay_difference, rows(names, told, "sides"))];
}

function resultOf(found) {
  const good = found.verdict === "reproduced";
  return [
    h("p", { className: good ? "good" : "fault" }, say(w[`verdict_${found.verdict}`], { grade: found.grade })),
    facts([[w.replay_limit, found.limit], [w.replay_changed, found.changed.join(", ")], [w.replay_missing, found.missing.join(", ")], [w.replay_erased, found.erased.join(", ")]]),
    ...differences(found.stages),
    h("h3", {}, w.replay_parts), table(w.replay_parts, [w.replay_part, w.replay_grade, w.replay_reason], found.parts.map(each => [h("code", {}, each.name), gradeOf(each.grade), each.reason])),
  ];
}

// Lets the form of the page replay that entry; `refused` is called where a key is needed.
export function replayForm(id, refused) {
  byId("replay-form").addEventListener("submit", async event => {
    event.preventDefault();
    const button = event.target.querySelector("button");
    button.disabled = true;
    byId("replay-state").textContent = w.replay_runs;
    byId("replayed").replaceChildren();
    try {
      byId("replayed").replaceChildren(...resultOf(await post(`${pathOf(id)}/replay`, { to: byId("to").value })));
    } catch (error) {
      byId("replayed").replaceChildren(fault(error));
      if (error.status === 401 || error.status === 403) refused();
    }
    byId("replay-state").textContent = "";
    button.disabled = false;
  });
}
