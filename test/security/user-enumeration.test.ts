import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recordServiceEvent } from '../../src/audit/events.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { ApiAnswer } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { type ComparedApp, isLong, startComparedApp } from '../support/timing.js';
import { codeLogins, createUser, newPhone, passwordLogin, smsLogin } from '../support/users.js';

let postern: ComparedApp;
beforeAll(async () => {
  postern = await startComparedApp({ REGISTRATION: 'on', SMS_LIMIT_PER_PREFIX: '0', SMS_LIMIT_TOTAL: '0' });
});
afterAll(() => postern.close());

const post = (path: string, body: object) => postern.api<Authentication>('POST', path, { body });

async function fixCode(identity: object): Promise<void> {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const { status } = await postern.api('POST', '/admin/v1/test-identities', {
    bearer: postern.adminKey,
    body: { identity, expires_at },
  });
  expect(status).toBe(201);
}

test('a login by password takes the same time for unknown, deactivated and passwordless users, a wrong secret and a wrong PIN', async () => {
  const known = await createUser(postern, { pin: '2468' });
  const deactivated = await createUser(postern, { pin: '2468' });
  await postern.api('PATCH', `/admin/v1/users/${deactivated.id}`, {
    bearer: postern.adminKey,
    body: { status: 'deactivated' },
  });
  const passwordless = await createUser(postern, { password: undefined });
  const login = (username: string | null, secret?: string) => () =>
    post('/v1/tokens', { ...passwordLogin(username, secret), pin: '1357' });
  await postern.expectAlike(
    {
      unknown: login('nobody-at-all'),
      deactivated: login(deactivated.username),
      passwordless: login(passwordless.username),
      wrongSecret: login(known.username, 'not the password'),
      wrongPin: login(known.username),
    },
    ['verify', 'verify'],
  );
});

test.each(codeLogins)(
  'the start of a login by $authenticator takes the same time for a known, an unknown, an unproven and a test identity',
  async ({ field, newAddress, loginOf }) => {
    const user = await createUser(postern, { [field]: newAddress() });
    const unknown = newAddress();
    const start = (address: string | null) => async () => {
      await postern.database.query(testSql('delete from message_limits'));
      expect((await post('/v1/tokens', loginOf(address))).status).toBe(201);
    };
    const testUser = await createUser(postern, { [field]: newAddress() });
    await fixCode({ type: field, value: testUser[field] });
    const unproven = await createUser(postern, { [field]: newAddress(), [`${field}_verified`]: false });
    const starts = {
      known: start(user[field]),
      unknown: start(unknown),
      unproven: start(unproven[field]),
      testIdentity: start(testUser[field]),
    };
    await postern.expectAlike(starts, []);
  },
);

test.each(codeLogins)(
  'the start of a login by $authenticator that may sign up takes the same time for every address',
  async ({ field, newAddress, loginOf }) => {
    const make = async (more: object = {}) => createUser(postern, { [field]: newAddress(), ...more });
    const deactivated = await make();
    const body = { status: 'deactivated' };
    await postern.api('PATCH', `/admin/v1/users/${deactivated.id}`, { bearer: postern.adminKey, body });
    const unknown = newAddress();
    const start = (address: string | null) => async () => {
      await postern.database.query(testSql('delete from message_limits'));
      expect((await post('/v1/tokens', { ...loginOf(address), sign_up: true })).status).toBe(201);
    };
    await postern.expectAlike(
      {
        known: start((await make())[field]),
        unknown: start(unknown),
        unproven: start((await make({ [`${field}_verified`]: false }))[field]),
        deactivated: start(deactivated[field]),
      },
      [],
    );
  },
);

