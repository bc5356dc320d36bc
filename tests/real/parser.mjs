// Runs Gemini CLI's own parser of command lines: an array of them as JSON on stdin, what it makes of each on stdout.
//
// The parser is no export of the program. A copy of its module exports it; the other modules are linked beside the copy.

import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [bundle] = process.argv.slice(2);
const lines = JSON.parse(readFileSync(0, "utf8"));
const say = process.stdout.write.bind(process.stdout);

class Exit extends Error {
  constructor(code) {
    super("exit");
    this.code = code;
  }
}

function link(folder) {
  const main = readFileSync(join(bundle, "gemini.js"), "utf8").match(/import\("\.\/(gemini-\w+\.js)"\)/)[1];
  for (const name of readdirSync(bundle)) {
    if (name !== main) symlinkSync(join(bundle, name), join(folder, name));
  }
  writeFileSync(join(folder, main), `${readFileSync(join(bundle, main), "utf8")}\nexport { parseArguments };\n`);
  return join(folder, main);
}

async function understood(parse, argv) {
  process.argv = ["node", "gemini", ...argv];
  try {
    return { values: await parse({}) };
  } catch (error) {
    return error instanceof Exit ? { exit: error.code } : { error: String(error) };
  }
}

const folder = mkdtempSync(join(tmpdir(), "parser-"));
try {
  const { parseArguments } = await import(pathToFileURL(link(folder)));
  process.exit = (code) => {
    throw new Exit(code);
  };
  for (const stream of [process.stdout, process.stderr]) stream.write = () => true;
  const results = [];
  for (const argv of lines) results.push(await understood(parseArguments, argv));
  say(JSON.stringify(results));
} finally {
  rmSync(folder, { recursive: true });
}
