import { setTimeout as wait } from 'node:timers/promises';
import type {
  Challenge,
  ChallengeAnswer,
  ChallengeState,
  ClientChallenge,
  CodeMessage,
} from '../../credentials/challenge.js';
import type { Candidate } from '../../identities/accounts.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { TimeoutError, withTimeout } from '../../lib/time-limit.js';
import type { Authenticator, IdentifiedUser } from './authenticator.js';
import type { Plugin, PluginAnswer, PluginUser } from './plugin.js';
import { PluginFailure } from './plugin-thread.js';

export interface GuardOptions {
  /** The channels that can send codes. */
  readonly channels: readonly CodeMessage['channel'][];
  /** Milliseconds. The default is 500. See `guardPlugin`. */
  readonly tickMs?: number;
  /** Milliseconds for each call of a plug-in. The default is 10,000. */
  readonly timeoutMs?: number;
}

/** Maximum size of the members `kept` and `shown` of a plug-in's challenge, in bytes of JSON. */
const maxBytes = { kept: 4096, shown: 16_384 };
/** Seconds. An authentication is open for ten minutes. */
const lifetimes = { default: 300, longest: 600 };

/**
 * Wraps a plug-in as an authenticator that the core can trust. The plug-in gets only the data of `PluginUser`, and
 * approves only by exactly `true` within the time limit.
 *
 * Failures and challenges are returned when a multiple of `tickMs` has passed since the evaluation began. Otherwise the
 * response time would reveal how long the plug-in worked, which may differ between known and unknown users (decision
 * 39).
 */
export function guardPlugin(plugin: Plugin, options: GuardOptions): Authenticator {
  const { name } = plugin;
  const { tickMs: tick = 500, timeoutMs = 10_000 } = options;

  const waitForTick = (since: number) => wait(tick - ((performance.now() - since) % tick));

  /** @throws Problem `authenticator_unavailable`, also at a multiple of `tickMs` */
  async function call<T>(work: () => unknown, read: (answer: unknown) => T): Promise<T> {
    const since = performance.now();
    try {
      return read(await withTimeout(timeoutMs, (async () => work())()));
    } catch (error) {
      await waitForTick(since);
      throw unavailable(name, error);
    }
  }

  async function begin(work: () => unknown, candidate: Candidate | undefined): Promise<Challenge> {
    const since = performance.now();
    const challenge = await call(work, (answer) => readChallenge(answer, candidate, options.channels));
    await waitForTick(since);
    return challenge;
  }

  const afterFailure = (_candidate: Candidate | undefined, since: number) => waitForTick(since);
  const isTrue = (answer: unknown) => answer === true;
  if (plugin.steps === 1) {
    const verify = (candidate: Candidate | undefined, secret: string, authenticationId: string) =>
      call(() => plugin.verify(userOf(candidate), secret, authenticationId), isTrue);
    return { name, steps: 1, verify, afterFailure };
  }
  if (plugin.namesUser === true) {
    return {
      name,
      steps: 2,
      namesUser: true,
      begin: (id: string) => begin(() => plugin.begin(id), undefined),
      identify: (answer: ChallengeAnswer) => call(() => plugin.identify(pluginAnswerOf(answer)), readIdentified),
      afterFailure,
    };
  }
  return {
    name,
    steps: 2,
    afterFailure,
    begin: (candidate: Candidate | undefined, id: string) =>
      begin(() => plugin.begin(userOf(candidate), id), candidate),
    verify: (answer: ChallengeAnswer, candidate: Candidate | undefined) =>
      call(() => plugin.verify(pluginAnswerOf(answer), userOf(candidate)), isTrue),
  };
}

const pluginAnswerOf = ({ state, authenticationId, secret }: ChallengeAnswer): PluginAnswer => ({
  kept: state,
  authenticationId,
  secret,
});

function userOf(candidate: Candidate | undefined): PluginUser | undefined {
  if (candidate === undefined) return undefined;
  const { userId: id, username, email, phone, locale } = candidate;
  return { id, username, email, phone, locale };
}

