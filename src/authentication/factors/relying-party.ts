import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { idFromBytes, idToBytes } from '../../lib/ids.js';

/**
 * What Postern is in the words of WebAuthn: options for browsers, and the checks of what they answer. It knows the
 * protocol and no rows: counters and owners are for `passkeys.ts`.
 */
export interface RelyingParty {
  /** Request options in their JSON form. Without `allowed`, the browser offers whatever passkeys it has for us. */
  requestOptions(challenge: string, verification: UserVerification, allowed?: readonly Descriptor[]): RequestOptions;
  /** Creation options in their JSON form. */
  creationOptions(challenge: string, user: PasskeyOwner, existing: readonly Descriptor[]): Promise<object>;
  /** Checks type, challenge, origin, relying party, presence, verification where required. Undefined: it is not good. */
  readRegistration(response: unknown, challenge: string): Promise<RegisteredCredential | undefined>;
  /** The same, and the signature by the credential's key. Undefined: it is not good. */
  readAssertion(
    assertion: Assertion,
    challenge: string,
    publicKey: Buffer,
    verification: UserVerification,
  ): Promise<CheckedAssertion | undefined>;
  /** How the owner is to be verified where nothing else is said. */
  readonly userVerification: UserVerification;
}

export type UserVerification = 'preferred' | 'required';

export interface RelyingPartyOptions {
  /** The domain that passkeys are for, such as `example.com`. */
  readonly id: string;
  /** What dialogs call the service. */
  readonly name: string;
  /** Where assertions may come from; asked when needed, since the port may be known only once the service listens. */
  readonly origins: () => readonly string[];
  readonly userVerification: UserVerification;
}

export interface RequestOptions extends Readonly<Record<string, unknown>> {
  readonly challenge: string;
  readonly rpId: string;
}

/** A credential as options name it. */
export interface Descriptor {
  readonly credentialId: Buffer;
  readonly transports: readonly string[];
}

export interface PasskeyOwner {
  readonly userId: string;
  /** What the owner knows the account by. */
  readonly name: string;
  readonly displayName: string;
}

