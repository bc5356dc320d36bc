// Written in Node with one process for each call: a worker runs gemini, and tells the server what to answer.

import { fork, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(import.meta.url);
const REVISIONS = ["2025-03-26", "2025-11-25"];
const GRACE = 400;
const PROPERTIES = { systemPrompt: "How to behave.", cwd: "Where.", model: "Which model.", prompt: "What to ask." };
const TOOLS = { chat: PROPERTIES, "chat-reply": { sessionId: "The session; else the latest.", ...PROPERTIES } };
const EXITS = {
  41: "not signed in: set GEMINI_API_KEY", 42: "gemini did not accept its input", 44: "the sandbox did not start",
  52: "a settings file is broken", 53: "the limit of turns is reached", 54: "a tool failed",
  55: "gemini does not trust this directory", 130: "gemini was interrupted", 144: "HTTP status 400",
  145: "HTTP status 401", 147: "HTTP status 403", 173: "the quota is used up, HTTP status 429",
  244: "HTTP status 500", 247: "HTTP status 503",
};

class Refused extends Error {}

function checked(tool, values) {
  const found = {};
  for (const name of Object.keys(TOOLS[tool])) {
    const value = values[name];
    if (value === undefined) continue;
    if (typeof value !== "string") throw new Refused(`\`${name}\` should be a string`);
    if (value.includes("\0")) throw new Refused(`\`${name}\` holds a NUL`);
    if (/\p{Surrogate}/u.test(value)) throw new Refused(`\`${name}\` holds half a character`);
    if (name === "model" || name === "sessionId") {
      if (value.startsWith("-")) throw new Refused(`\`${name}\` starts with a dash`);
      if (/\p{Cc}/u.test(value)) throw new Refused(`\`${name}\` holds a control character`);
    }
    if (value !== "" && !(name === "systemPrompt" && !value.trim())) found[name] = value;
  }
  if (!found.prompt) throw new Refused("`prompt` is missing or empty");
  if (Buffer.byteLength(found.prompt) > 8 * 1024 * 1024) throw new Refused("`prompt` is longer than 8 MiB");
  if (found.cwd) checkDirectory(found.cwd);
  return found;
}

function checkDirectory(cwd) {
  const stat = statSync(cwd, { throwIfNoEntry: false });
  if (!stat) throw new Refused(`\`cwd\` ${cwd} does not exist`);
  if (!stat.isDirectory()) throw new Refused(`\`cwd\` ${cwd} is not a directory`);
  try {
    accessSync(cwd, constants.X_OK);
  } catch {
    throw new Refused(`\`cwd\` ${cwd} may not be entered: permission denied`);
  }
}

function objects(source) {
  const found = [];
  let cut = false;
  for (let start = source.indexOf("{"); start >= 0; ) {
    const end = closing(source, start);
    let value;
    try {
      value = end < 0 ? undefined : JSON.parse(source.slice(start, end));
    } catch {}
    if (value !== undefined) found.push({ value, fresh: start === 0 || source[start - 1] === "\n" });
    else if (end < 0 && /^\{\s*("|$)/.test(source.slice(start, start + 200))) cut = true;
    if (cut) break;
    start = source.indexOf("{", value === undefined ? start + 1 : end);
  }
  return { found, cut };
}

function closing(source, start) {
  let depth = 0;
  for (let i = start; i < source.length; i++) {
    const letter = source[i];
    if (letter === '"') {
      for (i++; i < source.length && source[i] !== '"'; i++) if (source[i] === "\\") i++;
    } else if (letter === "{") depth++;
    else if (letter === "}" && --depth === 0) return i + 1;
  }
  return -1;
}

const messageOf = (error) => (typeof error === "string" ? error : error?.message);
const reported = (source) => messageOf(objects(source).found.findLast(({ value }) => value.error)?.value.error);

function read(outcome) {
  const { code, signal, out, err } = outcome;
  if (outcome.problem) return { problem: outcome.problem };
  if (signal) return { problem: `gemini was ended by ${signal}` };
  if (code !== 0) return { problem: explained(code, err), said: reported(err) ?? reported(out) };
  if (!out.trim()) return { problem: "gemini printed nothing", said: reported(err) };
  const { found, cut } = objects(out);
  const answer = found.findLast(({ value }) => "response" in value || value.error)?.value;
  if (answer?.error) return { problem: "gemini reported an error", said: messageOf(answer.error) };
  if (answer && typeof answer.response !== "string") return { problem: "the response is no text" };
  const models = answer?.stats?.models;
  if (answer?.response === "" && models && !Object.keys(models).length) return { problem: "no model was asked" };
  if (answer) return { answer: answer.response, session: answer.session_id, warnings: answer.warnings };
  if (cut || found.some(({ fresh }) => fresh)) return { problem: "the JSON is not complete" };
  return { answer: out };
}

function explained(code, err) {
  if (/Invalid session identifier|No previous sessions/.test(err)) return `the session does not exist, it is gone (${code})`;
  if (/RESOURCE_EXHAUSTED|[Qq]uota/.test(err)) return `the quota is used up (${code})`;
  return `${EXITS[code] ?? "gemini failed"} (exit code ${code})`;
}

function clean(source, secrets) {
  for (const secret of secrets) if (secret?.trim().length > 7) source = source.replaceAll(secret, "[prompt]");
  return source.replace(/AIza[\w-]{20,}|\bsk-[\w-]{16,}|ya29\.[\w.-]{10,}|(?<=[Bb]earer )\S{8,}|(?<=key=)[\w.-]{8,}/g, "****");
}

function tail(source) {
  return new TextDecoder().decode(Buffer.from(source).subarray(-8000)).replace(/^\uFFFD+/, "");
}

function problem(sentence, said, err, secrets = []) {
  const stderr = err === undefined ? "" : `\nStderr: ${tail(clean(err, secrets))}`;
  const message = `Error executing gemini: ${sentence}${said ? `: ${clean(said, secrets)}` : ""}${stderr}`;
  return { isError: true, content: [{ type: "text", text: message }] };
}

function newest(listing) {
  const lines = `${listing.out}\n${listing.err}`.split("\n");
  const entries = lines.map((line) => /^\s*(\d+)\.\s[^]*\[([^[\]\s]+)\][^[\]]*$/.exec(line)).filter(Boolean);
  return entries.sort((a, b) => a[1] - b[1]).at(-1)?.[2];
}

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
  call.worker.on("exit", () => leave(call, problem("the worker has ended too early")));
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
    found = checked(tool, values);
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

function receive(line) {
  if (!line.toString().trim()) return;
  let message;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    return fail(null, -32700, "no JSON");
  }
  const { id, jsonrpc, method, params = {} } = message ?? {};
  const isId = typeof id === "string" || typeof id === "number";
  if (jsonrpc !== "2.0" || Array.isArray(message)) return fail(isId ? id : null, -32600, "no request");
  if (method === undefined && id !== undefined && ("result" in message || "error" in message)) return;
  if (typeof method !== "string" || (id !== undefined && !isId)) return fail(isId ? id : null, -32600, "no request");
  if (id === undefined) return notified(method, params);
  if (typeof params !== "object" || params === null || Array.isArray(params)) return fail(id, -32602, "params is no object");
  if (!Object.hasOwn(METHODS, method)) return fail(id, -32601, "unknown method");
  METHODS[method](id, params);
}

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
  let pieces = [];
  process.stdin.on("data", (piece) => {
    let start = 0;
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, start)) {
      const line = Buffer.concat([...pieces, piece.subarray(start, at)]);
      pieces = [];
      start = at + 1;
      receive(line);
    }
    if (start < piece.length) pieces.push(piece.subarray(start));
  });
  process.stdin.on("end", end);
  process.stdout.on("error", end);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, end);
}

process.argv[2] === "worker" ? beWorker() : beServer();
