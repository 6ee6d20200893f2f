import { UsageError } from '@postern/client/internal';
import { connectionOf } from '../connection.js';
import { type HeadersLike, headersOf } from '../sessions/tokens.js';
import type { Verify } from '../sessions/verify.js';
import type { WebhookEvent } from './events.js';

/** Why a webhook was refused. Answer 400. `too_old`: its time is too far from now, in the past or in the future. */
export type WebhookErrorCode = 'missing_header' | 'wrong_signature' | 'too_old' | 'replayed' | 'malformed_body';

/**
 * A webhook that is not from Postern, or whose time is too far from now.
 *
 * @example
 * ```ts
 * import { WebhookError } from '@postern/server';
 *
 * // A message that was handled before needs no further attempt.
 * export const statusFor = (error: unknown) =>
 *   !(error instanceof WebhookError) ? 500 : error.code === 'replayed' ? 204 : 400;
 * ```
 */
export class WebhookError extends Error {
  readonly kind = 'webhook';

  constructor(
    readonly code: WebhookErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'WebhookError';
  }
}

/** A public key of a JSON Web Key Set. */
export interface WebhookKey {
  readonly kty: string;
  readonly crv?: string | undefined;
  readonly x?: string | undefined;
}

/** A JSON Web Key Set. */
export interface WebhookKeys {
  readonly keys: readonly WebhookKey[];
}

/** Remembers the ids of handled messages. */
export interface ReplaySet {
  /** Adds an id for some seconds. @returns false if it is there already */
  readonly add: (id: string, seconds: number) => boolean | Promise<boolean>;
}

export interface WebhookVerifierOptions {
  /** The shared secrets, `whsec_…`: several while one is replaced. */
  readonly secrets?: readonly [string, ...string[]] | undefined;
  /**
   * The public Ed25519 keys of the sender: a client of `createPosternServer`, a set, or a function that fetches a set. Keys are fetched
   * again for an unknown signature. All webhooks of a Postern have the same keys, so messages to other webhooks are valid here too: also
   * check that `payload.endpoint_id` is the id of your webhook.
   */
  readonly jwks?: { readonly verify: Verify } | WebhookKeys | (() => Promise<WebhookKeys>) | undefined;
  /** How far the time of a message may be from now, in seconds. 300 by default. */
  readonly tolerance?: number | undefined;
  /** Refuses a message that was handled before. Without it, handle each `id` once yourself. */
  readonly replays?: ReplaySet | undefined;
}

/** A verified message. `T` is the type of its body, by default an event of Postern. */
export interface WebhookMessage<T = WebhookEvent> {
  /** The same in every attempt: handle each once. */
  readonly id: string;
  readonly timestamp: Date;
  /** The parsed body. */
  readonly payload: T;
}

/** Takes a `Request`, or headers with the raw body. @throws WebhookError */
export type WebhookVerifier = <T = WebhookEvent>(
  request: Request | { readonly headers: HeadersLike; readonly body: string | Uint8Array },
) => Promise<WebhookMessage<T>>;

/** The least time in milliseconds between two look-ups of the keys, however many messages with a wrong signature arrive. */
const keysPauseMs = 30_000;

/** How many signatures of a message are read. Postern sends one for each of its secrets, and one of its key: three at most. */
const maxSignatures = 10;
/** The bytes of a signature. Entries of another length cost no computation. */
const signatureBytes = { v1: 32, v1a: 64 } as const;

const utf8 = new TextEncoder();
// Not at import: the global object of Jest with jsdom has no `crypto`.
const subtle = () => globalThis.crypto.subtle;
type PublicKey = Awaited<ReturnType<ReturnType<typeof subtle>['importKey']>>;
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Creates a function that checks the signature and the time of webhooks by Standard Webhooks: HMAC-SHA256 (`v1`) with
 * `secrets`, Ed25519 (`v1a`) with `jwks`.
 *
 * @example
 * ```ts
 * import { createReplaySet, createWebhookVerifier, WebhookError } from '@postern/server';
 *
 * const verify = createWebhookVerifier({ secrets: ['whsec_c2VjcmV0IG9mIHRoZSBlbmRwb2ludA=='], replays: createReplaySet() });
 * export async function receive(request: Request): Promise<Response> {
 *   try {
 *     const { payload } = await verify(request);
 *     if (payload.type === 'user.deleted') console.log(payload.data.user_id);
 *     return new Response(null, { status: 204 });
 *   } catch (error) {
 *     if (error instanceof WebhookError) return new Response(error.code, { status: 400 });
 *     throw error;
 *   }
 * }
 * ```
 * @throws UsageError for options that verify nothing
 */
