import { setTimeout as wait } from 'node:timers/promises';
import { parseId } from '../../lib/ids.js';
import { needWithin, TimeoutError } from '../../lib/patience.js';
import { Problem } from '../../lib/problem.js';
import type { Authenticator, Candidate, Challenge, ChallengeAnswer, CodeMessage, NamedUser } from './authenticator.js';
import type { Plugin, PluginAnswer, PluginUser } from './plugin.js';
import { PluginFailure } from './plugin-thread.js';

export interface GuardOptions {
  /** Where codes can be sent to. */
  readonly channels: readonly CodeMessage['channel'][];
  /** Milliseconds; 500. See `guarded`. */
  readonly tick?: number;
  /** Milliseconds that a plug-in has for each answer; 10,000. */
  readonly patience?: number;
}

/** Bytes of what a plug-in remembers and shows, as JSON. */
const largest = { kept: 4096, shown: 16_384 };
/** Seconds. An authentication is open for ten minutes. */
const lifetimes = { usual: 300, longest: 600 };

/**
 * A plug-in as an authenticator that the core can trust: it sees nothing but what it is meant to, and whatever it does, it
 * approves nothing but by a plain `true` that comes in time.
 *
 * Failures are answered at a multiple of the tick from when the evaluation began, and so are beginnings: how long somebody
 * else's code took is not told, be it slow for users and quick for nobody (decision 39).
 */
export function guarded(plugin: Plugin, options: GuardOptions): Authenticator {
  const { name } = plugin;
  const { tick = 500, patience = 10_000 } = options;

  const untilTick = (since: number) => wait(tick - ((performance.now() - since) % tick));

  /** @throws Problem `authenticator_unavailable`, at a tick too. */
  async function ask<T>(work: () => unknown, read: (answer: unknown) => T): Promise<T> {
    const since = performance.now();
    try {
      return read(await needWithin(patience, (async () => work())()));
    } catch (error) {
      await untilTick(since);
      throw unavailable(name, error);
    }
  }

  async function begin(work: () => unknown, candidate: Candidate | undefined): Promise<Challenge> {
    const since = performance.now();
    const challenge = await ask(work, (answer) => readChallenge(answer, candidate, options.channels));
    await untilTick(since);
    return challenge;
  }

  const refused = (_candidate: Candidate | undefined, since: number) => untilTick(since);
  const isTrue = (answer: unknown) => answer === true;
  if (plugin.steps === 1) {
    const verify = (candidate: Candidate | undefined, secret: string, authenticationId: string) =>
      ask(() => plugin.verify(userOf(candidate), secret, authenticationId), isTrue);
    return { name, steps: 1, verify, refused };
  }
  if (plugin.namesUser === true) {
    const identify = (answer: ChallengeAnswer) => ask(() => plugin.identify(shownOf(answer)), readNamed);
    const beginNameless = (id: string) => begin(() => plugin.begin(id), undefined);
    return { name, steps: 2, namesUser: true, begin: beginNameless, identify, refused };
  }
  return {
    ...{ name, steps: 2, refused },
    begin: (candidate: Candidate | undefined, id: string) =>
      begin(() => plugin.begin(userOf(candidate), id), candidate),
    verify: (answer: ChallengeAnswer, candidate: Candidate | undefined) =>
      ask(() => plugin.verify(shownOf(answer), userOf(candidate)), isTrue),
  };
}

const shownOf = ({ kept, authenticationId, secret }: ChallengeAnswer): PluginAnswer => ({
  kept,
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
  const { kept = {}, lifetime = lifetimes.usual, shown, message } = demandObject(answer, 'a challenge');
  if (!Number.isInteger(lifetime) || Number(lifetime) < 1 || Number(lifetime) > lifetimes.longest) {
    throw new BadAnswer(`lifetime must be 1 to ${lifetimes.longest} whole seconds`);
  }
  return {
    kept: readKept(kept),
    lifetime: Number(lifetime),
    ...(shown !== undefined && { shown: readShown(shown) }),
    ...(message !== undefined && { message: readMessage(message, candidate, channels) }),
  };
}

function readKept(value: unknown): Challenge['kept'] {
  const kept = copyOf(demandObject(value, 'kept'), largest.kept, 'kept');
  const texts = Object.entries(kept).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (texts.length < Object.keys(kept).length) throw new BadAnswer('kept must hold texts only');
  return Object.fromEntries(texts);
}

function readShown(value: unknown): NonNullable<Challenge['shown']> {
  const { type, ...others } = copyOf(demandObject(value, 'shown'), largest.shown, 'shown');
  if (typeof type !== 'string') throw new BadAnswer('shown needs a type');
  return { ...others, type };
}

/** Goes to the user's own address: a plug-in names no other. */
function readMessage(
  value: unknown,
  candidate: Candidate | undefined,
  channels: GuardOptions['channels'],
): CodeMessage {
  const { channel: asked, code } = demandObject(value, 'message');
  const channel = channels.find((known) => known === asked);
  if (channel === undefined) throw new BadAnswer('message.channel is none that is configured here');
  if (typeof code !== 'string' || !/^[A-Za-z0-9-]{4,32}$/.test(code))
    throw new BadAnswer('message.code is not as described');
  return { channel, code, recipient: channel === 'sms' ? candidate?.phone : candidate?.email };
}

function readNamed(answer: unknown): NamedUser | undefined {
  if (answer === undefined || answer === null) return undefined;
  const { userId, isMultiFactor } = demandObject(answer, 'who it is');
  const id = typeof userId === 'string' ? parseId(userId) : undefined;
  return id === undefined ? undefined : { userId: id, isMultiFactor: isMultiFactor === true };
}

function demandObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadAnswer(`${what} must be an object`);
  return value as Readonly<Record<string, unknown>>;
}

/** As it will come back from the database: only what JSON can hold, and no more than so many bytes. */
function copyOf(value: object, bytes: number, what: string): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > bytes) throw new BadAnswer(`${what} may take at most ${bytes} bytes`);
  // PostgreSQL takes neither; halves of a pair are the only others that JSON.stringify escapes.
  if (/\\u(?:0000|d[89a-f])/.test(text)) throw new BadAnswer(`${what} must not hold NUL or half a character`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** An answer that is not as described, in words that hold nothing of it. */
class BadAnswer extends Error {}

/**
 * For the log. Of what is not known here nothing is read: it may hold the secret that it is about, and may throw. The thread
 * of a plug-in has said of it what may be said.
 */
function unavailable(name: string, error: unknown): Problem {
  const known = asKnown(error);
  if (known instanceof Problem) return known;
  const cause = new Error(`the authenticator ${name} failed: ${known?.message ?? 'Error'}`);
  const frames = known instanceof PluginFailure ? (known.stack ?? '').split('\n').slice(1) : [];
  cause.stack = [`Error: ${cause.message}`, ...frames].join('\n');
  return new Problem('authenticator_unavailable', { retryAfter: 5, cause });
}

function asKnown(error: unknown): Problem | BadAnswer | PluginFailure | TimeoutError | undefined {
  try {
    const isKnown =
      error instanceof Problem ||
      error instanceof BadAnswer ||
      error instanceof PluginFailure ||
      error instanceof TimeoutError;
    return isKnown ? error : undefined;
  } catch {
    // A proxy may throw when it is asked what it is.
    return undefined;
  }
}
