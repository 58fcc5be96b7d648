// The types of bodies and answers, named as the API document names them.
import { comment, member } from "./docs.mjs";

const REF = "#/components/schemas/";

/** The declarations of all schemas. */
export function typesOf(api) {
  const schemas = api.components.schemas;
  const reached = { in: new Set(), out: new Set() };
  for (const item of Object.values(api.paths)) {
    for (const operation of Object.values(item)) {
      walk(operation.requestBody, reached.in, schemas);
      walk(operation.responses, reached.out, schemas);
    }
  }
  const tags = discriminators(schemas);
  return Object.entries(schemas)
    .map(([name, schema]) => declaration(name, schema, { input: reached.in.has(name), output: reached.out.has(name), tag: tags.has(name) }))
    .join("\n");
}

/** Notes all schemas that a part of the document leads to. */
function walk(part, seen, schemas) {
  if (typeof part !== "object" || part === null) return;
  const name = typeof part.$ref === "string" && part.$ref.startsWith(REF) ? part.$ref.slice(REF.length) : undefined;
  if (name && !seen.has(name)) {
    seen.add(name);
    walk(schemas[name], seen, schemas);
  }
  Object.entries(part).forEach(([key, value]) => key.startsWith("example") || walk(value, seen, schemas));
}

/** The enumerations by which the members of a union are told apart. */
function discriminators(schemas) {
  const found = new Set();
  for (const { oneOf } of Object.values(schemas)) {
    for (const member of oneOf ?? []) {
      const status = schemas[member.$ref?.slice(REF.length)]?.properties?.status;
      if (status?.$ref) found.add(status.$ref.slice(REF.length));
    }
  }
  return found;
}

function declaration(name, schema, use) {
  const docs = comment([schema.description]);
  if (schema.enum) {
    const words = schema.enum.map((word) => JSON.stringify(word)).join(" | ");
    // A newer server may answer words that this list lacks.
    const open = use.output && !use.tag && schema.enum.length > 1 ? " | (string & {})" : "";
    return `${docs}export type ${name} = ${words}${open};\n`;
  }
  if (schema.allOf) {
    const bases = schema.allOf.filter((part) => part.$ref).map((part) => part.$ref.slice(REF.length));
    const own = schema.allOf.filter((part) => !part.$ref);
    return `${docs}export interface ${name} extends ${bases.join(", ")} {\n${own.map((part) => members(part, use)).join("")}}\n`;
  }
  if (schema.properties) return `${docs}export interface ${name} {\n${members(schema, use)}}\n`;
  return `${docs}export type ${name} = ${typeOf(schema, use)};\n`;
}

function members(schema, use) {
  return Object.entries(schema.properties)
    .map(([name, property]) => {
      const required = schema.required?.includes(name);
      const docs = comment([property.description ?? property.oneOf?.find((part) => part.description)?.description], "  ");
      const type = typeOf(property, use);
      return `${docs}  ${member(name)}${required ? "" : "?"}: ${type}${required || !use.input ? "" : " | undefined"};\n`;
    })
    .join("");
}

/** The type of a schema where it stands. */
export function typeOf(schema, use = {}) {
  if (schema.$ref) return schema.$ref.slice(REF.length);
  if (schema.oneOf) {
    const parts = schema.oneOf.map((part) => typeOf(part, use));
    return [...parts.filter((part) => part !== "null"), ...parts.filter((part) => part === "null")].join(" | ");
  }
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, use)).join(" | ");
  switch (schema.type) {
    case "string":
      return schema.format === "date-time" && use.input && !use.output ? "string | Date" : "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "null":
      return schema.type;
    case "array": {
      const items = typeOf(schema.items, use);
      return `${use.input && !use.output ? "readonly " : ""}${/[ |]/.test(items) ? `(${items})` : items}[]`;
    }
    case "object": {
      const values = schema.additionalProperties;
      return `Record<string, ${values && Object.keys(values).length ? typeOf(values, use) : "unknown"}>`;
    }
    default:
      return "unknown";
  }
}
