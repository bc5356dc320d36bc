// The adapter of the real code: answers vectors with what an installed @google/gemini-cli-core does.
//   CORE=DIR/node_modules/@google/gemini-cli-core node gemini-cli-core.mjs      (0.1.18 or 0.61.0)
//   GEMINI=DIR/node_modules/@google/gemini-cli/bundle/gemini.js                 (optional: the CLI, for what core lacks)
// What neither has is `unsupported`. Only loopback addresses and a throw-away home are used.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const core = process.env.CORE;
if (!core) { process.stderr.write('CORE should be the directory of an installed @google/gemini-cli-core.\n'); process.exit(2); }
const { version } = JSON.parse(readFileSync(path.join(core, 'package.json'), 'utf8'));
const isCurrent = !version.startsWith('0.1.');
const here = path.dirname(fileURLToPath(import.meta.url));
const home = mkdtempSync(path.join(tmpdir(), 'real-host-'));
process.env.HOME = home;
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

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

async function ask(it, params) {
  return isCurrent
    ? it.build(params).getConfirmationDetails(new AbortController().signal)
    : it.shouldConfirmExecute(params, new AbortController().signal);
}

async function confirmation(input) {
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
  return { tools: tools.getAllTools(), declarations: tools.getFunctionDeclarations(), resources: [],
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
  const status = { registered: false, finalStatus: found.events[1] };
  return isCurrent ? status : { ...status, wholeServerListFails: true };
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
  if (!isCurrent) return UNSUPPORTED;
  if ('hostVariable' in input) {
    const left = sanitization.sanitizeEnvironment({ [input.hostVariable]: input.hostValue }, { enableEnvironmentVariableRedaction: true });
    return { visibleInServer: input.hostVariable in left };
  }
  if ('value' in input && !/\$/.test(input.value)) {
    return { value: expansion.expandEnvVars(input.value, sanitization.sanitizeEnvironment(input.environment, { enableEnvironmentVariableRedaction: true })) };
  }
  return UNSUPPORTED; // the first of the two expansions lives in the CLI
}

async function transport({ config, serverCommand, environment }) {
  Object.assign(process.env, environment);
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
    return shown;
  } catch (error) { return { error: error.message }; }
}

const prefix = /^(?:seed|documented|current)-/;
async function oauth(input, id) {
  const utils = oauthUtils.OAuthUtils;
  const asked = input.function ?? String(id).replace(prefix, '').split(' ')[0];
  if ('header' in input) return utils.parseWWWAuthenticateHeader(input.header);
  if ('documents' in input) return oauthDiscovery(input);
  if ('pkce' in input && !isCurrent) return { url: oauthProvider.MCPOAuthProvider.buildAuthorizationUrl(input.config, input.pkce, input.mcpServerUrl) };
  if ('expiresInMs' in input && !isCurrent) {
    return tokenStorage.MCPOAuthTokenStorage.isTokenExpired({ expiresAt: input.expiresInMs === null ? undefined : Date.now() + input.expiresInMs });
  }
  if (!('url' in input)) return UNSUPPORTED;
  try {
    return { wellknown: () => utils.buildWellKnownUrls(input.url), baseurl: () => utils.extractBaseUrl(input.url),
      'resource-param': () => utils.buildResourceParameter(input.url), 'is-sse': () => utils.isSSEEndpoint(input.url) }[asked]();
  } catch (error) { return { throws: `${error.name}: ${error.message}` }; }
}

async function oauthDiscovery({ serverUrl, documents }) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const document = documents[request.url];
    response.writeHead(document ? document.status ?? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document?.json ?? {}).replaceAll('<BASE>', base));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  let config;
  try { config = await oauthUtils.OAuthUtils.discoverOAuthConfig(serverUrl.replaceAll('<BASE>', base)); }
  catch (error) { config = { throws: `${error.name}: ${error.message}` }; }
  server.closeAllConnections();
  server.close();
  return JSON.parse(JSON.stringify({ config, requests }).replaceAll(base, '<BASE>'));
}

// The CLI is a bundle without exports: the class is cut from it.
function promptLoader(prompts) {
  const bundle = path.dirname(process.env.GEMINI);
  const file = readdirSync(bundle).find((name) => name.endsWith('.js') && readFileSync(path.join(bundle, name), 'utf8').includes('namedArgRegex'));
  const text = readFileSync(path.join(bundle, file), 'utf8');
  const begin = text.indexOf('var McpPromptLoader = class {');
  const body = text.slice(begin, text.indexOf('\n};\n', begin) + 4);
  const Loader = new Function('getMCPServerPrompts', 'getErrorMessage', `${body} return McpPromptLoader;`)(
    () => prompts, (error) => (error instanceof Error ? error.message : String(error)));
  return new Loader({ getMcpClientManager: () => ({ getMcpServers: () => ({ s: {} }) }) });
}

