import { createConcurrencyLimiter } from '../../lib/concurrency-limiter.js';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import { Problem } from '../../lib/problem.js';
import { parseUrl } from '../../lib/urls.js';
import type { IdentityProvider, ProviderAccount } from '../../login/providers/provider.js';
import type { Outbound } from '../outbound.js';
import { createDiscovery, type DiscoveryOptions } from './discovery.js';
import { createIdTokenReader, type IdTokenClaims } from './id-tokens.js';
import { type ClientOptions, createOAuthClient, type OAuthClient, type OAuthEndpoints } from './oauth-client.js';
import { RedirectFailure } from './redirect-failure.js';

export interface ProviderOptions extends Pick<DiscoveryOptions, 'issuer' | 'cooldownMs'> {
  readonly name: string;
  readonly title: string;
  /** The vendor whose rules for mail addresses hold. Undefined: the provider runs no mailboxes. */
  readonly mailboxesOf: 'google' | 'apple' | 'microsoft' | undefined;
  /** Whether each tenant has an issuer of its own. */
  readonly hasTenants: boolean;
  readonly tenants: readonly string[] | undefined;
  readonly clientIds: readonly string[];
  readonly algorithms: readonly string[];
  /** What the id_token must say about the login at the provider. */
  readonly acrValues?: readonly string[] | undefined;
  readonly maxAge?: number | undefined;
  readonly signUp: boolean;
  /** The endpoints of a provider without id_tokens, and where its answer has the members of the account. */
  readonly endpoints: OAuthEndpoints | undefined;
  readonly map: { readonly subject: string; readonly email?: string | undefined; readonly name?: string | undefined };
  /** Undefined: no redirects. */
  readonly client: Omit<ClientOptions, 'outbound' | 'metadata' | 'acrValues' | 'maxAge'> | undefined;
  readonly outbound: Outbound;
  /** The most milliseconds that an exchange takes, with all its requests to the provider. The default is 10,000. */
  readonly exchangeMs?: number;
}

/** The exchanges that a process makes with one provider at a time. Others wait, at most as long as one may take. */
const exchanges = { concurrency: 32, maxWaiting: 1000, timeoutMs: 10_000 };

/** Creates a provider whose accounts can log in. */
export function createIdentityProvider(options: ProviderOptions): IdentityProvider {
  const { name, title, issuer, clientIds, signUp, endpoints, client, outbound, hasTenants, acrValues, maxAge } =
    options;
  const tenantIssuer = isTemplate(options) ? tenantIssuerOf(options) : undefined;
  const common = { name, title, issuer, clientIds, signUp, hasIssuer: issuersOf(options), tenantIssuer };
  const redirectWith = (metadata: ClientOptions['metadata'], exchange: ExchangeWith): IdentityProvider['redirect'] => {
    if (client === undefined) return undefined;
    const oauth = createOAuthClient({ ...client, acrValues, maxAge, outbound, metadata });
    return {
      redirectUri: client.redirectUri,
      authorizationUrl: (request) => oauth.authorizationUrl(request).catch(fail),
      exchange: limited(options, (answer, expected) => exchange(oauth, answer, expected)),
    };
  };
  if (endpoints !== undefined) {
    const { authorization, token, userinfo } = endpoints;
    const metadata = { issuer, authorization_endpoint: authorization, token_endpoint: token };
    const redirect = redirectWith(
      async () => metadata,
      async (oauth, answer, expected) => {
        const { accessToken } = await oauth.exchange(answer, expected);
        return accountOfUserinfo(options, await oauth.userinfo(userinfo, accessToken));
      },
    );
    return { ...common, authenticator: `oauth:${name}`, accountOf: undefined, redirect };
  }
  const discovery = createDiscovery({ ...options, hasTenants });
  const readIdToken = createIdTokenReader({ ...options, discovery });
  const redirect = redirectWith(
    async () => (await discovery.current()).document,
    async (oauth, answer, expected) => {
      const { idToken } = await oauth.exchange(answer, expected);
      if (idToken === undefined) {
        throw new RedirectFailure('token_invalid', new Error('the provider sent no id_token'));
      }
      const account = accountOfClaims(options, await readIdToken(idToken, expected));
      return { ...account, name: account.name ?? postedName(answer) };
    },
  );
  return {
    ...common,
    authenticator: `oidc:${name}`,
    async accountOf(token, expected) {
      try {
        return accountOfClaims(options, await readIdToken(token, expected));
      } catch (error) {
        // Anybody can send such a token, so it says nothing about the provider.
        if (error instanceof RedirectFailure) return undefined;
        throw error;
      }
    },
    redirect,
  };
}

type Exchange = NonNullable<IdentityProvider['redirect']>['exchange'];
type Expected = Parameters<Exchange>[1];
type ExchangeWith = (oauth: OAuthClient, answer: URLSearchParams, expected: Expected) => Promise<ProviderAccount>;

