import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A service account of Google Cloud, as its JSON file has it. Its key shows nothing when it is printed. */
export interface ServiceAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly privateKeyId: string | undefined;
  /** Where access tokens are had. */
  readonly tokenUri: string;
}

/** The text of a setting that may also name a file. Undefined when the file cannot be read. */
export function textOrFile(value: string, isText: (value: string) => boolean): string | undefined {
  if (isText(value)) return value;
  try {
    return readFileSync(value, 'utf8');
  } catch {
    return undefined;
  }
}

/** Undefined where the text is no service account that can sign. */
export function readServiceAccount(text: string): ServiceAccount | undefined {
  try {
    const account: unknown = JSON.parse(text);
    if (typeof account !== 'object' || account === null) return undefined;
    const { project_id, client_email, private_key, private_key_id, token_uri } = account as Record<string, unknown>;
    if (typeof project_id !== 'string' || !/^[a-z0-9.:-]{1,64}$/i.test(project_id)) return undefined;
    if (typeof client_email !== 'string' || typeof private_key !== 'string') return undefined;
    const privateKey = readPrivateKey(private_key, 'rsa');
    const tokenUri = token_uri === undefined ? 'https://oauth2.googleapis.com/token' : token_uri;
    if (privateKey === undefined || typeof tokenUri !== 'string' || !URL.canParse(tokenUri)) return undefined;
    return {
      projectId: project_id,
      clientEmail: client_email,
      privateKey,
      privateKeyId: typeof private_key_id === 'string' ? private_key_id : undefined,
      tokenUri,
    };
  } catch {
    return undefined;
  }
}

/** A private key in PEM, whose lines may be joined by `\n` as environment files do. `ec` is P-256. */
export function readPrivateKey(pem: string, kind: 'rsa' | 'ec'): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'));
    if (key.asymmetricKeyType !== kind) return undefined;
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return kind === 'rsa' || isP256 ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Whether this is base64url, without padding, of so many bytes. */
export function isBase64Url(text: string, bytes: number): boolean {
  return Buffer.from(text, 'base64url').length === bytes && /^[A-Za-z0-9_-]+$/.test(text);
}

/** Whether two keys on P-256, in base64url, belong together. */
export function isKeyPair(publicKey: string, privateKey: string): boolean {
  try {
    const curve = createECDH('prime256v1');
    curve.setPrivateKey(Buffer.from(privateKey, 'base64url'));
    return curve.getPublicKey('base64url') === publicKey;
  } catch {
    return false;
  }
}
