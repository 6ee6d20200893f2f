import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { idFromBytes, idToBytes } from '../../lib/ids.js';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../lib/json-object.js';

/**
 * The relying party of WebAuthn (W3C, Level 3): creates options for browsers and checks their responses. It implements the
 * protocol only. `passkeys.ts` handles rows: owners and signature counters.
 */
export interface RelyingParty {
  /**
   * PublicKeyCredentialRequestOptionsJSON. Without `allowed`, the browser offers all its passkeys for this relying party.
   */
  requestOptions(challenge: string, verification: UserVerification, allowed?: readonly Descriptor[]): RequestOptions;
  /** PublicKeyCredentialCreationOptionsJSON. */
  creationOptions(challenge: string, user: PasskeyOwner, existing: readonly Descriptor[]): Promise<object>;
  /**
   * Checks type, challenge, origin, relying party, user presence, and user verification where required (section 7.1).
   * @returns undefined if a check fails
   */
  readRegistration(value: unknown, challenge: string): Promise<RegisteredCredential | undefined>;
  /**
   * Makes the same checks as `readRegistration`, and verifies the signature with the credential's key (section 7.2).
   * @returns undefined if a check fails
   */
  readAssertion(
    assertion: Assertion,
    challenge: string,
    publicKey: Buffer,
    verification: UserVerification,
  ): Promise<AssertionResult | undefined>;
  /** The default user verification. */
  readonly userVerification: UserVerification;
}

export type UserVerification = 'preferred' | 'required';

export interface RelyingPartyOptions {
  /** The relying party id: the domain of the passkeys, such as `example.com`. */
  readonly id: string;
  /** The name of the service in the browser's dialogs. */
  readonly name: string;
  /** Accepted origins. A function, since the port may be known only after the service listens. */
  readonly origins: () => readonly string[];
  readonly userVerification: UserVerification;
}

export interface RequestOptions extends Readonly<Record<string, unknown>> {
  readonly challenge: string;
  readonly rpId: string;
}

/** A PublicKeyCredentialDescriptor. */
export interface Descriptor {
  readonly credentialId: Buffer;
  readonly transports: readonly string[];
}

export interface PasskeyOwner {
  readonly userId: string;
  /** The name by which the owner recognizes the account. */
  readonly name: string;
  readonly displayName: string;
}

export interface RegisteredCredential {
  readonly credentialId: Buffer;
  /** A COSE key (RFC 9052). */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
}

/** An assertion with a valid form. Nothing else is checked yet. */
export interface Assertion {
  readonly credentialId: Buffer;
  /** The user id from the user handle, if the authenticator returned one. */
  readonly userId: string | undefined;
  readonly response: AuthenticationResponseJSON;
}

export interface AssertionResult {
  readonly counter: number;
  readonly userVerified: boolean;
  readonly backedUp: boolean;
}

/** Milliseconds that the browser waits for the owner. */
const timeout = 300_000;
/** Seconds that a response is accepted. */
export const passkeyLifetime = timeout / 1000;

/**
 * EdDSA, ES256, RS256 (COSE ids): common in authenticators, and supported by every Node.js version that Postern supports.
 */
const algorithms = [-8, -7, -257];
/** The maximum length of a credential id in bytes (WebAuthn Level 3, section 4, "Credential ID"). */
const maxCredentialId = 1023;

/** 256 random bits in base64url (section 13.4.3 asks for at least 128). */
export const newPasskeyChallenge = () => randomBytes(32).toString('base64url');

/** Loaded when first needed: it takes some megabytes, and many installations have no passkeys. */
const library = () => import('@simplewebauthn/server');

/** Creates the relying party of WebAuthn. It stores nothing: callers store the challenges. */
export function createRelyingParty({ id, name, origins, userVerification }: RelyingPartyOptions): RelyingParty {
  const expected = (challenge: string) => ({
    expectedChallenge: challenge,
    expectedOrigin: [...origins()],
    expectedRPID: id,
  });
  return {
    userVerification,
    requestOptions: (challenge, verification, allowed = []) => ({
      challenge,
      rpId: id,
      timeout,
      userVerification: verification,
      allowCredentials: allowed.map(toDescriptor),
    }),
    async creationOptions(challenge, user, existing) {
      const { generateRegistrationOptions } = await library();
      return generateRegistrationOptions({
        rpID: id,
        rpName: name,
        timeout,
        attestationType: 'none',
        supportedAlgorithmIDs: algorithms,
        challenge: Buffer.from(challenge, 'base64url'),
        userID: new Uint8Array(idToBytes(user.userId)),
        userName: user.name,
        userDisplayName: user.displayName,
        excludeCredentials: existing.map(toDescriptor),
        authenticatorSelection: { residentKey: 'required', userVerification },
      });
    },
    async readRegistration(value, challenge) {
      const response = withBase64Url(value) as RegistrationResponseJSON | undefined;
      if (response === undefined) return undefined;
      const { verifyRegistrationResponse } = await library();
      const requireUserVerification = userVerification === 'required';
      const rules = { ...expected(challenge), requireUserVerification, supportedAlgorithmIDs: algorithms };
      const verification = await undefinedOnError(async () => {
        refuseCrossOriginFrames(response.response.clientDataJSON);
        return verifyRegistrationResponse({ response: await withoutAttestation(response), ...rules });
      });
      if (verification?.verified !== true) return undefined;
      const { credential, credentialBackedUp } = verification.registrationInfo;
      const credentialId = Buffer.from(credential.id, 'base64url');
      if (credentialId.length > maxCredentialId) return undefined;
      const transports = knownTransports(credential.transports);
      const publicKey = Buffer.from(credential.publicKey);
      return { credentialId, publicKey, counter: credential.counter, transports, backedUp: credentialBackedUp };
    },
    async readAssertion({ response }, challenge, publicKey, verification) {
      const { verifyAuthenticationResponse } = await library();
      // With the counter 0, the library does not compare counters. The statement that stores the counter does this, so
      // only one of two parallel uses succeeds.
      const credential = { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 };
      const requireUserVerification = verification === 'required';
      const checked = await undefinedOnError(() => {
        refuseCrossOriginFrames(response.response.clientDataJSON);
        return verifyAuthenticationResponse({ response, ...expected(challenge), credential, requireUserVerification });
      });
      if (checked?.verified !== true) return undefined;
      const { newCounter, userVerified, credentialBackedUp } = checked.authenticationInfo;
      return { counter: newCounter, userVerified, backedUp: credentialBackedUp };
    },
  };
}

