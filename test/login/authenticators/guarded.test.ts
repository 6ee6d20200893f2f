import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AccountUser } from '../../../src/identities/accounts.js';
import { Problem } from '../../../src/lib/problem.js';
import type { SingleStep, TwoStep, UserIdentifying } from '../../../src/login/authenticators/authenticator.js';
import { type GuardOptions, guardPlugin } from '../../../src/login/authenticators/guarded.js';
import type { Plugin, PluginUser } from '../../../src/login/authenticators/plugin.js';

const user: AccountUser = {
  userId: randomUUID(),
  username: 'ada',
  email: 'ada@example.com',
  phone: '+15551234567',
  locale: 'en',
  role: 'user',
  epoch: 0,
  passwordHash: 'a hash',
  pinHash: 'another',
  lock: undefined,
  nextPinIsDue: false,
  onlyPinChangesPin: false,
  hasTotp: false,
  hasPasskey: false,
  secondFactorPolicy: undefined,
};
/** What plug-ins get of this user. */
const visibleUser: PluginUser = {
  id: user.userId,
  username: 'ada',
  email: 'ada@example.com',
  phone: '+15551234567',
  locale: 'en',
};
const options: GuardOptions = { channels: ['sms'], tickMs: 20, timeoutMs: 100 };

/** Guards a plug-in of any type: JavaScript can export anything. */
const guarded = (plugin: object) => guardPlugin(plugin as Plugin, options);
const singleStep = (verify: (...given: unknown[]) => unknown) =>
  guarded({ name: 'single', steps: 1, verify }) as SingleStep;
const twoSteps = (begin: (...given: unknown[]) => unknown, verify: (...given: unknown[]) => unknown = () => false) =>
  guarded({ name: 'double', steps: 2, begin, verify }) as TwoStep;

const throwSecret = (): never => {
  throw new Error('my secret');
};
/** A value whose members throw an error with the secret when they are read. */
const throwingProxyOf = (target: object) => new Proxy(target, { get: throwSecret, getPrototypeOf: throwSecret });
/** Values that a plug-in may throw: they contain the secret, or throw it when they are read, or are no errors. */
const hostile: unknown[] = [
  Object.assign(new Error(), { name: 'my secret' }),
  Object.assign(new Error(), { stack: 'Error\n    at my secret (file:///x.js:1:1)' }),
  Object.defineProperty(new Error(), 'name', { get: throwSecret }),
  Object.defineProperty(new Error(), 'stack', { get: throwSecret }),
  throwingProxyOf(new Error('my secret')),
  throwingProxyOf({}),
  null,
  undefined,
];

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => expect.unreachable('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw error;
  expect(error.code).toBe('authenticator_unavailable');
  expect(error.options.retryAfter).toBeGreaterThan(0);
  return error;
}

describe('the verdict of a plug-in', () => {
  test('approves by exactly true, returned directly or by a promise', async () => {
    for (const answer of [true, Promise.resolve(true)]) {
      expect(await singleStep(() => answer).verify(user, 'x', 'an id')).toBe(true);
    }
    const others = [false, undefined, null, 1, 'true', {}, [], new Boolean(true), { approved: true }, () => true];
    for (const answer of others) expect(await singleStep(() => answer).verify(user, 'x', 'an id')).toBe(false);
    const begin = () => ({});
    const answered = { state: {}, authenticationId: randomUUID(), secret: 'x', origin: { actor: 'user' } };
    expect(await twoSteps(begin, () => true).verify(answered, user)).toBe(true);
    for (const answer of others) expect(await twoSteps(begin, () => answer).verify(answered, user)).toBe(false);
  });

  test('is requested with only the id, the identities and the language of the user: without hashes, roles and locks', async () => {
    const seen: unknown[] = [];
    const note = (...given: unknown[]) => {
      seen.push(...given);
      return {};
    };
    await singleStep(note).verify(user, 'x', 'an id');
    await singleStep(note).verify(undefined, 'x', 'an id');
    await twoSteps(note).begin(user, 'an id');
    expect(seen).toEqual([visibleUser, 'x', 'an id', undefined, 'x', 'an id', visibleUser, 'an id']);
  });

  test('is a failure after an error or a timeout, and the log contains nothing of the secret', async () => {
    const problems = [
      await problemOf(singleStep(throwSecret).verify(user, 'my secret', '')),
      await problemOf(singleStep(() => Promise.reject('my secret')).verify(user, 'my secret', '')),
      await problemOf(singleStep(() => new Promise(() => undefined)).verify(user, 'my secret', '')),
      ...(await Promise.all(
        hostile.map((thrown) => problemOf(singleStep(() => Promise.reject(thrown)).verify(user, '', ''))),
      )),
    ];
    const causes = problems.map(({ options }) => options.cause as Error);
    for (const { message, stack } of causes) {
      expect(message).toMatch(/^the authenticator single failed: \w+$/);
      expect(`${message} ${stack}`).not.toContain('my secret');
    }
    expect(causes[2]?.message).toContain('TimeoutError');
  });
});

