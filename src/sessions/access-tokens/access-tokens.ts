import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type AccessToken,
  type AccessTokenRequest,
  type SigningAlgorithm,
  tokenLifetimes,
} from '../../contract/access-token.js';
import type { Session } from '../../contract/session.js';
import { arrayText } from '../../database/array-text.js';
import { createBatchLoader } from '../../database/batching/batch-loader.js';
import type { Handle } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { createConcurrencyLimiter, createKeyedLimiter } from '../../lib/concurrency-limiter.js';
import { type SecretKeys, unreadableProblem } from '../../lib/crypto/secret-keys.js';
import { Problem } from '../../lib/problem.js';
import { loginEnd } from '../../limits/login-policies.js';
import type { SnapshotVerifier } from '../fast-path/snapshot-verifier.js';
import { tellRevocationsOf } from '../revocations/feed.js';
import { validSessions } from '../verifier.js';
import { claimsOf, maxPayloadBytes } from './payload.js';
import { decryptSigningKey } from './signing-keys.js';

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

interface AudienceRow {
  readonly uri: string;
  readonly alg: SigningAlgorithm;
  readonly ttl: number;
  readonly roles: boolean;
  readonly claims: readonly string[];
  /** Whether support logins get tokens. */
  readonly support: boolean;
}

interface KeyRow {
  readonly id: string;
  readonly alg: SigningAlgorithm;
  /** Encrypted, in base64. */
  readonly private_key: string;
  /** Seconds since 1970. */
  readonly signs_since: number;
}

/** SQL: a text that changes whenever a key or an audience does. */
const stateTag = sql`(
  select concat_ws(' ',
    (select string_agg(id::text || coalesce(signs_since::text, ''), ',' order by id) from signing_keys),
    (select string_agg(id::text || updated_at::text, ',' order by id) from audiences)))`;

interface StateRow {
  readonly tag: string;
  readonly audiences: readonly AudienceRow[];
  readonly keys: readonly KeyRow[];
}

const findTag = statement<object, Pick<StateRow, 'tag'>>('access_token_tag', () => sql`select ${stateTag} as tag`);

/** Keys in the order in which they sign. */
const findState = statement<object, StateRow>(
  'access_token_state',
  () => sql`
  select ${stateTag} as tag, coalesce((select jsonb_agg(to_jsonb(a)) from audiences a), '[]') as audiences,
         coalesce((
           select jsonb_agg(jsonb_build_object(
             'id', id, 'alg', alg, 'private_key', encode(private_key, 'base64'), 'signs_since', extract(epoch from signs_since))
             order by signs_since)
           from signing_keys where signs_since is not null), '[]') as keys`,
);

interface LoginRow {
  readonly place: number;
  readonly tag: string;
  /** The id of the login. */
  readonly sid: string;
  /** Where the browser came back to after a login by redirect. Null for other logins. */
  readonly app: string | null;
  /** Seconds since 1970. */
  readonly now: number;
  readonly ends_at: number;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** The time of the last revocation of this login, or of all logins of the user. Null: never. Seconds since 1970. */
  readonly told_at: number | null;
  /** Whether such a revocation has no time yet. */
  readonly has_untold: boolean;
}

/**
 * The logins of many sessions, and in the same snapshot the tag of keys and audiences, the roles and claims, and the revocations. The
 * time is not later than the snapshot. So a token that was issued without knowledge of a revocation is not newer than its `told_at`.
 */
const findLogins = statement<{ userIds: string; ids: string }, LoginRow>(
  'access_token_logins',
  (p) => sql`
  select requested.place::int as place, state.tag, found.*, told.*
  from (select ${stateTag} as tag) state
  cross join unnest((select ${p.userIds}::uuid[]), (select ${p.ids}::uuid[])) with ordinality requested (user_id, id, place)
  cross join lateral (
    select a.id as sid, (a.challenge ->> 'redirect')::jsonb ->> 'to' as app,
           extract(epoch from db_transaction_time())::float8 as now, extract(epoch from ${loginEnd})::float8 as ends_at,
           u.roles, u.claims
    from ${validSessions} and s.user_id = requested.user_id and s.id = requested.id limit 1) found
  cross join lateral (
    select extract(epoch from max(r.told_at))::float8 as told_at, coalesce(bool_or(r.told_at is null), false) as has_untold
    from revocations r where r.user_id = requested.user_id and (r.sid is null or r.sid = found.sid)) told`,
);

/** The audiences and keys of one tag. */
interface State extends Pick<StateRow, 'tag' | 'keys'> {
  readonly audiences: ReadonlyMap<string, AudienceRow>;
  /** The decrypted keys, by id. */
  readonly signers: Map<string, Signer>;
}

/**
 * @param issuer PUBLIC_URL
 * @param confirmedAt see `SnapshotVerifier`. Undefined: sessions are not checked by this verifier
 * @param appOf the entry of REDIRECT_URIS to which a login by redirect came back: tokens of this login have it in `client_id`
 */
