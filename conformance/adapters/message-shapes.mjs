// Writes the shapes of an installed MCP SDK's answers as a JSON Schema, for `spec/host/messages-VERSION.schema.json`.
//   node message-shapes.mjs DIR/node_modules/@modelcontextprotocol/sdk > FILE
// Members of an object that the SDK drops are neither named nor allowed by `additionalProperties`.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const sdk = process.argv[2];
const { version } = JSON.parse(readFileSync(path.join(sdk, 'package.json'), 'utf8'));
const types = await import(pathToFileURL(path.join(sdk, 'dist/esm/types.js')).href);
const answers = {
  initialize: 'InitializeResultSchema', 'prompts/get': 'GetPromptResultSchema', 'prompts/list': 'ListPromptsResultSchema',
  'resources/list': 'ListResourcesResultSchema', 'resources/read': 'ReadResourceResultSchema',
  'tools/call': 'CallToolResultSchema', 'tools/list': 'ListToolsResultSchema',
};
const named = new Map(['ContentBlockSchema', 'ImplementationSchema', 'ToolSchema', 'PromptSchema', 'ResourceSchema']
  .filter((name) => types[name]).map((name) => [types[name], name.replace(/Schema$/, '')]));
const defs = {};

function shape(schema) {
  const name = named.get(schema);
  if (name === undefined) return plain(schema);
  if (!(name in defs)) { defs[name] = null; defs[name] = plain(schema); }
  return { $ref: `#/$defs/${name}` };
}

// Zod 4 names a kind in `_def.type`, Zod 3 in `_def.typeName`.
const kindOf = ({ type, typeName }) => (typeof type === 'string' ? type : typeName.replace(/^Zod/, '').toLowerCase());

function plain(schema) {
  const def = schema._def;
  switch (kindOf(def)) {
    case 'string': return isBase64(def) ? { type: 'string', contentEncoding: 'base64' } : { type: 'string' };
    case 'number': return { type: 'number' };
    case 'boolean': return { type: 'boolean' };
    case 'unknown': case 'any': return {};
    case 'literal': return { const: def.values ? def.values[0] : def.value };
    case 'enum': return { enum: def.entries ? Object.values(def.entries) : def.values };
    case 'array': return { type: 'array', items: shape(def.element ?? def.type) };
    case 'union': return { anyOf: def.options.map(shape) };
    case 'record': return { type: 'object', additionalProperties: shape(def.valueType) };
    case 'custom': return { type: ['object', 'array'] };
    case 'optional': return shape(def.innerType);
    case 'default': return { ...shape(def.innerType), default: typeof def.defaultValue === 'function' ? def.defaultValue() : def.defaultValue };
    case 'object': return object(def, schema.shape);
    default: throw new Error(`a kind that is not known: ${kindOf(def)}`);
  }
}

function isBase64(def) {
  const checks = def.checks ?? [];
  return checks.some((check) => check.kind === 'base64' || check._zod?.def.check === 'custom');
}

function object(def, members) {
  const properties = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, shape(member)]));
  const required = Object.keys(members).filter((name) => !members[name].isOptional());
  const rest = typeof def.catchall === 'object' && !['never', 'undefined'].includes(kindOf(def.catchall._def)) ? shape(def.catchall) : undefined;
  const keeps = def.unknownKeys === 'passthrough' ? {} : rest;
  return { type: 'object', properties, ...(required.length ? { required } : {}),
    ...(keeps ? { additionalProperties: Object.keys(keeps).length ? keeps : true } : {}) };
}

const properties = Object.fromEntries(Object.entries(answers).map(([method, name]) => [method, shape(types[name])]));
process.stdout.write(`${JSON.stringify({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: `urn:gemini-mcp:host:messages-${version}`,
  title: `Answers of servers, as the MCP SDK ${version} reads them`,
  description: 'By the method: what the SDK accepts. It hands on the members in the order of `properties`, then those that '
    + '`additionalProperties` allows; where that is absent, other members are accepted and dropped.',
  type: 'object',
  properties,
  $defs: defs,
}, null, 2)}\n`);
