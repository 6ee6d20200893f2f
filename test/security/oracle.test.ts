import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/authentication/passwords.js';
import type { Authentication } from '../../src/contract/authentication.js';
import { sql } from '../../src/database/database.js';
import { type ApiAnswer, startTestApp, type TestApp } from '../support/app.js';
import { codeLogins, createUser, newPhone, passwordLogin, smsLogin } from '../support/people.js';

/**
 * Logins that fail for different reasons, interleaved, so that whatever else the machine does hits all of them alike.
 * The bound of the long form is the product's: over 300 samples, medians and tenth percentiles within 10 % or 5 ms of
 * each other. The short form still sees a hash that is missing, which is what an oracle would be made of: its bound is
 * a little under one.
 */
const isLong = process.env.FAULTS === 'long';
const samples = isLong ? 300 : 40;
const rounds = isLong ? 1 : 8;
let tolerance = { part: 0.1, milliseconds: 5 };
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

/** Of the short form: a little under what verifying such a hash takes here and now. */
async function nearlyOne(stored: string | undefined): Promise<number> {
  const hasher = createPasswordHasher();
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const start = performance.now();
    await hasher.verify(stored, '');
    times.push(performance.now() - start);
  }
  return 0.9 * Math.min(...times);
}

beforeAll(async () => {
  if (!isLong) tolerance = { part: 0.1, milliseconds: await nearlyOne(undefined) };
});

type Times = ReadonlyMap<string, number[]>;

/**
 * Sends the requests interleaved and compares what they took. Of the short form only the quickest sample of each counts,
 * and that gets nearer to the work that was done with every further one, however busy the machine is: so it goes on for a
 * while as long as they differ. What differs by a hash differs the more plainly.
 */