export function createWebhookVerifier(options: WebhookVerifierOptions): WebhookVerifier {
  const { secrets = [], jwks, tolerance = 300, replays } = options;
  if (secrets.length === 0 && jwks === undefined) {
    throw new UsageError('createWebhookVerifier needs `secrets` with at least one secret, or `jwks`.');
  }
  if (!(tolerance > 0)) throw new UsageError('`tolerance` must be a number of seconds.');
  const hmacKeys = secrets.map(secretBytes).map((bytes) => importHmac(bytes));
  // Prevents an unhandled rejection. `isSigned` awaits the key and handles it.
  for (const key of hmacKeys) key.catch(() => undefined);
  const publicKeys = jwks === undefined ? undefined : createPublicKeys(jwks);

  /** The work does not depend on what a stranger claims: one HMAC for each secret, and ten signatures by public keys. */
  async function isSigned(content: Bytes, { v1, v1a }: Signatures): Promise<boolean> {
    if (v1.length > 0) {
      for (const key of hmacKeys) {
        const expected = new Uint8Array(await subtle().sign('HMAC', await key, content));
        if (v1.some((signature) => isEqual(signature, expected))) return true;
      }
    }
    for (const signature of v1a) if (await publicKeys?.verify(signature, content)) return true;
    return false;
  }

  return async <T>(request: Parameters<WebhookVerifier>[0]): Promise<WebhookMessage<T>> => {
    const readHeader = headersOf(request);
    const [id, time, signatureHeader] = [
      readHeader('webhook-id'),
      readHeader('webhook-timestamp'),
      readHeader('webhook-signature'),
    ];
    if (!id || !time || !signatureHeader) {
      throw new WebhookError('missing_header', 'webhook-id, webhook-timestamp and webhook-signature are required.');
    }
    const wrongSignature = new WebhookError('wrong_signature', 'No signature is valid for this message.');
    const signatures = signaturesIn(signatureHeader);
    const canBeRight =
      (hmacKeys.length > 0 && signatures.v1.length > 0) || (publicKeys !== undefined && signatures.v1a.length > 0);
    if (!/^\d{1,12}$/.test(time) || !canBeRight) throw wrongSignature;
    const body = await bodyOf(request);
    if (!(await isSigned(join(utf8.encode(`${id}.${time}.`), body), signatures))) throw wrongSignature;
    // Checked after the signature, so that only Postern can learn the time of this clock.
    if (Math.abs(Date.now() / 1000 - Number(time)) > tolerance) {
      throw new WebhookError('too_old', `The message is more than ${tolerance} seconds from now.`);
    }
    const payload = parse<T>(body);
    // A message is accepted from `tolerance` before its time to `tolerance` after it, so its id is remembered for both.
    if (replays !== undefined && !(await replays.add(id, 2 * tolerance))) {
      throw new WebhookError('replayed', 'This message was handled before.');
    }
    return { id, timestamp: new Date(Number(time) * 1000), payload };
  };
}

/**
 * Remembers ids in this process. With several processes, use a store that they share.
 *
 * @example
 * ```ts
 * import { createReplaySet } from '@postern/server';
 *
 * export const replays = createReplaySet();
 * ```
 */
export function createReplaySet(): ReplaySet {
  const expiryTimes = new Map<string, number>();
  return {
    add(id, seconds) {
      const now = Date.now();
      // The ids that were added first are first in the map.
      for (const [oldId, end] of expiryTimes) {
        if (end > now) break;
        expiryTimes.delete(oldId);
      }
      if (expiryTimes.has(id)) return false;
      expiryTimes.set(id, now + seconds * 1000);
      return true;
    },
  };
}

