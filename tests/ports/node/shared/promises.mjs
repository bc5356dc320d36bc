// Calls in Node with promises: gemini's output is kept in files. Ports bring the protocol.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import * as files from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { hidden } from "./keys.mjs";

const STRING = { type: "string" };
const COMMON = { prompt: STRING, model: STRING, systemPrompt: STRING, cwd: STRING };
export const TOOLS = [
  { name: "chat", properties: COMMON },
  { name: "chat-reply", properties: { ...COMMON, sessionId: STRING } },
];
const CAUSES = new Map([
  [41, "sign in to gemini first"], [42, "gemini refused the input"], [44, "the sandbox is broken"],
  [52, "the settings are broken"], [53, "too many turns: the limit is reached"], [54, "a tool of gemini failed"],
  [55, "the directory is not trusted"], [130, "gemini was interrupted"], [144, "HTTP 400 from the API"],
  [145, "HTTP 401 from the API"], [147, "HTTP 403 from the API"], [173, "HTTP 429 from the API: quota"],
  [244, "HTTP 500 from the API"], [247, "HTTP 503 from the API"],
]);

const QUOTA = /RESOURCE_EXHAUSTED|TerminalQuotaError|exhausted your (?:capacity|quota)|[Qq]uota exceeded/;

export const running = new Set();
const waiting = new Map();

class Failure extends Error {
  constructor(message, stderr, said) {
    super(message);
    this.stderr = stderr;
    this.said = said;
  }
}
export class Cancelled extends Error {}

function argumentsOf(tool, given) {
  const values = {};
  for (const name in tool.properties) {
    if (!(name in given)) continue;
    const value = given[name];
    const kind = value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
    if (kind !== "string") throw new Failure(`argument ${name} is ${kind} and should be a string`);
    if (value.includes("\u0000")) throw new Failure(`argument ${name} contains NUL`);
    if (/[\uD800-\uDFFF]/u.test(value)) throw new Failure(`argument ${name} contains a lone surrogate`);
    if (["model", "sessionId"].includes(name) && /[\u0000-\u001f\u007f-\u009f]/.test(value)) {
      throw new Failure(`argument ${name} contains control characters`);
    }
    values[name] = value;
  }
  if (!("prompt" in values)) throw new Failure("argument prompt is missing");
  if (values.prompt === "") throw new Failure("argument prompt is empty");
  if (Buffer.byteLength(values.prompt) > 8388608) throw new Failure("argument prompt exceeds 8388608 bytes");
  if (!values.systemPrompt?.trim()) delete values.systemPrompt;
  for (const name of ["model", "sessionId", "cwd"]) if (values[name] === "") delete values[name];
  return values;
}

async function checkDirectory(cwd) {
  const stat = await files.stat(cwd).catch((error) => {
    throw new Failure(`cwd ${cwd} ${error.code === "ENOENT" ? "does not exist" : `cannot be used (${error.code})`}`);
  });
  if (!stat.isDirectory()) throw new Failure(`cwd ${cwd} is not a directory`);
  await files.access(cwd, files.constants.X_OK).catch(() => {
    throw new Failure(`cwd ${cwd} cannot be entered (permission)`);
  });
}

const WORDS = ["mcp", "extension", "extensions", "skill", "skills", "hook", "hooks", "gemma", "help", "$0"];
const isPlain = (prompt) => /^[^-\d.]/.test(prompt) && !WORDS.includes(prompt);

function invocation(tool, { prompt, model, sessionId = "latest" }) {
  const argv = tool.name === "chat" ? [] : [`--resume=${sessionId}`];
  if (model !== undefined) argv.push(`--model=${model}`);
  argv.push("--approval-mode", "default", "--output-format=json");
  if (Buffer.byteLength(prompt) > 120000) return { argv, stdin: prompt };
  return { argv: [...argv, isPlain(prompt) ? prompt : `--prompt=${prompt}`], stdin: "" };
}

function toGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone.
  }
}

export async function stop(call) {
  call.cancelled = true;
  call.wake?.();
  const { child } = call;
  if (!child) return;
  toGroup(child, "SIGTERM");
  await Promise.race([call.ended, pause(500)]);
  toGroup(child, "SIGKILL");
}

