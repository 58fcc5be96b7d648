// A class for each resource, with a method for each call.
import { comment, member } from "./docs.mjs";
import { typeOf } from "./types.mjs";

/** The classes, and one that has them all. */
export function resourcesOf(resources, schemas) {
  const classes = Object.entries(resources).map(([name, { described, calls }]) => {
    const methods = calls.flatMap((call) => methodsOf(name, call));
    return `${comment([described ?? `The calls of \`${name}\`.`])}export class ${upper(name)}Calls${generic(calls) ? "<D = AnyData>" : ""} extends Resource {\n${methods.join("\n")}}\n`;
  });
  const names = Object.keys(resources);
  const properties = names.map((name) => `${comment([resources[name].described], "  ")}  readonly ${name} = new ${upper(name)}Calls${generic(resources[name].calls) ? "<D>" : ""}(this.http);\n`).join("");
  const all = `/** All resources of the API. */\nexport class Resources<D = AnyData> extends Resource {\n${properties}}\n`;
  const body = [...classes, all].join("\n");
  const code = body.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/"[^"]*"|`[^`]*`/g, "");
  const types = [...new Set(code.match(/\b[A-Z]\w+\b/g))].filter((word) => schemas.has(word) && !["AnyData", "EventOf"].includes(word)).sort();
  return `import type { LiveEvent } from "../live.js";
import type { AnyData, EventOf } from "../event.js";
import { Resource, path } from "../resource.js";
import type { Import } from "../import.js";
import type { Options } from "../options.js";
import type { Pages } from "../pages.js";
import type {\n${types.map((type) => `  ${type},\n`).join("")}} from "./types.js";

${body}`;
}

/** True if the calls take events, whose data has types of its own. */
const generic = (calls) => calls.some(({ id }) => id === "publish");
const upper = (name) => name[0].toUpperCase() + name.slice(1);

/** A line or more of what a parameter takes. */
function parametersIn(call) {
  return call.inPath.map(({ name }) => ({ text: `${name}: string` }));
}

function docsOf(call, extra = []) {
  const description = call.description?.trim();
  return comment([`${call.summary}.`, description, ...extra, `\`${call.verb} ${call.path}\``], "  ");
}

function queryType(parameters) {
  const members = parameters.map(({ name, description, required, schema }) => {
    const type = schema.type === "array" ? `${typeOf(schema.items)} | readonly ${typeOf(schema.items)}[]` : typeOf(schema);
    return `${comment([description], "    ")}    ${member(name)}${required ? "" : "?"}: ${type}${required ? "" : " | undefined"};\n`;
  });
  return `{\n${members.join("")}  }`;
}

/** True if the tenant is all that a call's query has: it is given among the options, of which it is one more. */
const tenantInQuery = ({ query }) => query.length === 1 && query[0].name === "tenant" && !query[0].required;

/** True if the tenant is all that a call's body has, which may be left out: it is given among the options too. */
const tenantInBody = (call) => call.body && !call.bodyRequired && bodyType(call) === "OfTenant";

/** The path as a template that encodes its parts. */
const pathOf = (call) => (call.inPath.length ? `path\`${call.path.replace(/\{(\w+)\}/g, "${$1}")}\`` : JSON.stringify(call.path));

function methodsOf(resource, call) {
  if (call.paged) return pagedOf(call);
  const methods = [];
  const single = call.body?.$ref?.endsWith("/PublishBody") ? publishOf(call) : [oneOf(call)];
  methods.push(...single);
  if (call.lines) methods.push(importOf(call));
  return methods;
}

/** One request, one answer. */
function oneOf(call) {
  const parameters = parametersIn(call).map(({ text }) => text);
  const ofTenant = tenantInBody(call) ? "OfTenant" : tenantInQuery(call) ? queryType(call.query) : "";
  const input = call.body && !tenantInBody(call) && bodyType(call);
  const query = call.query.length > 0 && !tenantInQuery(call);
  if (input) parameters.push(`body${call.bodyRequired ? "" : "?"}: ${input}`);
  if (query) parameters.push(`query${call.query.some(({ required }) => required) ? "" : "?"}: ${queryType(call.query)}`);
  parameters.push(`options?: Options${ofTenant && ` & ${ofTenant}`}`);
  const fixed = call.fixed ? JSON.stringify(call.fixed).replace(/"(\w+)":/g, "$1: ") : "";
  const rest = [
    input ? "body" : tenantInBody(call) ? "options?.tenant && { tenant: options.tenant }" : "",
    query ? "query" : tenantInQuery(call) ? "{ tenant: options?.tenant }" : fixed,
  ];
  const { type, send } = answerOf(call);
  const extra = rest[1] ? `, ${rest[0] || "undefined"}, ${rest[1]}` : rest[0] ? `, ${rest[0]}` : "";
  return `${docsOf(call)}  ${call.method}(${parameters.join(", ")}): ${type} {\n    return this.http.${send}("${call.verb}", ${pathOf(call)}, options${extra});\n  }\n`;
}

