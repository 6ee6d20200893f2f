import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { rsaKeys } from './rsa-keys.js';

/** A provider that answers an authorization request at once, for whatever account a test has set. */
export interface Vendor {
  readonly url: string;
  /** The claims of the next id_tokens, and the members of the userinfo answer. */
  account: Record<string, unknown>;
  /** Replaces the answer of the token endpoint. It may leave the answer to the usual code by returning false. */
  onToken: ((request: TokenRequest, response: ServerResponse) => boolean) | undefined;
  /** Replaces the answer of the other endpoints, by their paths. It may leave the answer to the usual code, too. */
  onDocument: ((path: string, response: ServerResponse, authorization?: string) => boolean) | undefined;
  /** What the authorization endpoint sends the browser back with, in place of a code. */
  denial: Record<string, string> | undefined;
  /** Further parameters with which it sends the browser back. */
  extra: Record<string, string>;
  /** Members of the discovery document that differ. */
  metadata: Record<string, unknown>;
  /** Gives it a new account, and its usual answers. */
  reset(): void;
  /** An id_token with the vendor's key. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  readonly tokenRequests: TokenRequest[];
  /** The parameters that came with each browser. */
  readonly authorizations: URLSearchParams[];
  /** Goes where the authorization URL leads. @returns the parameters of the answer, and the address they go to */
  authorize(url: string): Promise<{ readonly to: URL; readonly answer: URLSearchParams; readonly isPosted: boolean }>;
  close(): Promise<void>;
}

export interface TokenRequest {
  readonly body: URLSearchParams;
  readonly authorization: string | undefined;
  readonly accept: string | undefined;
}

interface Grant {
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly clientId: string;
  readonly redirectUri: string;
}

export async function startVendor(): Promise<Vendor> {
  const { privateKey, publicKey } = rsaKeys();
  const grants = new Map<string, Grant>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const at = new URL(request.url ?? '', url);
    const { authorization } = request.headers;
    if (vendor.onDocument?.(at.pathname + at.search, response, authorization) === true) return undefined;
    if (at.pathname.endsWith('/.well-known/openid-configuration')) {
      const issuer = `${url}${at.pathname.replace('/.well-known/openid-configuration', '')}`;
      const endpoints = { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` };
      return json(response, 200, { issuer, jwks_uri: `${url}/keys`, ...endpoints, ...vendor.metadata });
    }
    if (at.pathname === '/keys') {
      return json(response, 200, {
        keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }],
      });
    }
    if (at.pathname === '/userinfo') return json(response, 200, vendor.account);
    if (at.pathname === '/token') return answerToken(request, response);
    if (at.pathname === '/authorize') {
      const { to, answer } = await vendor.authorize(at.href);
      const page = `<!doctype html><title>Vendor</title><link rel="icon" href="data:,"><a href="${to}?${answer}">Go on</a>`;
      return response.writeHead(200, { 'content-type': 'text/html' }).end(page.replaceAll('&', '&amp;'));
    }
    return json(response, 404, {});
  }

  async function answerToken(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = new URLSearchParams(text);
    const { authorization, accept } = request.headers;
    const asked = { body, authorization, accept };
    vendor.tokenRequests.push(asked);
    if (vendor.onToken?.(asked, response) === true) return undefined;
    const grant = grants.get(body.get('code') ?? '');
    grants.delete(body.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    const isProven = grant?.challenge === null ? !body.has('code_verifier') : grant?.challenge === verifier;
    if (grant === undefined || !isProven || grant.redirectUri !== body.get('redirect_uri')) {
      return json(response, 400, { error: 'invalid_grant' });
    }
    const idToken = await vendor.sign({ aud: grant.clientId, nonce: grant.nonce, ...vendor.account });
    return json(response, 200, { access_token: randomUUID(), token_type: 'bearer', id_token: idToken });
  }

  const vendor: Vendor = {
    url,
    account: { sub: randomUUID() },
    onToken: undefined,
    onDocument: undefined,
    denial: undefined,
    extra: {},
    metadata: {},
    reset() {
      const usual = { onToken: undefined, onDocument: undefined, denial: undefined, extra: {}, metadata: {} };
      Object.assign(vendor, usual, { account: { sub: randomUUID() } });
    },
    async sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ iss: url, iat: now, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'k', ...header })
        .sign(privateKey);
    },
    tokenRequests: [],
    authorizations: [],
    async authorize(address) {
      const { searchParams } = new URL(address);
      vendor.authorizations.push(searchParams);
      const code = randomUUID();
      grants.set(code, {
        challenge: searchParams.get('code_challenge'),
        nonce: searchParams.get('nonce'),
        clientId: searchParams.get('client_id') ?? '',
        redirectUri: searchParams.get('redirect_uri') ?? '',
      });
      const state = searchParams.get('state') ?? '';
      return {
        to: new URL(searchParams.get('redirect_uri') ?? ''),
        answer: new URLSearchParams({ ...(vendor.denial ?? { code }), state, ...vendor.extra }),
        isPosted: searchParams.get('response_mode') === 'form_post',
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return vendor;
}
