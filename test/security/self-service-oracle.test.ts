import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/database.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, newEmail, newPhone } from '../support/people.js';
import { createTiming } from '../support/timing.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000000', GUESS_LIMIT_PERMANENT: '0' },
    ...{ REGISTRATION: 'on', LOG_LEVEL: 'silent' },
  });
});
afterAll(() => postern.close());

const { expectAlike } = createTiming();

const addresses = [
  { type: 'phone', next: newPhone },
  { type: 'email', next: newEmail },
] as const;

async function start(path: string, type: string, value: string | null, more: object = {}): Promise<string> {
  await postern.database.query(sql('delete from message_limits'));
  const body = { identity: { type, value }, ...more };
  const answer = await postern.api<{ id: string }>('POST', path, { body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

test.each(addresses)(
  'asking to recover by $type takes the same time for known, unknown, deactivated, and nothing to recover',
  { timeout: 600_000 },
  async ({ type, next }) => {
    const known = await createUser(postern, { [type]: next() });
    const gone = await createUser(postern, { [type]: next() });
    const bare = await createUser(postern, { [type]: next(), password: undefined });
    const body = { status: 'deactivated' };
    await postern.api('PATCH', `/admin/v1/users/${gone.id}`, { bearer: postern.adminKey, body });
    const unknown = next();
    const ask = (value: string | null) => () => start('/v1/recoveries', type, value, { purpose: 'password' });
    await expectAlike({ known: ask(known[type]), unknown: ask(unknown), gone: ask(gone[type]), bare: ask(bare[type]) });
  },
);

test.each(addresses)(
  'asking to register by $type takes the same time whether or not somebody has the address',
  { timeout: 600_000 },
  async ({ type, next }) => {
    const owner = await createUser(postern, { [type]: next() });
    const free = next();
    const ask = (value: string | null) => () => start('/v1/registrations', type, value);
    await expectAlike({ taken: ask(owner[type]), free: ask(free) });
  },
);

test('a wrong code of a recovery takes the same time for a known and an unknown number', {
  timeout: 600_000,
}, async () => {
  const { phone } = await createUser(postern, { phone: newPhone() });
  const begun = { known: phone, unknown: newPhone() };
  const answer = (id: string) => async () => {
    // So that every guess is evaluated.
    await postern.database.query(sql('update challenges set guesses = 0'));
    const body = { secret: 'abcdef', password: 'nine dull horses' };
    expect((await postern.api('POST', `/v1/recoveries/${id}`, { body })).status).toBe(400);
  };
  const known = answer(await start('/v1/recoveries', 'phone', begun.known, { purpose: 'password' }));
  const unknown = answer(await start('/v1/recoveries', 'phone', begun.unknown, { purpose: 'password' }));
  await expectAlike({ known, unknown });
});

test('the answers to wrong codes are the same to the last member, header and letter', async () => {
  const { phone } = await createUser(postern, { phone: newPhone() });
  const ids = [
    await start('/v1/recoveries', 'phone', phone, { purpose: 'password' }),
    await start('/v1/recoveries', 'phone', newPhone(), { purpose: 'password' }),
    randomUUID(),
  ];
  const answers = await Promise.all(
    ids.map((id) =>
      postern.api('POST', `/v1/recoveries/${id}`, { body: { secret: '1', password: 'nine dull horses' } }),
    ),
  );
  const shapes = answers.map(({ status, headers, text }) => {
    const { date: _, 'request-id': id = '', ...others } = headers;
    return { status, others, text: text.replace(id, '') };
  });
  expect(shapes[1]).toEqual(shapes[0]);
  expect(shapes[2]).toEqual(shapes[0]);
});