/** The library throws for every invalid response. All of these errors cause the same refusal. */
async function undefinedOnError<T>(check: () => Promise<T>): Promise<T | undefined> {
  try {
    return await check();
  } catch {
    return undefined;
  }
}

/**
 * Removes the attestation statement. Postern does not ask for one, and the library must not see it: the library fetches
 * URLs that its certificates name, and the client controls those.
 */
async function withoutAttestation(registration: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(registration.response.attestationObject)).get(
    'authData',
  );
  const fields = new Map<string, Parameters<typeof isoCBOR.encode>[0]>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(fields));
  return { ...registration, response: { ...registration.response, attestationObject } };
}

/** Refuses responses from a cross-origin frame: another page could trick its visitors to sign (section 7.2, step 14). */
function refuseCrossOriginFrames(clientDataJSON: string): void {
  const { crossOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { crossOrigin?: unknown };
  if (crossOrigin !== undefined && crossOrigin !== false) throw new Error('made in a cross-origin frame');
}

/** The members of a browser's answer that contain bytes. */
const binaryMembers = new Set([
  'id',
  'rawId',
  'clientDataJSON',
  'attestationObject',
  'authenticatorData',
  'signature',
  'userHandle',
  'publicKey',
]);

/**
 * An answer of a browser with its binary members in base64url without padding (WebAuthn Level 3, 5.1). Some clients send
 * standard base64, with or without padding. Decoders that skip unknown characters would read other bytes.
 * @returns undefined if a binary member has no encoding of base64, or the value is no such answer
 */
function withBase64Url(answer: unknown): JsonObject | undefined {
  if (!isJsonObject(answer)) return undefined;
  const entries = Object.entries(answer).map(([name, value]) => {
    if (name === 'response') return [name, withBase64Url(value)] as const;
    return [name, binaryMembers.has(name) && isString(value) ? base64UrlOf(value) : value] as const;
  });
  const isReadable = entries.every(([name, value]) => value !== undefined || answer[name] === undefined);
  return isReadable ? Object.fromEntries(entries) : undefined;
}

/** Undefined if the text is no base64 of either alphabet. */
function base64UrlOf(text: string): string | undefined {
  const unpadded = text
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
  return Buffer.from(unpadded, 'base64url').toString('base64url') === unpadded ? unpadded : undefined;
}

/** Parses an AuthenticationResponseJSON. Undefined if the text is not one. */
export function parseAssertion(text: string): Assertion | undefined {
  const { id, rawId, type, response } = withBase64Url(parseJsonObject(text)) ?? {};
  if (typeof id !== 'string' || rawId !== id || type !== 'public-key' || !isJsonObject(response)) return undefined;
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  if (!isString(clientDataJSON) || !isString(authenticatorData) || !isString(signature)) return undefined;
  const handle = isString(userHandle) ? Buffer.from(userHandle, 'base64url') : undefined;
  // Postern creates user handles of 16 bytes. A missing handle is allowed.
  if (handle !== undefined && handle.length !== 16) return undefined;
  return {
    credentialId: Buffer.from(id, 'base64url'),
    userId: handle === undefined ? undefined : idFromBytes(handle),
    response: {
      id,
      rawId,
      type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
  };
}

const isString = (value: unknown): value is string => typeof value === 'string';

const transportNames = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
type Transport = (typeof transportNames)[number];

/** Hints for browsers. They come from the client, so only known values are stored. */
function knownTransports(value: unknown): Transport[] {
  return Array.isArray(value) ? transportNames.filter((name) => value.includes(name)) : [];
}

function toDescriptor({ credentialId, transports }: Descriptor) {
  return {
    id: credentialId.toString('base64url'),
    type: 'public-key',
    transports: knownTransports(transports),
  } as const;
}
