// The page of a receipt: what is shown is what is proved. After verify.js, leaf.js and proof.js.
const compared = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const json = bytes => JSON.parse(text8(bytes));

// Type, name and detail of every activity, entity and agent; activities in order of time.
function* outlined(prov) {
  const type = record => String(([record["prov:type"]].flat().find(each => each.$.startsWith("exhibit:")) ?? { $: "" }).$).slice(8);
  const activities = Object.entries(prov.activity ?? {});
  activities.sort(([a, one], [b, other]) => compared(one["prov:startTime"], other["prov:startTime"]) || compared(a, b));
  for (const [name, record] of activities) yield [type(record), name, record["prov:startTime"]];
  for (const section of ["entity", "agent"]) {
    for (const [name, record] of Object.entries(prov[section] ?? {}).sort(([a], [b]) => compared(a, b))) {
      const plain = Object.entries(record).filter(([key, value]) => key.startsWith("exhibit:") && typeof value === "string");
      plain.sort(([a], [b]) => compared(a, b));
      yield [type(record), name, plain.map(([key, value]) => `${key.slice(8)} ${value}`).join(", ")];
    }
  }
}

// Every text that the receipts prove, named, in the order in which the page shows it.
function* proved(outcome, intent) {
  const body = json(outcome.parts.get("answer"));
  yield ["entry", outcome.leaf.id];
  yield ["log", outcome.head.origin];
  yield ["time", new Date(outcome.leaf.t).toISOString()];
  if (intent) yield ["question", text8(intent.parts.get("question"))];
  yield ["answer", body.answer ?? ""];
  yield ["outcome", body.outcome];
  if (body.provenance?.model) yield ["model", body.provenance.model];
  for (const cited of (body.sentences ?? []).flatMap(each => each.citations)) {
    yield ["title", `[${cited.n}] ${body.citations[cited.n].title}`];
    yield ["quote", cited.quote];
  }
  const numbers = [...outcome.parts.keys()].filter(name => SOURCE.test(name)).map(name => Number(SOURCE.exec(name)[1]));
  for (const number of numbers.sort((a, b) => a - b)) {
    const source = json(outcome.parts.get(`sources/${number}`));
    yield ["title", `[${number}] ${source.title}`];
    yield ["document", source.document_id];
    yield ["document", source.document_sha256];
    yield ["source", source.text];
  }
  if (outcome.parts.get("prov")?.length) {
    for (const row of outlined(json(outcome.parts.get("prov")))) yield* row.map(text => ["provenance", text]);
  }
}

// What the page shows must be what the receipts prove, no more and no less.
function comparePage(outcome, intent) {
  check(!intent || outcome.leaf.refs.some(ref => ref.rel === "intent" && ref.id === intent.leaf.id && ref.leaf === intent.hash),
    "intent", "intent");
  const shown = [...document.querySelectorAll("[data-proved]")].map(each => [each.dataset.proved, each.textContent]);
  const expected = [...proved(outcome, intent)];
  expected.forEach(([name, text], at) => check(shown[at]?.[0] === name && shown[at][1] === text, "page",
    "page_other", { name }));
  check(shown.length === expected.length, "page", "page_more", { name: shown.at(-1)?.[0] });
}

async function verifyPage() {
  const data = JSON.parse(document.getElementById("receipts").textContent);
  const vkeys = document.getElementById("vkeys").value;
  const outcome = await verifyReceipt(data.outcome, vkeys);
  const intent = data.intent ? await verifyReceipt(data.intent, vkeys) : null;
  comparePage(outcome, intent);
  return phrase("receipt_verified", { id: outcome.leaf.id, index: outcome.index, size: outcome.head.size, origin: outcome.head.origin, unwitnessed: phrase("unwitnessed") });
}

onVerify(verifyPage);