describe('a challenge of a plug-in', () => {
  test('keeps strings, shows JSON, and lasts five minutes by default', async () => {
    expect(await twoSteps(() => ({})).begin(user, '')).toEqual({ state: {}, lifetime: 300 });
    const [state, clientChallenge] = [{ a: 'b' }, { type: 'map', at: [1, { x: null }] }];
    const challenge = { kept: state, lifetime: 600, shown: clientChallenge, more: 1 };
    expect(await twoSteps(() => challenge).begin(user, '')).toEqual({ state, lifetime: 600, clientChallenge });
  });

  test.each([
    ['nothing', undefined],
    ['a list', []],
    ['a number in `kept`', { kept: { a: 1 } }],
    ['an object in `kept`', { kept: { a: { b: 'c' } } }],
    ['too much text in `kept`', { kept: { a: 'é'.repeat(2048) } }],
    ['NUL in `kept`', { kept: { a: '\0' } }],
    ['half a character in `kept`', { kept: { a: '\ud800' } }],
    ['a fraction as its lifetime', { lifetime: 1.5 }],
    ['a lifetime of 0', { lifetime: 0 }],
    ['a longer lifetime than a login has', { lifetime: 601 }],
    ['a text as its lifetime', { lifetime: '300' }],
    ['no type in `shown`', { shown: { nonce: 'x' } }],
    ['too much text in `shown`', { shown: { type: 'x', text: 'x'.repeat(16_384) } }],
    ['a value in `shown` that JSON does not have', { shown: { type: 'x', number: 1n } }],
    ['an unknown channel', { message: { channel: 'pigeon', code: '123456' } }],
    ['a channel that is not configured', { message: { channel: 'email', code: '123456' } }],
    ['a code with characters that are not allowed', { message: { channel: 'sms', code: 'http://evil.example' } }],
    ['a message without a code', { message: { channel: 'sms' } }],
  ])('with %s starts no login', async (_what, challenge) => {
    await problemOf(twoSteps(() => challenge).begin(user, ''));
  });

  test("sends a message to the user's own number only, and to nobody for an unknown user", async () => {
    const message = { channel: 'sms', code: 'ABC-123', recipient: '+15550000000' };
    const plugin = twoSteps(() => ({ message }));
    expect((await plugin.begin(user, '')).message).toEqual({ channel: 'sms', code: 'ABC-123', recipient: user.phone });
    expect((await plugin.begin(undefined, '')).message?.recipient).toBeUndefined();
  });
});

describe('the user that a plug-in identifies', () => {
  const naming = (answer: unknown) =>
    guarded({
      name: 'naming',
      steps: 2,
      namesUser: true,
      begin: () => ({}),
      identify: () => answer,
    }) as UserIdentifying;
  const answered = { state: {}, authenticationId: randomUUID(), secret: 'x', origin: { actor: 'user' } };

  test('is found by id, and two factors count only if isMultiFactor is exactly true', async () => {
    const { userId } = user;
    expect(await naming({ userId }).identify(answered)).toEqual({ userId, isMultiFactor: false });
    expect(await naming({ userId, isMultiFactor: 1 }).identify(answered)).toEqual({ userId, isMultiFactor: false });
    expect(await naming({ userId, isMultiFactor: true }).identify(answered)).toEqual({ userId, isMultiFactor: true });
    for (const answer of [undefined, null, {}, { userId: 7 }, { userId: 'ada' }]) {
      expect(await naming(answer).identify(answered)).toBeUndefined();
    }
    await problemOf(naming(true).identify(answered));
  });
});
