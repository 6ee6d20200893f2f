import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { parseId } from '../../lib/ids.js';

/** One visit of a browser at the provider. `state` contains it, encrypted. */
export interface Visit {
  /** 192 random bits. */
  readonly seed: string;
  /** The digest of the browser's cookie. */
  readonly browser: string;
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
export const areEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
export const secretText = (): string => randomBytes(24).toString('base64url');

/** The nonce and the PKCE verifier of a visit. */
export const secretsOf = ({ seed }: Visit): { readonly nonce: string; readonly codeVerifier: string } => ({
  nonce: digestOf(`nonce ${seed}`).slice(0, 32),
  codeVerifier: digestOf(`verifier ${seed}`),
});

/** What encrypts the state of logins by redirect. */
export interface RedirectSecrets {
  /** Encrypts a value for the row of a login. */
  encrypt(value: unknown, id: string): string;
  /** Undefined: the value is of another login, or encrypted with other keys. */
  decrypt<T>(text: string, id: string): T | undefined;
  /** A text that finds its login and its visit. Nobody else can make or read it. */
  stateOf(visit: Visit, id: string): string;
  /** The visit of a `state`, and the id of its login. Undefined: this service did not make the text. */
  visitOf(state: string): { readonly id: string; readonly visit: Visit } | undefined;
}

/** Creates what encrypts the state of logins by redirect. */
export function createRedirectSecrets(keys: SecretKeys): RedirectSecrets {
  return {
    encrypt: (value, id) => keys.encrypt(JSON.stringify(value), `redirect ${id}`).toString('base64'),
    decrypt(text, id) {
      const plain = keys.decrypt(Buffer.from(text, 'base64'), `redirect ${id}`);
      return plain === undefined ? undefined : JSON.parse(plain);
    },
    stateOf: ({ seed, browser }, id) =>
      id.replaceAll('-', '') + keys.encrypt(`${seed} ${browser}`, `visit ${id}`).toString('base64url'),
    visitOf(state) {
      const id = idOf(state);
      if (id === undefined) return undefined;
      const plain = keys.decrypt(Buffer.from(state.slice(32), 'base64url'), `visit ${id}`);
      const [seed, browser] = plain?.split(' ') ?? [];
      return seed === undefined || browser === undefined ? undefined : { id, visit: { seed, browser } };
    },
  };
}

/** The id of a login in a `state`: its first 32 characters are the hexadecimal digits of the id. */
function idOf(state: string): string | undefined {
  const digits = /^([0-9a-f]{32})[\w-]{100,300}$/.exec(state)?.[1];
  return digits === undefined ? undefined : parseId(digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}