async function expectAlike(kinds: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const times: Times = new Map(Object.keys(kinds).map((kind) => [kind, []]));
  // The first of each prepares statements and opens connections.
  for (const request of Object.values(kinds)) for (let warm = 0; warm < 10; warm += 1) await request();
  for (let round = 0; round < rounds; round += 1) {
    for (let sample = 0; sample < samples; sample += 1) {
      for (const [kind, request] of shuffled(Object.entries(kinds))) {
        const start = performance.now();
        await request();
        times.get(kind)?.push(performance.now() - start);
      }
    }
    if (differences(times).length === 0) break;
  }
  expect(differences(times)).toEqual([]);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

/** Which kinds took longer than the quickest one by more than is tolerated. */
function differences(times: Times): string[] {
  return quantiles.flatMap((part) => {
    const figures = [...times].map(([kind, values]) => ({ kind, time: quantile(values, part) }));
    const least = Math.min(...figures.map(({ time }) => time));
    const most = least + Math.max(tolerance.milliseconds, least * tolerance.part);
    return figures
      .filter(({ time }) => time > most)
      .map(({ kind }) => `${kind}, quantile ${part}: ${JSON.stringify(figures)}`);
  });
}

const post = (path: string, body: object) => postern.api<Authentication>('POST', path, { body });

test('step 1 takes the same time for unknown, deactivated, passwordless, wrong secret and wrong PIN', {
  timeout: 600_000,
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
  await expectAlike({
    unknown: login('nobody-at-all'),
    deactivated: login(deactivated.username),
    passwordless: login(passwordless.username),
    wrongSecret: login(known.username, 'not the password'),
    wrongPin: login(known.username),
  });
});

test.each(codeLogins)(
  'a two-step start by $authenticator takes the same time for a known and an unknown identity',
  {
    timeout: 600_000,
  },
  async ({ field, newAddress, loginOf }) => {
    const user = await createUser(postern, { [field]: newAddress() });
    const unknown = newAddress();
    const start = (address: string | null) => async () => {
      await postern.database.query(sql('delete from message_limits'));
      expect((await post('/v1/tokens', loginOf(address))).status).toBe(201);
    };
    await expectAlike({ known: start(user[field]), unknown: start(unknown) });
  },
);

test('step 2 takes the same time for a wrong code of a known and of an unknown number', {
  timeout: 600_000,
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
  await expectAlike({ known: answer(known), unknown: answer(unknown) });
});

test.each([
  ['argon2id', () => argon2('an imported password', { algorithm: 2, memoryCost: 32_768, timeCost: 3, parallelism: 1 })],
  ['bcrypt', () => bcrypt('an imported password', 9)],
])(
  'an imported hash of %s that costs more is not told by the time of a failed login',
  { timeout: 600_000 },
  async (_, make) => {
    const dear = await make();
    const imported = await createUser(postern, { password: undefined, password_hash: dear });
    const usual = await createUser(postern);
    const login = (username: string | null) => () => post('/v1/tokens', passwordLogin(username, 'not the password'));
    // What may be missing here is the dear one.
    if (!isLong) tolerance = { part: 0.1, milliseconds: await nearlyOne(dear) };
    await expectAlike({
      imported: login(imported.username),
      usual: login(usual.username),
      unknown: login('nobody-at-all'),
    });
  },
);

describe('an account that wrong secrets lock and an identity that names nobody', () => {
  let limited: TestApp;
  beforeAll(async () => {
    limited = await startTestApp({
      ...{ LOGIN_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_ADDRESS: '0', GUESS_LOCK: '30m', LOG_LEVEL: 'silent' },
    });
  });
  afterAll(() => limited.close());

  const ask = (path: string, body: object) => limited.api('POST', path, { body });
  const guess = (username: string | null) => () => ask('/v1/tokens', passwordLogin(username, 'not the password'));
  /** As after so many wrong secrets, for everybody who has given one. */
  const setFailures = (failures: number) =>
    limited.database.query(
      sql(`update guess_budgets set failures = $1, total_failures = $1, locks = 0, locked_until = null`),
      [failures],
    );

  /** What two answers must share: all but what is new in each, and the seconds that pass between them. */
  function shapeOf({ status, headers, body }: ApiAnswer<Record<string, unknown>>) {
    const fresh = new Set(['id', 'device_id', 'request_id', 'created_at', 'updated_at', 'expires_at']);
    const shape = JSON.parse(JSON.stringify(body, (key, value) => (fresh.has(key) ? typeof value : value))) as object;
    const { date: _, 'request-id': __, 'retry-after': seconds, ...others } = headers;
    return { status, shape, others, retries: seconds === undefined ? undefined : Math.round(Number(seconds) / 60) };
  }

  test('answer alike up to the lock, at the lock and behind it', async () => {
    const known = await createUser(limited);
    const phone = (await createUser(limited, { phone: newPhone() })).phone;
    const passwords = async (username: string | null) => {
      const answers = [];
      for (let count = 0; count < 7; count += 1) answers.push(shapeOf(await guess(username)()));
      return answers;
    };
    const ofKnown = await passwords(known.username);
    expect(ofKnown.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 423, 423]);
    expect(await passwords('nobody-to-lock')).toEqual(ofKnown);

    const codes = async (number: string | null) => {
      const { body } = await ask('/v1/tokens', smsLogin(number));
      const answers = [];
      for (let count = 0; count < 7; count += 1) {
        answers.push(shapeOf(await ask(`/v1/tokens/${body.id}/secret`, { secret: 'abcdef', pin: '1357' })));
      }
      return answers;
    };
    const ofPhone = await codes(phone);
    expect(ofPhone.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 423, 423]);
    expect(await codes(newPhone())).toEqual(ofPhone);
  });

  test('take the same time for the secret that locks', { timeout: 600_000 }, async () => {
    const { username } = await createUser(limited);
    const lock = (name: string | null) => async () => {
      await setFailures(4);
      expect((await guess(name)()).status).toBe(201);
    };
    await expectAlike({ known: lock(username), unknown: lock('nobody-at-the-lock') });
  });

  test('take the same time while they are locked', { timeout: 600_000 }, async () => {
    const { username } = await createUser(limited);
    const { phone } = await createUser(limited, { phone: newPhone() });
    const step2 = async (number: string | null) => {
      const { body } = await ask('/v1/tokens', smsLogin(number));
      return () => ask(`/v1/tokens/${body.id}/secret`, { secret: 'abcdef', pin: '1357' });
    };
    const [ofPhone, ofNobody] = [await step2(phone), await step2(newPhone())];
    const names = { known: guess(username), unknown: guess('nobody-behind-the-lock') };
    const codes = { known: ofPhone, unknown: ofNobody };
    for (const request of [...Object.values(names), ...Object.values(codes)]) {
      for (let count = 0; count < 5; count += 1) await request();
    }
    const locked = (request: () => Promise<{ status: number }>) => async () =>
      expect((await request()).status).toBe(423);
    await expectAlike({ known: locked(names.known), unknown: locked(names.unknown) });
    await expectAlike({ known: locked(codes.known), unknown: locked(codes.unknown) });
  });
});
