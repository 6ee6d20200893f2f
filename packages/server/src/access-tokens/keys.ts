import { NetworkError } from '@postern/client/internal';
import type { Connection } from '../connection.js';

export type CryptoKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>;

/** A public key of Postern, and how it signs. */
export interface TokenKey {
  readonly alg: string;
  readonly key: CryptoKey;
  readonly algorithm: { readonly name: string; readonly hash?: string };
}

/** How each accepted algorithm is imported and verified. Others are refused. */
const algorithms = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
} as const;

/** The least time in milliseconds between two look-ups of the keys, however many tokens with an unknown key arrive. */
const pauseMs = 5000;

/** The keys that sign access tokens, by `kid`. They are fetched when they are first needed, and again for an unknown one. */
export interface TokenKeys {
  /** Undefined: no such key is published. @throws PosternError if the keys cannot be read */
  find(kid: string): TokenKey | undefined | Promise<TokenKey | undefined>;
  /** Forgets the keys: one of them may have been withdrawn without a word to this process. */
  forget(): void;
}

type Jwk = Readonly<Record<string, unknown>>;

async function importKey(jwk: Jwk): Promise<[string, TokenKey] | undefined> {
  const { kid, kty, alg } = jwk;
  const algorithm = Object.hasOwn(algorithms, `${alg}`) ? algorithms[alg as keyof typeof algorithms] : undefined;
  if (typeof kid !== 'string' || algorithm === undefined || kty !== (alg === 'ES256' ? 'EC' : 'RSA')) return undefined;
  const key = await globalThis.crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
  return [kid, { alg: `${alg}`, key, algorithm }];
}

export function createTokenKeys({ base, fetch, timeout }: Connection): TokenKeys {
  let known: ReadonlyMap<string, TokenKey> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  /** How often the keys were forgotten. What was asked for before is not kept. */
  let forgotten = 0;

  async function read(): Promise<void> {
    const before = forgotten;
    try {
      const answer = await fetch(`${base()}/.well-known/jwks.json`, { signal: AbortSignal.timeout(timeout) });
      const { keys } = answer.ok ? ((await answer.json()) as { keys: readonly Jwk[] }) : { keys: undefined };
      if (keys === undefined) throw new Error(`Postern answered ${answer.status} to the request for its keys.`);
      const read = await Promise.all(keys.map(importKey));
      if (forgotten !== before) return;
      known = new Map(read.filter((entry) => entry !== undefined));
      readAt = performance.now();
    } catch (error) {
      throw new NetworkError(false, error);
    }
  }

  return {
    find(kid) {
      const key = known.get(kid);
      if (key !== undefined) return key;
      if (reading === undefined && performance.now() - readAt < pauseMs) return undefined;
      reading ??= read();
      const own = reading;
      const end = () => {
        if (reading === own) reading = undefined;
      };
      own.then(end, end);
      return own.then(() => known.get(kid));
    },
    forget() {
      forgotten += 1;
      known = new Map();
      readAt = Number.NEGATIVE_INFINITY;
      reading = undefined;
    },
  };
}