const ANSWER = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] };

async function promptArgs({ promptArguments, args, prompt, subCommand, answer = ANSWER, failure }) {
  if (!isCurrent || !process.env.GEMINI) return UNSUPPORTED;
  if (!prompt) {
    const filled = promptLoader([]).parseArgs(args, promptArguments);
    return filled instanceof Error ? { error: filled.message } : { arguments: filled };
  }
  let invokedWith;
  const invoke = async (inputs) => { invokedWith = inputs; if (failure) throw new Error(failure); return answer; };
  const [command] = await promptLoader([{ ...prompt, invoke }]).loadCommands();
  const action = subCommand ? command.subCommands.find(({ name }) => name === subCommand).action : command.action;
  const result = plain(await action({}, args));
  const { name, description, kind, autoExecute } = command;
  return { name, description, kind, autoExecute, result, ...(invokedWith ? { invokedWith } : {}) };
}

async function onTheCli(root, args) {
  const environment = { PATH: process.env.PATH, HOME: path.join(root, 'home'), TERM: 'dumb', NO_COLOR: '1', GEMINI_API_KEY: 'k', GEMINI_CLI_TRUST_WORKSPACE: 'true' };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [process.env.GEMINI, 'mcp', ...args],
      { cwd: path.join(root, 'proj'), env: environment, timeout: 60000 },
      (error, stdout, stderr) => resolve({ exit: error ? error.code ?? 1 : 0, stdout, stderr }));
    child.stdin.end();
  });
}

function playground() {
  const root = mkdtempSync(path.join(home, 'cli-'));
  for (const folder of ['home/.gemini', 'proj']) mkdirSync(path.join(root, folder), { recursive: true });
  return root;
}
const settingsFile = (root, scope) => path.join(root, scope === 'user' ? 'home' : 'proj', '.gemini', 'settings.json');
const excerpt = (text) => (text.length <= 700 ? text : `${text.slice(0, 700)}...`);

async function mcpAdd({ commands, files = {}, connected, as }) {
  if (!isCurrent || !process.env.GEMINI || connected) return UNSUPPORTED;
  const root = playground();
  for (const [scope, text] of Object.entries(files)) {
    mkdirSync(path.dirname(settingsFile(root, scope)), { recursive: true });
    writeFileSync(settingsFile(root, scope), text);
  }
  const steps = [];
  for (const [, , ...argv] of commands) {
    const ran = await onTheCli(root, argv);
    const masked = (text) => excerpt(text.replaceAll(root, '<ROOT>'));
    steps.push({ argv, exit: ran.exit, stdout: masked(ran.stdout), stderr: masked(ran.stderr) });
  }
  const read = (scope) => (existsSync(settingsFile(root, scope)) ? readFileSync(settingsFile(root, scope), 'utf8') : null);
  const value = (text) => { try { return text === null ? null : JSON.parse(text); } catch { return text; } };
  return as === 'text'
    ? { projectSettings: read('project'), userSettings: read('user') }
    : { steps, projectSettings: value(read('project')), userSettings: value(read('user')) };
}

async function settingsValidation({ settings }) {
  if (!isCurrent || !process.env.GEMINI) return UNSUPPORTED;
  const root = playground();
  mkdirSync(path.dirname(settingsFile(root, 'project')), { recursive: true });
  writeFileSync(settingsFile(root, 'project'), typeof settings === 'string' ? settings : JSON.stringify(settings, null, 2));
  const ran = await onTheCli(root, ['list']);
  const masked = (text) => text.replaceAll(root, '<ROOT>');
  return { exit: ran.exit, stdout: masked(ran.stdout), stderr: masked(ran.stderr) };
}

const behaviours = {
  'name-normalisation': nameNormalisation, 'tool-filter': toolFilter, confirmation, 'content-to-parts': contentToParts,
  discovery, 'conflict-resolution': conflictResolution, 'schema-sanitisation': schemaSanitisation,
  'env-expansion': envExpansion, transport, oauth, 'mcp-add': mcpAdd, 'settings-validation': settingsValidation,
  'prompt-args': promptArgs,
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
