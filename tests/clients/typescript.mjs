// Talks to a server through the official TypeScript client: what it saw goes to stdout as JSON.
//
// typescript.mjs MODULES 1|2 TRANSPORT ERA TARGET: the target is an address, or a command with its arguments as JSON.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, version, transport, era, target] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, "node_modules/@modelcontextprotocol", path)));
const OF_VERSION = {
  1: {
    client: "sdk/dist/esm/client/index.js",
    stdio: "sdk/dist/esm/client/stdio.js",
    http: "sdk/dist/esm/client/streamableHttp.js",
    sse: "sdk/dist/esm/client/sse.js",
  },
  2: {
    client: "client/dist/index.mjs",
    stdio: "client/dist/stdio.mjs",
    http: "client/dist/index.mjs",
    sse: "client/dist/index.mjs",
  },
}[version];

async function transportTo(target) {
  const classes = await load(OF_VERSION[transport]);
  if (transport === "stdio") {
    const [command, ...args] = JSON.parse(target);
    return new classes.StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
  }
  const kind = transport === "http" ? classes.StreamableHTTPClientTransport : classes.SSEClientTransport;
  return new kind(new URL(target));
}

const { Client } = await load(OF_VERSION.client);
const negotiation = era === "auto" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "typescript", version: "1" }, negotiation);
await client.connect(await transportTo(target));

const messages = [];
const options = { onprogress: (progress) => messages.push(progress.message) };
const call = (name, args) => {
  const parameters = { name, arguments: args };
  return version === "1" ? client.callTool(parameters, undefined, options) : client.callTool(parameters, options);
};
const { tools } = await client.listTools();
const first = await call("chat", { prompt: "hello" });
const reply = await call("chat-reply", { prompt: "again", sessionId: first._meta.sessionId });
const failure = await call("chat", { prompt: "" });
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), first, reply, failure, messages }));
process.exit(0);
