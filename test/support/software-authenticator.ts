import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * A small WebAuthn authenticator: ES256, attestation `none`. It signs any claims of a test, also those that a real one never
 * signs.
 */
export interface SoftwareAuthenticator {
  readonly credentialId: Buffer;
  /** The user handle from the creation of its passkey. */
  readonly userHandle: string;
  /** Its signature counter. */
  counter: number;
  /** The AuthenticationResponseJSON, as text. */
  sign(options: RequestOptions, claims?: Claims): string;
}

interface RequestOptions {
  readonly challenge?: unknown;
  readonly rpId?: unknown;
}

/** Claims that replace the correct ones. */
export interface Claims {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly rpId?: string;
  readonly crossOrigin?: boolean;
  readonly counter?: number;
  readonly userPresent?: boolean;
  readonly userVerified?: boolean;
  /** null: none is sent. */
  readonly userHandle?: string | null;
  /** Changes the signature. */
  readonly tampered?: boolean;
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

/** The claims about a new passkey. `format` is that of its attestation; the statement is always empty. */
export type MakingClaims = Claims & { readonly backedUp?: boolean; readonly format?: string };

/** Makes a passkey of creation options: the authenticator that has it, and the RegistrationResponseJSON. */
export function makePasskey(options: CreationOptions, origin: string, claims: MakingClaims = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(16);
  const counter = claims.counter ?? 1;
  const attested = Buffer.concat([Buffer.alloc(16), uint16(credentialId.length), credentialId, coseKey(publicKey)]);
  const backup = claims.backedUp === true ? 0x18 : 0;
  const flags = flagsOf(claims) | 0x40 | backup;
  const authData = authenticatorData(claims.rpId ?? options.rp.id, flags, counter, attested);
  const attestationObject = Buffer.concat([
    ...[
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText(claims.format ?? 'none'),
      cborText('attStmt'),
      Buffer.from([0xa0]),
    ],
    ...[cborText('authData'), cborBytes(authData)],
  ]);
  const clientDataJSON = clientData('webauthn.create', options.challenge, { origin, ...claims });
  const id = credentialId.toString('base64url');
  const response = {
    ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
    response: {
      clientDataJSON: clientDataJSON.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal', 'hybrid', 'telepathy'],
    },
  };
  const parts = { credentialId, userHandle: options.user.id, origin, backup };
  return { authenticator: authenticatorWith(privateKey, parts, counter), response };
}

function authenticatorWith(
  privateKey: KeyObject,
  parts: { credentialId: Buffer; userHandle: string; origin: string; backup: number },
  firstCounter: number,
): SoftwareAuthenticator {
  const { credentialId, userHandle, origin, backup } = parts;
  const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const authenticator: SoftwareAuthenticator = {
    ...{ credentialId, userHandle, counter: firstCounter },
    sign(options, claims = {}) {
      if (authenticator.counter > 0) authenticator.counter += 1;
      const counter = claims.counter ?? authenticator.counter;
      const authData = authenticatorData(claims.rpId ?? String(options.rpId), flagsOf(claims) | backup, counter);
      const clientDataJSON = clientData('webauthn.get', String(options.challenge), { origin, ...claims });
      const hash = createHash('sha256').update(clientDataJSON).digest();
      const signature = sign('sha256', Buffer.concat([authData, hash]), key);
      if (claims.tampered) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
      const id = credentialId.toString('base64url');
      const handle = claims.userHandle === undefined ? userHandle : claims.userHandle;
      return JSON.stringify({
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: {
          clientDataJSON: clientDataJSON.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
          ...(handle !== null && { userHandle: handle }),
        },
      });
    },
  };
  return authenticator;
}

function clientData(type: string, challenge: string, claims: Claims): Buffer {
  const { origin, crossOrigin = false } = claims;
  const data = { type: claims.type ?? type, challenge: claims.challenge ?? challenge, origin, crossOrigin };
  return Buffer.from(JSON.stringify(data));
}

/** User present and verified, unless it is claimed otherwise. */
const flagsOf = ({ userPresent = true, userVerified = true }: Claims) => (userPresent ? 1 : 0) | (userVerified ? 4 : 0);

function authenticatorData(rpId: string, flags: number, counter: number, attested = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(counter, 1);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), head, attested]);
}

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 | text.length]), Buffer.from(text)]);
const cborBytes = (bytes: Buffer) => Buffer.concat([Buffer.from([0x59]), uint16(bytes.length), bytes]);

/** The public key as COSE (RFC 9052): {kty: EC2, alg: ES256, crv: P-256, x, y}. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const coordinate = (value: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(value, 'base64url')]);
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]);
  return Buffer.concat([head, coordinate(x), Buffer.from([0x22]), coordinate(y)]);
}
