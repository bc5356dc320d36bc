// Written in Node with callbacks: speaks two revisions of the handshake, pipes gemini's output, refuses by -32602.

import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checked, newest, problem, read } from "./shared/calls.mjs";
import { onLine, receiver } from "./shared/messages.mjs";

const REVISIONS = ["2024-11-05", "2025-06-18"];
const GRACE = 400;
const text = (description) => ({ type: "string", description });
const shared = {
  cwd: text("Where gemini runs."),
  model: text("The model."),
  prompt: { ...text("What to ask."), minLength: 1 },
  systemPrompt: text("How to behave."),
};
const TOOLS = {
  "chat-reply": { ...shared, sessionId: text("The session; the latest one if absent.") },
  chat: shared,
};

const calls = new Map();
const turns = new Map();
const key = (id) => `${typeof id}:${id}`;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const fail = (id, code, message) => send({ id, error: { code, message } });

function commandLine(tool, found) {
  const long = Buffer.byteLength(found.prompt) > 100_000;
  const argv = ["-o", "json"];
  if (!long) argv.push(`-p=${found.prompt}`);
  if (found.model) argv.unshift(`--model=${found.model}`);
  if (tool === "chat-reply") argv.push(`--resume=${found.sessionId ?? "latest"}`);
  return { argv, stdin: long ? found.prompt : null };
}

function signalGroup(call, signal) {
  try {
    if (call.child?.pid) process.kill(-call.child.pid, signal);
  } catch {}
}

function stop(call) {
  if (call.stopped) return;
  call.stopped = true;
  signalGroup(call, "SIGTERM");
  setTimeout(() => signalGroup(call, "SIGKILL"), GRACE);
}

function run(call, argv, found, env, stdin, limit, done) {
  const out = [];
  const err = [];
  let ended = false;
  const finish = (outcome) => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    if (call.stopped) signalGroup(call, "SIGKILL");
    call.child = null;
    done({ out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString(), ...outcome });
  };
  const timer = setTimeout(() => {
    signalGroup(call, "SIGKILL");
    finish({ problem: "gemini did not finish in time" });
  }, limit);
  try {
    const stdio = [stdin === null ? "ignore" : "pipe", "pipe", "pipe"];
    call.child = spawn("gemini", argv, { cwd: found.cwd, env, stdio, detached: true });
  } catch (error) {
    return finish({ unstarted: `gemini could not be started (${error.code})` });
  }
  call.child.on("error", (error) => {
    const missing = "gemini was not found on PATH; install it with npm install -g @google/gemini-cli";
    finish({ unstarted: error.code === "ENOENT" ? missing : `gemini could not be started (${error.code})` });
  });
  call.child.stdout.on("data", (piece) => out.push(piece));
  call.child.stderr.on("data", (piece) => err.push(piece));
  call.child.stdin?.on("error", () => {});
  call.child.stdin?.end(stdin);
  call.child.on("close", (code, signal) => finish({ code, signal }));
  call.child.on("exit", (code, signal) => setTimeout(() => finish({ code, signal }), 500));
}

function serve(call, found) {
  const env = { ...process.env };
  let file;
  if (found.systemPrompt !== undefined) {
    file = join(mkdtempSync(join(tmpdir(), "gemini-mcp-")), "SYSTEM.md");
    writeFileSync(file, found.systemPrompt, { mode: 0o600 });
    call.file = file;
  }
  const { argv, stdin } = commandLine(call.tool, found);
  run(call, argv, found, file ? { ...env, GEMINI_SYSTEM_MD: file } : env, stdin, 600_000, (outcome) => {
    if (file) rmSync(dirname(file), { recursive: true, force: true });
    if (call.stopped) return leave(call);
    const secrets = [found.prompt, found.systemPrompt];
    if (outcome.unstarted) return answer(call, problem(outcome.unstarted, undefined, undefined, secrets));
    const was = read(outcome);
    if (was.problem) return answer(call, problem(was.problem, was.said, outcome.err, secrets));
    named(call, found, env, was, (session) => {
      const content = [{ type: "text", text: was.answer.toWellFormed?.() ?? was.answer.replace(/\p{Surrogate}/gu, "\uFFFD") }];
      const meta = { ...(session && { sessionId: session }), ...(was.warnings && { warnings: was.warnings }) };
      answer(call, { _meta: meta, content, isError: false });
    });
  });
}

