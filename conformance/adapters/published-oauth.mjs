// OAuth as an installed core does it: addresses, documents, tokens and the file that keeps them.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

const prefix = /^(?:seed|documented|current)-/;
const CONFIG = { clientId: 'cid', clientSecret: 'sec', scopes: ['a'], audiences: ['u'] };
const PLACE = '.gemini/mcp-oauth-tokens.json';
const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export class Oauth {
  // The modules of the core by name, and whether it is 0.61.0; `home` is where it keeps tokens.
  constructor(modules, isCurrent, home) { Object.assign(this, { modules, isCurrent, file: path.join(home, PLACE) }); }

  get storage() {
    const { MCPOAuthTokenStorage } = this.modules.tokenStorage;
    return this.isCurrent ? new MCPOAuthTokenStorage() : MCPOAuthTokenStorage;
  }

  get provider() {
    const { MCPOAuthProvider } = this.modules.provider;
    return this.isCurrent ? new MCPOAuthProvider() : MCPOAuthProvider;
  }

  async answer(input, id) {
    const utils = this.modules.utils.OAuthUtils;
    if ('header' in input) return utils.parseWWWAuthenticateHeader(input.header);
    if ('documents' in input) return this.discovery(input);
    if ('pkce' in input) return this.authorizationUrl(input);
    if ('expiresInMs' in input) {
      return this.storage.isTokenExpired({ expiresAt: input.expiresInMs === null ? undefined : Date.now() + input.expiresInMs });
    }
    if ('call' in input) return this.tokenFile(input);
    if ('expired' in input) return this.refresh(input);
    if (!('url' in input)) return Object.keys(input).length ? undefined : this.pkceShape();
    const asked = input.function ?? String(id).replace(prefix, '').split(' ')[0];
    try {
      return { wellknown: () => utils.buildWellKnownUrls(input.url), baseurl: () => utils.extractBaseUrl(input.url),
        'resource-param': () => utils.buildResourceParameter(input.url), 'is-sse': () => utils.isSSEEndpoint(input.url) }[asked]();
    } catch (error) { return { throws: `${error.name}: ${error.message}` }; }
  }

  pkceShape() {
    const made = this.isCurrent ? this.modules.flow.generatePKCEParams() : this.provider.generatePKCEParams();
    return { codeVerifierLength: made.codeVerifier.length, codeChallengeLength: made.codeChallenge.length, stateLength: made.state.length, alphabet: 'base64url' };
  }

  authorizationUrl({ config, pkce, mcpServerUrl }) {
    if (!this.isCurrent) return { url: this.provider.buildAuthorizationUrl(config, pkce, mcpServerUrl) };
    return { url: this.modules.flow.buildAuthorizationUrl(config, pkce, 7777, this.provider.buildResourceParam(mcpServerUrl)) };
  }

  async discovery({ serverUrl, documents }) {
    const requests = [];
    const config = await serving((request, response, base) => {
      requests.push(masked(`${request.method} ${request.url}`, base));
      const document = documents[request.url];
      response.writeHead(document ? document.status ?? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(document && 'json' in document ? document.json : {}).replaceAll('<BASE>', base));
    }, async (base) => {
      try { return masked(await this.modules.utils.OAuthUtils.discoverOAuthConfig(serverUrl.replaceAll('<BASE>', base)), base); }
      catch (error) { return masked({ throws: `${error.name}: ${error.message}` }, base); }
    });
    return { config, requests };
  }

  async refresh({ expired, tokenEndpoint = 200, refreshToken = tokenEndpoint === 200 ? undefined : 'RT', config = CONFIG }) {
    const request = [];
    return serving((sent, response, base) => {
      let body = '';
      sent.on('data', (data) => { body += data; });
      sent.on('end', () => {
        request.push({ method: sent.method, url: sent.url, contentType: sent.headers['content-type'], form: masked(Object.fromEntries(new URLSearchParams(body)), base) });
        response.writeHead(tokenEndpoint, { 'content-type': 'application/json' });
        response.end(tokenEndpoint === 200 ? JSON.stringify({ access_token: 'AT2', token_type: 'Bearer' }) : '{"error":"invalid_grant"}');
      });
    }, async (base) => {
      rmSync(this.file, { force: true });
      const token = { accessToken: 'AT', tokenType: 'Bearer', refreshToken, expiresAt: expired ? 1 : undefined };
      await this.storage.saveToken('s', token, config.clientId, `${base}/t`, `${base}/mcp`);
      const got = await this.provider.getValidToken('s', config);
      if (got !== null) return { token: got, ...(request.length ? { request } : {}) };
      const kept = this.isCurrent ? await this.storage.getCredentials('s') : await this.storage.getToken('s');
      return { token: null, tokenStillStored: kept !== null };
    });
  }

  async tokenFile({ serverName, token, clientId = 'cid', tokenUrl = 'https://as/token', mcpServerUrl = 'https://h/mcp', now }) {
    const given = token ?? { accessToken: 'at', tokenType: 'Bearer', refreshToken: 'rt', scope: 'a b', expiresAt: this.isCurrent ? 4102444800000 : 123 };
    rmSync(this.file, { force: true });
    await this.storage.saveToken(serverName, given, clientId, tokenUrl, mcpServerUrl);
    const mode = (statSync(this.file).mode & 0o777).toString(8);
    const entries = JSON.parse(readFileSync(this.file, 'utf8'));
    for (const entry of entries) entry.updatedAt = now ?? '__now_ms__';
    rmSync(this.file, { force: true });
    const name = `~/${PLACE}`;
    return this.isCurrent ? { files: [{ path: name, mode, text: JSON.stringify(entries, null, 2) }] } : { path: name, mode, json: entries };
  }
}

// Runs the body with the address of a loopback server.
async function serving(handle, body) {
  let base;
  const server = createServer((request, response) => handle(request, response, base));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${server.address().port}`;
  try { return await body(base); } finally { server.closeAllConnections(); server.close(); }
}

const masked = (value, base) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value).replaceAll(base, '<BASE>')));
