import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  createAccount,
  createLogin,
  createPostern,
  memoryStorage,
  startRecovery,
  startRegistration,
} from '../../packages/client/src/index.js';
import { bytesOf, sha256 } from '../../packages/client/src/sha256.js';
import { codeTo } from '../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { createUser, newEmail, newPhone, password, signIn } from '../support/users.js';

/** HUMAN_CHECK: a proof of work before codes and guests. */

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ HUMAN_CHECK: 'altcha', REGISTRATION: 'on', GUESTS: 'on', PIN_POLICY: 'off', TRUST_PROXY: '127.0.0.1' },
    ...{ SMS_LIMIT_TOTAL: '100', SMS_LIMIT_PER_PREFIX: '50' },
  });
});
afterAll(() => postern.close());

interface Challenge {
  readonly algorithm: string;
  readonly challenge: string;
  readonly maxnumber: number;
  readonly salt: string;
  readonly signature: string;
}
type Refusal = ProblemAnswer & {
  readonly id?: string;
  readonly human_check?: { readonly type: string; readonly challenge: Challenge };
};

let last = 0;
const from = () => {
  last += 1;
  return { 'x-forwarded-for': `10.9.${last >> 8}.${last & 255}` };
};
const post = (path: string, body: object, headers = from(), app = postern) =>
  app.api<Refusal>('POST', path, { body, headers });

function solutionOf({ algorithm, challenge, maxnumber, salt, signature }: Challenge, wrong = false): string {
  for (let number = 0; number <= maxnumber; number += 1) {
    const isRight = hash('sha256', `${salt}${number}`) === challenge;
    if (isRight !== wrong)
      return Buffer.from(JSON.stringify({ algorithm, challenge, number, salt, signature })).toString('base64');
  }
  throw new Error('there is no solution');
}

const email = (value = newEmail()) => ({ type: 'email', value });
const flows = {
  registration: () => ['/v1/registrations', { identity: email() }],
  recovery: () => ['/v1/recoveries', { identity: email(), purpose: 'password' }],
  'login by mail': () => ['/v1/tokens', { identity: email(), authenticator: 'email', device: {} }],
  'login by SMS': () => [
    '/v1/tokens',
    { identity: { type: 'phone', value: newPhone() }, authenticator: 'sms', device: { id: randomUUID() } },
  ],
  'sign-up': () => ['/v1/tokens', { identity: email(), authenticator: 'email', device: {}, sign_up: true }],
  guest: () => ['/v1/tokens', { authenticator: 'guest', device: {} }],
} satisfies Record<string, () => [string, object]>;

async function challengeFor(path: string, body: object, app = postern): Promise<Challenge> {
  const { status, body: refusal } = await post(path, body, from(), app);
  expect([status, refusal.errors[0]?.code, refusal.human_check?.type]).toEqual([422, 'human_check_required', 'altcha']);
  if (refusal.human_check === undefined) throw new Error('no challenge');
  return refusal.human_check.challenge;
}

describe.each(Object.entries(flows))('%s', (name, flow) => {
  test('needs a solution, which is accepted once, also for parallel requests', async () => {
    const [path, body] = flow();
    const solution = solutionOf(await challengeFor(path, body));
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(path, { ...body, human_check: solution })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    // The limit of codes to the address is reached, or the solution was used.
    for (const { status } of answers) expect([201, 422, 429]).toContain(status);
  });

  test('refuses a wrong solution, one for another request, and rubbish', async () => {
    const [path, body] = flow();
    const challenge = await challengeFor(path, body);
    const [otherPath, otherBody] = flows[path === '/v1/registrations' ? 'recovery' : 'registration']();
    const foreign = solutionOf(await challengeFor(otherPath, otherBody));
    const right = JSON.parse(Buffer.from(solutionOf(challenge), 'base64').toString()) as Challenge & { number: number };
    const token = (change: object) => Buffer.from(JSON.stringify({ ...right, ...change })).toString('base64');
    const later = right.salt.replace(/\d+$/, (time) => `${Number(time) + 600}`);
    const rubbish = [
      ...['x', '%%%', Buffer.from('[]').toString('base64')],
      ...[token({ number: `${right.number}` }), token({ number: -1 }), token({ algorithm: 'SHA-1' })],
      ...[token({ salt: later }), token({ signature: '0'.repeat(64) }), token({ challenge: '0'.repeat(64) })],
    ];
    // All flows check solutions with the same function, so two flows get each of these texts.
    const place = Object.keys(flows).indexOf(name);
    const tokens = [solutionOf(challenge, true), foreign, ...rubbish.filter((_, index) => index % 3 === place % 3)];
    const address = from();
    const events = () => postern.logged.filter((line) => line.includes(`"${address['x-forwarded-for']}"`));
    // A request without a solution is no attack.
    expect((await post(path, body, address)).status).toBe(422);
    expect(events()).toEqual([]);
    for (const human_check of tokens) expect((await post(path, { ...body, human_check }, address)).status).toBe(422);
    expect(events()).toHaveLength(1);
    expect(events()[0]).toContain('"security_event":"human_check_required"');
    expect((await post(path, { ...body, human_check: token({}) })).status).toBe(201);
  });
});

