// An answer as it comes, by Server-Sent Events. A connection that was cut is taken up again behind the last event that came.
import { ApiError, reply } from "./api.js";
import { words } from "./text.js";

const TRIES = 3, PAUSE_MS = 500;

// The events of a response: name, data and id of each. An event without its empty line did not arrive whole.
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (held + value).split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").filter(line => /^[a-z]+: /.test(line))
        .map(line => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      if (fields.data) yield { ...fields, data: JSON.parse(fields.data) };
    }
  }
}

// The body of the answer to a request; `tell` is called with the name and the data of each event before it. Raises ApiError.
export async function streamed(request, { signal, tell }) {
  let last = null;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const resumed = last ? { "last-event-id": last } : {};
      const response = await reply("/api/v1/ai/stream", { signal, method: "POST", body: JSON.stringify(request),
        headers: { accept: "text/event-stream", "content-type": "application/json", ...resumed } });
      for await (const { id, event, data } of eventsOf(response)) {
        last = id;
        if (event === "done") return data;
        if (event === "error") throw new ApiError(500, data.error.code, data.error.message);
        tell(event, data);
      }
    } catch (error) {
      if (error.name === "AbortError" || (error instanceof ApiError && error.status > 0)) throw error;
    }
    if (last === null || attempt === TRIES) throw new ApiError(0, "UNREACHABLE", words.site.unreachable);
    await new Promise(done => setTimeout(done, PAUSE_MS * (attempt + 1)));
  }
}
