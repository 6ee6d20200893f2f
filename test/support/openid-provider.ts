import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { rsaKeys } from './rsa-keys.js';

/** A real OpenID provider (the package oidc-provider) with its own pages for logging in. */
export interface OpenIdProvider {
  readonly url: string;
  /** The authorization code flow, as a browser and an app go through it. @returns the id_token */
  login(subject: string, nonce: string, client?: string): Promise<string>;
  /** Replaces the signing keys. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

const redirectUri = 'https://app.example.com/callback';

/**
 * @param host where browsers find it: `localhost` is another site than `127.0.0.1`
 * @param redirectUris further redirect URIs of all clients
 */
export async function startOpenIdProvider(
  clients: readonly string[],
  { host = '127.0.0.1', redirectUris = [] }: { readonly host?: string; readonly redirectUris?: readonly string[] } = {},
): Promise<OpenIdProvider> {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;

  const rotate = async () => {
    const { privateKey } = rsaKeys();
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
    const provider = new Provider(url, {
      jwks: { keys: [jwk] },
      cookies: { keys: [randomUUID()] },
      pkce: { required: () => false },
      // As most providers do: the id_token has the address and the name, if they were asked for.
      conformIdTokenClaims: false,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      findAccount: (_context: object, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, email: `${sub}@gmail.com`, email_verified: true, name: `The person ${sub}` }),
      }),
      clients: clients.map((client_id) => ({
        ...{ client_id, client_secret: 'a secret', redirect_uris: [redirectUri, ...redirectUris] },
        ...{ response_types: ['code'], grant_types: ['authorization_code'] },
        token_endpoint_auth_method: 'client_secret_post',
      })),
    });
    answer = provider.callback();
  };
  await rotate();

  async function login(subject: string, nonce: string, client = clients[0] ?? ''): Promise<string> {
    const jar = new Map<string, string>();
    const visit = async (path: string, form?: Record<string, string>) => {
      const cookie = [...jar].map(([key, value]) => `${key}=${value}`).join('; ');
      const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
      const response = await fetch(new URL(path, url), { ...sent, headers: { cookie }, redirect: 'manual' });
      for (const set of response.headers.getSetCookie()) {
        const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        jar.set(key, value);
      }
      return { location: response.headers.get('location') ?? '', text: await response.text() };
    };
    const query = { client_id: client, response_type: 'code', scope: 'openid', redirect_uri: redirectUri, nonce };
    let at = (await visit(`/auth?${new URLSearchParams(query)}`)).location;
    while (!at.startsWith(redirectUri)) {
      const page = await visit(at);
      if (page.location === '') {
        const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
        if (prompt === undefined) throw new Error(`no page to log in: ${page.text.slice(0, 500)}`);
        at = (await visit(at, { prompt, login: subject, password: 'any' })).location;
      } else at = page.location;
    }
    const code = new URL(at).searchParams.get('code') ?? '';
    const response = await fetch(`${url}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
        ...{ client_id: client, client_secret: 'a secret' },
      }),
    });
    const tokens = (await response.json()) as { id_token?: string };
    if (tokens.id_token === undefined) throw new Error(`no id_token: ${JSON.stringify(tokens)}`);
    return tokens.id_token;
  }

  return {
    ...{ url, login, rotate },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