/** Limits the number of parallel exchanges and their time, and converts each failure to an error for the app. */
function limited(
  { issuer, exchangeMs = 10_000 }: ProviderOptions,
  exchange: (answer: URLSearchParams, expected: Expected) => Promise<ProviderAccount>,
): Exchange {
  const inTurn = createConcurrencyLimiter(exchanges);
  return async (answer, expected) => {
    try {
      return await new Promise((resolve, reject) => {
        // Each request has its own limit. A provider that answers each of them late must not keep the browser longer.
        const run = () => {
          const late = new RedirectFailure('provider_unreachable', new Error(`${issuer} did not answer in time`));
          const timer = setTimeout(reject, exchangeMs, late);
          return exchange(answer, expected).finally(() => clearTimeout(timer));
        };
        inTurn(run).then(resolve, reject);
      });
    } catch (error) {
      return failureOf(error);
    }
  };
}

/** The issuers of a provider's accounts. */
function issuersOf({ issuer, hasTenants, tenants }: ProviderOptions): IdentityProvider['hasIssuer'] {
  return (other) =>
    other === issuer ||
    (hasTenants &&
      parseUrl(other)?.origin === new URL(issuer).origin &&
      (tenants === undefined || tenants.some((tenant) => other.split('/').includes(tenant))));
}

/** Whether the issuer is an address of Entra for the accounts of many tenants, so that it is the `iss` of no token. */
const isTemplate = ({ issuer, hasTenants }: Pick<ProviderOptions, 'issuer' | 'hasTenants'>) =>
  hasTenants && anyTenant.test(issuer);
const anyTenant = /\/(?:common|organizations|consumers)(?=\/)/;

/** The issuer of a tenant, in the form of the configured one. */
function tenantIssuerOf({ issuer, tenants }: ProviderOptions): IdentityProvider['tenantIssuer'] {
  return (tenant) =>
    tenants === undefined || tenants.includes(tenant) ? issuer.replace(anyTenant, `/${tenant}`) : undefined;
}

function fail(error: unknown): never {
  throw failureOf(error);
}

/** Turns an error of the exchange with a provider into a `RedirectFailure`. */
function failureOf(error: unknown): RedirectFailure {
  if (error instanceof RedirectFailure) return error;
  // `overloaded`, or `authenticator_unavailable` because of what the discovery found.
  if (error instanceof Problem) {
    const { cause } = error.options;
    return cause instanceof RedirectFailure ? cause : new RedirectFailure('provider_unreachable', error);
  }
  return new RedirectFailure('provider_error', error);
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** The account of an id_token. */
function accountOfClaims(
  { name: provider, mailboxesOf }: Pick<ProviderOptions, 'name' | 'mailboxesOf'>,
  claims: IdTokenClaims,
): ProviderAccount {
  const email = textOf(claims.email);
  return {
    provider,
    issuer: claims.iss,
    subject: claims.sub,
    email,
    runsMailbox: email !== undefined && mailboxesOf !== undefined && runsMailbox[mailboxesOf](claims, email),
    name: textOf(claims.name),
  };
}

/**
 * Whether a vendor's word for an address is as good as a code in its mailbox: the vendor runs the mailbox, or manages the
 * domain. Any other address may have changed its owner since the vendor checked it.
 */
const runsMailbox = {
  google: ({ email_verified, hd }: JsonObject, email: string) =>
    email_verified === true && (/@gmail\.com$/i.test(email) || textOf(hd) !== undefined),
  // Apple sends it as a text, too.
  apple: ({ email_verified }: JsonObject) => email_verified === true || email_verified === 'true',
  // Entra lets administrators set any address; `xms_edov` says that the tenant owns its domain.
  microsoft: ({ email_verified, xms_edov }: JsonObject) =>
    email_verified !== false && (xms_edov === true || xms_edov === 1 || xms_edov === 'true' || xms_edov === '1'),
};

/** The account in the answer of a userinfo endpoint. @throws RedirectFailure without a subject */
function accountOfUserinfo({ name: provider, issuer, map }: ProviderOptions, answer: JsonObject): ProviderAccount {
  const subject = memberOf(answer, map.subject);
  const text = typeof subject === 'number' && Number.isSafeInteger(subject) ? String(subject) : textOf(subject);
  if (text === undefined || !/^[\x20-\x7e]{1,255}$/.test(text)) {
    throw new RedirectFailure(
      'account_unreadable',
      new Error(`the answer of the userinfo endpoint has no ${map.subject}`),
    );
  }
  const read = (path: string | undefined) => (path === undefined ? undefined : textOf(memberOf(answer, path)));
  return { provider, issuer, subject: text, email: read(map.email), runsMailbox: false, name: read(map.name) };
}

const memberOf = (value: JsonObject, path: string): unknown =>
  path.split('.').reduce<unknown>((member, key) => (isJsonObject(member) ? member[key] : undefined), value);

/** The name that Apple posts with its first answer for an account, and never again. */
function postedName(answer: URLSearchParams): string | undefined {
  const user = parseJsonObject(answer.get('user') ?? '');
  const name = isJsonObject(user?.name) ? user.name : {};
  return textOf([name.firstName, name.lastName].flatMap((part) => textOf(part) ?? []).join(' '));
}
