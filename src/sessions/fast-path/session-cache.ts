import type { Session } from '../../contract/session.js';

/**
 * Sessions that were valid when they were read. An entry may be outdated: the caller must confirm that a session has
 * not changed since, and delete the sessions of users that have changed.
 */
export interface SessionCache {
  /**
   * The session of the token with this SHA-256, in hexadecimal digits. The token is too long to guess, so the time of this
   * look-up reveals nothing.
   */
  get(sha256: string): Session | undefined;
  set(sha256: string, session: Session): void;
  delete(sha256: string, session: Session): void;
  /** Deletes all sessions of a user. @param userId as in `Session.user_id` */
  deleteUser(userId: string): void;
  clear(): void;
}

/** The maximum number of sessions of one user in each half of the cache. Further ones replace the oldest. */
const maxPerUser = 16;

/** The memory of a session, as a multiple of that of a session without claims and roles. */
function weightOf({ roles, claims }: Session): number {
  if (roles.length === 0 && Object.keys(claims).length === 0) return 1;
  return 1 + Math.ceil((JSON.stringify(claims).length + roles.join().length) / 512);
}

/**
 * @param maxSessions the size of the cache, in sessions without claims and roles. When its recent half is full, the older half is dropped, and the recent half
 *   becomes the older one. A session that is read moves to the recent half, so recently used sessions stay.
 */
export function createSessionCache(maxSessions: number): SessionCache {
  let recent = createHalf();
  let older = createHalf();

  function set(sha256: string, session: Session): void {
    if (recent.weight >= maxSessions / 2) {
      older = recent;
      recent = createHalf();
    }
    recent.set(sha256, session);
  }

  return {
    get(sha256) {
      const session = recent.get(sha256);
      if (session !== undefined) return session;
      const olderSession = older.get(sha256);
      if (olderSession !== undefined) set(sha256, olderSession);
      return olderSession;
    },
    set,
    delete(sha256, session) {
      recent.delete(sha256, session);
      older.delete(sha256, session);
    },
    deleteUser(userId) {
      recent.deleteUser(userId);
      older.deleteUser(userId);
    },
    clear() {
      recent = createHalf();
      older = createHalf();
    },
  };
}

function createHalf() {
  const sessions = new Map<string, Session>();
  /** The digests of each user's tokens. */
  const ofUsers = new Map<string, Set<string>>();
  let weight = 0;
  function remove(sha256: string): void {
    const session = sessions.get(sha256);
    if (session === undefined) return;
    sessions.delete(sha256);
    weight -= weightOf(session);
  }
  return {
    get weight() {
      return weight;
    },
    get: (sha256: string) => sessions.get(sha256),
    set(sha256: string, session: Session): void {
      remove(sha256);
      sessions.set(sha256, session);
      weight += weightOf(session);
      const ofUser = ofUsers.get(session.user_id);
      if (ofUser === undefined) ofUsers.set(session.user_id, new Set([sha256]));
      else {
        ofUser.add(sha256);
        const [first = ''] = ofUser;
        if (ofUser.size > maxPerUser && ofUser.delete(first)) remove(first);
      }
    },
    delete(sha256: string, { user_id }: Session): void {
      remove(sha256);
      const ofUser = ofUsers.get(user_id);
      if (ofUser?.delete(sha256) === true && ofUser.size === 0) ofUsers.delete(user_id);
    },
    deleteUser(userId: string): void {
      for (const sha256 of ofUsers.get(userId) ?? []) remove(sha256);
      ofUsers.delete(userId);
    },
  };
}
