import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { sql } from '../../src/database/database.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, newPhone, passwordLogin, smsLogin } from '../support/people.js';

/**
 * Logins that fail for different reasons, interleaved, so that whatever else the machine does hits all of them alike.
 * The bound of the long form is the product's: over 300 samples, medians and tenth percentiles within 10 % or 5 ms of
 * each other. The short form still sees a hash that is missing, which is what an oracle would be made of.
 */
const isLong = process.env.FAULTS === 'long';
const samples = isLong ? 300 : 40;
const tolerance = isLong ? { part: 0.1, milliseconds: 5 } : { part: 0.6, milliseconds: 15 };
/** Beside other tests only the quickest of the samples still shows what work was done. */
const quantiles = isLong ? [0.1, 0.5] : [0];

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000000', GUESS_LIMIT_PERMANENT: '0' },
    LOG_LEVEL: 'silent',
  });
});
afterAll(() => postern.close());

/** Milliseconds of each of the requests, interleaved. */
async function measure(kinds: Readonly<Record<string, () => Promise<unknown>>>): Promise<Map<string, number[]>> {
  const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]));
  // The first of each prepares statements and opens connections.
  for (const request of Object.values(kinds)) for (let warm = 0; warm < 10; warm += 1) await request();
  for (let sample = 0; sample < samples; sample += 1) {
    for (const [kind, request] of shuffled(Object.entries(kinds))) {
      const start = performance.now();
      await request();
      times.get(kind)?.push(performance.now() - start);
    }
  }
  return times;
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

function expectAlike(times: ReadonlyMap<string, number[]>): void {
  for (const part of quantiles) {
    const figures = [...times].map(([kind, values]) => ({ kind, time: quantile(values, part) }));
    const least = Math.min(...figures.map(({ time }) => time));
    for (const { kind, time } of figures) {
      expect(time - least, `${kind}, quantile ${part}: ${JSON.stringify(figures)}`).toBeLessThanOrEqual(
        Math.max(tolerance.milliseconds, least * tolerance.part),
      );
    }
  }
}

const post = (path: string, body: object) => postern.api<Authentication>('POST', path, { body });

test('step 1 takes the same time for unknown, deactivated, passwordless, wrong secret and wrong PIN', {
  timeout: 180_000,
}, async () => {
  const known = await createUser(postern, { pin: '2468' });
  const deactivated = await createUser(postern, { pin: '2468' });
  await postern.api('PATCH', `/admin/v1/users/${deactivated.id}`, {
    bearer: postern.adminKey,
    body: { status: 'deactivated' },
  });
  const passwordless = await createUser(postern, { password: undefined });
  const login = (username: string | null, secret?: string) => () =>
    post('/v1/tokens', { ...passwordLogin(username, secret), pin: '1357' });
  expectAlike(
    await measure({
      unknown: login('nobody-at-all'),
      deactivated: login(deactivated.username),
      passwordless: login(passwordless.username),
      wrongSecret: login(known.username, 'not the password'),
      wrongPin: login(known.username),
    }),
  );
});

test('a two-step start takes the same time for a known and an unknown number', { timeout: 600_000 }, async () => {
  const { phone } = await createUser(postern, { phone: newPhone() });
  const unknown = newPhone();
  const start = (number: string | null) => async () => {
    await postern.database.query(sql('delete from message_limits'));
    expect((await post('/v1/tokens', smsLogin(number))).status).toBe(201);
  };
  expectAlike(await measure({ known: start(phone), unknown: start(unknown) }));
});

test('step 2 takes the same time for a wrong code of a known and of an unknown number', {
  timeout: 180_000,
}, async () => {
  const { phone } = await createUser(postern, { phone: newPhone(), pin: '2468' });
  const open = async (number: string | null) => {
    const { body } = await post('/v1/tokens', smsLogin(number));
    await postern.database.query(sql('delete from message_limits'));
    return body.id;
  };
  const [known, unknown] = [await open(phone), await open(newPhone())];
  const answer = (id: string) => async () => {
    // So that every guess is evaluated.
    await postern.database.query(sql('update authentications set guesses = 0'));
    const { status } = await post(`/v1/tokens/${id}/secret`, { secret: 'abcdef', pin: '1357' });
    expect(status).toBe(400);
  };
  expectAlike(await measure({ known: answer(known), unknown: answer(unknown) }));
});

test('an imported hash that costs more is not told by the time of a failed login', { timeout: 600_000 }, async () => {
  const dear = await hash('an imported password', { algorithm: 2, memoryCost: 32_768, timeCost: 3, parallelism: 1 });
  const imported = await createUser(postern, { password: undefined, password_hash: dear });
  const usual = await createUser(postern);
  const login = (username: string | null) => () => post('/v1/tokens', passwordLogin(username, 'not the password'));
  expectAlike(
    await measure({
      imported: login(imported.username),
      usual: login(usual.username),
      unknown: login('nobody-at-all'),
    }),
  );
});
