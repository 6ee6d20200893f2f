import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { ProblemAnswer, TestApp } from './app.js';
import type { Vendor } from './vendor.js';

/** The PUBLIC_URL of services whose redirects tests follow. Nothing answers there: `open` sends each request to the service. */
export const publicUrl = 'http://127.0.0.1:9';
/** An entry of REDIRECT_URIS. */
export const returnTo = 'https://app.example.com/callback';

export type LoginBody = Authentication &
  Pick<ProblemAnswer, 'errors' | 'type'> & { readonly authentication: Authentication };

/** The cookies of a browser. */
export type Jar = Map<string, string>;

/** A new PKCE verifier and its challenge. */
export function newVerifier(): { readonly codeVerifier: string; readonly codeChallenge: string } {
  const codeVerifier = randomBytes(32).toString('base64url');
  return { codeVerifier, codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url') };
}

/** The steps of logins by redirect: those of the app, and those of a browser. */
export function createRedirectSteps(
  current: () => { readonly postern: Pick<TestApp, 'url' | 'api'>; readonly vendor: Pick<Vendor, 'authorize'> },
) {
  /** The app: it begins a login. */
  async function begin(authenticator = 'oidc:google', more: object = {}) {
    const { codeVerifier, codeChallenge } = newVerifier();
    const { status, body } = await current().postern.api<LoginBody>('POST', '/v1/tokens', {
      body: { authenticator, redirect_to: returnTo, code_challenge: codeChallenge, device: {}, ...more },
    });
    return { status, body, codeVerifier, url: String(body.challenge?.url) };
  }

  /** The app: it answers a challenge of the login. */
  const send = (id: string, secret: object | string) =>
    current().postern.api<LoginBody>('POST', `/v1/tokens/${id}/secret`, {
      body: { secret: typeof secret === 'string' ? secret : JSON.stringify(secret) },
    });

  /** The app: it ends a login with what the browser brought back. */
  const end = (id: string, code: string, codeVerifier: string) => send(id, { code, code_verifier: codeVerifier });

  /** A browser that opens an address of this service. It follows nothing. */
  async function open(address: string, jar: Jar, init: RequestInit = {}, at: Pick<TestApp, 'url'> = current().postern) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address.replace(publicUrl, at.url), {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    return {
      status: response.status,
      to: response.headers.get('location') ?? '',
      text: await response.text(),
      response,
    };
  }

  /** A browser that goes to the provider, and logs in there. @returns the address with which it comes back */
  async function visit(url: string, jar: Jar, at?: Pick<TestApp, 'url'>) {
    const left = await open(url, jar, {}, at);
    expect(left.status, left.text).toBe(303);
    const { to, answer, isPosted } = await current().vendor.authorize(left.to);
    const back = `${publicUrl}${to.pathname}`;
    return { to, answer, isPosted, back, callback: `${back}?${answer}`, authorization: new URL(left.to).searchParams };
  }

  /** Goes through the provider. @returns what the app gets */
  async function goThrough(url: string, jar: Jar = new Map()) {
    const { answer, isPosted, back, callback: address } = await visit(url, jar);
    const posted = isPosted ? await open(back, new Map(), { method: 'POST', body: answer }) : undefined;
    const callback = posted === undefined ? address : posted.to;
    const returned = await open(callback, jar);
    return { ...returned, callback, jar, app: new URL(returned.to || 'about:blank').searchParams };
  }

  /** The whole login. */
  async function logIn(authenticator?: string) {
    const login = await begin(authenticator);
    const { app } = await goThrough(login.url);
    expect(app.get('authentication_id')).toBe(login.body.id);
    return end(login.body.id, app.get('code') ?? '', login.codeVerifier);
  }

  return { begin, send, end, open, visit, goThrough, logIn };
}
