// Builds the package into dist/: one module, and its types. It has to stay under its budget of bytes.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

process.chdir(import.meta.dirname);
const BUDGET = 9 * 1024;
const common = { bundle: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", write: false, entryPoints: ["src/index.ts"] };
const [readable, minified] = await Promise.all([build(common), build({ ...common, minify: true })]);
rmSync("dist", { recursive: true, force: true });
execFileSync("npx", ["tsc", "-p", "tsconfig.package.json"], { stdio: "inherit" });
writeFileSync("dist/index.js", readable.outputFiles[0].contents);
for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(`../../${licence}`, `dist/${licence}`);
const size = ({ outputFiles: [{ contents }] }) => gzipSync(contents, { level: 9 }).length;
console.log(`${size(minified)} bytes minified and gzipped of ${BUDGET}; ${size(readable)} as it is packed, gzipped`);
process.exit(size(minified) < BUDGET ? 0 : 1);