async function inDirectory(work) {
  const directory = await files.mkdtemp(path.join(tmpdir(), "gemini-mcp-"));
  try {
    return await work(directory);
  } finally {
    await files.rm(directory, { recursive: true, force: true });
  }
}

/** Runs gemini with its output in files of a directory that is gone afterwards, as is the system prompt. */
async function execute(call, argv, stdin, { cwd, systemPrompt }, seconds) {
  return inDirectory(async (directory) => {
    const at = (name) => path.join(directory, name);
    const env = { ...process.env };
    if (systemPrompt !== undefined) {
      env.GEMINI_SYSTEM_MD = at("SYSTEM.md");
      await files.writeFile(env.GEMINI_SYSTEM_MD, systemPrompt, { mode: 0o600 });
    }
    await files.writeFile(at("in"), stdin, { mode: 0o600 });
    const stdio = [openSync(at("in"), "r"), openSync(at("out"), "w", 0o600), openSync(at("err"), "w", 0o600)];
    const how = await started(call, argv, { cwd, env, stdio, detached: true }, seconds).finally(() => stdio.forEach(closeSync));
    const [out, err] = await Promise.all([files.readFile(at("out"), "utf8"), files.readFile(at("err"), "utf8")]);
    return { ...how, out, err };
  });
}

async function started(call, argv, options, seconds) {
  if (call.cancelled) throw new Cancelled();
  let late = false;
  try {
    const child = spawn("gemini", argv, options);
    call.child = child;
    const exit = once(child, "exit");
    call.ended = exit.catch(() => {});
    const timer = setTimeout(() => ((late = true), toGroup(child, "SIGKILL")), seconds * 1000);
    const [code, signal] = await exit.finally(() => clearTimeout(timer));
    if (call.cancelled) toGroup(child, "SIGKILL");
    return { code, signal, late };
  } catch (error) {
    const where = "was not found on PATH: npm install -g @google/gemini-cli";
    throw new Failure(`gemini ${error.code === "ENOENT" ? where : `cannot be started: ${error.code}`}`);
  } finally {
    call.child = undefined;
    if (call.cancelled) throw new Cancelled();
  }
}

