import type { createRemoteJWKSet, JWTVerifyGetKey } from 'jose';
import { type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import { Problem } from '../../lib/problem.js';
import { parseUrl } from '../../lib/urls.js';
import type { Outbound } from '../outbound.js';
import { RedirectFailure } from './redirect-failure.js';

export interface DiscoveryOptions {
  /**
   * The issuer from the configuration. The discovery document must name the same issuer (OpenID Connect Discovery 1.0,
   * 4.3).
   */
  readonly issuer: string;
  /**
   * Whether the document may name a template on the same origin, such as `https://login.example.com/{tenantid}/v2.0`: the
   * tokens of each tenant have an issuer of their own.
   */
  readonly hasTenants?: boolean;
  readonly outbound: Outbound;
  /**
   * The minimum time in milliseconds between two fetches of the keys because of unknown key ids. The default is 30,000.
   */
  readonly cooldownMs?: number;
}

/** What an OpenID provider says about itself. */
export interface Discovered {
  /** The discovery document (OpenID Connect Discovery 1.0, 3). */
  readonly document: JsonObject;
  /** The issuer of its tokens, or a template with `{tenantid}`. */
  readonly issuer: string;
  /**
   * Finds the key of a token in the provider's JWK Set (RFC 7517). An unknown key id fetches the keys again (OpenID Connect
   * Core 1.0, 10.1.1), at most once in each cool-down, however many such tokens arrive.
   */
  readonly keyOf: JWTVerifyGetKey;
  /**
   * The issuer for whose tokens a key may be used, if the JWK Set says so. Microsoft's keys have one, so that a key of one
   * tenant or of personal accounts cannot sign tokens of other tenants.
   */
  issuerOfKey(keyId: string | undefined): string | undefined;
}

/** The discovery document and the keys of one OpenID provider. */
export interface Discovery {
  /** @throws Problem `authenticator_unavailable` */
  current(): Promise<Discovered>;
}

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** The limit for each of the two documents. Both together must fit into the time of a request. */
const timeoutMs = 5000;
/** Milliseconds after which the keys and the discovery document are fetched again. */
const maxAgeMs = 600_000;

/** Creates a cache of what a provider says about itself. It fetches nothing until the first call of `current`. */
export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { issuer, hasTenants = false, outbound, cooldownMs = 30_000 } = options;
  let cached: (Discovered & { readonly address: string; readonly keySet: KeySet; readonly until: number }) | undefined;
  let running: Promise<Discovered> | undefined;

  async function fetchText(url: string): Promise<string> {
    try {
      const headers = { accept: 'application/json' };
      const { status, body } = await outbound.request({ url, method: 'GET', headers, totalTimeoutMs: timeoutMs });
      if (status !== 200) throw new Error(`${new URL(url).hostname} answered ${status}`);
      return body.toString();
    } catch (cause) {
      throw unavailable(new RedirectFailure('provider_unreachable', cause));
    }
  }

  const isIssuer = (named: unknown): named is string =>
    named === issuer ||
    (hasTenants &&
      typeof named === 'string' &&
      parseUrl(named)?.origin === new URL(issuer).origin &&
      named.includes(tenantId));

  /** Takes the URL of the keys from the issuer's discovery document, never from a token. */
  async function discover(): Promise<Discovered> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    // OpenID Connect Discovery 1.0, 4.1: a trailing slash is removed first.
    const document = parse(await fetchText(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
    if (!isIssuer(document.issuer)) {
      throw invalidMetadata(`the discovery document of ${issuer} names another issuer`);
    }
    const address = document.jwks_uri;
    const url = typeof address === 'string' ? parseUrl(address) : undefined;
    if (typeof address !== 'string' || url === undefined) {
      throw invalidMetadata(`the discovery document of ${issuer} has no valid jwks_uri`);
    }
    const keySet =
      cached?.address === address
        ? cached.keySet
        : createRemoteJWKSet(url, {
            cooldownDuration: cooldownMs,
            cacheMaxAge: maxAgeMs,
            // `fetchText` ends first, with the better error.
            timeoutDuration: 2 * timeoutMs,
            [customFetch]: async (url: string) => new Response(JSON.stringify(parse(await fetchText(url)))),
          });
    cached = {
      address,
      document,
      issuer: document.issuer,
      keySet,
      keyOf: keySet,
      until: performance.now() + maxAgeMs,
      issuerOfKey(keyId) {
        const key: JsonObject = { ...keySet.jwks()?.keys.find(({ kid }) => kid === keyId) };
        return typeof key.issuer === 'string' ? key.issuer : undefined;
      },
    };
    return cached;
  }

  return {
    async current() {
      if (cached !== undefined && performance.now() < cached.until) return cached;
      running ??= discover().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** The placeholder for the id of a tenant in the issuer of a provider's document. */
const tenantId = '{tenantid}';

/**
 * The issuer of the tokens of a tenant, by the issuer of a provider's document. Undefined: the document names a template, and
 * this is no id of a tenant.
 */
export function issuerFor(issuer: string, tenant: unknown): string | undefined {
  if (!issuer.includes(tenantId)) return issuer;
  return typeof tenant === 'string' && /^[\w-]{1,64}$/.test(tenant) ? issuer.replace(tenantId, tenant) : undefined;
}

/** Whether `template` has the placeholder of a tenant, and `issuer` is the same text with the id of a tenant. */
export function isIssuerOfTenant(template: string, issuer: string): boolean {
  const [start = '', ...rest] = template.split(tenantId);
  const end = issuer.length - rest.join(tenantId).length;
  return rest.length > 0 && issuer === issuerFor(template, issuer.slice(start.length, end));
}

/** @throws Problem `authenticator_unavailable` */
function parse(text: string): JsonObject {
  const value = parseJsonObject(text);
  if (value === undefined) throw invalidMetadata('the provider did not answer with a JSON object');
  return value;
}

const invalidMetadata = (text: string): Problem =>
  unavailable(new RedirectFailure('metadata_invalid', new Error(text)));

/** The error of a provider that fails. The cause goes to the log. */
export const unavailable = (cause: unknown): Problem =>
  new Problem('authenticator_unavailable', { retryAfter: 5, cause });
