import type { ProviderProblemCode } from '../../contract/login-provider/problems.js';

/** A provider whose accounts can log in: an OpenID provider, or one that speaks OAuth 2.0 only. `delivery/oidc` implements it. */
export interface IdentityProvider {
  /** The name in the configuration, such as `google`. */
  readonly name: string;
  /** The name of its logins: `oidc:` and the name, or `oauth:` for a provider without id_tokens. `page`: the pages of this service. */
  readonly authenticator: `oidc:${string}` | `oauth:${string}` | 'page';
  /** The name for people. */
  readonly title: string;
  /** The value of `iss` of its id_tokens, or the origin of a provider without them. */
  readonly issuer: string;
  /** Whether its accounts have this issuer. For a provider with tenants, each tenant has its own. */
  readonly hasIssuer: (issuer: string) => boolean;
  /**
   * The issuer of the accounts of a tenant; undefined if the tenant is not accepted. Absent: all accounts of the provider have one
   * issuer.
   */
  readonly tenantIssuer?: ((tenant: string) => string | undefined) | undefined;
  readonly clientIds: readonly string[];
  /** Whether an account that is linked to nobody makes a user. */
  readonly signUp: boolean;
  /**
   * Checks an id_token by OpenID Connect Core 1.0, 3.1.3.7. Undefined: the provider issues none.
   * @returns its account; undefined for an invalid token
   * @throws Problem `authenticator_unavailable` if the provider's keys cannot be fetched
   */
  readonly accountOf: ((token: string, expected: ExpectedToken) => Promise<ProviderAccount | undefined>) | undefined;
  /** Undefined: this installation has no client at the provider, so a login there cannot be begun by redirect. */
  readonly redirect: ProviderRedirect | undefined;
}

/** Sends browsers to a provider, and asks the provider who came back. */
export interface ProviderRedirect {
  /** The address of this service to which the provider sends browsers back. */
  readonly redirectUri: string;
  /** @throws FailedExchange if the provider cannot be asked where its pages are */
  authorizationUrl(request: {
    readonly state: string;
    readonly nonce: string;
    readonly codeVerifier: string;
    readonly loginHint: string | undefined;
    /** Whether the person has to log in there again. */
    readonly isFresh?: boolean;
  }): Promise<string>;
  /**
   * Exchanges the provider's answer for its account. The provider's tokens are dropped.
   * @param answer the parameters that the browser brought back
   */
  exchange(
    answer: URLSearchParams,
    expected: ExpectedToken & { readonly state: string; readonly codeVerifier: string },
  ): Promise<ProviderAccount | FailedExchange>;
}

/** Why a redirect to a provider did not end in a login. The app gets it as `error`. */
export type RedirectError = 'access_denied' | 'provider_unavailable' | 'expired' | 'failed';

/** A login at a provider that failed there. */
export interface FailedExchange {
  readonly error: Exclude<RedirectError, 'expired'>;
  readonly problem: ProviderProblemCode;
  /** What operators may see of the cause. Never a secret. */
  readonly detail: string | undefined;
  /** For the log. */
  readonly cause: unknown;
}

/** What a provider says about an account that has proven itself there. */
export interface ProviderAccount {
  /** The name of the provider in the configuration. */
  readonly provider: string;
  readonly issuer: string;
  /** The provider's id of the account: `sub`, never reassigned (OpenID Connect Core 1.0, section 2). */
  readonly subject: string;
  /** The mail address, as the provider writes it. */
  readonly email: string | undefined;
  /** Whether the provider runs the mailbox of this address, so that its word is as good as a code in that mailbox. */
  readonly runsMailbox: boolean;
  readonly name: string | undefined;
}

export interface ExpectedToken {
  readonly nonce: string;
  /** The time by the database's clock. */
  readonly now: Date;
  /** The person must have logged in at the provider since then. */
  readonly since?: Date | undefined;
}
