// The adapter of the real code: answers vectors with what an installed @google/gemini-cli-core does.
//   CORE=DIR/node_modules/@google/gemini-cli-core node gemini-cli-core.mjs      (0.1.18 or 0.61.0)
//   GEMINI=DIR/node_modules/@google/gemini-cli/bundle/gemini.js                 (optional: the CLI, for what core lacks;
//                                                                               dist/index.js of 0.1.19)
// What neither has is `unsupported`. Only loopback addresses and a throw-away home are used.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as program from './published-cli.mjs';
import { Oauth } from './published-oauth.mjs';

const core = process.env.CORE;
if (!core) { process.stderr.write('CORE should be the directory of an installed @google/gemini-cli-core.\n'); process.exit(2); }
const { version } = JSON.parse(readFileSync(path.join(core, 'package.json'), 'utf8'));
const isCurrent = !version.startsWith('0.1.');
const here = path.dirname(fileURLToPath(import.meta.url));
const home = mkdtempSync(path.join(tmpdir(), 'real-host-'));
process.env.HOME = home;
process.on('exit', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

const said = [];
for (const level of ['log', 'warn', 'error', 'info', 'debug']) {
  console[level] = (...words) => said.push({ level, text: words.map((w) => (w instanceof Error ? w.message : String(w))).join(' ') });
}
const load = async (file) => {
  const whole = path.join(core, 'dist/src', file);
  return existsSync(whole) ? import(pathToFileURL(whole).href) : {};
};
const tool = await load('tools/mcp-tool.js');
const client = await load('tools/mcp-client.js');
const registry = await load('tools/tool-registry.js');
const manager = await load('tools/mcp-client-manager.js');
const promptRegistry = await load('prompts/prompt-registry.js');
const resourceRegistry = await load('resources/resource-registry.js');
const responses = await load(isCurrent ? 'utils/generateContentResponseUtilities.js' : 'core/coreToolScheduler.js');
const expansion = await load('utils/envExpansion.js');
const sanitization = await load('services/environmentSanitization.js');
const oauthUtils = await load('mcp/oauth-utils.js');
const oauthFlow = await load('utils/oauth-flow.js');
const paths = await load('utils/paths.js');
const oauthProvider = await load('mcp/oauth-provider.js');
const tokenStorage = await load('mcp/oauth-token-storage.js');

const UNSUPPORTED = Symbol('unsupported');
const bus = { publish() {}, subscribe() {}, unsubscribe() {} };
const EMPTY = { type: 'object' };
const fakeConfig = (answers = {}) => new Proxy(answers, {
  get: (target, name) => target[name] ?? (() => (name === 'isTrustedFolder' ? true : name.startsWith?.('get') ? undefined : false)),
});
const offered = (server, name, trust, folder = true, callable = {}) => (isCurrent
  ? new tool.DiscoveredMCPTool(callable, server, name, 'd', EMPTY, bus, trust ?? undefined, false, undefined,
    fakeConfig({ isTrustedFolder: () => folder, setUserInteractedWithMcp() {} }))
  : new tool.DiscoveredMCPTool(callable, server, name, 'd', EMPTY, 600000, trust ?? undefined));
const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function nameNormalisation({ raw, server, tool: name }) {
  if (!isCurrent || raw !== undefined) {
    const valid = tool.generateValidName(raw ?? name);
    return { name: valid, length: valid.length };
  }
  const valid = offered(server, name).name;
  return { name: valid, length: valid.length, parsed: tool.parseMcpToolName(valid) };
}

const toolFilter = ({ toolName, includeTools, excludeTools }) =>
  ({ enabled: client.isEnabled({ name: toolName ?? undefined }, 's', { includeTools, excludeTools }) });

// The core keeps what was allowed for as long as the process lives.
function forgetAnswers() { (tool.DiscoveredMCPToolInvocation ?? tool.DiscoveredMCPTool).allowlist?.clear(); }

async function ask(it, params) {
  return isCurrent
    ? it.build(params).getConfirmationDetails(new AbortController().signal)
    : it.shouldConfirmExecute(params, new AbortController().signal);
}

async function confirmation(input) {
  forgetAnswers();
  const params = input.args ?? { p: 1 };
  const asked = async (server, name) => ((await ask(offered(server, name), params)) === false ? 'no-confirmation' : 'asks-again');
  if (input.outcome) {
    const details = await ask(offered(input.server, input.tool), params);
    await details.onConfirm(input.outcome);
    return { after: {
      sameTool: await asked(input.server, input.tool),
      otherToolSameServer: await asked(input.server, `${input.tool}2`),
      sameToolNameOtherServer: await asked(`${input.server}2`, input.tool),
    } };
  }
  if (input.allowTool) {
    const details = await ask(offered(input.allowTool.server, input.allowTool.tool), params);
    if (details) await details.onConfirm('proceed_always_tool');
    return { result: await asked(input.ask.server, input.ask.tool) };
  }
  const details = await ask(offered(input.server, input.tool, input.trust, input.trustedFolder ?? true), params);
  return { confirm: details === false ? false : plain(details) };
}

async function contentToParts({ server = 'srv', serverTool, registeredName, args, callToolResult }) {
  const isError = [true, 'true'].includes(callToolResult.isError);
  const response = !isCurrent && isError ? { error: callToolResult } : callToolResult;
  const callable = { callTool: async (calls) => [{ functionResponse: { name: calls[0].name, response } }] };
  const it = offered(server, serverTool, true, true, callable);
  const signal = new AbortController().signal;
  const result = isCurrent ? await it.build(args).execute({ abortSignal: signal }) : await it.execute(args);
  const shown = { llmContent: result.llmContent, returnDisplay: result.returnDisplay };
  const convert = (model) => (result.error
    ? [{ functionResponse: { id: 'call-1', name: registeredName, response: { error: result.error.message } } }]
    : responses.convertToFunctionResponse(registeredName, 'call-1', result.llmContent, model));
  return plain(isCurrent
    ? { ...shown, modelParts_gemini25: convert('gemini-2.5-pro'), modelParts_gemini3: convert('gemini-3-pro-preview') }
    : { ...shown, modelParts: convert() });
}

let count = 0;
function scripted(spec, config = {}) {
  const base = path.join(home, `server-${count += 1}`);
  writeFileSync(`${base}.json`, JSON.stringify(spec ?? {}));
  writeFileSync(`${base}.log`, '');
  const started = { command: process.execPath, args: [path.join(here, 'scripted-server.mjs'), `${base}.json`, `${base}.log`] };
  const config_ = config.command || config.url || config.httpUrl ? config : { ...started, ...config };
  return { config: config_, requests: () => readFileSync(`${base}.log`, 'utf8').split('\n').filter(Boolean) };
}

async function discover(servers, builtin = [], later = {}) {
  said.length = 0;
  const events = [];
  const listener = (name, status) => events.push(status);
  client.addMCPStatusChangeListener(listener);
  const prompts = new promptRegistry.PromptRegistry();
  const state = isCurrent ? await discoverCurrent(servers, builtin, prompts, later) : await discoverDocumented(servers, prompts);
  client.removeMCPStatusChangeListener(listener);
  const promptNames = prompts.getAllPrompts().map((prompt) => prompt.name);
  await state.close();
  return { ...state, events, promptNames };
}

async function discoverDocumented(servers, prompts) {
  const tools = new registry.ToolRegistry(fakeConfig());
  const during = client.discoverMcpTools(servers, undefined, tools, prompts, false);
  const states = ['not_started', client.getMCPDiscoveryState()];
  await during;
  return { tools: [...tools.tools.values()], declarations: tools.getFunctionDeclarations(), resources: [],
    states: [...states, client.getMCPDiscoveryState()], close: async () => {} };
}

async function discoverCurrent(servers, builtin, prompts, later) {
  const config = fakeConfig({ getMcpServers: () => servers, getWorkspaceContext: () => ({ getDirectories: () => [], onDirectoriesChanged: () => () => {} }),
    sanitizationConfig: {}, emitMcpDiagnostic() {}, getGeminiClient: () => undefined, getApprovalMode: () => 'default' });
  const it = new manager.McpClientManager('0.61.0', config);
  const tools = new registry.ToolRegistry(config, bus, true);
  const resources = new resourceRegistry.ResourceRegistry();
  for (const name of builtin) tools.registerTool({ name, schema: { name } });
  it.setMainRegistries({ toolRegistry: tools, promptRegistry: prompts, resourceRegistry: resources });
  const states = [it.getDiscoveryState()];
  const during = it.startConfiguredMcpServers();
  states.push(it.getDiscoveryState());
  await during.catch(() => {});
  for (const [name, given] of Object.entries(later)) await it.maybeDiscoverMcpServer(name, given);
  const registered = [...tools.allKnownTools.values()];
  return { tools: registered, declarations: registered.map((t) => t.schema), resources: resources.getAllResources(),
    states: [...states, it.getDiscoveryState()], close: () => it.stop() };
}

const isComplaint = ({ level, text }) => (isCurrent ? /^\[MCP error\]|Overwriting\.$/.test(text) : level === 'error');
const complaints = () => said.filter(isComplaint).map(({ text }) => text);

async function discovery({ serverSpec }) {
  if (serverSpec === undefined) return UNSUPPORTED;
  const one = serverSpec ? scripted(serverSpec.spec, serverSpec.cfg) : undefined;
  const found = await discover(one ? { srv: one.config } : {});
  return {
    discoveryState: found.states,
    statusEvents: found.events.slice(0, 2),
    finalStatus: found.events[1] ?? null,
    tools: found.tools.map((t) => t.name),
    prompts: found.promptNames,
    resources: found.resources.map((r) => r.uri),
    clientRequests: one ? one.requests() : [],
    messages: complaints().map((text) => text.slice(0, 260)),
  };
}

async function conflictResolution({ builtin, servers }) {
  // One server at a time, so that they complete in the order listed.
  const configs = {};
  for (const [name, given] of Object.entries(servers)) {
    const { tools = [], connectFails, ...config } = Array.isArray(given) ? { tools: given } : given;
    const spec = connectFails ? { exit: 1 } : { tools: tools.map((t) => ({ name: t, inputSchema: EMPTY })) };
    configs[name] = scripted(spec, config).config;
  }
  const found = isCurrent ? await discover({}, builtin, configs) : await inTurn(configs, builtin);
  const log = complaints();
  return {
    registry: found.tools.map((t) => (t.serverName
      ? { name: t.name, server: t.serverName, serverTool: t.serverToolName } : { name: t.name, builtin: true })),
    declarationOrder: found.declarations.map((d) => d.name),
    ...(log.length ? { log } : {}),
  };
}

async function inTurn(configs, builtin) {
  said.length = 0;
  const tools = new registry.ToolRegistry(fakeConfig());
  for (const name of builtin) tools.registerTool({ name, schema: { name } });
  for (const [name, config] of Object.entries(configs)) {
    await client.connectAndDiscover(name, config, tools, new promptRegistry.PromptRegistry(), false);
  }
  return { tools: [...tools.tools.values()], declarations: tools.getFunctionDeclarations() };
}

async function schemaSanitisation(input) {
  if (!('inputSchema' in input)) return isCurrent ? UNSUPPORTED : sanitiseParameters(input);
  const offer = input.inputSchema === '__absent__' ? { name: 't' } : { name: 't', inputSchema: input.inputSchema };
  const found = await discover({ s: scripted({ tools: [offer] }).config });
  if (found.declarations.length) {
    return { [isCurrent ? 'parametersJsonSchema' : 'parameters']: plain(found.declarations[0].parametersJsonSchema) };
  }
  const lost = isCurrent ? {} : { wholeServerListFails: true };
  return { registered: false, ...lost, finalStatus: found.events[1] };
}

function sanitiseParameters({ schema, description, cycleAt }) {
  if (cycleAt) return UNSUPPORTED;
  if (schema) { const copy = plain(schema); registry.sanitizeParameters(copy); return { schema: copy }; }
  const root = { type: 'OBJECT', properties: { a: { anyOf: [{ type: 'STRING' }], default: 1 } } };
  root.properties.self = root;
  registry.sanitizeParameters(root);
  return { terminates: true, 'properties.a.default': root.properties.a.default ?? '__removed__', description: undefined && description };
}

async function envExpansion(input) {
  if (!process.env.GEMINI) return UNSUPPORTED;
  const host = input.environment ?? input.host ?? ('hostVariable' in input ? { [input.hostVariable]: input.hostValue } : {});
  const configured = 'value' in input ? { value: input.value } : input.env ?? {};
  const seen = await within(host, async () => {
    const expanded = program.settingsExpander(isCurrent)({ command: 'c', args: ['arg' in input ? input.arg : ''], env: configured });
    try {
      const made = await client.createTransport('srv', expanded, false, fakeConfig({ sanitizationConfig: {} }));
      return (made.transport ?? made)._serverParams;
    } catch (error) { return { error: error.message }; }
  });
  if (seen.error) return seen;
  if ('arg' in input) return { arg: seen.args[0] };
  if ('hostVariable' in input) return { visibleInServer: input.hostVariable in seen.env };
  if ('value' in input) return { value: seen.env.value };
  if ('host' in input) return Object.fromEntries(Object.keys(configured).map((name) => [name, seen.env[name] ?? null]));
  return { GEMINI_CLI: seen.env.GEMINI_CLI ?? null };
}

// Runs the body with these variables as the whole environment.
async function within(environment, body) {
  const whole = process.env;
  process.env = { ...environment };
  try { return await body(); } finally { process.env = whole; }
}

const transport = ({ environment, ...input }) => within({ HOME: home, ...environment }, () => transportOf(input));

async function transportOf({ config, serverCommand, iam }) {
  if (serverCommand !== undefined) {
    try { return { mcpServers: client.populateMcpServerCommand({}, serverCommand) }; } catch (error) { return { mcpServers: { error: error.message } }; }
  }
  try {
    const made = await client.createTransport('srv', config, false, fakeConfig({ sanitizationConfig: {}, emitMcpDiagnostic() {} }));
    const inner = made.transport ?? made;
    const kind = inner.constructor.name;
    if (kind === 'StdioClientTransport') {
      const { command, args, cwd, stderr } = inner._serverParams;
      return { transport: kind, command, args, cwd: cwd ?? null, stderr };
    }
    const shown = { transport: kind, url: String(inner._url ?? inner._endpoint) };
    if (inner._requestInit?.headers) shown.headers = inner._requestInit.headers;
    if (inner._authProvider) shown.authProvider = inner._authProvider.constructor.name;
    return iam === undefined ? shown : { ...shown, ...await impersonated(inner._authProvider, iam) };
  } catch (error) { return { error: error.message }; }
}

// What the provider asks IAM, which answers this or, with null, refuses.
async function impersonated(provider, answer) {
  let tokenRequest;
  const request = async (asked) => { tokenRequest = asked; if (answer === null) throw new Error('refused'); return { data: answer }; };
  provider.auth = { getClient: async () => ({ request }) };
  const tokens = (await provider.tokens()) ?? null;
  return { tokenRequest: plain(tokenRequest), tokens };
}

const authorization = new Oauth({ utils: oauthUtils, provider: oauthProvider, tokenStorage, flow: oauthFlow }, isCurrent, home);
const ofProgram = (answer) => (process.env.GEMINI ? answer : () => UNSUPPORTED);
const oauth = async (input, id) => { const found = await authorization.answer(input, id); return found === undefined ? UNSUPPORTED : found; };
const promptArgs = ofProgram((input) => program.promptArgs(isCurrent, input));
const resources = ofProgram((input) => (isCurrent ? program.resources(resourceRegistry, paths.unescapePath, input) : UNSUPPORTED));
const mcpAdd = ofProgram((input) => (input.connected ? UNSUPPORTED : program.mcpAdd(home, input)));
const extensions = ofProgram((input) => (!isCurrent ? UNSUPPORTED : input.extension ? merged(input) : program.extensions(home, input)));
const settingsValidation = ofProgram((input) => (isCurrent ? program.settingsValidation(home, input) : UNSUPPORTED));

// What becomes of a call, with the user's files in the throw-away home.
async function policy({ settings = {}, files = {}, mode = 'default', headless = false, tool: given, arguments: args = {} }) {
  const { createPolicyEngineConfig } = await load('policy/config.js');
  const { PolicyEngine } = await load('policy/policy-engine.js');
  const folder = path.join(home, '.gemini/policies');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const { name, toolAnnotations } = new tool.DiscoveredMCPTool({}, given.server, given.name, 'd', EMPTY, bus, undefined, false, undefined, fakeConfig(), undefined, undefined, given.annotations);
  const engine = new PolicyEngine(await createPolicyEngineConfig(settings, mode, undefined, !headless));
  const { decision } = await engine.check({ name, args }, given.server, toolAnnotations);
  const metadata = new Map([[name, { ...toolAnnotations, _serverName: given.server }]]);
  return { decision, declared: !engine.getExcludedTools(metadata, new Set([name])).has(name) };
}

const merged = ({ extension, settings }) =>
  ({ merged: plain(new manager.McpClientManager('0.61.0', fakeConfig()).mergeMcpConfigs(extension, settings)) });

async function serverFilter({ servers: all, settings, flag_allowed_mcp_server_names: named }) {
  const servers = Object.keys(Object.fromEntries(all.map((name) => [name, {}])));
  const argv = { allowedMcpServerNames: named ?? undefined };
  if (!isCurrent) {
    const lists = { allowMCPServers: settings.mcp?.allowed, excludeMCPServers: settings.mcp?.excluded, ...settings };
    const { mcpServers, blockedMcpServers } = program.chosenServers(Object.fromEntries(servers.map((name) => [name, {}])), lists, argv);
    return { used: Object.keys(mcpServers), blockedShown: blockedMcpServers.map(({ name }) => name) };
  }
  const [allowed, excluded] = program.serverLists(settings, argv);
  const it = new manager.McpClientManager('0.61.0', fakeConfig({ getAllowedMcpServers: () => allowed, getBlockedMcpServers: () => excluded }));
  const blocked = servers.filter((name) => it.isBlockedBySettings(name));
  return { used: servers.filter((name) => !blocked.includes(name)), blocked };
}

const behaviours = {
  'name-normalisation': nameNormalisation, 'tool-filter': toolFilter, confirmation, 'content-to-parts': contentToParts,
  discovery, 'conflict-resolution': conflictResolution, 'schema-sanitisation': schemaSanitisation,
  'env-expansion': envExpansion, transport, oauth, 'mcp-add': mcpAdd, extensions, policy: (input) => (isCurrent ? policy(input) : UNSUPPORTED), 'settings-validation': settingsValidation,
  'prompt-args': promptArgs, resources, 'server-filter': ofProgram(serverFilter),
};
const profile = isCurrent ? 'current' : 'documented';
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const request = JSON.parse(line);
  const known = request.profile === profile && behaviours[request.behaviour];
  let output = UNSUPPORTED;
  try { if (known) output = await known(request.input, request.id); } catch (error) { output = { adapterError: String(error.stack ?? error) }; }
  process.stdout.write(`${JSON.stringify({ id: request.id, ...(output === UNSUPPORTED ? { unsupported: true } : { output: output ?? null }) })}\n`);
}
process.exit(0);
