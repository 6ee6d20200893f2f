import type { User } from '../../src/contract/user.js';
import type { TestApp } from './app.js';
import { freePort } from './free-port.js';
import type { Jar } from './redirects.js';
import { passwordLogin } from './users.js';

/** The settings of a service with pages, on a port that PUBLIC_URL names. */
export async function pageSettings(redirectUris: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  return {
    ...{ PAGES: 'on', PORT: `${port}`, PUBLIC_URL: `http://127.0.0.1:${port}`, REDIRECT_URIS: redirectUris.join(',') },
    ...{ PIN_POLICY: 'off', LOGIN_LIMIT_PER_ADDRESS: '0' },
    ...more,
  };
}

/** What `/pages/flow` and `/pages/answer` answer. */
export interface FlowBody {
  readonly next?: string;
  readonly user?: string | null;
  readonly app?: string;
  readonly page?: string;
  readonly url?: string;
}

/** A browser at the pages: its cookies, and the requests of the scripts of the pages. */
export function createPageBrowser(current: () => TestApp, jar: Jar = new Map()) {
  async function send(path: string, init: RequestInit = {}) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, current().url), {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
  const post = (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin' },
  ) =>
    send(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  /** Signs in at the page with the password. */
  async function signIn(user: User, device: object = {}) {
    const { body } = await current().api<{ token: string; id: string; device_id: string }>('POST', '/v1/tokens', {
      body: passwordLogin(user.username, undefined, device),
    });
    const response = await post('/pages/session', { authentication_token: body.token });
    return { ...body, status: response.status, setCookie: response.headers.getSetCookie().join('\n') };
  }
  /** Opens the address of a login. @returns its state */
  async function visit(url: string): Promise<string> {
    const { headers } = await send(url);
    return new URL(headers.get('location') ?? 'about:blank').searchParams.get('state') ?? '';
  }
  const flow = async (state: string) => (await (await post('/pages/flow', { state })).json()) as FlowBody;
  const answer = async (state: string, given?: string) =>
    (await (await post('/pages/answer', { state, ...(given && { answer: given }) })).json()) as FlowBody;
  return { jar, send, post, signIn, visit, flow, answer };
}