function readChallenge(
  answer: unknown,
  candidate: Candidate | undefined,
  channels: GuardOptions['channels'],
): Challenge {
  const { kept = {}, lifetime = lifetimes.default, shown, message } = requireObject(answer, 'a challenge');
  if (!Number.isInteger(lifetime) || Number(lifetime) < 1 || Number(lifetime) > lifetimes.longest) {
    throw new InvalidResult(`lifetime must be 1 to ${lifetimes.longest} whole seconds`);
  }
  return {
    state: readKept(kept),
    lifetime: Number(lifetime),
    ...(shown !== undefined && { clientChallenge: readShown(shown) }),
    ...(message !== undefined && { message: readMessage(message, candidate, channels) }),
  };
}

function readKept(value: unknown): ChallengeState {
  const keptState = copyOf(requireObject(value, 'kept'), maxBytes.kept, 'kept');
  const texts = Object.entries(keptState).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (texts.length < Object.keys(keptState).length) throw new InvalidResult('kept must contain strings only');
  return Object.fromEntries(texts);
}

function readShown(value: unknown): ClientChallenge {
  const { type, ...others } = copyOf(requireObject(value, 'shown'), maxBytes.shown, 'shown');
  if (typeof type !== 'string') throw new InvalidResult('shown needs a type');
  return { ...others, type };
}

/** The recipient is the user's own address: a plug-in cannot choose another one. */
function readMessage(
  value: unknown,
  candidate: Candidate | undefined,
  channels: GuardOptions['channels'],
): CodeMessage {
  const { channel: channelName, code } = requireObject(value, 'message');
  const channel = channels.find((known) => known === channelName);
  if (channel === undefined) throw new InvalidResult('message.channel is not configured');
  if (typeof code !== 'string' || !/^[A-Za-z0-9-]{4,32}$/.test(code))
    throw new InvalidResult('message.code is invalid');
  return { channel, code, recipient: channel === 'sms' ? candidate?.phone : candidate?.email };
}

function readIdentified(answer: unknown): IdentifiedUser | undefined {
  if (answer === undefined || answer === null) return undefined;
  const { userId, isMultiFactor } = requireObject(answer, 'the result of identify');
  const id = typeof userId === 'string' ? parseId(userId) : undefined;
  return id === undefined ? undefined : { userId: id, isMultiFactor: isMultiFactor === true };
}

function requireObject(value: unknown, label: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidResult(`${label} must be an object`);
  return value as Readonly<Record<string, unknown>>;
}

/** A copy as the database returns it: JSON values only, with a maximum number of bytes. */
function copyOf(value: object, bytes: number, label: string): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > bytes) throw new InvalidResult(`${label} may take at most ${bytes} bytes`);
  // PostgreSQL accepts neither NUL nor a lone surrogate, and JSON.stringify escapes both.
  if (/\\u(?:0000|d[89a-f])/.test(text)) throw new InvalidResult(`${label} must not contain NUL or a lone surrogate`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** A result that does not match the types. The message contains no part of the result. */
class InvalidResult extends Error {}

/**
 * The problem of a failure, with a cause for the log. It does not read unknown errors: they may contain the secret, and
 * may throw when they are read. The thread of a plug-in has already reduced its errors to the parts that may be logged.
 */
function unavailable(name: string, error: unknown): Problem {
  const knownProblem = knownError(error);
  if (knownProblem instanceof Problem) return knownProblem;
  const cause = new Error(`the authenticator ${name} failed: ${knownProblem?.message ?? 'Error'}`);
  const frames = knownProblem instanceof PluginFailure ? (knownProblem.stack ?? '').split('\n').slice(1) : [];
  cause.stack = [`Error: ${cause.message}`, ...frames].join('\n');
  return new Problem('authenticator_unavailable', { retryAfter: 5, cause });
}

function knownError(error: unknown): Problem | InvalidResult | PluginFailure | TimeoutError | undefined {
  try {
    const isKnown =
      error instanceof Problem ||
      error instanceof InvalidResult ||
      error instanceof PluginFailure ||
      error instanceof TimeoutError;
    return isKnown ? error : undefined;
  } catch {
    // `instanceof` on a proxy may throw.
    return undefined;
  }
}
