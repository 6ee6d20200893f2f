import type { authenticationMethods } from '../contract/session.js';

/**
 * How a login was made and proven since, by the names of RFC 8176 where it has one (`amr`), in the order of the first use.
 *
 * | Name | Means |
 * |---|---|
 * | `pwd` | a password |
 * | `sms`, `email` | a code to a phone number or a mail address |
 * | `otp` | a code of an authenticator app, or a recovery code |
 * | `hwk` | a passkey |
 * | `user` | a passkey that has verified its user, such as by a fingerprint |
 * | `fed` | an account at a provider, or a service of the operator |
 * | `mfa` | two factors |
 */
type AuthenticationMethod = (typeof authenticationMethods)[number];

/** A proof that adds to the methods of a login: the type of the proof; a code says where it went. */
export type MethodOfProof = 'password' | 'sms' | 'email' | 'totp' | 'passkey' | 'provider' | 'pin';

const methodsOfName: Readonly<Record<string, readonly AuthenticationMethod[]>> = {
  password: ['pwd'],
  sms: ['sms'],
  email: ['email'],
  totp: ['otp'],
  recovery_code: ['otp'],
  provider: ['fed'],
  // A PIN is never a factor of its own, and a guest has proven nothing.
  pin: [],
  guest: [],
  // An operator has logged in as the user, who has proven nothing.
  support: [],
};

/**
 * The start of the entry in `proven_by` of a login of an app that came from the login of the pages: it names the authenticator of that
 * login, and the proofs of that login follow. The approval writes it.
 */
const pageLoginMethod = 'login:';

/** What `amr` is computed from: columns of the login. */
export interface LoginMethods {
  readonly authenticator: string;
  /** How the second secret of the login was proven. `passkey` after `passkey`: the passkey has verified its user. */
  readonly second_factor: string | null;
  readonly proven_by: readonly string[];
}

/** The authentication methods of a login. */
export function amrOf({
  authenticator: own,
  second_factor: second,
  proven_by: proofs,
}: LoginMethods): AuthenticationMethod[] {
  const ofPage = own === 'page' ? proofs.find((name) => name.startsWith(pageLoginMethod)) : undefined;
  const authenticator = ofPage?.slice(pageLoginMethod.length) ?? own;
  const verifiedByPasskey = (authenticator === 'passkey' && second === 'passkey') || proofs.includes('passkey');
  const first = authenticator === 'passkey' ? (['hwk'] as const) : (methodsOfName[authenticator] ?? (['fed'] as const));
  const methods = new Set<AuthenticationMethod>(first);
  for (const name of [...(second === null ? [] : [second]), ...proofs]) {
    for (const method of name === 'passkey' ? (['hwk'] as const) : (methodsOfName[name] ?? [])) methods.add(method);
  }
  if (verifiedByPasskey) methods.add('user');
  if (second !== null || hasTwoFactors(methods)) methods.add('mfa');
  return [...methods];
}

/** Codes by SMS and by mail are one kind of factor, so two of them are not two factors. */
function hasTwoFactors(methods: ReadonlySet<AuthenticationMethod>): boolean {
  const kinds = [['pwd'], ['sms', 'email'], ['otp', 'hwk'], ['fed']] as const;
  return methods.has('user') || kinds.filter((kind) => kind.some((method) => methods.has(method))).length > 1;
}
