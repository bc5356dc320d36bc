// What the published CLI knows and its core lacks: prompts, `@` texts, variables in settings, server lists, `gemini mcp`.
// 0.1.19 has modules; 0.61.0 is a bundle without exports, so its functions are cut out of the text.
import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const program = process.env.GEMINI;
const isBundle = path.basename(path.dirname(program ?? '')) === 'bundle';
const message = (error) => (error instanceof Error ? error.message : String(error));
const texts = new Map();

// The text of a bundle from one mark to the next; the file is the one that holds the first mark.
function cut(from, to) {
  const folder = path.dirname(program);
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.js'))) {
    if (!texts.has(name)) texts.set(name, readFileSync(path.join(folder, name), 'utf8'));
    const begin = texts.get(name).indexOf(from);
    if (begin >= 0) return texts.get(name).slice(begin, texts.get(name).indexOf(to, begin + from.length));
  }
  throw new Error(`The bundle has no ${from}`);
}

// The text of a module of 0.1.19, for functions that it keeps to itself.
const ofModule = (file, from, to) => {
  const text = readFileSync(path.join(path.dirname(program), 'src', file), 'utf8');
  const begin = text.indexOf(from);
  return text.slice(begin, text.indexOf(to, begin));
};

async function promptLoader(isCurrent, prompts) {
  const config = { getMcpServers: () => ({ s: {} }), getMcpClientManager: () => config, getPromptRegistry: () => ({ getPromptsByServer: () => prompts }) };
  if (!isCurrent) {
    const { McpPromptLoader } = await import(pathToFileURL(path.join(path.dirname(program), 'src/services/McpPromptLoader.js')).href);
    return new McpPromptLoader(config);
  }
  const body = cut('var McpPromptLoader = class {', '\n};\n');
  return new (new Function('getMCPServerPrompts', 'getErrorMessage', `${body}}; return McpPromptLoader;`)(() => prompts, message))(config);
}

const ANSWER = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] };

export async function promptArgs(isCurrent, { promptArguments, args, prompt, subCommand, answer = ANSWER, failure }) {
  if (!prompt) {
    const filled = (await promptLoader(isCurrent, [])).parseArgs(args, promptArguments);
    return filled instanceof Error ? { error: filled.message } : { arguments: filled };
  }
  let invokedWith;
  const invoke = async (inputs) => { invokedWith = inputs; if (failure !== undefined) throw new Error(failure); return answer; };
  const [command] = await (await promptLoader(isCurrent, [{ ...prompt, invoke }])).loadCommands();
  const action = subCommand ? command.subCommands.find(({ name }) => name === subCommand).action : command.action;
  const result = JSON.parse(JSON.stringify(await action({}, args)));
  const { name, description, kind, autoExecute } = command;
  return { name, description, kind, autoExecute, result, ...(invokedWith ? { invokedWith } : {}) };
}

// The settings with their variables put in.
export function settingsExpander(isCurrent) {
  const body = isCurrent ? cut('function resolveEnvVarsInString(', '\n// packages/')
    : ofModule('config/settings.js', 'function resolveEnvVarsInString(', 'function findEnvFile(');
  return new Function(`${body}; return resolveEnvVarsInObject;`)();
}

// Which servers are used, as the CLI of 0.1.19 chooses them.
export function chosenServers(mcpServers, settings, argv) {
  const helper = ofModule('config/config.js', 'function allowedMcpServers(', 'function mergeMcpServers(');
  const body = ofModule('config/config.js', '    const blockedMcpServers = [];', '    const sandboxConfig =');
  return new Function('mcpServers', 'settings', 'argv', `${helper}; ${body}; return { mcpServers, blockedMcpServers };`)(mcpServers, settings, argv);
}

// What 0.61.0 gives its core as `[allowed, blocked]`.
export function serverLists(settings, argv) {
  const [allowed, blocked] = ['allowedMcpServers', 'blockedMcpServers'].map((name) => cut(`    ${name}: mcpEnabled ?`, '\n').replace(/^.*?:/, '').replace(/,$/, ''));
  return new Function('settings', 'argv', 'mcpEnabled', 'loadedSettings', `return [${allowed}, ${blocked}];`)(settings, argv, true);
}

const MARK = 'var REF_CONTENT_HEADER = `';

export async function resources(registry, unescapePath, { prompt, server, resources: listed, reads }) {
  const known = new registry.ResourceRegistry();
  known.setResourcesForServer(server, listed);
  const resourcesRead = [];
  const readResource = async (uri) => {
    resourcesRead.push(uri);
    if (!Object.hasOwn(reads, uri)) throw new Error('MCP error -32002: Resource not found');
    return reads[uri];
  };
  const quiet = { log() {}, warn() {}, error() {} };
  const names = {
    path12: path, Buffer5: Buffer, REFERENCE_CONTENT_START: '--- Content from referenced files ---', REFERENCE_CONTENT_END: '--- End of content ---',
    unescapePath, getErrorMessage: message, debugLogger: quiet, ReadManyFilesTool: class {}, resolveAtCommandPath: async () => ({ status: 'not_found' }),
    fileExists: async () => false, resolveToRealPath: (place) => place,
  };
  const handle = new Function(...Object.keys(names), `${cut(MARK, '\n// packages/')}; return handleAtCommand;`)(...Object.values(names));
  const config = {
    getResourceRegistry: () => known, getMcpClientManager: () => ({ getClient: () => ({ readResource }) }),
    getFileService: () => ({ shouldIgnoreFile: () => false }), getFileFilteringOptions: () => ({}), getToolRegistry: () => ({ getTool: () => undefined }),
    getEnableRecursiveFileSearch: () => false, getWorkspaceContext: () => ({ getDirectories: () => [] }),
  };
  const { processedQuery, error } = await handle({ query: prompt, config, addItem() {}, onDebugMessage() {}, messageId: 1, signal: new AbortController().signal });
  return { parts: processedQuery, resourcesRead, exit: error ? 42 : 0 };
}