test('step 2 of a login that may sign up takes the same time for a wrong code of every address', async () => {
  const open = async (phone: string | null) => {
    const { body } = await post('/v1/tokens', { ...smsLogin(phone), sign_up: true });
    await postern.database.query(testSql('delete from message_limits'));
    return body.id;
  };
  const known = await open((await createUser(postern, { phone: newPhone(), pin: '2468' })).phone);
  const unproven = await open((await createUser(postern, { phone: newPhone(), phone_verified: false })).phone);
  const unknown = await open(newPhone());
  const answer = (id: string) => async () => {
    await postern.database.query(testSql('update authentications set guesses = 0'));
    expect((await post(`/v1/tokens/${id}/secret`, { secret: 'abcdef', pin: '1357' })).status).toBe(400);
  };
  await postern.expectAlike({ known: answer(known), unknown: answer(unknown), unproven: answer(unproven) }, ['verify']);
});

test('the start of a login by sms takes the same time and gets the same answer whether the code is sent or refused', async () => {
  // Each kind has another prefix, so that only one of them reaches the limit of its prefix.
  // More than the comparison sends to a prefix.
  const limit = isLong ? 350 : 20;
  const env = { SMS_COUNTRIES: 'US', SMS_LIMIT_PER_PREFIX: String(limit) };
  const app = await startComparedApp(env);
  onTestFinished(() => app.close());
  const numbers = {
    sent: '+12125550101',
    otherCountry: '+33612345678',
    pausedPrefix: '+14155550101',
    limitedPrefix: '+13035550101',
    unknown: '+16175550101',
  };
  for (const [kind, phone] of Object.entries(numbers))
    if (kind !== 'unknown') await createUser(app, { phone, password: undefined });
  const start = async (phone: string) => {
    await app.database.query(testSql('delete from message_limits'));
    const { status, body } = await app.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
    return { status, members: Object.keys(body), state: body.status, error: body.error_code };
  };
  await app.database.transaction((tx) =>
    recordServiceEvent(tx, {
      type: 'sms.prefix_paused',
      origin: { actor: 'system' },
      data: { prefix: numbers.pausedPrefix.slice(0, 7) },
    }),
  );
  for (let count = 0; count < limit; count += 1) await start(numbers.limitedPrefix);
  const stateOf = async (phone: string) => {
    const rows = await app.database.query<{ state: string; last_error: string | null }>(
      testSql('select state, last_error from outbox where recipient = $1 order by created_at desc limit 1', [phone]),
    );
    return ['queued', 'sending'].includes(rows[0]?.state ?? 'queued') ? undefined : rows[0];
  };
  const answers = [];
  for (const phone of Object.values(numbers)) answers.push(await start(phone));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect((await eventually('the code', () => stateOf(numbers.sent))).state).toBe('sent');
  for (const phone of [numbers.otherCountry, numbers.pausedPrefix])
    expect((await eventually('the refusal', () => stateOf(phone))).state).toBe('dropped');
  await app.expectAlike(
    Object.fromEntries(Object.entries(numbers).map(([kind, phone]) => [kind, () => start(phone)])),
    [],
  );
});

test('step 2 of a login takes the same time for a wrong code of a known, an unknown and a test number', async () => {
  const { phone } = await createUser(postern, { phone: newPhone(), pin: '2468' });
  const open = async (number: string | null) => {
    const { body } = await post('/v1/tokens', smsLogin(number));
    await postern.database.query(testSql('delete from message_limits'));
    return body.id;
  };
  const testUser = await createUser(postern, { phone: newPhone(), pin: '2468' });
  await fixCode({ type: 'phone', value: testUser.phone });
  const [known, unknown, testIdentity] = [await open(phone), await open(newPhone()), await open(testUser.phone)];
  const answer = (id: string) => async () => {
    // Resets the count, so that every guess is evaluated.
    await postern.database.query(testSql('update authentications set guesses = 0'));
    const { status } = await post(`/v1/tokens/${id}/secret`, { secret: 'abcdef', pin: '1357' });
    expect(status).toBe(400);
  };
  const answers = { known: answer(known), unknown: answer(unknown), testIdentity: answer(testIdentity) };
  await postern.expectAlike(answers, ['verify']);
});

