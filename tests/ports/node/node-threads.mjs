// Written in Node with threads: one speaks, two run every gemini; lists one tool a page, sorts its keys, asks for roots.

import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { checked, newest, problem, read } from "./shared/calls.mjs";
import { onLine, receiver } from "./shared/messages.mjs";

const REVISIONS = ["2025-06-18", "2025-11-25", "2025-03-26"];
const THREADS = 2;
const GRACE = 300;
const ARGUMENT_BYTES = 1000;
const FIELDS = ["cwd", "model", "prompt", "systemPrompt"];
const TOOLS = { "chat-reply": ["sessionId", ...FIELDS], chat: FIELDS };
const PAGES = Object.keys(TOOLS);

// A thread that runs gemini: it is sent calls and tells what to answer.

const running = new Map();

function signalGroup(call, signal) {
  try {
    if (call.child?.pid) process.kill(-call.child.pid, signal);
  } catch {}
}

function stop(call) {
  if (!call || call.stopped) return;
  call.stopped = true;
  signalGroup(call, "SIGTERM");
  setTimeout(() => signalGroup(call, "SIGKILL"), GRACE);
}

function run(call, argv, env, stdin, limit) {
  if (call.stopped) return { problem: "the call was stopped" };
  return new Promise((resolve) => {
    const pieces = { stdout: [], stderr: [] };
    const child = spawn("gemini", argv, { cwd: call.found.cwd, env, detached: true });
    const timer = setTimeout(() => {
      signalGroup(call, "SIGKILL");
      finish({ problem: "gemini did not finish in time" });
    }, limit);
    const finish = (outcome) => {
      clearTimeout(timer);
      if (call.stopped) signalGroup(call, "SIGKILL");
      const text = (name) => Buffer.concat(pieces[name]).toString();
      resolve({ ...outcome, out: text("stdout"), err: text("stderr") });
    };
    call.child = child;
    child.on("error", ({ code }) => finish({ unstarted: `gemini could not be started (${code}): is it on PATH?` }));
    for (const name of ["stdout", "stderr"]) child[name]?.on("data", (piece) => pieces[name].push(piece));
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
    child.on("exit", (code, signal) => {
      const late = setTimeout(finish, 300, { code, signal });
      child.on("close", () => clearTimeout(late) ?? finish({ code, signal }));
    });
  });
}

function commandLine({ tool, found }, isLong) {
  const argv = isLong ? [] : [`--prompt=${found.prompt}`];
  if (tool === "chat-reply") argv.push("--resume", found.sessionId ?? "latest");
  if (found.model) argv.push(`-m=${found.model}`);
  return [...argv, "-o=json"];
}

async function served(call) {
  const { found } = call;
  const env = { ...process.env };
  const isLong = Buffer.byteLength(found.prompt) > ARGUMENT_BYTES;
  let file;
  try {
    if (found.systemPrompt !== undefined) {
      file = join(mkdtempSync(join(tmpdir(), "gemini-mcp-")), "SYSTEM.md");
      writeFileSync(file, found.systemPrompt, { mode: 0o600 });
    }
    const asked = file ? { ...env, GEMINI_SYSTEM_MD: file } : env;
    const outcome = await run(call, commandLine(call, isLong), asked, isLong ? found.prompt : "", 600_000);
    return call.stopped ? null : await result(call, env, outcome);
  } catch (error) {
    return problem(`the server failed (${error.message})`);
  } finally {
    if (file) rmSync(dirname(file), { recursive: true, force: true });
  }
}

async function result(call, env, outcome) {
  const { tool, found } = call;
  if (outcome.unstarted) return problem(outcome.unstarted);
  const was = read(outcome);
  if (was.problem) return problem(was.problem, was.said, outcome.err, [found.prompt, found.systemPrompt]);
  let session = typeof was.session === "string" ? was.session : "";
  if (!session && tool === "chat-reply" && found.sessionId !== "latest") session = found.sessionId;
  if (!session) {
    const listing = await run(call, ["--list-sessions"], env, "", 5000);
    session = listing.code === 0 ? newest(listing) : undefined;
  }
  const meta = { ...(session && { sessionId: session }), ...(was.warnings && { warnings: was.warnings }) };
  return { _meta: meta, content: [{ text: was.answer.replace(/\p{Surrogate}/gu, "\uFFFD"), type: "text" }] };
}

function beRunner() {
  parentPort.on("message", async ({ number, stopped, ...call }) => {
    if (stopped) return stop(running.get(number));
    running.set(number, call);
    const answer = await served(call);
    running.delete(number);
    parentPort.postMessage({ number, answer });
  });
}

