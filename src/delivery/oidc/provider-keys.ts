import type { JWTVerifyGetKey } from 'jose';
import { Problem } from '../../lib/problem.js';
import type { Outbound } from '../outbound.js';

export interface ProviderKeysOptions {
  /** As configured: what its discovery document says must be the same. */
  readonly issuer: string;
  readonly outbound: Outbound;
  /** Milliseconds from one reading of the keys to the next for a key that is not among them; 30,000. */
  readonly cooldown?: number;
  /** Milliseconds after which keys and discovery document are read anew; ten minutes. */
  readonly maxAge?: number;
}

/** The signing keys of one OpenID provider. */
export interface ProviderKeys {
  /**
   * What finds the key of a token. A token that names a key which is not known has the keys read anew, at most once in each
   * cool-down, however many such tokens come.
   * @throws Problem `authenticator_unavailable`
   */
  current(): Promise<JWTVerifyGetKey>;
}

/** Milliseconds for each of the two documents: both together are well within a request's time. */
const patience = 5000;

export function createProviderKeys(options: ProviderKeysOptions): ProviderKeys {
  const { issuer, outbound, cooldown = 30_000, maxAge = 600_000 } = options;
  let known: { readonly address: string; readonly keys: JWTVerifyGetKey; readonly until: number } | undefined;
  let reading: Promise<JWTVerifyGetKey> | undefined;

  async function read(url: string): Promise<string> {
    try {
      const headers = { accept: 'application/json' };
      const { status, body } = await outbound.request({ url, method: 'GET', headers, totalTimeoutMs: patience });
      if (status !== 200) throw new Error(`${new URL(url).hostname} answered ${status}`);
      return body.toString();
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  /** The keys are where the issuer's own document says, and nowhere that a token says. */
  async function discover(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    // OpenID Connect Discovery 1.0, 4: a slash at the end is left out first.
    const document = parse(await read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
    if (document.issuer !== issuer) throw unavailable(new Error(`the discovery document of ${issuer} is of another`));
    const address = document.jwks_uri;
    if (typeof address !== 'string' || !URL.canParse(address)) {
      throw unavailable(new Error(`the discovery document of ${issuer} names no keys`));
    }
    const keys =
      known?.address === address
        ? known.keys
        : createRemoteJWKSet(new URL(address), {
            ...{ cooldownDuration: cooldown, cacheMaxAge: maxAge, timeoutDuration: 2 * patience },
            [customFetch]: async (url: string) => new Response(JSON.stringify(parse(await read(url)))),
          });
    known = { address, keys, until: performance.now() + maxAge };
    return keys;
  }

  return {
    async current() {
      if (known !== undefined && performance.now() < known.until) return known.keys;
      reading ??= discover().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}

/** @throws Problem `authenticator_unavailable` */
function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Told below: what the parser says may repeat what it read.
  }
  throw unavailable(new Error('the provider answered with what is no JSON object'));
}

/** A provider that does not do its part. The cause goes to the log. */
export const unavailable = (cause: unknown): Problem =>
  new Problem('authenticator_unavailable', { retryAfter: 5, cause });
