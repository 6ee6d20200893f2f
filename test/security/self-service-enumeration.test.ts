import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testSql } from '../support/sql.js';
import { type ComparedApp, startComparedApp } from '../support/timing.js';
import { createUser, newEmail, newPhone } from '../support/users.js';

let postern: ComparedApp;
beforeAll(async () => {
  postern = await startComparedApp({ REGISTRATION: 'on' });
});
afterAll(() => postern.close());

const addresses = [
  { type: 'phone', newAddress: newPhone },
  { type: 'email', newAddress: newEmail },
] as const;

async function start(path: string, type: string, value: string | null, more: object = {}): Promise<string> {
  await postern.database.query(testSql('delete from message_limits'));
  const body = { identity: { type, value }, ...more };
  const answer = await postern.api<{ id: string }>('POST', path, { body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

test.each(addresses)(
  'starting a recovery by $type takes the same time for known, unknown, unproven and deactivated users, and without a secret',
  async ({ type, newAddress }) => {
    const known = await createUser(postern, { [type]: newAddress() });
    const deactivated = await createUser(postern, { [type]: newAddress() });
    const withoutSecret = await createUser(postern, { [type]: newAddress(), password: undefined });
    const body = { status: 'deactivated' };
    await postern.api('PATCH', `/admin/v1/users/${deactivated.id}`, { bearer: postern.adminKey, body });
    const unproven = await createUser(postern, { [type]: newAddress(), [`${type}_verified`]: false });
    const unknown = newAddress();
    const ask = (value: string | null) => () => start('/v1/recoveries', type, value, { purpose: 'password' });
    await postern.expectAlike(
      {
        known: ask(known[type]),
        unknown: ask(unknown),
        unproven: ask(unproven[type]),
        deactivated: ask(deactivated[type]),
        withoutSecret: ask(withoutSecret[type]),
      },
      [],
    );
  },
);

test.each(addresses)(
  'starting a registration by $type takes the same time for a free, a taken and an unproven address',
  async ({ type, newAddress }) => {
    const owner = await createUser(postern, { [type]: newAddress() });
    const free = newAddress();
    const ask = (value: string | null) => () => start('/v1/registrations', type, value);
    const unproven = await createUser(postern, { [type]: newAddress(), [`${type}_verified`]: false });
    await postern.expectAlike({ taken: ask(owner[type]), free: ask(free), unproven: ask(unproven[type]) }, []);
  },
);

test('a wrong code of a recovery takes the same time for a known and an unknown number', async () => {
  const { phone } = await createUser(postern, { phone: newPhone() });
  const begun = { known: phone, unknown: newPhone() };
  const answer = (id: string) => async () => {
    // Resets the count, so that every guess is evaluated.
    await postern.database.query(testSql('update challenges set guesses = 0'));
    const body = { secret: 'abcdef', password: 'nine dull horses' };
    expect((await postern.api('POST', `/v1/recoveries/${id}`, { body })).status).toBe(400);
  };
  const known = answer(await start('/v1/recoveries', 'phone', begun.known, { purpose: 'password' }));
  const unknown = answer(await start('/v1/recoveries', 'phone', begun.unknown, { purpose: 'password' }));
  await postern.expectAlike({ known, unknown }, []);
});

test('the responses to wrong codes are identical, including headers', async () => {
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
