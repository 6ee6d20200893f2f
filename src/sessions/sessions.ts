import type { NewSession } from '../contract/session.js';
import { arrayText, byteaText } from '../database/array-text.js';
import { createWriteCoalescer } from '../database/batching/write-coalescer.js';
import type { Database } from '../database/database.js';
import { type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import type { DeviceLimit } from '../devices/device-limit.js';
import { lockHolds } from '../identities/accounts.js';
import { sha256 } from '../lib/crypto/digests.js';
import { newToken, type ParsedToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import { type LoginPolicies, loginEnd, useMovesEnd } from '../limits/login-policies.js';
import { describeNetwork } from '../messages/notice-values.js';
import type { Counters } from '../statistics/counters.js';
import type { DpopVerifier, TokenUse } from './dpop/dpop-verifier.js';
import type { ReadDpopProof } from './dpop/presented-dpop-proof.js';
import type { ReportToken } from './dpop/token-reports.js';
import {
  type CreatedRow,
  type CreateValues,
  createBoundSession,
  createSession,
  deleteOldestSessions,
  type SessionRow,
} from './session-queries.js';
import { validSessions } from './verifier.js';

/** Creates sessions. The token of a session is short-lived, and authorizes all requests except logins. */
export interface Sessions {
  /**
   * Creates a session for an authentication token.
   * @throws Problem `invalid_authentication_token`, `account_locked` (by an operator), `account_unusable` (deactivated). If the
   * token is bound to a key, also `invalid_dpop_proof` and `use_dpop_nonce`
   */
  create(token: ParsedToken, use: TokenUse): Promise<CreatedSession>;
}

/** A new session with its token. */
export interface CreatedSession {
  readonly session: NewSession;
  /** The nonce for the client's next DPoP proof. Undefined if the authentication token is not bound to a key. */
  readonly nonce: string | undefined;
}

/** Each array is text in the syntax of PostgreSQL. All arrays have the same order: one element for each new session. */
interface CreateManyValues {
  readonly userIds: string;
  readonly authenticationIds: string;
  readonly authenticationDigests: string;
  readonly ids: string;
  readonly digests: string;
  readonly agents: string;
  readonly networks: string;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly policies: LoginPolicies;
}

/**
 * Creates one session for each of many authentication tokens that were used before. It takes no locks, so it never waits. The
 * result has no row for a token
 *
 * - that is used for the first time,
 * - that another client used last,
 * - that is bound to a key,
 * - whose login's end this use would change,
 * - or that must be refused.
 *
 * For such a token, `createSession` decides.
 */
const createFurtherSessions = statement<CreateManyValues, SessionRow>(
  'session_create_many',
  (p) => sql`
  insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
  select requested.user_id, requested.id, token.id, token.device_id, requested.digest, token.now,
         least(token.now + ${p.lifetime} * interval '1 ms', token.expires_at)
  from unnest((select ${p.userIds}::uuid[]), (select ${p.authenticationIds}::uuid[]),
              (select ${p.authenticationDigests}::bytea[]), (select ${p.ids}::uuid[]), (select ${p.digests}::bytea[]),
              (select ${p.agents}::bigint[]), (select ${p.networks}::text[]))
    requested (user_id, authentication_id, authentication_digest, id, digest, agent, network)
  cross join lateral (
    select a.id, a.device_id, ${loginEnd} as expires_at, db_now() as now
    from authentications a join users u on u.id = a.user_id
    where a.user_id = requested.user_id and a.id = requested.authentication_id
      and a.token_digest = requested.authentication_digest and a.status = 'approved' and a.ended_at is null
      and ${loginEnd} > db_now() and a.first_used_at is not null and a.key_thumbprint is null
      and not ${useMovesEnd(sql`(select ${p.policies}::jsonb)`)}
      and coalesce(a.client_agent = requested.agent and a.client_network = requested.network, true)
      and a.epoch = u.epoch and u.status = 'active' and not ${lockHolds}
    limit 1) token
  returning id, user_id, device_id, created_at, expires_at`,
);

/**
 * SQL: a query that returns `expires_at` of a session, or no row if the session is not valid by the rules of `SessionVerifier`.
 * Long-lived work, such as a stream, uses it as a lateral subquery to check its session again.
 */
export function validSession(userId: SqlPart, sessionId: SqlPart): Sql {
  return sql`select s.expires_at from ${validSessions} and s.user_id = ${userId} and s.id = ${sessionId}`;
}

export interface SessionOptions {
  /** The lifetime of a session in milliseconds. A session always ends with its authentication token, if that ends earlier. */
  readonly lifetime: number;
  /** Whether requests that arrive at the same time share one statement. */
  readonly batching: boolean;
  readonly counters: Counters;
  readonly dpopVerifier: DpopVerifier;
  readonly report: ReportToken;
  readonly policies: LoginPolicies;
  readonly deviceLimit: Pick<DeviceLimit, 'removeOldest'>;
}

/** Creates the service that creates sessions. */
export function createSessions(
  database: Database,
  { lifetime, batching, counters, dpopVerifier, report, policies, deviceLimit }: SessionOptions,
): Sessions {
  const valuesOf = ({ token, id, digest, agent, network }: RequestedSession): CreateValues => {
    const [userId = '', authenticationId = ''] = token.ids;
    return {
      userId,
      authenticationId,
      authenticationDigest: token.digest,
      id,
      digest,
      lifetime,
      agent,
      network,
      policies,
    };
  };
  const createAlone = async (requested: RequestedSession) => {
    const values = valuesOf(requested);
    const [row] = await database.user(values.userId).query(createSession(values));
    return row;
  };
  /** If the token is not bound to a key, the DPoP proof is ignored. */
  const createWithDpopProof = async (requested: RequestedSession, read: ReadDpopProof) => {
    if ('fault' in read) return createAlone(requested);
    const values = valuesOf(requested);
    const [row] = await database.user(values.userId).query(createBoundSession({ ...values, ...read.values }));
    return row?.key_thumbprint === null ? createAlone(requested) : row;
  };
  const deleteOldest = ({ ids: [userId = '', authenticationId = ''] }: ParsedToken) =>
    database.user(userId).query(deleteOldestSessions({ userId, authenticationId }));
  const createOne = batching
    ? createWriteCoalescer({
        alone: createAlone,
        many: (requests: readonly RequestedSession[]) => createMany(database, requests, { lifetime, policies }),
      })
    : createAlone;
  return {
    async create(authenticationToken, use) {
      const id = newId();
      const { token, digest } = newToken('session', [authenticationToken.ids[0] ?? '', id]);
      const requested = { token: authenticationToken, id, digest, ...clientOf(use) };
      const read = dpopVerifier.read(authenticationToken, use.dpopProof);
      const hasDpopProof = use.dpopProof.headers.length > 0;
      const row = await (hasDpopProof ? createWithDpopProof(requested, read) : createOne(requested));
      if (row === undefined) throw new Problem('invalid_authentication_token');
      if (!row.active) throw new Problem('account_unusable');
      if (!row.current) throw new Problem('invalid_authentication_token');
      if (row.locked) throw new Problem('account_locked');
      if (row.key_thumbprint !== null && !row.is_proven) {
        throw await dpopVerifier.refusal(authenticationToken, use, read, row);
      }
      // While this request waited for the row of the token, the token was superseded, deleted or replaced.
      if (row.id === null) throw new Problem('invalid_authentication_token');
      if (row.is_shared === true) {
        const data = { other_network: row.client_network };
        await report(authenticationToken, use.origin, { type: 'token.shared', data, isNotified: true });
      }
      if (row.has_more_devices === true) {
        const login = { userId: row.user_id, deviceId: row.device_id, origin: use.origin };
        await deviceLimit.removeOldest(login);
      }
      counters.add('sessions.created');
      if (isTurn(id)) await deleteOldest(authenticationToken);
      const nonce = row.key_thumbprint === null ? undefined : dpopVerifier.nonceAt(row.user_id, row.now);
      return { session: { ...toSession(row), token }, nonce };
    },
  };
}

/** The columns of `CreatedRow` that `createFurtherSessions` does not return. They are the same for all its sessions. */
const furtherSession = {
  current: true,
  active: true,
  locked: false,
  has_more_devices: null,
  key_thumbprint: null,
  key_fits: false,
  nonce_fits: false,
  time_fits: false,
  is_used: false,
  is_proven: false,
  now: 0,
  is_shared: false,
  client_network: null,
};

async function createMany(
  database: Database,
  requests: readonly RequestedSession[],
  options: Pick<CreateManyValues, 'lifetime' | 'policies'>,
): Promise<(CreatedRow | undefined)[]> {
  const rows = await database.query(
    createFurtherSessions({
      userIds: arrayText(requests.map(({ token }) => token.ids[0])),
      authenticationIds: arrayText(requests.map(({ token }) => token.ids[1])),
      authenticationDigests: arrayText(requests.map(({ token }) => byteaText(token.sha256))),
      ids: arrayText(requests.map(({ id }) => id)),
      digests: arrayText(requests.map(({ digest }) => byteaText(digest.toString('hex')))),
      agents: arrayText(requests.map(({ agent }) => agent)),
      networks: arrayText(requests.map(({ network }) => network)),
      ...options,
    }),
  );
  const createdById = new Map(rows.map((row) => [row.id, { ...row, ...furtherSession }]));
  return requests.map(({ id }) => createdById.get(id));
}

/**
 * Whether the oldest sessions of the login are deleted after this one was created: after one in 256, chosen by the random end
 * of its id. To count the sessions each time would make their creation slower.
 */
const isTurn = (id: string) => id.endsWith('00');

/** A session to create: its authentication token, its own id, and the digest of its own token. */
interface RequestedSession {
  readonly token: ParsedToken;
  readonly id: string;
  readonly digest: Buffer;
  /** The first 8 bytes of the SHA-256 of the client's User-Agent, as a number. */
  readonly agent: string;
  /** The network of the client's address. */
  readonly network: string;
}

function clientOf({ userAgent = '', origin }: TokenUse): Pick<RequestedSession, 'agent' | 'network'> {
  return { agent: String(sha256(userAgent).readBigInt64BE()), network: describeNetwork(origin.clientAddress) };
}

function toSession({ id, user_id, device_id, created_at, expires_at }: SessionRow): Omit<NewSession, 'token'> {
  return { id, user_id, device_id, created_at, expires_at, updated_at: created_at };
}
