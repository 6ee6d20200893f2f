import type { Session } from '../contract/session.js';

/**
 * Sessions that held when they were read. This is memory and nothing more: who answers by it must know that nothing has
 * changed since, and forgets the users of whom that is not so.
 */
export interface KnownSessions {
  /**
   * The session of the token with this SHA-256, in hexadecimal digits. It is a digest of what is too long to be guessed:
   * how long it takes to find none tells nothing.
   */
  find(sha256: string): Session | undefined;
  remember(sha256: string, session: Session): void;
  /** @param userId as in `Session.user_id` */
  forget(userId: string): void;
  /** Forgets one session, by its token's SHA-256. */
  forgetOne(sha256: string, session: Session): void;
  forgetAll(): void;
}

/** Sessions of one user in each half of the memory; of more than this the first ones make room. */
const mostOfUser = 16;

/**
 * @param most sessions at most. Who was asked for lately stays: the memory is in two halves, and when the one is full of
 *   those, the other with what nobody has asked for since is dropped.
 */
export function createKnownSessions(most: number): KnownSessions {
  let recent = createHalf();
  let older = createHalf();

  function keep(sha256: string, session: Session): void {
    if (recent.size >= most / 2) {
      older = recent;
      recent = createHalf();
    }
    recent.keep(sha256, session);
  }

  return {
    find(sha256) {
      const session = recent.find(sha256);
      if (session !== undefined) return session;
      const aged = older.find(sha256);
      if (aged !== undefined) keep(sha256, aged);
      return aged;
    },
    remember: keep,
    forget(userId) {
      recent.forget(userId);
      older.forget(userId);
    },
    forgetOne(sha256, session) {
      recent.forgetOne(sha256, session);
      older.forgetOne(sha256, session);
    },
    forgetAll() {
      recent = createHalf();
      older = createHalf();
    },
  };
}

function createHalf() {
  const sessions = new Map<string, Session>();
  /** By user the digests of their tokens. */
  const ofUsers = new Map<string, Set<string>>();
  return {
    get size() {
      return sessions.size;
    },
    find: (sha256: string) => sessions.get(sha256),
    keep(sha256: string, session: Session): void {
      sessions.set(sha256, session);
      const ofUser = ofUsers.get(session.user_id);
      if (ofUser === undefined) ofUsers.set(session.user_id, new Set([sha256]));
      else {
        ofUser.add(sha256);
        const [first = ''] = ofUser;
        if (ofUser.size > mostOfUser && ofUser.delete(first)) sessions.delete(first);
      }
    },
    forgetOne(sha256: string, { user_id }: Session): void {
      sessions.delete(sha256);
      const ofUser = ofUsers.get(user_id);
      if (ofUser?.delete(sha256) === true && ofUser.size === 0) ofUsers.delete(user_id);
    },
    forget(userId: string): void {
      for (const sha256 of ofUsers.get(userId) ?? []) sessions.delete(sha256);
      ofUsers.delete(userId);
    },
  };
}