test('the order is validation, limits, check; a refused request takes no part of a limit', async () => {
  const invalid = await post('/v1/registrations', { identity: { type: 'email', value: 'x' } });
  expect([invalid.status, invalid.body.errors[0]?.code]).toEqual([422, 'invalid_identity']);
  const identity = email();
  const headers = from();
  for (let n = 0; n < 40; n += 1) expect((await post('/v1/registrations', { identity }, headers)).status).toBe(422);
  const rows = await postern.database.query(testSql('select from outbox where recipient = $1', [identity.value]));
  expect(rows).toEqual([]);
  const human_check = solutionOf(await challengeFor('/v1/registrations', { identity }));
  expect((await post('/v1/registrations', { identity, human_check }, headers)).status).toBe(201);
  // Now the limit of one code a minute comes first, and asks for no work.
  expect((await post('/v1/registrations', { identity }, headers)).status).toBe(429);
  // 20 guests an hour.
  for (let n = 0; n < 20; n += 1) {
    const refused = await post('/v1/tokens', { authenticator: 'guest', device: {} }, headers);
    const solution = solutionOf(refused.body.human_check?.challenge as Challenge);
    const body = { authenticator: 'guest', device: {}, human_check: solution };
    expect((await post('/v1/tokens', body, headers)).status).toBe(201);
  }
  expect((await post('/v1/tokens', { authenticator: 'guest', device: {} }, headers)).status).toBe(429);
});

test('a known device needs none, for its own user only', async () => {
  const [one, other] = [
    await createUser(postern, { email: newEmail() }),
    await createUser(postern, { email: newEmail() }),
  ];
  const { session } = await signIn(postern, one);
  const device = { id: session.device_id };
  const login = (value: string | null) => ({ identity: { type: 'email', value }, authenticator: 'email', device });
  expect((await post('/v1/tokens', login(one.email))).status).toBe(201);
  expect((await post('/v1/tokens', login(other.email))).status).toBe(422);
  expect((await post('/v1/tokens', login(newEmail()))).status).toBe(422);
  await postern.database.query(testSql('delete from message_limits'));
  const recovery = (value: string | null) => ({ identity: { type: 'email', value }, purpose: 'password', device });
  expect((await post('/v1/recoveries', recovery(one.email))).status).toBe(201);
  expect((await post('/v1/recoveries', recovery(other.email))).status).toBe(422);
});

test('known and unknown addresses get the same refusal', async () => {
  const { email: known } = await createUser(postern, { email: newEmail() });
  const shapes = [];
  for (const value of [known, newEmail()]) {
    const { status, body, headers } = await post('/v1/tokens', {
      identity: { type: 'email', value },
      authenticator: 'email',
      device: { id: randomUUID() },
    });
    const { request_id: _, human_check, ...rest } = body as Refusal & { request_id: string };
    shapes.push([
      status,
      Object.keys(headers).sort(),
      rest,
      Object.keys(human_check?.challenge ?? {}),
      human_check?.challenge.maxnumber,
    ]);
  }
  expect(shapes[1]).toEqual(shapes[0]);
});

test('the work grows as the limits of SMS fill, for requests that send an SMS only', async () => {
  await postern.database.query(testSql('delete from request_limits'));
  const limits = { SMS_LIMIT_TOTAL: '20', SMS_LIMIT_PER_PREFIX: '10' };
  const limited = await postern.another({ LOGIN_LIMIT_PER_ADDRESS: '0', ...limits });
  onTestFinished(() => limited.close());
  const workFor = async (path: string, body: object) => (await challengeFor(path, body, limited)).maxnumber;
  const workOf = (identity: object) => workFor('/v1/registrations', { identity });
  const number = (n: number) => ({ type: 'phone', value: `+15552${String(n).padStart(6, '0')}` });
  const before = await workOf(number(1));
  // From known devices, which need no solution.
  for (let n = 0; n < 6; n += 1) {
    const identity = number(n);
    const { session } = await signIn(limited, await createUser(limited, { phone: identity.value }));
    const login = { identity, authenticator: 'sms', device: { id: session.device_id } };
    expect((await post('/v1/tokens', login, from(), limited)).status).toBe(201);
  }
  expect(await workOf(number(99))).toBeGreaterThan(4 * before);
  expect(await workOf(email())).toBe(before);
  // A user name may belong to any number.
  const byName = { identity: { type: 'username', value: 'ada' }, authenticator: 'sms', device: {} };
  expect(await workFor('/v1/tokens', byName)).toBeGreaterThan(4 * before);
});