function bodyType(call) {
  const type = typeOf(call.body, { input: true });
  return call.bodyRequired ? type : type.replace(" | null", "");
}

function answerOf(call) {
  switch (call.kind) {
    case "application/json":
      return { type: `Promise<${call.answer ?? typeOf(call.answerSchema, { output: true })}${call.empty ? " | undefined" : ""}>`, send: "send" };
    case "nothing":
      return { type: "Promise<void>", send: "send" };
    case "application/x-ndjson":
      return { type: "AsyncIterable<Record<string, unknown>>", send: "lines" };
    case "application/octet-stream":
      return { type: "Promise<ReadableStream<Uint8Array>>", send: "bytes" };
    case "text/event-stream":
      return { type: "AsyncIterable<LiveEvent>", send: "live" };
    default:
      if (call.kind.startsWith("text/")) return { type: "Promise<string>", send: "text" };
      throw new Error(`${call.id} answers ${call.kind}, which the generator does not know`);
  }
}

/** A page and those behind it; and, where a call can wait for something newer, that apart. */
function pagedOf(call) {
  const page = typeOf(call.answerSchema);
  const waits = call.query.some(({ name }) => name === "wait");
  const ofPage = waits ? call.query.filter(({ name }) => !["since", "wait"].includes(name)) : call.query;
  const inPath = parametersIn(call).map(({ text }) => text);
  const list = `${docsOf(call, ["Awaited it is a page; iterated over (`for await`) it is the items of all pages."])}  ${call.method}(${[...inPath, `query?: ${queryType(ofPage)}`, "options?: Options"].join(", ")}): Pages<${page}, ${call.paged.type}> {
    return this.http.pages(${pathOf(call)}, "${call.paged.name}", query, options);
  }\n`;
  if (!waits) return [list];
  const name = call.method === "list" ? "newer" : `${call.method}Newer`;
  const newer = { ...call, method: name, summary: "Wait for a newer page of an inbox", description: "Answers as soon as `rev` is above `since`; undefined if it is not within `wait`.", empty: true, query: call.query.filter((one) => one.name !== "cursor").map((one) => (one.name === "since" ? { ...one, required: true } : one)) };
  return [list, oneOf(newer)];
}

/** One event or an array of them, each with an answer of its own shape. */
function publishOf(call) {
  const docs = (summary) => docsOf({ ...call, summary, description: call.description.split("\n\n").filter((part) => !part.startsWith("A stream") && !part.startsWith("One event as")).join("\n\n") });
  return [`${docs("Publish an event")}  ${call.method}(event: EventOf<D>, options?: Options): Promise<PublishedEvent>;
${docs("Publish events, each accepted or rejected by itself")}  ${call.method}(events: readonly EventOf<D>[], options?: Options): Promise<EventOutcome[]>;
  ${call.method}(body: EventOf<D> | readonly EventOf<D>[], options?: Options): Promise<never> {
    return this.http.send("${call.verb}", ${pathOf(call)}, options, body);
  }\n`];
}

/** A stream of lines in, a stream of answers out. */
function importOf(call) {
  const line = call.id === "publish" ? "EventOf<D>" : typeOf(call.lines);
  const answer = typeOf(call.lineAnswer);
  const docs = docsOf({ ...call, summary: `${call.summary}, as many as there are`, description: "Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an\nanswer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each\nline, in order." });
  const parameters = [...parametersIn(call).map(({ text }) => text), `lines: Iterable<${line}> | AsyncIterable<${line}>`];
  return `${docs}  ${call.importing}(${parameters.join(", ")}, options?: Options): Import<Exclude<${answer}, Counted>> {
    return this.http.importing(${pathOf(call)}, lines, options);
  }\n`;
}
