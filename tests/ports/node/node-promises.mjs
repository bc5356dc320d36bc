// Written in Node with promises: speaks the newest handshake and 2026-07-28, lists in pages, keeps output in files.

import { Cancelled, TOOLS, chat, end, parsed, running, stop } from "./shared/promises.mjs";

const META = "io.modelcontextprotocol/";
const NEW = "2026-07-28";
const SERVER = { name: "gemini-mcp-server", title: "Gemini", version: "1.0.0" };

class ProtocolError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

function write(message) {
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
}

async function call(id, params, isNew) {
  const { name, arguments: given = {}, _meta } = params;
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) throw new ProtocolError(-32602, `Tool ${JSON.stringify(name)} does not exist`);
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new ProtocolError(-32602, "arguments must be an object");
  }
  const current = { id, token: _meta?.progressToken, step: 0 };
  running.add(current);
  const tell = () => current.token !== undefined && !current.cancelled && progress(current);
  tell();
  const clock = setInterval(tell, 3000);
  try {
    const result = await chat(current, tool, given);
    if (current.cancelled) throw new Cancelled();
    return result;
  } finally {
    clearInterval(clock);
    running.delete(current);
  }
}

function progress(current) {
  current.step += 0.5;
  write({ method: "notifications/progress", params: { progressToken: current.token, progress: current.step } });
}

function list({ cursor }) {
  const page = cursor === undefined ? 0 : TOOLS.findIndex((tool) => `after ${tool.name}` === cursor) + 1;
  if (cursor !== undefined && (page === 0 || page === TOOLS.length)) throw new ProtocolError(-32602, "bad cursor");
  const { name, properties } = TOOLS[page];
  const tool = { name, description: `${name} with Gemini`, inputSchema: { type: "object", properties, required: ["prompt"] } };
  return { tools: [tool], ...(page + 1 < TOOLS.length && { nextCursor: `after ${name}` }) };
}

const CACHING = { ttlMs: 60000, cacheScope: "public" };

async function handled(id, method, params) {
  const meta = params._meta ?? {};
  const isNew = `${META}protocolVersion` in meta;
  if (isNew) checkMeta(meta);
  const result = await answered(id, method, params, isNew);
  if (!isNew) return result;
  return { ...result, resultType: "complete", _meta: { ...result._meta, [`${META}serverInfo`]: SERVER } };
}

function checkMeta(meta) {
  const requested = meta[`${META}protocolVersion`];
  if (typeof meta[`${META}clientCapabilities`] !== "object") throw new ProtocolError(-32602, "clientCapabilities is missing");
  if (requested !== NEW) throw new ProtocolError(-32022, "unsupported version", { supported: [NEW], requested });
}

function answered(id, method, params, isNew) {
  if (method === "tools/list") return { ...list(params), ...(isNew && CACHING) };
  if (method === "tools/call") return call(id, params, isNew);
  if (method === "server/discover" && isNew) return { supportedVersions: [NEW], capabilities: { tools: {} }, ...CACHING };
  if (method === "initialize" && !isNew) {
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: SERVER, instructions: "Chat." };
  }
  if (method === "ping" && !isNew) return {};
  throw new ProtocolError(-32601, `Method ${method} not found`);
}

async function receive(line) {
  if (line.trim() === "") return;
  const message = parsed(line);
  if (message === undefined) return write({ id: null, error: { code: -32700, message: "Parse error" } });
  const isMessage = message !== null && typeof message === "object" && !Array.isArray(message) && message.jsonrpc === "2.0";
  const id = isMessage && ["string", "number"].includes(typeof message.id) ? message.id : null;
  if (isMessage && !("method" in message) && ("result" in message || "error" in message)) return;
  if (!isMessage || typeof message.method !== "string" || ("id" in message && id === null)) {
    return write({ id, error: { code: -32600, message: "Invalid request" } });
  }
  const { method, params = {} } = message;
  if (!("id" in message)) return cancelled(method, params);
  try {
    if (params === null || typeof params !== "object" || Array.isArray(params)) throw new ProtocolError(-32602, "bad params");
    write({ id, result: await handled(id, method, params) });
  } catch (error) {
    if (error instanceof Cancelled) return;
    const code = Number.isInteger(error.code) ? error.code : -32603;
    write({ id, error: { code, message: error.message, data: error.data } });
  }
}

function cancelled(method, params) {
  if (method !== "notifications/cancelled") return;
  for (const each of running) if (each.id === params?.requestId) void stop(each);
}

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, end);
process.stdout.on("error", end);

/** Not `readline`, which also ends a line at U+2028. */
async function* lines() {
  let begun = [];
  for await (const piece of process.stdin) {
    let start = 0;
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, start)) {
      yield Buffer.concat([...begun, piece.subarray(start, at)]).toString();
      begun = [];
      start = at + 1;
    }
    begun.push(piece.subarray(start));
  }
}

for await (const line of lines()) void receive(line);
await end();
