// Builds the elements into dist/ (embedded in the server), and with --package the npm package into lib/.
// With --check nothing is written: dist/ has to be what would be built.
import { build, transform } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";

process.chdir(import.meta.dirname);
const check = process.argv.includes("--check");
const budgets = { "inbox.js": 15, "preferences.js": 12, "follow.js": 5, "console.js": 10, "console.css": 14 };
const elements = ["inbox", "preferences", "follow"];
const tags = [...new Set(elements.flatMap((element) => readdirSync(`locales/${element}`)))]
  .map((file) => file.replace(/\.ts$/, ""))
  .filter((tag) => tag !== "en");

/** CSS as a text, minified. */
const css = {
  name: "css",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true, target: "es2022" });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

/** A locale's texts of all elements, put together from `locales/ELEMENT/TAG.ts`. */
const locales = {
  name: "locales",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^locale:/ }, ({ path }) => ({ path, namespace: "locale" }));
    onLoad({ filter: /.*/, namespace: "locale" }, ({ path }) => {
      const parts = elements.filter((element) => existsSync(`locales/${element}/${path.slice(7)}.ts`));
      const imports = parts.map((part) => `import ${part} from "./locales/${part}/${path.slice(7)}.ts";`);
      return { contents: `${imports.join("\n")}\nexport default { ${parts.join(", ")} };`, resolveDir: "." };
    });
  },
};

const common = { bundle: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", plugins: [css, locales], write: false };
const entries = [...elements.filter((element) => existsSync(`${element}/index.ts`)), "core"];
const panel = await build({ ...common, minify: true, outdir: "dist", entryPoints: [{ in: "inbox/panel.ts", out: "inbox-panel" }] });
const print = createHash("sha256").update(panel.outputFiles[0].contents).digest("hex").slice(0, 8);

/** In dist the panel is a file beside the element, which loads that very one: no cache mixes two builds. */
const beside = {
  name: "beside",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/panel\.js$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: `./inbox-panel.js?${print}`, external: true } : undefined);
  },
};

const outputs = await Promise.all([
  panel,
  build({ ...common, minify: true, outdir: "dist", plugins: [css, locales, beside], entryPoints: entries.map((entry) => ({ in: `${entry}/index.ts`, out: entry })) }),
  build({ ...common, minify: true, outdir: "dist/locales", entryPoints: tags.map((tag) => ({ in: `locale:${tag}`, out: tag })) }),
  existsSync("worker/index.ts") &&
    build({ ...common, format: "iife", minify: true, outdir: "dist", entryPoints: [{ in: "worker/index.ts", out: "worker" }] }),
  // The pages of the console link its sheet, so that it is a file and not a text.
  build({ ...common, plugins: [], minify: true, outdir: "dist", entryPoints: ["console/console.ts", "console/console.css"] }),
]);

let failed = false;
const root = `${process.cwd()}/`;
for (const { path, contents } of outputs.flatMap((output) => (output ? output.outputFiles : []))) {
  const name = path.slice(root.length);
  const kilobytes = gzipSync(contents, { level: 9 }).length / 1024;
  const budget = budgets[name.replace("dist/", "")];
  const over = budget !== undefined && kilobytes > budget;
  if (!name.includes("locales/")) console.log(`${name}: ${kilobytes.toFixed(2)} kB gzipped${budget ? ` of ${budget}` : ""}${over ? ": TOO LARGE" : ""}`);
  failed ||= over;
  if (check) {
    if (!existsSync(path) || !readFileSync(path).equals(Buffer.from(contents))) {
      console.error(`${name} is not what the sources give: run \`npm run build\` and commit it`);
      failed = true;
    }
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}

if (process.argv.includes("--package")) {
  rmSync("lib", { recursive: true, force: true });
  await build({
    ...common, write: true, splitting: true, outdir: "lib", chunkNames: "chunks/[hash]",
    entryPoints: [...entries.map((entry) => ({ in: `${entry}/index.ts`, out: `${entry}/index` })), { in: "react.ts", out: "react" }, { in: "preact.ts", out: "preact" }],
  });
  execFileSync("npx", ["tsc", "-p", "tsconfig.package.json"], { stdio: "inherit" });
}
process.exit(failed ? 1 : 0);
