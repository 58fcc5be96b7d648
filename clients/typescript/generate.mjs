// Writes src/generated/ from docs/openapi.json and docs/errors.md: types, resources, and a class for each problem.
// With --check nothing is written: the committed files have to be what would be written.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { callsOf } from "./generate/calls.mjs";
import { resourcesOf } from "./generate/resources.mjs";
import { typesOf } from "./generate/types.mjs";

process.chdir(import.meta.dirname);
const check = process.argv.includes("--check");
const api = JSON.parse(readFileSync("../../docs/openapi.json", "utf8"));
const errors = readFileSync("../../docs/errors.md", "utf8");
const head = "// Written by generate.mjs from the API document of the server: change that, and run `npm run generate`.\n\n";

const calls = callsOf(api);
const written = {
  types: head + typesOf(api),
  resources: head + resourcesOf(calls, new Set(Object.keys(api.components.schemas))),
  problems: head + problemsOf(errors) + `\n/** The version of the API document that this client was made from. */\nexport const VERSION = ${JSON.stringify(api.info.version)};\n`,
};

let stale = false;
for (const [name, text] of Object.entries(written)) {
  const path = `src/generated/${name}.ts`;
  if (!check) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
    console.error(`clients/typescript/${path} is not what docs/openapi.json and docs/errors.md give: run \`npm run generate\` and commit it`);
    stale = true;
  }
}
process.exit(stale ? 1 : 0);

/** A class for each code of the page of errors. */
function problemsOf(page) {
  const codes = [...page.matchAll(/^## `(\w+)`\n\n(.+?) Status (\d+)\./gm)].map(([, code, title, status]) => ({ code, title, status }));
  if (codes.length === 0) throw new Error("docs/errors.md lists no code");
  const name = (code) => `${code.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase())}Error`;
  const classes = codes.map(({ code, title, status }) => `/** ${title} \`${code}\`, status ${status}. */\nexport class ${name(code)} extends ProblemError {}\n`);
  const entries = codes.map(({ code }) => `  ${code}: ${name(code)},\n`);
  return `import { ProblemError } from "../errors.js";\n\n${classes.join("\n")}
/** The class of each code. */
export const PROBLEMS: Readonly<Record<string, typeof ProblemError>> = {\n${entries.join("")}};\n`;
}
