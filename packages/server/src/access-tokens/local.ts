import { UsageError } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import type { PosternServerOptions } from '../options.js';
import { headersOf, type RequestLike } from '../sessions/tokens.js';
import type { Session } from '../wire.js';
import { createTokenKeys } from './keys.js';
import { createRevocations } from './revocations.js';

/** What an access token says about its login. */
export interface LocalSession
  extends Pick<
    Session,
    'user_id' | 'roles' | 'claims' | 'authenticated_at' | 'amr' | 'proven_at' | 'expires_at' | 'act'
  > {
  /** The id of the login, the same in all its sessions. */
  readonly authentication_id: string;
  /** The id of the token. */
  readonly jti: string;
}

/** Checks access tokens in this process. */
export interface LocalVerifier {
  /**
   * @returns null without a valid token
   * @throws PosternError if revocations may be missing
   */
  verify(request: RequestLike | string): Promise<LocalSession | null>;
  /** Ends the stream of revocations. */
  close(): void;
}

/** The members of a token that Postern signs. */
interface Payload {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  readonly auth_time: number;
  readonly proven_at?: number;
  readonly amr: Session['amr'];
  readonly roles?: Session['roles'];
  readonly claims?: Session['claims'];
  readonly act?: LocalSession['act'];
}

/** Seconds by which a token may be ahead of the last known time of the database. */
const tolerance = 60;
/** Longer than any token of Postern. */
const maxLength = 4096;

const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();

/** @throws UsageError if `audience` or `issuer` is missing */
export function createLocalVerifier(
  connection: Connection,
  { audience, issuer }: Pick<PosternServerOptions, 'audience' | 'issuer'>,
): LocalVerifier {
  if (!audience || !issuer) {
    throw new UsageError('`local` needs createPosternServer({ url, apiKey, audience, issuer }).');
  }
  const keys = createTokenKeys(connection);
  const revocations = createRevocations(connection, { onReset: keys.forget });

  async function verify(request: RequestLike | string): Promise<LocalSession | null> {
    const token = parse(accessTokenOf(request) ?? '');
    // Before anything else is known: an outage must not look like a logout.
    let now = revocations.current();
    if (typeof now !== 'number') now = await now;
    if (token === undefined) return null;
    let key = keys.find(token.kid);
    if (key instanceof Promise) key = await key;
    if (key === undefined || key.alg !== token.alg) return null;
    const { subtle } = globalThis.crypto;
    if (!(await subtle.verify(key.algorithm, key.key, token.signature, token.signed))) return null;
    const payload = objectOf<Payload>(token.payload);
    if (payload === undefined || payload.iss !== issuer || payload.aud !== audience) return null;
    const { sub, sid, jti, iat, exp } = payload;
    if (!(exp > now && iat <= now + tolerance) || typeof sub !== 'string' || typeof sid !== 'string') return null;
    return revocations.isRevoked(token.kid, [sid, sub], iat) ? null : sessionOf(payload, jti);
  }

  return { verify, close: revocations.close };
}

function sessionOf(
  { sub, sid, exp, auth_time, proven_at, amr, roles, claims, act }: Payload,
  jti: string,
): LocalSession {
  return {
    user_id: sub,
    authentication_id: sid,
    jti,
    expires_at: timeOf(exp),
    authenticated_at: timeOf(auth_time),
    amr,
    proven_at: proven_at === undefined ? null : timeOf(proven_at),
    roles: roles ?? [],
    claims: claims ?? {},
    ...(act !== undefined && { act }),
  };
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

/** The text after `Bearer`. Undefined if there is none. */
function accessTokenOf(request: RequestLike | string): string | undefined {
  if (typeof request === 'string') return request;
  const header = headersOf(request)('authorization');
  return header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() : undefined;
}

interface ParsedToken {
  readonly alg: string;
  readonly kid: string;
  readonly payload: Uint8Array;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** Undefined: the text is not an access token (RFC 9068). */
function parse(text: string): ParsedToken | undefined {
  if (text.length > maxLength) return undefined;
  const [, head = '', body = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text) ?? [];
  const header = head === '' ? undefined : objectOf<Record<string, unknown>>(bytesOf(head));
  if (header === undefined || header.typ !== 'at+jwt' || 'crit' in header) return undefined;
  const [payload, signatureBytes] = [bytesOf(body), bytesOf(signature)];
  if (payload === undefined || signatureBytes === undefined) return undefined;
  const { alg, kid } = header;
  if (typeof alg !== 'string' || typeof kid !== 'string') return undefined;
  return { alg, kid, payload, signature: signatureBytes, signed: encoder.encode(`${head}.${body}`) };
}

function objectOf<T>(bytes: Uint8Array | undefined): T | undefined {
  try {
    const value: unknown = bytes && JSON.parse(decoder.decode(bytes));
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Node.js has a decoder that is several times faster. */
const buffer = (globalThis as { Buffer?: { from(text: string, encoding: 'base64url'): Uint8Array<ArrayBuffer> } })
  .Buffer;

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> | undefined {
  if (buffer !== undefined) return buffer.from(base64url, 'base64url');
  try {
    return Uint8Array.from(atob(base64url.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
