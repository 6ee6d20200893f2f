/**
 * Postern in SvelteKit: the login in a cookie, and the session of each request in `event.locals.postern`.
 *
 * @packageDocumentation
 */
import type { Snapshot, SnapshotParts } from '@postern/client';
import { type BrowserSessionOptions, createBrowser, type PageSession } from '../browser/session.js';
import { type CookieToSet, createSignIn, type SignInInput, type SignInResult } from '../browser/sign-in.js';
import type { PosternServerOptions } from '../options.js';
import { createPosternServer, type PosternServer } from '../server.js';

export type { SignInInput, SignInResult } from '../browser/sign-in.js';

export interface SvelteKitPosternOptions extends PosternServerOptions, Omit<BrowserSessionOptions, 'basePath'> {
  /** Where the page finds Postern: `/auth` by default. */
  readonly basePath?: `/${string}` | undefined;
}

/** Postern for the visitor of a request. Declare it in `App.Locals`. */
export interface PosternLocals {
  /** The client of the backend, to publish and administer. */
  readonly server: PosternServer;
  /** The session of the visitor. Null without a login. Once for each request. */
  readonly auth: () => Promise<PageSession | null>;
  /** The same, with data for the first rendering, as JSON without tokens. */
  readonly snapshot: <Parts extends SnapshotParts>(parts: Parts) => Promise<Snapshot<Parts>>;
  /** A step of a login, in an action. It takes the `FormData` of the request, or its values. */
  readonly signIn: (input: SignInInput | FormData) => Promise<SignInResult>;
  /** Signs out, in an action. */
  readonly signOut: () => Promise<void>;
}

/** The part of an event of SvelteKit that is used. */
interface RequestEvent {
  readonly request: Request;
  readonly url: URL;
  readonly locals: object;
  readonly cookies: {
    get(name: string): string | undefined;
    getAll(): { readonly name: string; readonly value: string }[];
    set(name: string, value: string, options: CookieToSet['options']): void;
  };
  getClientAddress(): string;
}

/** The `handle` of `src/hooks.server.ts`. */
type Handle = <E extends RequestEvent>(input: {
  readonly event: E;
  readonly resolve: (event: E) => Response | Promise<Response>;
}) => Promise<Response>;

/**
 * Creates the hook that answers the requests of the page to Postern, and gives each request `event.locals.postern`. The address of
 * the client is that of SvelteKit, which its adapter knows.
 *
 * @example
 * ```ts
 * // src/hooks.server.ts
 * import { createPosternHandle } from '@postern/server/sveltekit';
 *
 * export const handle = createPosternHandle({ url: process.env.AUTH_SERVICE_URL });
 * ```
 * @throws UsageError for options that make no sense
 */
export function createPosternHandle(options: SvelteKitPosternOptions): Handle {
  const server = createPosternServer(options);
  const browser = createBrowser(server, { ...options, basePath: options?.basePath ?? '/auth' });
  const { session } = browser;
  const actions = createSignIn(browser);

  return async ({ event, resolve }) => {
    const { request, url, cookies } = event;
    const context = () => ({ address: event.getClientAddress() });
    if (url.pathname.startsWith(`${session.basePath}/`)) return session.handler(request, context());
    // An action may have changed the cookies.
    const cookie = () =>
      cookies
        .getAll()
        .map(({ name, value }) => `${name}=${value}`)
        .join('; ');
    const current = {
      url: url.href,
      headers: { get: (name: string) => (name === 'cookie' ? cookie() : request.headers.get(name)) },
    };
    const visit = () => ({
      request: current,
      origin: url.origin,
      context: context(),
      setCookie: ({ name, value, options: attributes }: CookieToSet) => cookies.set(name, value, attributes),
    });
    const postern: PosternLocals = {
      server,
      auth: () => session.session(current),
      snapshot: (parts) => session.snapshot(current, parts),
      signIn: (input) => actions.signIn(visit(), input),
      signOut: () => actions.signOut(visit()),
    };
    Object.assign(event.locals, { postern });
    return resolve(event);
  };
}
