// Runs command lines of the bundled CLI one after the other in one process, ten times as fast as a process for each.
// usage: node published-process.mjs BUNDLE   with JSON lines {"argv", "cwd", "environment"} on descriptor 3,
//                                            each answered on descriptor 4 with {"exit", "stdout", "stderr"}
// The program's own modules run anew for each line, but the chunks of a bundle. The others stay, and keep settings by
// their directory and HOME as it was first: so each line needs a new `cwd` and the same HOME.
import { EventEmitter } from 'node:events';
import { realpathSync, writeSync } from 'node:fs';
import { register } from 'node:module';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const program = process.argv[2];
const anew = `export async function resolve(name, context, next) {
  const found = await next(name, context);
  const run = new URL(context.parentURL ?? 'file:///').search;
  const isOwn = found.url.startsWith(${JSON.stringify(new URL('.', pathToFileURL(realpathSync(program))).href)}) && !found.url.includes('/chunk-');
  return run && isOwn ? { ...found, url: found.url + run } : found;
}`;
register(`data:text/javascript,${encodeURIComponent(anew)}`);

// What the profiler of starts, or the tracer of 0.1.19, says when there is more than one of them in a process.
const NOISE = /^\[STARTUP\] Cannot start phase .*\n|^Current logger will (?:be overwritten|overwrite) .*\n(?: {4}at .*\n?)+/gm;

// Each run adds listeners to what stays.
EventEmitter.defaultMaxListeners = 0;

let run;
process.stdout.write = (text) => { if (!run.ended) run.stdout += text; return true; };
process.stderr.write = (text) => { if (!run.ended) run.stderr += text; return true; };
process.exit = (code) => {
  if (run.ended) return;
  Object.assign(run, { ended: true, exit: code ?? process.exitCode ?? 0 });
  run.end();
  throw new Error('The program ended.');
};

const { write: out } = process.stdout;
const { write: err } = process.stderr;
const spoken = { ...console };

// What the program does with files beside its command would be cut off by its end, and must not meet the next line.
async function atRest() {
  for (let turn = 0; turn < 2 || (turn < 200 && process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))); turn += 1) {
    await new Promise((next) => setTimeout(next, 1));
  }
}

async function play({ argv, cwd, environment }, number) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...argv];
  process.exitCode = undefined;
  const before = new Map(process.eventNames().map((name) => [name, process.listeners(name)]));
  const ended = new Promise((end) => { run = { ended: false, stdout: '', stderr: '', end }; });
  await import(`${pathToFileURL(program).href}?${number}`);
  await ended;
  await atRest();
  for (const name of process.eventNames()) {
    for (const listener of process.listeners(name)) if (!before.get(name)?.includes(listener)) process.off(name, listener);
  }
  Object.assign(console, spoken);
  Object.assign(process.stdout, { write: out });
  Object.assign(process.stderr, { write: err });
  return { exit: run.exit, stdout: run.stdout, stderr: run.stderr.replace(NOISE, '').replace(/(\.js)\?\d+/g, '$1') };
}

// What the program leaves unanswered after its end concerns nobody.
process.on('unhandledRejection', (error) => { if (!run.ended) { run.stderr += error.stack; run.exit = 1; run.ended = true; run.end(); } });

let number = 0;
for await (const line of createInterface({ input: new Socket({ fd: 3 }) })) {
  writeSync(4, `${JSON.stringify(await play(JSON.parse(line), number += 1))}\n`);
}
process.kill(process.pid, 'SIGKILL');
