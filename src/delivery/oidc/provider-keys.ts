import type { JWTVerifyGetKey } from 'jose';
import { type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import { Problem } from '../../lib/problem.js';
import { parseUrl } from '../../lib/urls.js';
import type { Outbound } from '../outbound.js';

export interface ProviderKeysOptions {
  /**
   * The issuer from the configuration. The discovery document must name the same issuer (OpenID Connect Discovery 1.0,
   * 4.3).
   */
  readonly issuer: string;
  readonly outbound: Outbound;
  /**
   * The minimum time in milliseconds between two fetches of the keys because of unknown key ids. The default is 30,000.
   */
  readonly cooldownMs?: number;
  /** Milliseconds after which the keys and the discovery document are fetched again. The default is ten minutes. */
  readonly maxAgeMs?: number;
}

/** The signing keys of one OpenID provider (a JWK Set, RFC 7517). */
export interface ProviderKeys {
  /**
   * Returns the function that finds the key of a token. An unknown key id fetches the keys again (OpenID Connect Core
   * 1.0, 10.1.1), at most once in each cool-down, however many such tokens arrive.
   * @throws Problem `authenticator_unavailable`
   */
  current(): Promise<JWTVerifyGetKey>;
}

/** The limit for each of the two documents. Both together must fit into the time of a request. */
const timeoutMs = 5000;

/** Creates a cache of a provider's keys. It fetches nothing until the first call of `current`. */
export function createProviderKeys(options: ProviderKeysOptions): ProviderKeys {
  const { issuer, outbound, cooldownMs = 30_000, maxAgeMs = 600_000 } = options;
  let cached: { readonly address: string; readonly keys: JWTVerifyGetKey; readonly until: number } | undefined;
  let discovery: Promise<JWTVerifyGetKey> | undefined;

  async function fetchText(url: string): Promise<string> {
    try {
      const headers = { accept: 'application/json' };
      const { status, body } = await outbound.request({ url, method: 'GET', headers, totalTimeoutMs: timeoutMs });
      if (status !== 200) throw new Error(`${new URL(url).hostname} answered ${status}`);
      return body.toString();
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  /** Takes the URL of the keys from the issuer's discovery document, never from a token. */
  async function discover(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    // OpenID Connect Discovery 1.0, 4.1: a trailing slash is removed first.
    const document = parse(await fetchText(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
    if (document.issuer !== issuer)
      throw unavailable(new Error(`the discovery document of ${issuer} names another issuer`));
    const address = document.jwks_uri;
    const url = typeof address === 'string' ? parseUrl(address) : undefined;
    if (typeof address !== 'string' || url === undefined) {
      throw unavailable(new Error(`the discovery document of ${issuer} has no valid jwks_uri`));
    }
    const keys =
      cached?.address === address
        ? cached.keys
        : createRemoteJWKSet(url, {
            cooldownDuration: cooldownMs,
            cacheMaxAge: maxAgeMs,
            timeoutDuration: 2 * timeoutMs,
            [customFetch]: async (url: string) => new Response(JSON.stringify(parse(await fetchText(url)))),
          });
    cached = { address, keys, until: performance.now() + maxAgeMs };
    return keys;
  }

  return {
    async current() {
      if (cached !== undefined && performance.now() < cached.until) return cached.keys;
      discovery ??= discover().finally(() => {
        discovery = undefined;
      });
      return discovery;
    },
  };
}

/** @throws Problem `authenticator_unavailable` */
function parse(text: string): JsonObject {
  const value = parseJsonObject(text);
  if (value === undefined) throw unavailable(new Error('the provider did not answer with a JSON object'));
  return value;
}

/** The error of a provider that fails. The cause goes to the log. */
export const unavailable = (cause: unknown): Problem =>
  new Problem('authenticator_unavailable', { retryAfter: 5, cause });
