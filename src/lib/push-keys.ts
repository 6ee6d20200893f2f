import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isJsonObject } from './json-object.js';
import { parseUrl } from './urls.js';

/** A service account of Google Cloud, from its JSON file. Printing its key reveals nothing. */
export interface ServiceAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly privateKeyId: string | undefined;
  /** The URL that issues access tokens. */
  readonly tokenUri: string;
}

/** The text that a setting contains, or the text of the file that it names. Undefined if the file cannot be read. */
export function readTextOrFile(value: string, isText: (value: string) => boolean): string | undefined {
  if (isText(value)) return value;
  try {
    return readFileSync(value, 'utf8');
  } catch {
    return undefined;
  }
}

/** Reads a service account. Undefined when the text is not one with a valid key. */
export function readServiceAccount(text: string): ServiceAccount | undefined {
  try {
    const account: unknown = JSON.parse(text);
    if (!isJsonObject(account)) return undefined;
    const { project_id, client_email, private_key, private_key_id, token_uri } = account;
    if (typeof project_id !== 'string' || !/^[a-z0-9.:-]{1,64}$/i.test(project_id)) return undefined;
    if (typeof client_email !== 'string' || typeof private_key !== 'string') return undefined;
    const privateKey = readPrivateKey(private_key, 'rsa');
    const tokenUri = token_uri === undefined ? 'https://oauth2.googleapis.com/token' : token_uri;
    if (privateKey === undefined || typeof tokenUri !== 'string' || parseUrl(tokenUri) === undefined) return undefined;
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

/** Reads a private key in PEM. Its lines may be joined by a literal `\n`, as in environment files. `ec` is P-256. */
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

/** Whether a text is the base64url, without padding, of this number of bytes. */
export function isBase64Url(text: string, bytes: number): boolean {
  return Buffer.from(text, 'base64url').length === bytes && /^[A-Za-z0-9_-]+$/.test(text);
}

/** Whether two keys in base64url are a key pair on P-256. */
export function isKeyPair(publicKey: string, privateKey: string): boolean {
  try {
    const curve = createECDH('prime256v1');
    curve.setPrivateKey(Buffer.from(privateKey, 'base64url'));
    return curve.getPublicKey('base64url') === publicKey;
  } catch {
    return false;
  }
}