test('the first address of a guest needs a solution for this address, and costs as much as other codes', async () => {
  await postern.database.query(testSql('delete from request_limits'));
  const entered = await post('/v1/tokens', {
    ...{ authenticator: 'guest', device: {} },
    human_check: solutionOf(await challengeFor('/v1/tokens', { authenticator: 'guest', device: {} })),
  });
  const { token } = entered.body as Refusal & { readonly token: string };
  const { body: session } = await postern.api<{ readonly token: string }>('POST', '/v1/sessions', { basic: token });
  const begin = (type: string, body: object) =>
    postern.api<Refusal>('POST', `/v1/account/${type}`, { bearer: session.token, body, headers: from() });
  for (const [type, value, other] of [
    ['email', newEmail(), newEmail()],
    ['phone', newPhone(), newPhone()],
  ] as const) {
    const refused = await begin(type, { [type]: value });
    expect([refused.status, refused.body.errors[0]?.code]).toEqual([422, 'human_check_required']);
    const human_check = solutionOf(refused.body.human_check?.challenge as Challenge);
    expect((await begin(type, { [type]: other, human_check })).status).toBe(422);
    await postern.database.query(testSql('delete from message_limits'));
    expect((await begin(type, { [type]: value, human_check })).status).toBe(201);
    await postern.database.query(testSql('delete from message_limits'));
    expect((await begin(type, { [type]: value, human_check })).status).toBe(422);
  }
  // Who has something to prove does that instead.
  const user = await createUser(postern, { email: newEmail() });
  const signedIn = await signIn(postern, user);
  const proven = { email: newEmail(), proof: { type: 'password', secret: password } };
  expect(
    (await postern.api('POST', '/v1/account/email', { bearer: signedIn.session.token, body: proven })).status,
  ).toBe(201);
});

test('the cheap solution of a login by mail is not valid for a login of the same identity by SMS', async () => {
  const device = { id: randomUUID() };
  for (const identity of [
    { type: 'phone', value: newPhone() },
    { type: 'username', value: 'ada' },
  ]) {
    const body = { identity, authenticator: 'email', device };
    const human_check = solutionOf(await challengeFor('/v1/tokens', body));
    expect((await post('/v1/tokens', { ...body, authenticator: 'sms', human_check })).status).toBe(422);
  }
});

test('a solution expires', async () => {
  const identity = email();
  const human_check = solutionOf(await challengeFor('/v1/registrations', { identity }));
  await postern.database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select clock_timestamp() + interval '601 seconds' $$`),
  );
  try {
    expect((await post('/v1/registrations', { identity, human_check })).status).toBe(422);
  } finally {
    await postern.database.query(
      testSql(
        'create or replace function db_now() returns timestamptz language sql volatile as $$ select clock_timestamp() $$',
      ),
    );
  }
});

test('the client solves challenges by itself', async () => {
  const client = createPostern({ url: postern.url, storage: memoryStorage() });
  try {
    const address = newEmail();
    const pending = await startRegistration(client, { identity: address });
    await pending.complete({ code: await codeTo(postern, address) });
    await postern.database.query(testSql('delete from message_limits'));
    await startRecovery(client, { identity: newEmail(), purpose: 'password' });
    expect((await createLogin(client).start().email({ identity: newEmail() })).step).toBe('code');
    expect((await createLogin(client).start().guest()).step).toBe('done');
    await postern.database.query(testSql('delete from message_limits'));
    const change = await createAccount(client, { prove: async () => null }).setEmail(newEmail());
    expect(change.id).not.toBe('');
  } finally {
    client.close();
  }
});

test.each(['', 'abc', 'a'.repeat(55), 'a'.repeat(56), 'a'.repeat(63), 'a'.repeat(64), 'b'.repeat(200)])(
  'the SHA-256 of the client is right (%s)',
  (text) => expect(Buffer.from(bytesOf(sha256(text))).toString('hex')).toBe(hash('sha256', text)),
);