// The thread that speaks.

const runners = [];
const calls = new Map();
const turns = new Map();
const key = (id) => `${typeof id}:${id}`;
let count = 0;
let ending = false;
let hasRoots = false;

function sorted(_, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message }, sorted)}\n`);
const fail = (id, code, message) => send({ id, error: { code, message } });
const runnerOf = (call) => runners[call.number % THREADS];

function begin(call) {
  call.begun = true;
  runnerOf(call).postMessage({ number: call.number, tool: call.tool, found: call.found });
}

function cancel(call) {
  call.cancelled = true;
  if (call.begun) runnerOf(call).postMessage({ number: call.number, stopped: true });
  else leave(call);
}

function leave(call, answer) {
  if (!calls.delete(call.number)) return;
  clearInterval(call.timer);
  if (!call.cancelled && answer) send({ id: call.id, result: answer });
  const line = (turns.get(call.turn) ?? []).filter((each) => each !== call);
  if (line.length) turns.set(call.turn, line);
  else turns.delete(call.turn);
  if (line.length && !line[0].begun && !ending) begin(line[0]);
  if (ending && calls.size === 0) process.exit(0);
}

function report(call) {
  if (call.token === undefined || call.cancelled) return;
  const params = { progressToken: call.token, progress: ++call.progress, total: 1000 };
  send({ method: "notifications/progress", params });
}

function callTool(id, { name: tool, arguments: values = {}, _meta: meta }) {
  if (typeof tool !== "string" || !Object.hasOwn(TOOLS, tool)) return fail(id, -32602, "There is no such tool.");
  if (typeof values !== "object" || values === null || Array.isArray(values)) return fail(id, -32602, "`arguments`?");
  let found;
  try {
    found = checked(TOOLS[tool], values);
  } catch (error) {
    return send({ id, result: problem(error.message) });
  }
  const call = { number: ++count, id, tool, found, progress: 0, token: meta?.progressToken };
  calls.set(call.number, call);
  report(call);
  call.timer = setInterval(report, 3000, call);
  if (tool === "chat") return begin(call);
  const named = found.sessionId && found.sessionId !== "latest";
  call.turn = named ? found.sessionId : `latest ${realpathSync(found.cwd ?? ".")}`;
  const line = [...(turns.get(call.turn) ?? []), call];
  turns.set(call.turn, line);
  if (line[0] === call) begin(call);
}

function list(id, { cursor }) {
  const page = cursor === undefined ? 0 : PAGES.indexOf(cursor);
  if (page < 0 || cursor === PAGES[0]) return fail(id, -32602, "The cursor is unknown.");
  const name = PAGES[page];
  const properties = Object.fromEntries(TOOLS[name].map((field) => [field, { type: "string" }]));
  const tool = { name, inputSchema: { type: "object", properties, required: ["prompt"] } };
  send({ id, result: { tools: [tool], ...(PAGES[page + 1] && { nextCursor: PAGES[page + 1] }) } });
}

function initialize(id, { protocolVersion, capabilities }) {
  hasRoots = Boolean(capabilities?.roots);
  const agreed = REVISIONS.includes(protocolVersion) ? protocolVersion : REVISIONS[0];
  const serverInfo = { name: "gemini-mcp-server", version: "1.0.0" };
  send({ id, result: { protocolVersion: agreed, serverInfo, capabilities: { tools: {} } } });
}

const METHODS = { initialize, ping: (id) => send({ id, result: {} }), "tools/list": list, "tools/call": callTool };

function notified(method, params) {
  if (method === "notifications/initialized" && hasRoots) send({ id: 1, method: "roots/list" });
  if (method !== "notifications/cancelled" || params === null) return;
  for (const call of [...calls.values()]) if (key(call.id) === key(params.requestId)) cancel(call);
}

function end() {
  if (ending) return;
  ending = true;
  for (const call of [...calls.values()]) cancel(call);
  if (calls.size === 0) process.exit(0);
  setTimeout(() => process.exit(0), 1500);
}

function beSpeaker() {
  for (let number = 0; number < THREADS; number++) {
    const runner = new Worker(new URL(import.meta.url));
    runner.on("message", ({ number: done, answer }) => calls.has(done) && leave(calls.get(done), answer));
    runners.push(runner);
  }
  process.stdout.on("error", end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, end);
  onLine(process.stdin, receiver(METHODS, notified, fail));
  process.stdin.on("end", end);
}

if (isMainThread) beSpeaker();
else beRunner();
