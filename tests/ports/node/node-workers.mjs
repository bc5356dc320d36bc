// Written in Node with one process for each call: a worker runs gemini, and tells the server what to answer.

import { fork, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checked, newest, problem, read } from "./shared/calls.mjs";
import { onLine, receiver } from "./shared/messages.mjs";

const HERE = fileURLToPath(import.meta.url);
const REVISIONS = ["2025-03-26", "2025-11-25"];
const GRACE = 400;
const PROPERTIES = { systemPrompt: "How to behave.", cwd: "Where.", model: "Which model.", prompt: "What to ask." };
const TOOLS = { chat: PROPERTIES, "chat-reply": { sessionId: "The session; else the latest.", ...PROPERTIES } };

// The worker: one call, one gemini, one message back.

let child = null;
let stopped = false;

function signalGroup(signal) {
  try {
    if (child?.pid) process.kill(-child.pid, signal);
  } catch {}
}

function stop() {
  if (stopped) return;
  stopped = true;
  signalGroup("SIGTERM");
  setTimeout(() => signalGroup("SIGKILL"), GRACE);
  if (!child) process.exit(0);
}

function run(argv, found, env, stdin, limit) {
  return new Promise((resolve) => {
    const out = [];
    const err = [];
    const finish = (outcome) => {
      clearTimeout(timer);
      if (stopped) signalGroup("SIGKILL");
      resolve({ out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString(), ...outcome });
    };
    const timer = setTimeout(() => {
      signalGroup("SIGKILL");
      finish({ problem: "gemini did not finish in time" });
    }, limit);
    child = spawn("gemini", argv, { cwd: found.cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
    child.on("error", ({ code }) => {
      const missing = "gemini was not found on PATH; install it with npm install -g @google/gemini-cli";
      finish({ unstarted: code === "ENOENT" ? missing : `gemini could not be started (${code})` });
    });
    child.stdout.on("data", (piece) => out.push(piece));
    child.stderr.on("data", (piece) => err.push(piece));
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    child.on("close", (code, signal) => finish({ code, signal }));
    child.on("exit", (code, signal) => setTimeout(() => finish({ code, signal }), 500));
  });
}

async function work({ tool, found }) {
  const env = { ...process.env };
  const long = Buffer.byteLength(found.prompt) > 120_000;
  const argv = ["--output-format=json", ...(long ? [] : [`--prompt=${found.prompt}`])];
  if (tool === "chat-reply") argv.push(`-r=${found.sessionId ?? "latest"}`);
  if (found.model) argv.push(`-m=${found.model}`);
  let file;
  try {
    if (found.systemPrompt !== undefined) {
      file = join(mkdtempSync(join(tmpdir(), "gemini-mcp-")), "SYSTEM.md");
      writeFileSync(file, found.systemPrompt, { mode: 0o600 });
    }
    const asked = file ? { ...env, GEMINI_SYSTEM_MD: file } : env;
    const outcome = await run(argv, found, asked, long ? found.prompt : "", 600_000);
    if (stopped) return undefined;
    return await result(tool, found, env, outcome);
  } catch (error) {
    return problem(`the worker failed (${error.message})`);
  } finally {
    if (file) rmSync(dirname(file), { recursive: true, force: true });
  }
}

async function result(tool, found, env, outcome) {
  const secrets = [found.prompt, found.systemPrompt];
  if (outcome.unstarted) return problem(outcome.unstarted);
  const was = read(outcome);
  if (was.problem) return problem(was.problem, was.said, outcome.err, secrets);
  const session = await named(tool, found, env, was);
  const content = [{ type: "text", text: was.answer.replace(/\p{Surrogate}/gu, "\uFFFD") }];
  return { content, _meta: { ...(session && { sessionId: session }), ...(was.warnings && { warnings: was.warnings }) } };
}

async function named(tool, found, env, was) {
  if (typeof was.session === "string" && was.session) return was.session;
  if (tool === "chat-reply" && found.sessionId && found.sessionId !== "latest") return found.sessionId;
  const listing = await run(["--list-sessions"], found, env, "", 5000);
  return listing.code === 0 ? newest(listing) : undefined;
}

function beWorker() {
  process.once("message", async (call) => {
    const answer = await work(call);
    if (process.connected) process.send({ answer }, () => process.exit(0));
    else process.exit(0);
  });
  process.on("message", (message) => message === "stop" && stop());
  process.on("disconnect", stop);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
}

// The server: reads messages, checks arguments, keeps replies in order.

const calls = new Map();
const turns = new Map();
const key = (id) => `${typeof id}:${id}`;
const send = (message) => process.stdout.write(`${JSON.stringify({ ...message, jsonrpc: "2.0" })}\n`);
const fail = (id, code, message) => send({ error: { message, code }, id });

function begin(call) {
  call.worker = fork(HERE, ["worker"], { stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true });
  call.worker.on("error", () => {});
  call.worker.on("message", ({ answer }) => leave(call, answer));
  // Not at its exit, which may be told before its last message.
  call.worker.on("disconnect", () => leave(call, problem("the worker has ended too early")));
  call.worker.send({ tool: call.tool, found: call.found });
}

function cancel(call) {
  call.stopped = true;
  if (!call.worker) leave(call);
  else if (call.worker.connected) call.worker.send("stop", () => {});
}

function leave(call, answer) {
  if (!calls.delete(call)) return;
  clearInterval(call.timer);
  if (!call.stopped && answer) send({ id: call.id, result: answer });
  const line = (turns.get(call.turn) ?? []).filter((each) => each !== call);
  line.length ? turns.set(call.turn, line) : turns.delete(call.turn);
  if (line.length && !line[0].worker && !ending) begin(line[0]);
  if (ending && calls.size === 0) process.exit(0);
}

function report(call) {
  if (call.token === undefined || call.stopped) return;
  send({ method: "notifications/progress", params: { progressToken: call.token, progress: ++call.progress } });
}

function callTool(id, params) {
  const { name: tool, arguments: values = {}, _meta: meta } = params;
  if (typeof tool !== "string" || !Object.hasOwn(TOOLS, tool)) return fail(id, -32602, "unknown tool");
  if (typeof values !== "object" || values === null || Array.isArray(values)) return fail(id, -32602, "no arguments");
  let found;
  try {
    found = checked(Object.keys(TOOLS[tool]), values);
  } catch (error) {
    return send({ id, result: problem(error.message) });
  }
  const call = { id, tool, found, progress: 0, token: meta?.progressToken };
  calls.set(call, call);
  report(call);
  call.timer = setInterval(report, 4000, call);
  if (tool === "chat") return begin(call);
  call.turn = found.sessionId && found.sessionId !== "latest" ? found.sessionId : `latest ${realpathSync(found.cwd ?? ".")}`;
  const line = [...(turns.get(call.turn) ?? []), call];
  turns.set(call.turn, line);
  if (line[0] === call) begin(call);
}

function list(id, { cursor }) {
  if (cursor !== undefined) return fail(id, -32602, "unknown cursor");
  const schema = ([name, description]) => [name, { description, type: "string" }];
  const tools = Object.entries(TOOLS).map(([name, properties]) => ({
    description: `Runs ${name} in a process of its own.`,
    inputSchema: { properties: Object.fromEntries(Object.entries(properties).map(schema)), required: ["prompt"], type: "object" },
    name,
  }));
  send({ id, result: { tools } });
}

function initialize(id, { protocolVersion }) {
  const agreed = REVISIONS.includes(protocolVersion) ? protocolVersion : REVISIONS.at(-1);
  const serverInfo = { name: "gemini-mcp-server", version: "1.0.0" };
  send({ id, result: { capabilities: { tools: {} }, protocolVersion: agreed, serverInfo } });
}

const METHODS = { initialize, ping: (id) => send({ id, result: {} }), "tools/list": list, "tools/call": callTool };

function notified(method, params) {
  if (method !== "notifications/cancelled" || params === null) return;
  for (const call of [...calls.values()]) if (key(call.id) === key(params.requestId)) cancel(call);
}

let ending = false;
function end() {
  if (ending) return;
  ending = true;
  for (const call of [...calls.values()]) cancel(call);
  if (calls.size === 0) process.exit(0);
  setTimeout(() => process.exit(0), 1500);
}

function beServer() {
  onLine(process.stdin, receiver(METHODS, notified, fail));
  process.stdin.on("end", end);
  process.stdout.on("error", end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, end);
}

process.argv[2] === "worker" ? beWorker() : beServer();