test.each<[string, () => Promise<string>, hashesOfWrapping: 'verify'[]]>([
  [
    'argon2id',
    () => argon2('an imported password', { algorithm: 2, memoryCost: 32_768, timeCost: 3, parallelism: 1 }),
    [],
  ],
  ['bcrypt', () => bcrypt('an imported password', 10), []],
  ['bcrypt with a small cost, which is wrapped', () => bcrypt('an imported password', 9), ['verify']],
])('the time of a failed login does not show an expensive imported hash of %s', async (_, make, outer) => {
  await postern.database.query(testSql('delete from password_schemes'));
  const expensiveHash = await make();
  const imported = await createUser(postern, { password: undefined, password_hash: expensiveHash });
  const usual = await createUser(postern);
  const login = (username: string | null) => () => post('/v1/tokens', passwordLogin(username, 'not the password'));
  const logins = {
    imported: login(imported.username),
    usual: login(usual.username),
    unknown: login('nobody-at-all'),
  };
  await postern.expectAlike(logins, [...outer, 'verify', 'verify another scheme']);
});

describe('an account locked by guesses and an unknown identity', () => {
  let limited: ComparedApp;
  beforeAll(async () => {
    limited = await startComparedApp({ GUESS_LIMIT: '5', GUESS_LOCK: '30m', GUESS_LIMIT_PERMANENT: '100' });
  });
  afterAll(() => limited.close());

  const ask = (path: string, body: object) => limited.api('POST', path, { body });
  const guess = (username: string | null) => () => ask('/v1/tokens', passwordLogin(username, 'not the password'));
  /** Sets the count of wrong secrets of every guessed account. */
  const setFailures = (failures: number) =>
    limited.database.query(
      testSql(`update guess_budgets set failures = $1, total_failures = $1, locks = 0, locked_until = null`, [
        failures,
      ]),
    );

  /** What two responses must have in common: everything except new values and the seconds between them. */
  function shapeOf({ status, headers, body }: ApiAnswer<Record<string, unknown>>) {
    const fresh = new Set(['id', 'device_id', 'request_id', 'created_at', 'updated_at', 'expires_at']);
    const shape = JSON.parse(JSON.stringify(body, (key, value) => (fresh.has(key) ? typeof value : value))) as object;
    const { date: _, 'request-id': __, 'retry-after': seconds, ...others } = headers;
    return { status, shape, others, retries: seconds === undefined ? undefined : Math.round(Number(seconds) / 60) };
  }

  test('get the same responses before, at and after the lock', async () => {
    const known = await createUser(limited);
    const phone = (await createUser(limited, { phone: newPhone() })).phone;
    const guessPasswords = async (username: string | null) => {
      const answers = [];
      for (let count = 0; count < 7; count += 1) answers.push(shapeOf(await guess(username)()));
      return answers;
    };
    const ofKnown = await guessPasswords(known.username);
    expect(ofKnown.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 423, 423]);
    expect(await guessPasswords('nobody-to-lock')).toEqual(ofKnown);

    const guessCodes = async (number: string | null) => {
      const { body } = await ask('/v1/tokens', smsLogin(number));
      const answers = [];
      for (let count = 0; count < 7; count += 1) {
        answers.push(shapeOf(await ask(`/v1/tokens/${body.id}/secret`, { secret: 'abcdef', pin: '1357' })));
      }
      return answers;
    };
    const ofPhone = await guessCodes(phone);
    expect(ofPhone.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 423, 423]);
    expect(await guessCodes(newPhone())).toEqual(ofPhone);
  });

  test('take the same time for the secret that locks', async () => {
    const { username } = await createUser(limited);
    const lock = (name: string | null) => async () => {
      await setFailures(4);
      expect((await guess(name)()).status).toBe(201);
    };
    await limited.expectAlike({ known: lock(username), unknown: lock('nobody-at-the-lock') }, ['verify']);
  });

  test('take the same time while they are locked', async () => {
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
    await limited.expectAlike({ known: locked(names.known), unknown: locked(names.unknown) }, []);
    await limited.expectAlike({ known: locked(codes.known), unknown: locked(codes.unknown) }, []);
  });
});
