import { createPrivateKey } from 'node:crypto';
import type { ProviderProblemCode } from '../../contract/login-provider/problems.js';
import { type JsonObject, parseJsonObject } from '../../lib/json-object.js';
import { parseUrl } from '../../lib/urls.js';
import type { ProviderRedirect } from '../../login/providers/provider.js';
import type { Outbound } from '../outbound.js';
import { OutboundError } from '../outbound-guard.js';
import { isIssuerOfTenant } from './discovery.js';
import { RedirectFailure } from './redirect-failure.js';

/** The endpoints of a provider that speaks OAuth 2.0 without id_tokens. */
export interface OAuthEndpoints {
  readonly authorization: string;
  readonly token: string;
  readonly userinfo: string;
}

export interface ClientOptions {
  readonly clientId: string;
  /** How the client proves itself: by a secret, by a short one that Apple's key signs, or not at all (PKCE alone). */
  readonly secret: string | AppleKey | undefined;
  readonly scopes: string;
  /** The authentication context class references to ask for (OpenID Connect Core 1.0, 3.1.2.1). Undefined: any. */
  readonly acrValues: readonly string[] | undefined;
  /** The most seconds since the person has logged in at the provider. Undefined: any. */
  readonly maxAge: number | undefined;
  /** Whether to use PKCE. A few providers refuse it. */
  readonly pkce: boolean;
  /** The address of this service to which the provider sends browsers back. */
  readonly redirectUri: string;
  /** Whether the provider posts its answer. */
  readonly postsAnswer: boolean;
  /** The metadata of the provider (RFC 8414). @throws Problem `authenticator_unavailable` */
  readonly metadata: () => Promise<JsonObject>;
  readonly outbound: Outbound;
}

export interface AppleKey {
  readonly teamId: string;
  readonly keyId: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
}

/** What a token endpoint has answered. */
interface Tokens {
  readonly accessToken: string;
  readonly idToken: string | undefined;
}

/** The client of one provider for the authorization code flow (RFC 6749, 4.1) with PKCE (RFC 7636). */
export interface OAuthClient {
  /** @throws RedirectFailure, Problem `authenticator_unavailable` */
  authorizationUrl(request: Parameters<ProviderRedirect['authorizationUrl']>[0]): Promise<string>;
  /** @throws RedirectFailure, Problem `authenticator_unavailable` */
  exchange(
    answer: URLSearchParams,
    expected: { readonly state: string; readonly codeVerifier: string },
  ): Promise<Tokens>;
  /** Reads the account with an access token. @throws RedirectFailure */
  userinfo(url: string, accessToken: string): Promise<JsonObject>;
}

/** Milliseconds for each request to the provider. */
const timeoutMs = 10_000;
/** Seconds that a signed secret for Apple is valid. */
const appleSecretSeconds = 300;

/** Creates the client. The library checks the provider's answers; every request goes through the guard. */
export function createOAuthClient(options: ClientOptions): OAuthClient {
  const { clientId, secret, scopes, pkce, acrValues, maxAge, redirectUri, postsAnswer, metadata, outbound } = options;
  const client = { client_id: clientId };
  const guardedFetch = fetchThrough(outbound);

  async function endpoint(name: 'authorization_endpoint' | 'token_endpoint'): Promise<string> {
    const { [name]: url, issuer } = await metadata();
    if (typeof url !== 'string') {
      throw new RedirectFailure('metadata_invalid', new Error(`the provider's metadata has no ${name}`));
    }
    // A provider with https never sends a browser or a code to http.
    const { protocol } = parseUrl(url) ?? {};
    if (protocol !== 'https:' && (protocol !== 'http:' || String(issuer).startsWith('https:'))) {
      throw new RedirectFailure('metadata_invalid', new Error(`${name} of the provider's metadata is no https URL`));
    }
    return url;
  }

  async function clientAuthentication(server: JsonObject) {
    const { ClientSecretBasic, ClientSecretPost, None } = await import('oauth4webapi');
    if (secret === undefined) return None();
    if (typeof secret !== 'string') return ClientSecretPost(await signAppleSecret(secret, clientId));
    // OpenID Connect Core 1.0, 9: without a list the provider takes Basic. Providers without metadata take the body.
    const methods = server.token_endpoint_auth_methods_supported;
    const takesBody = Array.isArray(methods) ? methods.includes('client_secret_post') : server.jwks_uri === undefined;
    return takesBody ? ClientSecretPost(secret) : ClientSecretBasic(secret);
  }

  return {
    async authorizationUrl({ state, nonce, codeVerifier, loginHint, isFresh }) {
      const { calculatePKCECodeChallenge } = await import('oauth4webapi');
      const url = new URL(await endpoint('authorization_endpoint'));
      const parameters = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: scopes,
        state,
        ...(pkce && { code_challenge: await calculatePKCECodeChallenge(codeVerifier), code_challenge_method: 'S256' }),
        ...(scopes.split(' ').includes('openid') && { nonce }),
        ...(postsAnswer && { response_mode: 'form_post' }),
        ...(loginHint !== undefined && { login_hint: loginHint }),
        ...(acrValues !== undefined && { acr_values: acrValues.join(' ') }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
        ...(isFresh && { prompt: 'login', max_age: '0' }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },
    async exchange(answer, { state, codeVerifier }) {
      const oauth = await import('oauth4webapi');
      const server = await metadata();
      const authorizationServer = {
        ...server,
        issuer: expectedIssuer(server, answer.get('iss')),
        token_endpoint: await endpoint('token_endpoint'),
      };
      try {
        const parameters = oauth.validateAuthResponse(authorizationServer, client, answer, state);
        const response = await oauth.authorizationCodeGrantRequest(
          authorizationServer,
          client,
          await clientAuthentication(server),
          parameters,
          redirectUri,
          pkce ? codeVerifier : oauth.nopkce,
          // The guard decides which addresses may use http.
          { [oauth.customFetch]: guardedFetch, [oauth.allowInsecureRequests]: true },
        );
        return tokensOf(response.status, await response.text());
      } catch (error) {
        throw redirectError(
          error,
          error instanceof oauth.AuthorizationResponseError ? error.error : undefined,
          'provider_error',
        );
      }
    },
    async userinfo(url, accessToken) {
      const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' };
      try {
        const response = await guardedFetch(url, { method: 'GET', headers });
        if (response.status !== 200) throw new Error(`the userinfo endpoint answered ${response.status}`);
        const answer = parseJsonObject(await response.text());
        if (answer === undefined) throw new Error('the userinfo endpoint did not answer with a JSON object');
        return answer;
      } catch (error) {
        throw redirectError(error, undefined, 'account_unreadable');
      }
    },
  };
}

/** A `fetch` for the library whose requests go through the guard. */
const fetchThrough =
  (outbound: ClientOptions['outbound']) =>
  async (url: string, init: { method: string; headers: Record<string, string>; body?: unknown }) => {
    const { method, headers, body } = init;
    const answer = await outbound.request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { 'user-agent': 'postern', ...headers },
      ...(body !== undefined && body !== null && { body: String(body) }),
      totalTimeoutMs: timeoutMs,
    });
    return new Response([204, 205, 304].includes(answer.status) ? null : new Uint8Array(answer.body), answer);
  };

