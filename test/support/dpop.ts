import { generateKeyPairSync, hash, type JsonWebKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import type { Database } from '../../src/database/database.js';
import type { DpopVerifier } from '../../src/sessions/dpop/dpop-verifier.js';
import { createDpopVerifier, type TokenUse } from '../../src/sessions/dpop/dpop-verifier.js';
import type { ProblemAnswer, TestApp } from './app.js';
import { login } from './users.js';

/** A key of a client, which signs DPoP proofs. */
export interface ProofKey {
  readonly jwk: JsonWebKey;
  readonly privateKey: KeyObject;
  readonly alg: string;
}

/** A new key on P-256 or Ed25519. */
export function newProofKey(curve: 'P-256' | 'Ed25519' = 'P-256'): ProofKey {
  const { publicKey, privateKey } =
    curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: curve }) : generateKeyPairSync('ed25519');
  return { jwk: publicKey.export({ format: 'jwk' }), privateKey, alg: curve === 'P-256' ? 'ES256' : 'EdDSA' };
}

/** The parts of a proof that a test chooses. */
export interface ProofParts {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The claims of a proof for `POST /v1/sessions`. */
const claimsOf = (url: string, token: string, nonce: string | undefined) => ({
  htm: 'POST',
  htu: `${url}/v1/sessions`,
  iat: Math.floor(Date.now() / 1000),
  jti: randomUUID(),
  ath: hash('sha256', token, 'base64url'),
  ...(nonce !== undefined && { nonce }),
});

/** A proof that the key has signed. */
export function signProof({ jwk, privateKey, alg }: ProofKey, { header, claims = {} }: ProofParts): string {
  const head = encode({ typ: 'dpop+jwt', alg, jwk, ...header });
  const signed = `${head}.${encode(claims)}`;
  const digest = privateKey.asymmetricKeyType === 'ec' ? 'sha256' : null;
  const signature = sign(digest, Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A request without a proof, for tests below HTTP. Its client is the `fetch` of the tests. */
export const useWithoutProof: TokenUse = {
  origin: { actor: 'user', clientAddress: '127.0.0.1' },
  dpopProof: { headers: [], method: 'POST', origin: 'http://127.0.0.1', path: '/v1/sessions' },
  userAgent: 'node',
};

/** The checks of proofs for tests whose tokens are not bound. */
export const dpopVerifierOf = (database: Database): DpopVerifier =>
  createDpopVerifier({
    database,
    nonces: { create: () => '', timeOf: () => undefined },
    urls: [],
    report: async () => undefined,
  });

type Context = Pick<TestApp, 'api' | 'url'>;

/** A token that is bound to a key, and the nonce that came with it. */
export interface BoundLogin {
  readonly key: ProofKey;
  readonly token: string;
  readonly authentication: Authentication;
  readonly nonce: string;
}

/** A password login that binds its token to a new key. */
export async function bindLogin(context: Context, user: User, device: object = {}): Promise<BoundLogin> {
  const key = newProofKey();
  const { body, headers } = await login(context, user, { ...device, jwk: key.jwk });
  return { key, token: body.token ?? '', authentication: body, nonce: headers['dpop-nonce'] ?? '' };
}

/** A proof of a bound token for a new session, with some parts changed. */
export const proofFor = ({ url }: Context, { key, token, nonce }: BoundLogin, { header, claims }: ProofParts = {}) =>
  signProof(key, { ...(header && { header }), claims: { ...claimsOf(url, token, nonce), ...claims } });

/** `POST /v1/sessions` with a proof, or without one. */
export const requestSession = ({ api }: Context, basic: string, proof?: string) =>
  api<NewSession & Pick<ProblemAnswer, 'errors'>>('POST', '/v1/sessions', {
    basic,
    ...(proof !== undefined && { headers: { DPoP: proof } }),
  });
