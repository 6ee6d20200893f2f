/** Limits of calls to push services, so that endpoints that never answer delay only the users who registered them. */
export interface CallLimits {
  /** Takes one of the user's calls. @returns milliseconds to wait if the user has none left */
  beginUser(userId: string): UserCall | Wait;
  /**
   * Takes one of the calls to a host of an endpoint that the user has registered.
   * @returns milliseconds to wait if the host has no call left, or did not answer lately
   */
  beginHost(userId: string, host: string): HostCall | Wait;
}

/** A call that may be made. Call `end` once. */
export interface UserCall {
  end(): void;
}

/** A call to a host. `end` says whether the host answered, whatever it answered. */
export interface HostCall {
  end(isAnswered: boolean): void;
}

/** The call must wait. */
export interface Wait {
  readonly waitMs: number;
  /** Whether the host did not answer the last calls. */
  readonly isSilent: boolean;
}

/** The numbers of calls at a time in one process. A channel makes more, so no user and no host takes all of them. */
export const maxCalls = { user: 4, host: 16 };
/**
 * After `calls` unanswered calls in a row, an endpoint's host gets one call in each pause. The pause doubles up to the longest
 * one. If this is so for `users` users, it applies to everybody's calls to the host.
 */
const silence = { calls: 3, users: 3, pauseMs: 30_000, longestPauseMs: 600_000 };
/** The shortest wait, and the assumed duration of a call before one was measured. */
const shortestWaitMs = 250;
const assumedCallMs = 100;
/** The maximum number of users, hosts and pairs of them whose state is remembered. The oldest are forgotten. */
const maxRemembered = 10_000;

interface UserState {
  running: number;
  /** The mean duration of the user's calls in milliseconds: later calls count more. */
  meanMs: number;
  /** How long the last waiting call has to wait. */
  lastTurn: number;
}

interface HostState {
  running: number;
}

/** The unanswered calls to one host: of one user, or of all. */
interface Silence {
  /** Unanswered calls in a row. */
  unanswered: number;
  /** No call before this time. */
  until: number;
  pauseMs: number;
  /** Whether a call was let through after a pause. Its result ends the silence or begins a longer pause. */
  isProbed: boolean;
  readonly users: Set<string>;
}

/** Creates the limits. @param now milliseconds of a monotonic clock */
export function createCallLimits(now: () => number = () => performance.now()): CallLimits {
  const users = new Map<string, UserState>();
  const hosts = new Map<string, HostState>();
  const silences = new Map<string, Silence>();

  /** Calls that wait get turns one after the other, about as fast as the user's calls end. */
  function nextTurn(user: UserState): Wait {
    const start = Math.max(now() + shortestWaitMs, user.lastTurn);
    user.lastTurn = start + user.meanMs / maxCalls.user;
    return { waitMs: start - now(), isSilent: false };
  }

  function silenceOf(key: string, minUsers: number): Wait | undefined {
    const state = silences.get(key);
    if (state === undefined || state.unanswered < silence.calls || state.users.size < minUsers) return undefined;
    if (state.until > now()) return { waitMs: state.until - now(), isSilent: true };
    // One call shows whether the host answers again. Others wait for its result.
    state.isProbed = true;
    state.until = now() + state.pauseMs;
    return undefined;
  }

  function noteAnswer(key: string, userId: string, isAnswered: boolean): void {
    if (isAnswered) {
      silences.delete(key);
      return;
    }
    const state = remembered(silences, key, (): Silence => {
      return { unanswered: 0, until: 0, pauseMs: 0, isProbed: false, users: new Set() };
    });
    state.unanswered += 1;
    if (state.users.size < silence.users) state.users.add(userId);
    // Calls that began before the pause do not make it longer.
    if (state.unanswered < silence.calls || (state.until > now() && !state.isProbed)) return;
    state.isProbed = false;
    state.pauseMs = Math.min(silence.longestPauseMs, Math.max(silence.pauseMs, state.pauseMs * 2));
    state.until = now() + state.pauseMs;
  }

  return {
    beginUser(userId) {
      const user = remembered(users, userId, () => ({ running: 0, meanMs: assumedCallMs, lastTurn: 0 }));
      if (user.running >= maxCalls.user) return nextTurn(user);
      user.running += 1;
      const startedAt = now();
      return {
        end() {
          user.running -= 1;
          user.meanMs += (now() - startedAt - user.meanMs) / 8;
        },
      };
    },
    beginHost(userId, host) {
      const own = `${userId} ${host}`;
      const silent = silenceOf(own, 1) ?? silenceOf(host, silence.users);
      if (silent !== undefined) return silent;
      const state = remembered(hosts, host, () => ({ running: 0 }));
      if (state.running >= maxCalls.host) return { waitMs: shortestWaitMs * 4, isSilent: false };
      state.running += 1;
      return {
        end(isAnswered) {
          state.running -= 1;
          if (state.running === 0) hosts.delete(host);
          noteAnswer(own, userId, isAnswered);
          noteAnswer(host, userId, isAnswered);
        },
      };
    },
  };
}

/** The value of a key, which becomes the newest. Beyond the limit, the oldest is forgotten. */
function remembered<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
  return value;
}
