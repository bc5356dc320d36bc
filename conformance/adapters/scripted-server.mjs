// A stdio MCP server that answers what a vector's `spec` says, and logs the method of everything it is sent.
// usage: node scripted-server.mjs SPEC_JSON LOG_FILE
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const spec = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const log = (line) => appendFileSync(process.argv[3], `${line}\n`);
const pages = { tools: 'pages', prompts: 'promptPages', resources: 'resourcePages' };
if (spec.exit !== undefined) process.exit(spec.exit);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const capabilities = spec.capabilities
  ?? Object.fromEntries(Object.keys(pages).filter((kind) => kind in spec || pages[kind] in spec).map((kind) => [kind, {}]));

function list(kind, cursor) {
  if (spec[`${kind}Error`]) return { error: { code: spec[`${kind}Error`][0], message: spec[`${kind}Error`][1] } };
  const all = spec[pages[kind]];
  if (all) {
    const index = Number(cursor ?? 0);
    return { result: { [kind]: all[index], ...(index + 1 < all.length ? { nextCursor: String(index + 1) } : {}) } };
  }
  return kind in spec ? { result: { [kind]: spec[kind] } } : { error: { code: -32601, message: 'Method not found' } };
}

function answer({ method, params }) {
  if (method === 'initialize') {
    return { result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'scripted', version: '1' }, ...spec.initialize } };
  }
  const kind = /^(tools|prompts|resources)\/list$/.exec(method)?.[1];
  return kind ? list(kind, params?.cursor) : { error: { code: -32601, message: 'Method not found' } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (!message.method) continue;
  log(message.params?.cursor ? `${message.method}(${message.params.cursor})` : message.method);
  if (message.method === 'initialize' && spec.initializeLog) log(JSON.stringify(message.params));
  if (message.id === undefined) continue;
  if (spec.delay) await new Promise((resolve) => setTimeout(resolve, spec.delay));
  send({ id: message.id, ...answer(message) });
}