export function createAccessTokens(options: {
  readonly database: Handle;
  readonly keys: SecretKeys;
  readonly issuer: string | undefined;
  readonly appOf: (address: string) => string | undefined;
  readonly confirmedAt: SnapshotVerifier['confirmedAt'];
}): AccessTokens {
  const { database, keys, issuer, appOf, confirmedAt } = options;
  const signInTurn = createTurns();
  /** The logins of sessions that had a token, as they were then. */
  const known = new WeakMap<Session, LoginRow>();
  /** The last tag of `known`. */
  let tag = '';
  let state: State = { tag: '', audiences: new Map(), keys: [], signers: new Map() };

  const readState = createBatchLoader(async (requested: readonly string[]) => {
    const [row] = await database.query(findState({}));
    if (row === undefined) throw new Error('a query without a condition returned no row');
    const { tag, keys: rows, audiences } = row;
    const read: State = {
      tag,
      keys: rows,
      audiences: new Map(audiences.map((one) => [one.uri, one])),
      signers: new Map(),
    };
    return requested.map(() => read);
  });

  const readTag = createBatchLoader(async (requested: readonly null[]) => {
    const [row] = await database.query(findTag({}));
    return requested.map(() => row?.tag);
  });

  /** The state of a tag, or a newer one. */
  async function stateOf(tag: string): Promise<State> {
    if (state.tag === tag) return state;
    const read = await readState(tag);
    state = read;
    return read;
  }

  const loginOf = createBatchLoader(async (sessions: readonly Session[]) => {
    const rows = await database.query(
      findLogins({
        userIds: arrayText(sessions.map(({ user_id }) => user_id)),
        ids: arrayText(sessions.map(({ id }) => id)),
      }),
    );
    const byPlace = new Map(rows.map((row) => [row.place, row]));
    return sessions.map((_, index) => byPlace.get(index + 1));
  });

  /**
   * The login of a session, in a second after that of every revocation that its next token could be taken for. A token of the same second
   * would be refused.
   * @throws Problem `invalid_session_token`
   */
  async function loginAfterRevocations(session: Session): Promise<LoginRow> {
    for (let attempt = 1; ; attempt += 1) {
      const login = await loginOf(session);
      if (login === undefined) throw new Problem('invalid_session_token');
      const next = Math.floor(login.told_at ?? 0) + 1;
      // After a step back of the clock, the second may be far: then services that read the feed refuse the token.
      if (!login.has_untold && login.now >= next) {
        // Its session has the roles and claims. The tag is long, so all logins share one.
        if (tag !== login.tag) tag = login.tag;
        known.set(session, { ...login, tag, roles: [], claims: {} });
        return login;
      }
      if (attempt > 3) return login;
      if (login.has_untold) await tellRevocationsOf(database, session.user_id);
      else await wait(Math.min(next - login.now, 1) * 1000 + 1);
    }
  }

  /**
   * The login of a session that had a token before, without a look-up. The same object means that the verifier has seen no change of
   * the session, its login or its user since, and each revocation comes with such a change. The token has the time at which the
   * verifier has seen that, so it is not newer than a later revocation. Undefined: the login must be looked up, also because
   * the token could last longer than the session, and so perhaps than the login.
   */
  async function unchangedLogin(session: Session, request: AccessTokenRequest): Promise<LoginRow | undefined> {
    const [login, confirmed] = [known.get(session), confirmedAt(session)];
    if (login === undefined || confirmed === undefined) return undefined;
    const [now, end] = [secondsOf(confirmed), secondsOf(session.expires_at)];
    // The clock of the database was set back, or the check began before that look-up.
    if (now < login.now || (await readTag(null)) !== login.tag) return undefined;
    const ttl = request.ttl ?? (await stateOf(login.tag)).audiences.get(request.audience)?.ttl ?? 0;
    return now + ttl > Math.min(end, login.ends_at)
      ? undefined
      : { ...login, now, ends_at: end, roles: session.roles, claims: session.claims };
  }

  function createSigner({ id, alg, private_key }: KeyRow): Signer {
    const encrypted = Buffer.from(private_key, 'base64');
    const pem = decryptSigningKey(keys, id, encrypted);
    if (pem === undefined) throw unreadableProblem(keys, encrypted, 'a signing key of access tokens');
    return {
      key: createPrivateKey(pem),
      head: Buffer.from(JSON.stringify({ alg, typ: 'at+jwt', kid: id })).toString('base64url'),
    };
  }

  function currentSigner({ keys: rows, signers }: State, alg: SigningAlgorithm, now: number): Signer {
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
      const login = (await unchangedLogin(session, request)) ?? (await loginAfterRevocations(session));
      const current = await stateOf(login.tag);
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
        ...{ iss: issuer, aud: uri, client_id: clientId, jti: randomUUID(), sub: session.user_id, sid: login.sid },
        ...{ iat, exp, auth_time: Math.floor(secondsOf(session.authenticated_at)), amr: session.amr },
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
        ? signInTurn(session.user_id, () => signedToken(signer, json, signInPool))
        : signedToken(signer, json, sign));
      return { access_token: token, token_type: 'Bearer', expires_in: exp - iat };
    },
  };
}

/** A key, and the first part of the tokens that it signs. */
interface Signer {
  readonly key: KeyObject;
  readonly head: string;
}

const signInPool = promisify(sign);

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
 * @param signWith for ES256 `sign`: it takes 25 µs, and to hand it to another thread would take as long
 */
async function signedToken(
  { key, head }: Signer,
  payload: Buffer,
  signWith: typeof sign | typeof signInPool,
): Promise<string> {
  const content = `${head}.${payload.toString('base64url')}`;
  // ES256 wants both numbers of the signature beside each other. RSA has no such choice, and ignores it.
  const signature = await signWith('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

const secondsOf = (time: string) => Date.parse(time) / 1000;