function named(call, found, env, was, done) {
  if (typeof was.session === "string" && was.session) return done(was.session);
  if (call.tool === "chat-reply" && found.sessionId && found.sessionId !== "latest") return done(found.sessionId);
  run(call, ["--list-sessions"], found, env, null, 5000, (listing) => {
    if (call.stopped) leave(call);
    else done(listing.code === 0 ? newest(listing) : undefined);
  });
}

function answer(call, result) {
  if (!call.stopped) send({ result, id: call.id });
  leave(call);
}

function leave(call) {
  clearInterval(call.timer);
  calls.delete(key(call.id));
  const line = turns.get(call.turn);
  if (line) {
    line.splice(line.indexOf(call), 1);
    if (line.length === 0) turns.delete(call.turn);
    else if (!line[0].begun) begin(line[0]);
  }
  if (ending && calls.size === 0) process.exit(0);
}

function begin(call) {
  call.begun = true;
  if (call.stopped) return leave(call);
  try {
    serve(call, call.found);
  } catch (error) {
    answer(call, problem(`the server failed (${error.message})`));
  }
}

function report(call) {
  if (call.token === undefined) return;
  send({ method: "notifications/progress", params: { progress: ++call.progress, progressToken: call.token } });
}

function callTool(id, params) {
  const { name: tool, arguments: values = {}, _meta: meta } = params;
  const isObject = typeof values === "object" && values !== null && !Array.isArray(values);
  if (typeof tool !== "string" || !Object.hasOwn(TOOLS, tool)) return fail(id, -32602, "unknown tool");
  if (!isObject) return fail(id, -32602, "arguments should be an object");
  let found;
  try {
    found = checked(Object.keys(TOOLS[tool]), values);
  } catch (error) {
    return fail(id, -32602, `Error executing gemini: ${error.message}`);
  }
  const call = { id, tool, found, progress: 0, token: meta?.progressToken };
  if (tool === "chat-reply") {
    call.turn = found.sessionId && found.sessionId !== "latest" ? found.sessionId : `latest ${realpathSync(found.cwd ?? ".")}`;
    turns.set(call.turn, [...(turns.get(call.turn) ?? []), call]);
  }
  calls.set(key(id), call);
  report(call);
  call.timer = setInterval(report, 4000, call);
  if (!call.turn || turns.get(call.turn)[0] === call) begin(call);
}

const METHODS = {
  initialize: (id, { protocolVersion }) => {
    const serverInfo = { version: "1.0.0", name: "gemini-mcp-server" };
    const agreed = REVISIONS.includes(protocolVersion) ? protocolVersion : REVISIONS.at(-1);
    send({ result: { serverInfo, capabilities: { tools: {} }, protocolVersion: agreed }, id });
  },
  ping: (id) => send({ result: {}, id }),
  "tools/list": (id, { cursor }) => {
    if (cursor !== undefined) return fail(id, -32602, "unknown cursor");
    const tools = Object.entries(TOOLS).map(([name, properties]) => ({
      inputSchema: { required: ["prompt"], properties, type: "object" }, description: `Runs ${name}.`, name,
    }));
    send({ result: { tools }, id });
  },
  "tools/call": callTool,
};

function notified(method, params) {
  if (method !== "notifications/cancelled" || params === null) return;
  const call = calls.get(key(params.requestId));
  if (!call) return;
  stop(call);
  if (!call.begun) leave(call);
}

let ending = false;
function end() {
  if (ending) return;
  ending = true;
  for (const call of [...calls.values()]) {
    stop(call);
    if (!call.begun) leave(call);
  }
  if (calls.size === 0) process.exit(0);
  setTimeout(() => process.exit(0), 1500);
}

onLine(process.stdin, receiver(METHODS, notified, fail));
process.stdin.on("end", end);
process.stdout.on("error", end);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, end);
