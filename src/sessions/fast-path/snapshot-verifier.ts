import type { Session } from '../../contract/session.js';
import { createBatchLoader } from '../../database/batching/batch-loader.js';
import { clockTolerance } from '../../database/clock.js';
import type { Handle } from '../../database/database.js';
import { sha256Hex } from '../../lib/crypto/digests.js';
import { type ParsedToken, parseToken } from '../../lib/crypto/token-strings.js';
import { Problem } from '../../lib/problem.js';
import { type Instant, instantAfter } from '../../lib/times.js';
import type { SessionVerifier } from '../verifier.js';
import { createSessionCache } from './session-cache.js';
import { readChanges, type SeenSnapshot, type SessionChanges } from './session-changes.js';

/** The maximum number of tokens of one query. Most of them are in the cache and cost the query nothing. */
const maxTokens = 256;
/** The maximum number of sessions in the cache, of about a kilobyte each. Those with claims count as several. */
const maxSessions = 50_000;

export interface SnapshotVerifier extends SessionVerifier {
  /**
   * A time of the database at which this session, as `verify` has returned it, was valid and unchanged: that of the last such check,
   * before its snapshot.
   */
  confirmedAt(session: Session): Instant | undefined;
}

/** A well-formed token. */
interface RequestedToken {
  readonly text: string;
  readonly sha256: string;
  /** Undefined if the session was in the cache. */
  readonly token?: ParsedToken;
}

/**
 * The changes that other queries reported while a query was running. The results of the running query for these users
 * may be outdated.
 */
interface ReportedChanges {
  readonly users: Set<string>;
  ofAllUsers: boolean;
}

/**
 * Verifies the sessions of one turn of the event loop by one query, and caches them. The cache alone never answers: each query reads in one
 * snapshot whose sessions have changed, and which uncached sessions are valid. A query can miss a change that is committed while it runs.
 * The first query that sees the change then deletes the result from the cache. If the result is not cached yet, it adds the user to
 * `ReportedChanges` (decision 45).
 */
export function createSnapshotVerifier(database: Handle): SnapshotVerifier {
  const cache = createSessionCache(maxSessions);
  const confirmed = new WeakMap<Session, Instant>();
  /** The running queries. An array, not a Set, as in `createBatchLoader`. */
  let running: readonly ReportedChanges[] = [];
  let lastSeen: SeenSnapshot | undefined;

  /** @param since the snapshot that the query continued from */
  function applyChanges({ snapshot, runId, complete, changed }: SessionChanges, since: SeenSnapshot | undefined): void {
    if (runId !== '' && since?.runId === runId && complete) {
      for (const userId of changed) {
        cache.deleteUser(userId);
        for (const { users } of running) users.add(userId);
      }
    } else {
      cache.clear();
      for (const reported of running) reported.ofAllUsers = true;
    }
    lastSeen = { snapshot, runId };
  }

  /**
   * Verifies many tokens by one query.
   * @param cached the cached session of each token
   * @returns the session of each token; `null` if the cached session is outdated
   */
  async function verifyMany(tokens: readonly RequestedToken[], cached: readonly (Session | undefined)[]) {
    const reported: ReportedChanges = { users: new Set(), ofAllUsers: false };
    const hasChanged = ({ user_id }: Session) => reported.ofAllUsers || reported.users.has(user_id);
    const uncached = tokens.filter((_, index) => cached[index] === undefined).flatMap(tokenOf);
    const since = lastSeen;
    running = [...running, reported];
    try {
      const { changes, found } = await readChanges(database, uncached, since);
      // There is no await from here until the sessions are cached. So a change that another query reports is already in
      // `reported`, or it comes later and deletes the session from the cache.
      applyChanges(changes, since);
      for (const [sha256, session] of found) {
        confirmed.set(session, changes.now);
        if (!hasChanged(session)) cache.set(sha256, session);
      }
      return tokens.map(({ sha256 }, index) => {
        const session = cached[index];
        if (session === undefined) return found.get(sha256);
        if (hasChanged(session)) return null;
        if (isWithinTime(session, changes.now)) {
          confirmed.set(session, changes.now);
          return session;
        }
        // The row of the session is unchanged, so a look-up would refuse the session too.
        cache.delete(sha256, session);
        return undefined;
      });
    } finally {
      running = running.filter((other) => other !== reported);
    }
  }

  const lookUp = createBatchLoader(async (tokens: readonly RequestedToken[]) => {
    const cached = tokens.map(({ sha256 }) => cache.get(sha256));
    const sessions = await verifyMany(tokens, cached);
    const outdated = tokens.filter((_, index) => sessions[index] === null);
    if (outdated.length === 0) return sessions as (Session | undefined)[];
    const reread = await verifyMany(outdated, []);
    let next = 0;
    return sessions.map((session) => (session === null ? reread[next++] : session) ?? undefined);
  }, maxTokens);

  return {
    confirmedAt: (session) => confirmed.get(session),
    verify(text) {
      const sha256 = sha256Hex(text);
      // A cached token was parsed before, so it is well formed.
      if (cache.get(sha256) !== undefined) return lookUp({ text, sha256 }).then(requireSession);
      const token = parseToken('session', text);
      if (token === undefined) return Promise.reject(new Problem('invalid_session_token'));
      return lookUp({ text, sha256, token }).then(requireSession);
    },
  };
}

function requireSession(session: Session | undefined): Session {
  if (session === undefined) throw new Problem('invalid_session_token');
  return session;
}

/** The parsed token; an empty list for a text that is not a session token. */
const tokenOf = ({ text, token = parseToken('session', text) }: RequestedToken) => token ?? [];

/** Checks the same as `sessionIsInTime`, for a cached session that has passed that check before. */
const isWithinTime = ({ created_at, expires_at }: Session, now: Instant) =>
  expires_at > now && (created_at <= now || created_at <= instantAfter(now, clockTolerance));
