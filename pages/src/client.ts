import { createPostern, type Postern, type PosternStorage } from '@postern/client';
import { ask, base } from './service.js';

/** A session, as `POST /v1/sessions` answers; `token` is null if nobody is signed in. */
type Session =
  | { readonly token: string; readonly user_id: string; readonly device_id: string }
  | { readonly token: null };

/** The client stores this text instead of the authentication token, which is in a cookie that no script can read. */
const inCookie = 'cookie';
const loginKey = 'postern.login';
/** A logout that the service does not know of yet. It contains a token, so it stays in memory. */
const revokeKey = 'postern.revoke';
const authorization = `Basic ${btoa(`${inCookie}:`)}`;

/** A client whose login the service keeps in a cookie. */
export interface PageClient {
  readonly postern: Postern;
  /** The password of the last login that needed nothing else, until it is read. It proves who the user is for a moment. */
  takePassword(): string | undefined;
}

/** @param options.ignoresCookie an app asks for a new login, so that of the cookie does not count */
export function createPageClient({ ignoresCookie = false } = {}): PageClient {
  const memory = new Map<string, string>();
  /** The session with which the page has found its login. */
  let first: Session | undefined;
  let password: string | undefined;

  const storage: PosternStorage = {
    async get(key) {
      const held = memory.get(key);
      if (held !== undefined || key === revokeKey) return held ?? null;
      if (key !== loginKey) return localStorage.getItem(key);
      if (ignoresCookie) return null;
      const session = await ask<Session>('/pages/session');
      if (session.token === null) return null;
      first = session;
      return JSON.stringify({ token: inCookie, user_id: session.user_id, device_id: session.device_id });
    },
    async set(key, value) {
      if (key !== loginKey && key !== revokeKey) return localStorage.setItem(key, value);
      memory.set(key, value);
      const { token } = JSON.parse(value) as { readonly token: string };
      if (key === loginKey && token !== inCookie) await ask('/pages/session', { authentication_token: token });
    },
    async delete(key) {
      memory.delete(key);
      if (key === loginKey) await ask('/pages/session', undefined, { method: 'DELETE' });
      else if (key !== revokeKey) localStorage.removeItem(key);
    },
  };

  /** Requests with the token of the cookie go to the routes that read the cookie. */
  const send: typeof globalThis.fetch = async (input, init = {}) => {
    const { method = 'GET', headers, signal } = init;
    if (new Headers(headers).get('authorization') !== authorization) {
      const answer = await fetch(input, init);
      if (method === 'POST' && `${input}` === `${base}/v1/tokens`) await notePassword(init.body, answer);
      return answer;
    }
    if (method === 'DELETE') {
      await ask('/pages/session', undefined, { method, signal: signal ?? null });
      return new Response(null, { status: 204 });
    }
    const session = first ?? (await ask<Session>('/pages/session', undefined, { signal: signal ?? null }));
    first = undefined;
    if (session.token !== null) return Response.json(session, { status: 201 });
    const problem = { type: 'urn:postern:problem:invalid_authentication_token', title: 'Signed out', status: 401 };
    return Response.json(problem, { status: 401, headers: { 'content-type': 'application/problem+json' } });
  };

  async function notePassword(body: unknown, answer: Response): Promise<void> {
    const request = JSON.parse(typeof body === 'string' ? body : '{}');
    const result = answer.ok ? await answer.clone().json() : {};
    password = request.authenticator === 'password' && result.status === 'approved' ? request.secret : undefined;
  }

  const postern = createPostern({ url: base, storage, fetch: send, locale: document.documentElement.lang });
  return {
    postern,
    takePassword() {
      const taken = password;
      password = undefined;
      return taken;
    },
  };
}