export interface RegisteredCredential {
  readonly credentialId: Buffer;
  /** COSE. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
}

/** An assertion whose form was checked, and nothing else. */
export interface Assertion {
  readonly credentialId: Buffer;
  /** The user handle, where the authenticator gives one. */
  readonly userId: string | undefined;
  readonly response: AuthenticationResponseJSON;
}

export interface CheckedAssertion {
  readonly counter: number;
  readonly userVerified: boolean;
  readonly backedUp: boolean;
}

/** Milliseconds that a browser gives the owner, and the seconds that an answer is accepted for. */
const timeout = 300_000;
export const passkeyLifetime = timeout / 1000;

/** EdDSA, ES256, RS256 (COSE): what authenticators have, and what every Node.js that we run on can verify. */
const algorithms = [-8, -7, -257];
const maxCredentialId = 1023;

/** 256 random bits in base64url. */
export const newPasskeyChallenge = () => randomBytes(32).toString('base64url');

/** Loaded when first needed: most installations never do, and it is some megabytes. */
const library = () => import('@simplewebauthn/server');

export function createRelyingParty({ id, name, origins, userVerification }: RelyingPartyOptions): RelyingParty {
  const expected = (challenge: string) => ({
    expectedChallenge: challenge,
    expectedOrigin: [...origins()],
    expectedRPID: id,
  });
  return {
    userVerification,
    requestOptions: (challenge, verification, allowed = []) => ({
      ...{ challenge, rpId: id, timeout, userVerification: verification, allowCredentials: allowed.map(toDescriptor) },
    }),
    async creationOptions(challenge, user, existing) {
      const { generateRegistrationOptions } = await library();
      return generateRegistrationOptions({
        ...{ rpID: id, rpName: name, timeout, attestationType: 'none', supportedAlgorithmIDs: algorithms },
        challenge: Buffer.from(challenge, 'base64url'),
        userID: new Uint8Array(idToBytes(user.userId)),
        ...{ userName: user.name, userDisplayName: user.displayName },
        excludeCredentials: existing.map(toDescriptor),
        authenticatorSelection: { residentKey: 'required', userVerification },
      });
    },
    async readRegistration(given, challenge) {
      const response = given as RegistrationResponseJSON;
      const { verifyRegistrationResponse } = await library();
      const requireUserVerification = userVerification === 'required';
      const rules = { ...expected(challenge), requireUserVerification, supportedAlgorithmIDs: algorithms };
      const checked = await orUndefined(async () => {
        refuseFrames(response.response.clientDataJSON);
        return verifyRegistrationResponse({ response: await withoutStatement(response), ...rules });
      });
      if (checked?.verified !== true) return undefined;
      const { credential, credentialBackedUp } = checked.registrationInfo;
      const credentialId = Buffer.from(credential.id, 'base64url');
      if (credentialId.length > maxCredentialId) return undefined;
      const transports = knownTransports(credential.transports);
      const publicKey = Buffer.from(credential.publicKey);
      return { credentialId, publicKey, counter: credential.counter, transports, backedUp: credentialBackedUp };
    },
    async readAssertion({ response }, challenge, publicKey, verification) {
      const { verifyAuthenticationResponse } = await library();
      // The counter is compared by the statement that raises it: only there can of two uses one win.
      const credential = { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 };
      const requireUserVerification = verification === 'required';
      const checked = await orUndefined(() => {
        refuseFrames(response.response.clientDataJSON);
        return verifyAuthenticationResponse({ response, ...expected(challenge), credential, requireUserVerification });
      });
      if (checked?.verified !== true) return undefined;
      const { newCounter, userVerified, credentialBackedUp } = checked.authenticationInfo;
      return { counter: newCounter, userVerified, backedUp: credentialBackedUp };
    },
  };
}

/** The library throws for whatever is wrong with an answer; of what clients send, all of that is one refusal. */
async function orUndefined<T>(check: () => Promise<T>): Promise<T | undefined> {
  try {
    return await check();
  } catch {
    return undefined;
  }
}

/**
 * The same registration, attested to by nobody. Who made the authenticator is not asked, and a statement must not even be
 * looked at: the library fetches what the certificates in it name, and those are the client's own.
 */
async function withoutStatement(given: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(given.response.attestationObject)).get('authData');
  const bare = new Map<string, Parameters<typeof isoCBOR.encode>[0]>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(bare));
  return { ...given, response: { ...given.response, attestationObject } };
}

/** A page that shows ours in a frame must not get its visitors to sign (WebAuthn Level 3, section 7.2, step 14). */
function refuseFrames(clientDataJSON: string): void {
  const { crossOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { crossOrigin?: unknown };
  if (crossOrigin !== undefined && crossOrigin !== false) throw new Error('it was made in a frame');
}

/** The text of an AuthenticationResponseJSON. Undefined: it is none. */
export function parseAssertion(text: string): Assertion | undefined {
  const given = parseObject(text);
  const response = given?.response as Partial<Record<string, unknown>> | undefined | null;
  if (typeof given?.id !== 'string' || typeof response !== 'object' || response === null) return undefined;
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  if (![clientDataJSON, authenticatorData, signature].every((part) => typeof part === 'string')) return undefined;
  const handle = typeof userHandle === 'string' ? Buffer.from(userHandle, 'base64url') : undefined;
  // A handle that is none of ours names nobody, which is not the same as no handle.
  if (handle !== undefined && handle.length !== 16) return undefined;
  return {
    credentialId: Buffer.from(given.id, 'base64url'),
    userId: handle === undefined ? undefined : idFromBytes(handle),
    // Whatever else is in it, the library looks at before it uses it.
    response: given as unknown as AuthenticationResponseJSON,
  };
}

function parseObject(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const transportNames = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
type Transport = (typeof transportNames)[number];

/** Hints for browsers, from the client: kept only as far as they are known. */
function knownTransports(given: unknown): Transport[] {
  return Array.isArray(given) ? transportNames.filter((name) => given.includes(name)) : [];
}

function toDescriptor({ credentialId, transports }: Descriptor) {
  return {
    id: credentialId.toString('base64url'),
    type: 'public-key',
    transports: knownTransports(transports),
  } as const;
}
