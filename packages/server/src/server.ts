import { baseOf, forCaller } from '@postern/client/internal';
import { createLocalVerifier, type LocalSession, type LocalVerifier } from './access-tokens/local.js';
import { type Administration, createAdministration } from './admin/administration.js';
import { type Connection, connectionKey, createConnection } from './connection.js';
import type { PosternServerOptions } from './options.js';
import { createPublishing, type Publishing } from './publishing/publishing.js';
import type { RequestLike } from './sessions/tokens.js';
import { createVerify, type Verify, type VerifyOptions } from './sessions/verify.js';
import type { Session } from './wire.js';

/** A connection of a backend to Postern. */
export interface PosternServer extends Publishing, Administration {
  readonly url: URL;
  /**
   * Returns the session of a request. Null means that there is no valid session: answer 401. It rejects if Postern cannot check
   * the session (no network, 503): answer 503. Checks of one token at the same time share a request.
   */
  readonly verify: Verify;
  /** Ends the stream that `verify` with `local` reads, so that the process can end. */
  close(): void;
}

/**
 * Creates the client of a backend. It sends nothing until it is used.
 *
 * @example
 * ```ts
 * import { createPosternServer, toDate } from '@postern/server';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com', apiKey: 'psk_…' });
 * export async function whoIs(request: Request): Promise<string | null> {
 *   const session = await postern.verify(request);
 *   return session === null ? null : session.user_id;
 * }
 * for await (const event of postern.events({ limit: 100 })) console.log(toDate(event.created_at), event.type);
 * ```
 * @throws UsageError for options that make no sense. Without `url`, the first call throws
 */
export function createPosternServer(options: PosternServerOptions): PosternServer {
  const checkedBase = () => baseOf(options?.url, 'createPosternServer');
  // Builds load the modules of an app without its environment. Only a use without an address is a mistake.
  const base = options?.url === undefined ? undefined : checkedBase();
  const connection = createConnection(() => base ?? checkedBase(), options ?? {});
  const verifySession = createVerify(connection.base, options ?? {});
  let local: LocalVerifier | undefined;
  const verify = (async (request, { local: isLocal = false, ...more } = {}) => {
    if (!isLocal) return verifySession(request, more);
    more.signal?.throwIfAborted();
    local ??= createLocalVerifier(connection, options ?? {});
    return forCaller(local.verify(request), more.signal);
  }) as (request: RequestLike | string, options?: VerifyOptions) => Promise<Session | LocalSession | null> as Verify;
  const server: PosternServer & { readonly [connectionKey]: Connection } = {
    [connectionKey]: connection,
    get url() {
      return new URL(`${connection.base()}/`);
    },
    verify,
    close: () => local?.close(),
    ...createPublishing(connection),
    ...createAdministration(connection),
  };
  return server;
}
