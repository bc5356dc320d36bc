// What ports in Node share: which arguments they refuse, how they read gemini's output, and the text of an error.

import { accessSync, constants, statSync } from "node:fs";
import { hidden } from "./keys.mjs";

const EXITS = {
  41: "not signed in: set GEMINI_API_KEY", 42: "gemini did not accept its input", 44: "the sandbox did not start",
  52: "a settings file is broken", 53: "the limit of turns is reached", 54: "a tool failed",
  55: "gemini does not trust this directory", 130: "gemini was interrupted", 144: "HTTP status 400",
  145: "HTTP status 401", 147: "HTTP status 403", 173: "the quota is used up, HTTP status 429",
  244: "HTTP status 500", 247: "HTTP status 503",
};

const QUOTA = /RESOURCE_EXHAUSTED|TerminalQuotaError|exhausted your (?:capacity|quota)|[Qq]uota exceeded/;

export class Refused extends Error {}

export function checked(names, values) {
  const found = {};
  for (const name of names) {
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

export function read(outcome) {
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
  const isSilent = answer?.response === "" && !answer.warnings?.length;
  if (isSilent && models && !Object.keys(models).length) return { problem: "no model was asked" };
  if (answer) return { answer: answer.response, session: answer.session_id, warnings: answer.warnings };
  if (cut || found.some(({ fresh }) => fresh)) return { problem: "the JSON is not complete" };
  return { answer: out };
}

function explained(code, err) {
  if (/Invalid session identifier|No previous sessions/.test(err)) return `the session does not exist, it is gone (${code})`;
  if (QUOTA.test(err)) return code === 173 ? EXITS[code] : `the quota is used up (${code})`;
  const known = EXITS[code] ?? (/trust/.test(err) ? EXITS[55] : /node/.test(err) ? "node was not found" : "gemini failed");
  return `${known} (exit code ${code})`;
}

function tail(source) {
  return new TextDecoder().decode(Buffer.from(source).subarray(-8192)).replace(/^\uFFFD+/, "");
}

export function problem(sentence, said, err, secrets = []) {
  const stderr = err === undefined ? "" : `\nStderr: ${tail(hidden(err, secrets, "****"))}`;
  const message = `Error executing gemini: ${sentence}${said ? `: ${hidden(said, secrets, "****")}` : ""}${stderr}`;
  return { isError: true, content: [{ type: "text", text: message }] };
}

export function newest(listing) {
  const lines = `${listing.out}\n${listing.err}`.split("\n");
  const entries = lines.map((line) => /^\s*(\d+)\.\s[^]*\[([^[\]\s]+)\][^[\]]*$/.exec(line)).filter(Boolean);
  return entries.sort((a, b) => a[1] - b[1]).at(-1)?.[2];
}