/** Every JSON object in a text that is not inside another one; `rest` is what an object without an end begins with. */
function scan(text) {
  const objects = [];
  let position = 0;
  while ((position = text.indexOf("{", position)) !== -1) {
    const end = endOf(text, position);
    const value = end === undefined ? undefined : parsed(text.slice(position, end));
    if (value === undefined && end === undefined && /^\{\s*("|$)/.test(text.slice(position, position + 99))) {
      return { objects, isCut: true };
    }
    if (value !== undefined) objects.push([value, position === 0 || text[position - 1] === "\n"]);
    position = value === undefined ? position + 1 : end;
  }
  return { objects, isCut: false };
}

export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function endOf(text, start) {
  let depth = 0;
  for (let i = start; i !== -1 && i < text.length; i += 1) {
    if (text[i] === "{") depth += 1;
    if (text[i] === "}") depth -= 1;
    if (depth === 0) return i + 1;
    if (text[i] === '"' && (i = closingQuote(text, i)) === -1) break;
  }
  return undefined;
}

function closingQuote(text, start) {
  for (let i = text.indexOf('"', start + 1); i !== -1; i = text.indexOf('"', i + 1)) {
    let backslashes = 0;
    while (text[i - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return i;
  }
  return -1;
}

const saidIn = (text) => {
  const error = scan(text).objects.map(([value]) => value.error).filter(Boolean).at(-1);
  return typeof error === "string" ? error : error?.message;
};

function understood({ code, signal, late, out, err }) {
  if (late) throw new Failure("gemini took too long", err);
  if (signal) throw new Failure(`gemini died of ${signal}`, err);
  if (code !== 0) throw new Failure(cause(code, err), err, saidIn(err) ?? saidIn(out));
  if (out.trim() === "") throw new Failure("gemini said nothing at all", err, saidIn(err));
  const { objects, isCut } = scan(out);
  const answer = objects.map(([value]) => value).filter((value) => "response" in value || value.error).at(-1);
  if (answer === undefined) {
    if (isCut) throw new Failure("the answer breaks off", err);
    if (objects.some(([, isFirst]) => isFirst)) throw new Failure("the JSON has no response", err);
    return { response: out };
  }
  if (answer.error) throw new Failure("gemini reports an error", err, answer.error.message ?? String(answer.error));
  const { models } = answer.stats ?? {};
  const isSilent = answer.response === "" && !answer.warnings?.length;
  if (isSilent && models && !Object.keys(models).length) throw new Failure("no model was asked", err);
  if (typeof answer.response !== "string") throw new Failure("the response is not a string", err);
  return answer;
}

/** What the exit code means, and what stderr tells besides. */
function cause(code, err) {
  const found = [
    CAUSES.get(code),
    code !== 173 && QUOTA.test(err) && "the quota is exhausted",
    /Invalid session identifier|No previous sessions/.test(err) && "no such session: it does not exist",
    !CAUSES.has(code) && /trusted/.test(err) && CAUSES.get(55),
    !CAUSES.has(code) && /node/.test(err) && "node is missing",
  ].filter(Boolean);
  return `${found.join("; ") || "gemini failed"} (exit ${code})`;
}

async function sessionOf(call, answer, tool, values) {
  if (typeof answer.session_id === "string" && answer.session_id !== "") return answer.session_id;
  if (tool.name === "chat-reply" && values.sessionId && values.sessionId !== "latest") return values.sessionId;
  const listing = await execute(call, ["--list-sessions"], "", { cwd: values.cwd }, 5).catch((error) => {
    if (error instanceof Cancelled) throw error;
  });
  const pattern = /^\s*(\d+)\.\s[^]*\[([^[\]\s]+)\][^[\]]*$/;
  const lines = listing?.code === 0 ? `${listing.out}\n${listing.err}`.split("\n") : [];
  const entries = lines.map((line) => pattern.exec(line)).filter(Boolean);
  return entries.reduce((best, entry) => (Number(entry[1]) > Number(best?.[1] ?? -1) ? entry : best), undefined)?.[2];
}

export async function chat(call, tool, given) {
  let values;
  try {
    values = argumentsOf(tool, given);
    if (values.cwd) await checkDirectory(values.cwd);
    const release = tool.name === "chat" ? () => {} : await turn(call, values);
    try {
      const { argv, stdin } = invocation(tool, values);
      const answer = understood(await execute(call, argv, stdin, values, 600));
      return success(answer, await sessionOf(call, answer, tool, values));
    } finally {
      release();
    }
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    return failed(error, values);
  }
}

/** Waits for the earlier replies of the same session. */
async function turn(call, { sessionId = "latest", cwd = "." }) {
  const name = sessionId === "latest" ? `latest:${await files.realpath(cwd)}` : sessionId;
  const before = waiting.get(name);
  let release;
  const mine = new Promise((resolve) => (release = resolve));
  const chain = Promise.all([before, mine]);
  waiting.set(name, chain);
  chain.then(() => waiting.get(name) === chain && waiting.delete(name));
  await Promise.race([before, new Promise((resolve) => (call.wake = resolve))]);
  if (call.cancelled) {
    release();
    throw new Cancelled();
  }
  return release;
}

function success({ response, warnings }, sessionId) {
  const text = response.replace(/[\uD800-\uDFFF]/gu, "\uFFFD");
  const _meta = { ...(sessionId && { sessionId }), ...(warnings && { warnings }) };
  return { content: [{ type: "text", text }], structuredContent: { text, sessionId: sessionId ?? null }, _meta };
}

function failed(error, values) {
  const shown = (text) => hidden(text, [values?.prompt, values?.systemPrompt], "…");
  const said = error.said ? `. It says: ${shown(error.said)}` : "";
  const stderr = error.stderr === undefined ? "" : `\nStderr: ${last(shown(error.stderr))}`;
  const text = `Error executing gemini: ${error.message}${said}${stderr}`;
  return { content: [{ type: "text", text, annotations: { priority: 1 } }], isError: true };
}

function last(text) {
  const bytes = Buffer.from(text);
  return bytes.length <= 8192 ? text : bytes.subarray(-8192).toString().replace(/^\uFFFD+/, "");
}

let isEnding = false;
/** Stops every call and then the port, once. */
export async function end() {
  if (isEnding) return;
  isEnding = true;
  await Promise.all([...running].map(stop));
  for (let tries = 0; running.size > 0 && tries < 20; tries += 1) await pause(50);
  process.exit(0);
}
