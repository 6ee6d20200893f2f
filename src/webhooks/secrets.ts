import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { SigningPublicKey } from '../contract/access-token.js';
import type { WebhookPublicKey } from '../contract/webhooks.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { type SecretKeys, unreadableProblem } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import { publishedSigningKeys } from '../sessions/access-tokens/signing-keys.js';

/** Bytes of a secret. Standard Webhooks asks for 24 to 64. */
const secretBytes = 32;

/** Creates a secret for the signatures `v1`: `whsec_` and base64. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`;

/** The associated data of the encrypted secrets of an endpoint. */
const secretContext = (endpointId: string) => `webhook:${endpointId}`;
const keyContext = (id: string) => `webhook-key:${id}`;

export function encryptSecret(keys: SecretKeys, endpointId: string, secret: string): Buffer {
  return keys.encrypt(secret, secretContext(endpointId));
}

/** @throws Problem if no configured key decrypts it */
export function decryptSecret(keys: SecretKeys, endpointId: string, secret: Buffer): string {
  const plain = keys.decrypt(secret, secretContext(endpointId));
  if (plain === undefined) throw unreadableProblem(keys, secret, 'the secret of a webhook');
  return plain;
}

/** Signs with Ed25519, for receivers that do not share a secret with Postern. */
export interface WebhookSigningKey {
  /** @returns base64 */
  sign(content: string): string;
}

interface KeyRow {
  readonly id: string;
  readonly public_key: string;
  readonly private_key: Buffer;
}

const selectKeys = statement<object, KeyRow>(
  'webhook_keys',
  () => sql`select id, public_key, private_key from webhook_keys order by created_at, id`,
);

/**
 * If several instances create the first key at the same time, only one of them stores it. No other lock uses this number.
 */
const lockKeys = statement<object>('webhook_keys_lock', () => sql`select pg_advisory_xact_lock(7203415043)`);

const insertKey = statement<{ id: string; publicKey: string; privateKey: Buffer }>(
  'webhook_key_insert',
  (p) => sql`
  insert into webhook_keys (id, public_key, private_key, created_at)
  values (${p.id}, ${p.publicKey}, ${p.privateKey}, db_now())`,
);

/** Creates the key pair of the installation, unless there is one. Call it when an endpoint is created. */
export async function ensureSigningKey(tx: Queryable, keys: SecretKeys): Promise<void> {
  await tx.query(lockKeys({}));
  if ((await tx.query(selectKeys({}))).length > 0) return;
  const id = newId();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await tx.query(insertKey({ id, publicKey: x, privateKey: keys.encrypt(pem, keyContext(id)) }));
}

/** Those of webhooks first. */
const findPublicKeys = statement<object, { key: PublicKey }>(
  'public_keys',
  () => sql`
  select key from (
    select jsonb_build_object('kty', 'OKP', 'crv', 'Ed25519', 'use', 'sig', 'alg', 'EdDSA', 'kid', id::text, 'x', public_key) as key,
           '' as alg, created_at, id from webhook_keys
    union all ${publishedSigningKeys}) published
  order by alg, created_at, id`,
);

type PublicKey = WebhookPublicKey | SigningPublicKey;

/**
 * The public keys that others need, as `/.well-known/jwks.json` shows them: those of webhooks, and of access tokens those that sign, will
 * sign, or have signed tokens that may still be valid.
 */
export async function readPublicKeys(handle: Queryable): Promise<PublicKey[]> {
  return (await handle.query(findPublicKeys({}))).map(({ key }) => key);
}

/** The newest private key. Undefined before the first endpoint. @throws Problem if no configured key decrypts it */
export async function signingKey(handle: Queryable, keys: SecretKeys): Promise<WebhookSigningKey | undefined> {
  const row = (await handle.query(selectKeys({}))).at(-1);
  if (row === undefined) return undefined;
  const pem = keys.decrypt(row.private_key, keyContext(row.id));
  if (pem === undefined) throw unreadableProblem(keys, row.private_key, 'the signing key of webhooks');
  const key: KeyObject = createPrivateKey(pem);
  return { sign: (content) => sign(null, Buffer.from(content), key).toString('base64') };
}
