// A port on the official TypeScript SDK, which alone decides what is said: calls are those of another port.
//
// sdk-port.mjs MODULES 1|2

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { TOOLS, chat, end, running, stop } from "../ports/node/shared/promises.mjs";

const [modules, version] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, "node_modules/@modelcontextprotocol", path)));
const SERVER = { name: "gemini-mcp-server", version: "1.0.0" };
const OFFERS = { capabilities: { tools: {} } };
const INVALID_PARAMS = -32602;
const LONGEST = { maxBufferSize: 64 * 1024 * 1024 };

class Refused extends Error {
  code = INVALID_PARAMS;
}

function list({ params }) {
  if (params?.cursor !== undefined) throw new Refused("unknown cursor");
  const schema = (properties) => ({ type: "object", properties, required: ["prompt"] });
  const tool = ({ name, properties }) => ({ name, description: `Runs ${name}.`, inputSchema: schema(properties) });
  return { tools: TOOLS.map(tool) };
}

async function call({ params }, { signal, token, notify }) {
  const tool = TOOLS.find(({ name }) => name === params.name);
  if (tool === undefined) throw new Refused("unknown tool");
  const current = { step: 0 };
  const report = () => {
    if (token === undefined || current.cancelled) return;
    const told = { progressToken: token, progress: (current.step += 1) };
    notify({ method: "notifications/progress", params: told }).catch(() => {});
  };
  running.add(current);
  report();
  const clock = setInterval(report, 3000);
  signal.addEventListener("abort", () => void stop(current));
  if (signal.aborted) void stop(current);
  try {
    return await chat(current, tool, params.arguments ?? {});
  } finally {
    clearInterval(clock);
    running.delete(current);
  }
}

const SERVE = {
  async 1() {
    const { Server } = await load("sdk/dist/esm/server/index.js");
    const { StdioServerTransport } = await load("sdk/dist/esm/server/stdio.js");
    const { CallToolRequestSchema, ListToolsRequestSchema } = await load("sdk/dist/esm/types.js");
    const server = new Server(SERVER, OFFERS);
    server.setRequestHandler(ListToolsRequestSchema, list);
    server.setRequestHandler(CallToolRequestSchema, (request, { signal, _meta, sendNotification }) =>
      call(request, { signal, token: _meta?.progressToken, notify: sendNotification }),
    );
    await server.connect(new StdioServerTransport(process.stdin, process.stdout, LONGEST));
  },
  async 2() {
    const { Server } = await load("server/dist/index.mjs");
    const { serveStdio, StdioServerTransport } = await load("server/dist/stdio.mjs");
    const serve = () => {
      const server = new Server(SERVER, OFFERS);
      server.setRequestHandler("tools/list", list);
      server.setRequestHandler("tools/call", (request, { mcpReq }) =>
        call(request, { signal: mcpReq.signal, token: mcpReq._meta?.progressToken, notify: mcpReq.notify }),
      );
      return server;
    };
    serveStdio(serve, { transport: new StdioServerTransport(process.stdin, process.stdout, LONGEST) });
  },
};

await SERVE[version]();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, end);
for (const event of ["end", "close"]) process.stdin.on(event, end);
process.stdout.on("error", end);
