import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type AccessToken,
  type AccessTokenRequest,
  type SigningAlgorithm,
  tokenLifetimes,
} from '../../contract/access-token.js';
import type { Session } from '../../contract/session.js';
import type { Handle } from '../../database/database.js';
import { createConcurrencyLimiter, createKeyedLimiter } from '../../lib/concurrency-limiter.js';
import { type SecretKeys, unreadableProblem } from '../../lib/crypto/secret-keys.js';
import { Problem } from '../../lib/problem.js';
import { secondsOf } from '../../lib/times.js';
import type { SnapshotVerifier } from '../fast-path/snapshot-verifier.js';
import { claimsOf, maxPayloadBytes } from './payload.js';
import { decryptSigningKey } from './signing-keys.js';
import { createLoginFinder } from './token-logins.js';
import { createTokenStates, type KeyRow, type Signer, type TokenState } from './token-states.js';

/**
 * Issues access tokens (RFC 9068): signed statements about a login, for services that cannot ask Postern. They are for reach, not for
 * speed: a check of a signature costs more CPU than a check of a session.
 */
export interface AccessTokens {
  /**
   * @param session a valid session
   * @throws Problem `unknown_audience` (also without PUBLIC_URL), `ttl_out_of_range`, `claims_too_large`,
   *   `not_for_support_logins`, `invalid_session_token`, `secret_unreadable`, `overloaded`
   */
  issue(session: Session, request: AccessTokenRequest): Promise<AccessToken>;
}

/**
 * @param issuer PUBLIC_URL
 * @param confirmedAt see `SnapshotVerifier`. Undefined: sessions are not checked by this verifier
 * @param appOf returns the entry of REDIRECT_URIS for the return address of a login by redirect. The entry becomes `client_id`
 */
export function createAccessTokens(options: {
  readonly database: Handle;
  readonly keys: SecretKeys;
  readonly issuer: string | undefined;
  readonly appOf: (address: string) => string | undefined;
  readonly confirmedAt: SnapshotVerifier['confirmedAt'];
}): AccessTokens {
  const { database, keys, issuer, appOf, confirmedAt } = options;
  const takeTurn = createTurns();
  const states = createTokenStates(database);
  const loginOf = createLoginFinder({ database, states, confirmedAt });

  function createSigner({ id, alg, private_key }: KeyRow): Signer {
    const encrypted = Buffer.from(private_key, 'base64');
    const pem = decryptSigningKey(keys, id, encrypted);
    if (pem === undefined) throw unreadableProblem(keys, encrypted, 'a signing key of access tokens');
    return {
      key: createPrivateKey(pem),
      head: Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid: id })).toString('base64url'),
    };
  }

  function currentSigner({ keys: rows, signers }: TokenState, alg: SigningAlgorithm, now: number): Signer {
    const ofAlgorithm = rows.filter((key) => key.alg === alg);
    // The clock may have been set back since the first key began to sign.
    const row = ofAlgorithm.findLast((key) => key.signs_since <= now) ?? ofAlgorithm[0];
    if (row === undefined) throw new Error(`no key signs with ${alg}`);
    const signer = signers.get(row.id) ?? createSigner(row);
    signers.set(row.id, signer);
    return signer;
  }

  return {
    async issue(session, request) {
      const { audience: uri, ttl: requested } = request;
      // Audiences need PUBLIC_URL. It may have been removed later.
      if (issuer === undefined) throw new Problem('unknown_audience');
      const login = await loginOf(session, request);
      const current = await states.stateOf(login.tag);
      const audience = current.audiences.get(uri);
      if (audience === undefined) throw new Problem('unknown_audience');
      if (session.act !== undefined && !audience.support) throw new Problem('not_for_support_logins');
      const ttl = requested ?? audience.ttl;
      if (ttl < tokenLifetimes.min || ttl > audience.ttl) {
        throw new Problem('ttl_out_of_range', { params: { min: tokenLifetimes.min, max: audience.ttl } });
      }
      const iat = Math.floor(login.now);
      const exp = Math.min(iat + ttl, Math.floor(login.ends_at));
      const clientId = (login.app === null ? undefined : appOf(login.app)) ?? 'postern';
      const payload = {
        iss: issuer,
        aud: uri,
        client_id: clientId,
        jti: randomUUID(),
        sub: session.user_id,
        sid: login.sid,
        iat,
        exp,
        auth_time: Math.floor(secondsOf(session.authenticated_at)),
        amr: session.amr,
        ...(session.proven_at !== null && { proven_at: Math.floor(secondsOf(session.proven_at)) }),
        ...(session.act !== undefined && { act: session.act }),
        ...(audience.roles && { roles: login.roles }),
        ...(audience.claims.length > 0 && { claims: claimsOf(login.claims, audience.claims) }),
      };
      const json = Buffer.from(JSON.stringify(payload));
      if (json.length > maxPayloadBytes) {
        throw new Problem('claims_too_large', { params: { max: maxPayloadBytes } });
      }
      const signer = currentSigner(current, audience.alg, login.now);
      const token = await (audience.alg === 'RS256'
        ? takeTurn(session.user_id, () => signedToken(signer, json, signOnThread))
        : signedToken(signer, json, sign));
      return { access_token: token, token_type: 'Bearer', expires_in: exp - iat };
    },
  };
}

const signOnThread = promisify(sign);

/** RSA takes 30 times as long. */
const [rsaAtOnce, maxRsaWaiting] = [2, 1000];

/**
 * Limits the slow signatures that are in libuv's pool at a time: otherwise hashes of passwords would wait for all of them there. Each user
 * has one at a time, so that others do not wait for a user who asks for many.
 */
function createTurns(): (userId: string, run: () => Promise<string>) => Promise<string> {
  const ofUser = createKeyedLimiter({ concurrency: 1, maxWaiting: 100, timeoutMs: 3000 });
  const ofAll = createConcurrencyLimiter({ concurrency: rsaAtOnce, maxWaiting: maxRsaWaiting, timeoutMs: 3000 });
  return (userId, run) => ofUser(userId, () => ofAll(run));
}

/**
 * A signed token (RFC 7515, compact). jose takes 2.4 times the CPU for it, most of that on the main thread: its signatures pass
 * through Web Crypto.
 * @param signWith `sign` for ES256, on this thread: it takes 25 µs, as long as to pass the work to another thread
 */
async function signedToken(
  { key, head }: Signer,
  payload: Buffer,
  signWith: typeof sign | typeof signOnThread,
): Promise<string> {
  const content = `${head}.${payload.toString('base64url')}`;
  // ES256 wants both numbers of the signature beside each other. RSA has no such choice, and ignores it.
  const signature = await signWith('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}
