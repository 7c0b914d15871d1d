// Asks as a chat hook of the AI SDK does, with its own transport, and prints the message that the SDK makes of the stream.
import { DefaultChatTransport, readUIMessageStream } from "ai";

const [api, question] = process.argv.slice(2);
const transport = new DefaultChatTransport({ api });
const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: question }] }];
const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "1", messages, abortSignal: undefined });
const seen = [], faults = [];
let message = null;
const watched = stream.pipeThrough(new TransformStream({ transform(part, to) { seen.push(part.type); to.enqueue(part); } }));
for await (message of readUIMessageStream({ stream: watched, onError: error => faults.push(String(error)) }));
console.log(JSON.stringify({ seen, faults, message }));
