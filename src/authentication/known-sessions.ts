import type { Session } from '../contract/session.js';
import type { ParsedToken } from '../lib/token-strings.js';

/**
 * Sessions that held when they were read. This is memory and nothing more: who answers by it must know that nothing has
 * changed since, and forgets the users of whom that is not so.
 */
export interface KnownSessions {
  /** The session of this very token. */
  find(token: ParsedToken): Session | undefined;
  remember(token: ParsedToken, session: Session): void;
  /** @param userId in any form */
  forget(userId: string): void;
  forgetAll(): void;
}

interface Known {
  readonly sha256: string;
  readonly session: Session;
}

/** By a token's routing ids. */
type OfUser = Map<string, Known>;

/** Sessions of one user; of more than this the first ones make room. */
const mostOfUser = 16;

/**
 * @param most sessions at most, and sixteen of one user. Who was asked for lately stays: the memory is in two halves, and
 *   when the one is full of those, the other with what nobody has asked for since is dropped.
 */
export function createKnownSessions(most: number): KnownSessions {
  let recent = new Map<string, OfUser>();
  let older = new Map<string, OfUser>();
  /** Sessions in `recent`. */
  let count = 0;

  function sessionsOf(user: string): OfUser | undefined {
    const sessions = recent.get(user);
    if (sessions !== undefined) return sessions;
    const aged = older.get(user);
    if (aged !== undefined) keep(user, aged);
    return aged;
  }

  function keep(user: string, sessions: OfUser): void {
    makeRoom();
    older.delete(user);
    recent.set(user, sessions);
    count += sessions.size;
  }

  function makeRoom(): void {
    if (count < most / 2) return;
    older = recent;
    recent = new Map();
    count = 0;
  }

  return {
    find({ routing, sha256 }) {
      const known = sessionsOf(userIn(routing))?.get(routing);
      // Both are digests of what is too long to be guessed: how far they agree tells nothing.
      return known?.sha256 === sha256 ? known.session : undefined;
    },
    remember({ routing, sha256 }, session) {
      const user = userIn(routing);
      makeRoom();
      let sessions = sessionsOf(user);
      if (sessions === undefined) {
        sessions = new Map();
        keep(user, sessions);
      }
      const [first] = sessions.keys();
      const before = sessions.size;
      if (first !== undefined && before >= mostOfUser && !sessions.has(routing)) sessions.delete(first);
      sessions.set(routing, { sha256, session });
      count += sessions.size - before;
    },
    forget(userId) {
      const user = userId.replaceAll('-', '');
      count -= recent.get(user)?.size ?? 0;
      recent.delete(user);
      older.delete(user);
    },
    forgetAll() {
      count = 0;
      recent.clear();
      older.clear();
    },
  };
}

const userIn = (routing: string) => routing.slice(0, 32);
