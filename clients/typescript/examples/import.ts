// Makes or changes recipients, one a line of a file:
//
//     TIDINGS_URL=http://127.0.0.1:8990 TIDINGS_KEY=… npx tsx examples/import.ts people.ndjson
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type NamedRecipient, Tidings } from "@tidings/client";

async function* people(file: string): AsyncGenerator<NamedRecipient> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line) yield JSON.parse(line) as NamedRecipient;
  }
}

const { TIDINGS_URL = "http://127.0.0.1:8990", TIDINGS_KEY } = process.env;
const tidings = new Tidings({ url: TIDINGS_URL, key: TIDINGS_KEY });
const { lines, done, rejected } = await tidings.recipients.import(people(process.argv[2]!));
for (const { line, problem } of rejected) console.error(`line ${line}: ${problem.detail}: ${problem.hint}`);
console.log(`${done} of ${lines} recipients`);