// `gemini mcp` in a home and a project of its own. With ONE_PROCESS all grounds share a process, and so one root.
export class Playground {
  constructor(home) {
    this.root = together ? theProcess(home).root : mkdtempSync(path.join(home, 'cli-'));
    this.project = path.join(this.root, together ? `proj-${count += 1}` : 'proj');
    if (together) this.clear();
    for (const folder of [path.join(this.root, 'home/.gemini'), this.project]) mkdirSync(folder, { recursive: true });
  }

  // What a person wrote goes; what the program keeps for itself it may still be writing.
  clear() {
    const folder = path.join(this.root, 'home/.gemini');
    for (const name of ['settings.json', 'mcp-server-enablement.json', 'extensions', 'policies']) rmSync(path.join(folder, name), { recursive: true, force: true });
  }

  file(scope) { return path.join(scope === 'user' ? path.join(this.root, 'home') : this.project, '.gemini', 'settings.json'); }

  write(scope, text) {
    mkdirSync(path.dirname(this.file(scope)), { recursive: true });
    writeFileSync(this.file(scope), text);
  }

  read(scope) { return existsSync(this.file(scope)) ? readFileSync(this.file(scope), 'utf8') : null; }

  async run(args, more = {}) {
    const environment = { PATH: process.env.PATH, HOME: path.join(this.root, 'home'), TERM: 'dumb', NO_COLOR: '1', GEMINI_API_KEY: 'k', GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}), GEMINI_CLI_NO_RELAUNCH: 'true', ...more };
    const { exit, stdout, stderr } = await (together ? this.runTogether(args, environment) : this.runAlone(args, environment));
    // 0.1.19 colours its marks whatever it is told.
    const plain = (text) => (isBundle ? text : text.replace(/\x1b\[3[1-3]m([✓✗…])\x1b\[0m/g, '$1'));
    const masked = (text) => plain(text).replaceAll(this.project, '<ROOT>/proj').replaceAll(this.root, '<ROOT>');
    return { exit, stdout: masked(stdout), stderr: masked(stderr) };
  }

  async runAlone(args, environment) {
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [program, 'mcp', ...args], { cwd: this.project, env: environment, timeout: 60000 },
        (error, stdout, stderr) => resolve({ exit: error ? error.code ?? 1 : 0, stdout, stderr }));
      child.stdin.end();
    });
  }

  async runTogether(args, environment) {
    const before = this.project;
    this.project = path.join(this.root, `proj-${count += 1}`);
    cpSync(before, this.project, { recursive: true });
    return theProcess().ask({ argv: ['mcp', ...args], cwd: this.project, environment });
  }
}

const together = process.env.ONE_PROCESS === '1';
let count = 0;
let shared;

// The process that runs all command lines, started with the first.
function theProcess(home) {
  if (shared) return shared;
  const root = mkdtempSync(path.join(home, 'cli-'));
  const file = path.join(path.dirname(fileURLToPath(import.meta.url)), 'published-process.mjs');
  const child = spawn(process.execPath, [file, program], { env: { PATH: process.env.PATH, HOME: path.join(root, 'home') }, stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] });
  process.prependListener('exit', () => child.kill('SIGKILL'));
  const answers = createInterface({ input: child.stdio[4] })[Symbol.asyncIterator]();
  shared = { root, ask: async (line) => { child.stdio[3].write(`${JSON.stringify(line)}\n`); return JSON.parse((await answers.next()).value); } };
  return shared;
}

const excerpt = (text) => (text.length <= 700 ? text : `${text.slice(0, 700)}...`);
const value = (text) => { try { return text === null ? null : JSON.parse(text); } catch { return text; } };

export async function mcpAdd(home, { commands, files = {}, as }) {
  const ground = new Playground(home);
  for (const [scope, text] of Object.entries(files)) ground.write(scope, text);
  const steps = [];
  for (const [, , ...argv] of commands) {
    const { exit, stdout, stderr } = await ground.run(argv);
    steps.push({ argv, exit, stdout: excerpt(stdout), stderr: excerpt(stderr) });
  }
  const [project, user] = [ground.read('project'), ground.read('user')];
  return as === 'text' ? { projectSettings: project, userSettings: user } : { steps, projectSettings: value(project), userSettings: value(user) };
}

// `gemini mcp list` beside installed extensions; a critical error is told in its first line.
export async function extensions(home, { files, variables, settings = {}, environment }) {
  const ground = new Playground(home);
  const folder = path.join(ground.root, 'home/.gemini/extensions');
  for (const [place, content] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(place)), { recursive: true });
    writeFileSync(path.join(folder, place), typeof content === 'string' ? content : JSON.stringify(content).replaceAll('<ROOT>', ground.root));
  }
  if (variables !== undefined) writeFileSync(path.join(ground.project, '.env'), variables);
  ground.write('project', JSON.stringify(settings));
  const { exit, stdout, stderr } = await ground.run(['list'], environment);
  const said = stdout + stderr;
  return { exit, said: exit ? said.split('\n')[0] : said };
}

export async function settingsValidation(home, { settings }) {
  const ground = new Playground(home);
  ground.write('project', typeof settings === 'string' ? settings : JSON.stringify(settings, null, 2));
  return ground.run(['list']);
}