/** The bytes of a secret `whsec_…`. @throws UsageError */
export function secretBytes(secret: string): Uint8Array {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined;
  if (bytes === undefined || bytes.length === 0) {
    throw new UsageError('Each of `secrets` must be the secret of an endpoint: `whsec_` and base64.');
  }
  return bytes;
}

const importHmac = async (bytes: Uint8Array) =>
  subtle().importKey('raw', new Uint8Array(bytes), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);

/** Takes the same time wherever the signatures differ. */
function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.reduce((bits, byte, at) => bits | (byte ^ (right[at] ?? 0)), 0) === 0;
}

/** Fetches the keys of a Postern. They need no API key. */
async function keysOf(server: object): Promise<WebhookKeys> {
  const { base, fetch, timeout } = connectionOf(server);
  const answer = await fetch(`${base()}/.well-known/jwks.json`, { signal: AbortSignal.timeout(timeout) });
  if (!answer.ok) throw new Error(`Postern answered ${answer.status} to the request for its keys.`);
  return (await answer.json()) as WebhookKeys;
}

function createPublicKeys(jwks: NonNullable<WebhookVerifierOptions['jwks']>) {
  // Only a client of `createPosternServer` has the member `verify`. It shows the type here, and is not called.
  const source = 'verify' in jwks ? () => keysOf(jwks) : jwks;
  let keys: Promise<PublicKey[]> | undefined;
  let readAt = 0;

  function loadKeys(): Promise<PublicKey[]> {
    readAt = Date.now();
    const loading = (async () => {
      const set = typeof source === 'function' ? await source() : source;
      const usable = set.keys.filter(({ kty, crv, x }) => kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string');
      return Promise.all(
        usable.map(({ kty, crv, x }) =>
          subtle().importKey('jwk', { kty, crv: `${crv}`, x: `${x}` }, { name: 'Ed25519' }, false, ['verify']),
        ),
      );
    })();
    loading.catch(() => {
      if (keys === loading) keys = undefined;
    });
    keys = loading;
    return loading;
  }
  const matchesAny = async (candidates: readonly PublicKey[], signature: Bytes, content: Bytes) => {
    for (const key of candidates) if (await subtle().verify('Ed25519', key, signature, content)) return true;
    return false;
  };
  return {
    async verify(signature: Bytes, content: Bytes): Promise<boolean> {
      if (await matchesAny(await (keys ?? loadKeys()), signature, content)) return true;
      // The sender may have a new key.
      if (typeof source !== 'function' || Date.now() - readAt < keysPauseMs) return false;
      return matchesAny(await loadKeys(), signature, content);
    },
  };
}

interface Signatures {
  readonly v1: readonly Bytes[];
  readonly v1a: readonly Bytes[];
}

/** The first signatures in a header such as `v1,… v1a,…`. Entries that are no signatures of a known kind are skipped. */
function signaturesIn(header: string): Signatures {
  const entries = header.split(' ', maxSignatures).map((entry) => entry.split(',', 2));
  const ofVersion = (version: keyof typeof signatureBytes) =>
    entries.flatMap(([name, text = '']) => {
      const bytes = name === version ? fromBase64(text) : undefined;
      return bytes?.length === signatureBytes[version] ? [bytes] : [];
    });
  return { v1: ofVersion('v1'), v1a: ofVersion('v1a') };
}

async function bodyOf(request: Parameters<WebhookVerifier>[0]): Promise<Uint8Array> {
  // Not `instanceof`: tests and frameworks have other classes of requests than the global one.
  if ('arrayBuffer' in request) return new Uint8Array(await request.arrayBuffer());
  const { body } = request;
  if (typeof body === 'string') return utf8.encode(body);
  if (body instanceof Uint8Array) return body;
  throw new UsageError('`body` must be the raw body: the signature does not match a parsed body.');
}

function parse<T>(body: Uint8Array): T {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as T;
  } catch {
    throw new WebhookError('malformed_body', 'The body is not JSON.');
  }
}

function fromBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join(first: Uint8Array, second: Uint8Array): Bytes {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
