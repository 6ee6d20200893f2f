/**
 * Postern in Next.js from version 14: the login in a cookie, the session of a page, a proxy for pages that need a login, and server
 * actions.
 *
 * @packageDocumentation
 */
/// <reference path="./headers.d.ts" />
import type { Snapshot, SnapshotParts } from '@postern/client';
import { UsageError } from '@postern/client/internal';
// With its ending: outside of its bundlers, Next.js has no other names for Node.js.
import { cookies, headers } from 'next/headers.js';
import {
  type BrowserSession,
  type BrowserSessionOptions,
  createBrowser,
  type PageSession,
} from '../browser/session.js';
import { createSignIn, type SignInInput, type SignInResult, type Visit } from '../browser/sign-in.js';
import type { PosternServerOptions } from '../options.js';
import { createPosternServer, type PosternServer } from '../server.js';
import type { RequestLike } from '../sessions/tokens.js';

export type { SignInInput, SignInResult } from '../browser/sign-in.js';

export interface NextPosternOptions extends PosternServerOptions, Omit<BrowserSessionOptions, 'basePath'> {
  /** Where the routes are mounted: `/auth` by default, with the file `app/auth/[...path]/route.ts`. */
  readonly basePath?: `/${string}` | undefined;
}

/** Postern in an app of Next.js: `GET` to `DELETE` are the handlers of `app/auth/[...path]/route.ts`. */
export interface NextPostern extends Readonly<BrowserSession['routes']> {
  /** The client of the backend, to publish and administer. */
  readonly server: PosternServer;
  /** The session of the visitor, in server components, actions and route handlers. Null without a login. Once for each request. */
  readonly auth: () => Promise<PageSession | null>;
  /** The same, with data for `PosternProvider` of `@postern/react`. */
  readonly snapshot: <Parts extends SnapshotParts>(parts: Parts) => Promise<Snapshot<Parts>>;
  /**
   * Makes the function of `proxy.ts` (`middleware.ts` before Next.js 16): visitors without a cookie are sent to the page for signing
   * in, with the page that they wanted in `return_to`. It does not ask Postern, so pages still call `auth`.
   */
  readonly proxy: (signInPage: `/${string}`) => (request: Request) => Response | undefined;
  /** A step of a login, in a server action. It takes the `FormData` of the action, or its values. */
  readonly signIn: (input: SignInInput | FormData) => Promise<SignInResult>;
  /** Signs out, in a server action. */
  readonly signOut: () => Promise<void>;
}

/**
 * Creates all that an app of Next.js needs from Postern. It sends nothing until it is used, so builds need no address.
 *
 * @example
 * ```ts
 * // lib/postern.ts
 * import { createNextPostern } from '@postern/server/next';
 *
 * export const { auth, signIn, signOut, snapshot, proxy, GET, POST, PUT, PATCH, DELETE } = createNextPostern({
 *   url: process.env.AUTH_SERVICE_URL,
 *   clientAddress: 'proxy',
 * });
 * ```
 * @throws UsageError for options that make no sense
 */
export function createNextPostern(options: NextPosternOptions): NextPostern {
  const server = createPosternServer(options);
  const browser = createBrowser(server, { ...options, basePath: options?.basePath ?? '/auth' });
  const { session } = browser;
  const actions = createSignIn(browser);

  /** The current request. Its cookies are those that an action may have changed. */
  async function currentRequest() {
    const [received, store] = await Promise.all([headers(), cookies()]);
    const request = requests.get(received) ?? {
      headers: { get: (name: string) => (name === 'cookie' ? `${store}` : received.get(name)) },
    };
    requests.set(received, request);
    return { request, store, received };
  }
  /** By the headers of Next.js. Each request has one object of headers. */
  const requests = new WeakMap<object, RequestLike>();

  async function visit(): Promise<Visit> {
    const { request, store, received } = await currentRequest();
    const origin = session.origin ?? received.get('origin');
    if (!origin) throw new UsageError('signIn and signOut work in server actions.');
    return { request, origin, setCookie: ({ name, value, options }) => void store.set(name, value, options) };
  }

  return {
    server,
    ...session.routes,
    auth: async () => session.session((await currentRequest()).request),
    snapshot: async (parts) => session.snapshot((await currentRequest()).request, parts),
    proxy: (signInPage) => (request) => {
      const { origin, pathname, search } = new URL(request.url);
      const isOpen = pathname === signInPage || pathname.startsWith(`${session.basePath}/`);
      if (isOpen || browser.loginIn(request) !== undefined) return undefined;
      // One slash: a browser reads two as the address of another site.
      const wanted = pathname.replace(/^[/\\]+/, '/') + search;
      return Response.redirect(`${origin}${signInPage}?return_to=${encodeURIComponent(wanted)}`, 307);
    },
    signIn: async (input) => actions.signIn(await visit(), input),
    signOut: async () => actions.signOut(await visit()),
  };
}