/**
 * The issuer that an answer must have if it names one (RFC 9207). The issuer of a tenant is in the place of a template. A provider without
 * metadata has given us no issuer, but may name one in the answer, as GitHub does. Its answers come to an address of their own (RFC 9207,
 * 4), so they are never taken for those of another provider.
 * @param named what the answer names
 */
function expectedIssuer({ issuer, jwks_uri }: JsonObject, named: string | null): string {
  const expected = String(issuer);
  if (named === null) return expected;
  return jwks_uri === undefined || isIssuerOfTenant(expected, named) ? named : expected;
}

/** GitHub answers errors with 200, so only the tokens show that the request succeeded. */
function tokensOf(status: number, text: string): Tokens {
  const { access_token: accessToken, id_token: idToken, error } = parseJsonObject(text) ?? {};
  if (typeof accessToken !== 'string' || accessToken === '') {
    const cause = new Error(`the token endpoint answered ${status} (${errorName(error) ?? 'no access_token'})`);
    if (status >= 500) throw new RedirectFailure('provider_unreachable', cause);
    throw new RedirectFailure(problemOf[errorName(error) ?? ''] ?? 'provider_error', cause);
  }
  return { accessToken, idToken: typeof idToken === 'string' ? idToken : undefined };
}

/** The problems that the errors of providers mean. */
const problemOf: Readonly<Record<string, ProviderProblemCode | undefined>> = {
  access_denied: 'access_denied',
  // Apple says `user_cancelled_authorize`.
  user_cancelled_authorize: 'access_denied',
  server_error: 'provider_unreachable',
  temporarily_unavailable: 'provider_unreachable',
  invalid_scope: 'scope_rejected',
  invalid_client: 'client_rejected',
  unauthorized_client: 'client_rejected',
  invalid_grant: 'code_rejected',
  // GitHub.
  incorrect_client_credentials: 'client_rejected',
  bad_verification_code: 'code_rejected',
  redirect_uri_mismatch: 'redirect_uri_rejected',
  // OpenID Connect Core Unmet Authentication Requirements 1.0.
  unmet_authentication_requirements: 'acr_missing',
};

/** The name of an error: a word of the standard, or the provider's own. */
const errorName = (error: unknown) => (typeof error === 'string' && /^[\w.-]{1,64}$/.test(error) ? error : undefined);

/**
 * @param code the error that the provider gave the browser
 * @param otherwise the problem of any other failure
 */
function redirectError(error: unknown, code: string | undefined, otherwise: ProviderProblemCode): RedirectFailure {
  if (error instanceof RedirectFailure) return error;
  if (code !== undefined) {
    // The browser brought it, so it is shown only if it looks like the name of an error.
    return new RedirectFailure(problemOf[errorName(code) ?? ''] ?? otherwise, error, errorName(code));
  }
  return new RedirectFailure(error instanceof OutboundError ? 'provider_unreachable' : otherwise, error);
}

/** Apple's client secret: a token that the app's key signs, for at most six months. This one is made for each request. */
async function signAppleSecret({ teamId, keyId, privateKey }: AppleKey, clientId: string): Promise<string> {
  const { SignJWT } = await import('jose');
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience('https://appleid.apple.com')
    .setIssuedAt()
    .setExpirationTime(`${appleSecretSeconds}s`)
    .sign(createPrivateKey(privateKey));
}
