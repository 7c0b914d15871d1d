"""The typed client of the API for browsers, made from its OpenAPI description: one method for each operation, named by
its id, and the types of everything that is sent and received."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]
_JOINTS = {"anyOf": " | ", "oneOf": " | ", "allOf": " & "}
_PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
_NOTE = "// Made from the OpenAPI description of the server that it came from.\n"
_BASE = """
export class ExhibitError extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = body?.error?.code ?? null;
    this.details = body?.error?.details ?? [];
  }
}

export class ExhibitClient {
  constructor({ origin, key = null, fetch = globalThis.fetch.bind(globalThis) }) {
    Object.assign(this, { origin, key, fetch });
  }

  async request(method, path, { query = {}, body, headers = {}, signal } = {}) {
    const url = new URL(path, this.origin);
    const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    for (const [name, value] of wanted) url.searchParams.set(name, value);
    const given = body ?? (method === "POST" ? {} : undefined);
    const sent = { accept: "application/json", ...(given === undefined ? {} : { "content-type": "application/json" }),
      ...(this.key ? { authorization: `Bearer ${this.key}` } : {}), ...headers };
    const text = given === undefined ? undefined : JSON.stringify(given);
    const response = await this.fetch(url, { method, headers: sent, signal, body: text });
    if (!response.ok) throw new ExhibitError(response.status, await response.json().catch(() => null));
    return response;
  }
"""
_BASE_TYPES = """
export interface RequestOptions { headers?: Record<string, string>; signal?: AbortSignal }

export class ExhibitError extends Error {
  readonly status: number;
  readonly code: ErrorFields["code"] | null;
  readonly details: ErrorDetail[];
}

export class ExhibitClient {
  /** `origin` is where the server is, such as `https://evidence.example`; `key` an API key. */
  constructor(settings: { origin: string; key?: string | null; fetch?: typeof fetch });
  /** Any request; raises ExhibitError for what is no success. */
  request(
    method: string, path: string, options?: RequestOptions & { query?: object; body?: unknown },
  ): Promise<Response>;
"""


def client_files(document: Document) -> dict[str, str]:
    """The two files by name."""
    operations = list(_operations(document))
    schemas = document["components"]["schemas"]
    types = [f"export type {_name(name)} = {_type(schema)};" for name, schema in sorted(schemas.items())]
    script = _NOTE + _BASE + "".join(f"\n{_method(*each)}" for each in operations) + "}\n"
    told = _NOTE + "\n".join(types) + "\n" + _BASE_TYPES + "".join(_declared(*each) for each in operations) + "}\n"
    return {"client.js": script, "client.d.ts": told}


def _operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    for path, offered in document["paths"].items():
        for method, operation in offered.items():
            yield method.upper(), path, operation


def _named(operation: Document, place: str) -> list[Document]:
    return [each for each in operation.get("parameters", ()) if each["in"] == place]


def _takes(operation: Document) -> list[str]:
    """The arguments of the method, in order."""
    names = [each["name"] for each in _named(operation, "path")]
    return [
        *names,
        *(["body"] if "requestBody" in operation else []),
        *(["query = {}"] if _named(operation, "query") else []),
        "options = {}",
    ]


def _reads(operation: Document) -> str:
    """How the body of a success is read."""
    kinds = _success(operation).get("content", {})
    first = next(iter(kinds), "")
    if first.endswith("json"):
        return "json"
    return "body" if first == "text/event-stream" else "arrayBuffer" if "octet" in first else "text"


def _success(operation: Document) -> Document:
    found: Document = next(reply for status, reply in operation["responses"].items() if status.startswith("2"))
    return found


def _method(method: str, path: str, operation: Document) -> str:
    for each in _named(operation, "path"):
        path = path.replace(f"{{{each['name']}}}", f"${{encodeURIComponent({each['name']})}}")
    sent = [name for name in ("query", "body") if any(take.split(" ")[0] == name for take in _takes(operation))]
    given = ", ".join([*sent, "...options"])
    reads = _reads(operation)
    read = f".{reads}" if reads == "body" else f".{reads}()"
    return (
        f"  async {operation['operationId']}({', '.join(_takes(operation))}) {{\n"
        f'    return (await this.request("{method}", `{path}`, {{ {given} }})){read};\n  }}\n'
    )


def _declared(method: str, path: str, operation: Document) -> str:
    arguments = [f"{each['name']}: {_type(each['schema'])}" for each in _named(operation, "path")]
    if "requestBody" in operation:
        arguments.append(f"body: {_type(next(iter(operation['requestBody']['content'].values()))['schema'])}")
    if queries := _named(operation, "query"):
        needed = {each["name"] for each in queries if each.get("required")}
        fields = "; ".join(_field(each["name"], each["schema"], needed) for each in queries)
        arguments.append(f"query{'' if needed else '?'}: {{ {fields} }}")
    read = _reads(operation)
    gives = {"text": "string", "arrayBuffer": "ArrayBuffer", "body": "ReadableStream<Uint8Array>"}.get(read, "unknown")
    if read == "json":
        gives = _type(next(iter(_success(operation)["content"].values())).get("schema", {}))
    about = (operation.get("summary") or "").replace("*/", "")
    return (
        f"  /** {about}: {method} {path} */\n"
        f"  {operation['operationId']}({', '.join([*arguments, 'options?: RequestOptions'])}): Promise<{gives}>;\n"
    )


def _field(name: str, schema: Document, required: Collection[str]) -> str:
    key = name if name.isidentifier() else json.dumps(name)
    return f"{key}{'' if name in required else '?'}: {_type(schema)}"


def _name(schema: str) -> str:
    """The name of its type; `Error` is JavaScript's own."""
    return "ErrorFields" if schema == "Error" else schema.replace("-", "_")


def _type(schema: Document) -> str:
    """A schema as a TypeScript type."""
    for name, joint in _JOINTS.items():
        if name in schema:
            return joint.join(dict.fromkeys(f"({_type(each)})" for each in schema[name]))
    if "$ref" in schema:
        return _name(str(schema["$ref"]).rsplit("/", 1)[-1])
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return " | ".join(json.dumps(value) for value in values)
    kind = "object" if "properties" in schema else schema.get("type")
    if kind == "array":
        return f"({_type(schema.get('items', {}))})[]"
    return _object(schema) if kind == "object" else _PLAIN.get(str(kind), "unknown")


def _object(schema: Document) -> str:
    required, more = set(schema.get("required", ())), schema.get("additionalProperties")
    fields = [_field(name, each, required) for name, each in schema.get("properties", {}).items()]
    if more is True or isinstance(more, dict) or not fields:
        inner = _type(more) if isinstance(more, dict) and not fields else "unknown"
        fields.append(f"[name: string]: {inner}")
    return "{ " + "; ".join(fields) + " }"
