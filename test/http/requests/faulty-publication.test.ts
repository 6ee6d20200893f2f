import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../support/app.js';
import { createUser } from '../../support/users.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const schema = { type: 'object', required: ['sum'], properties: { sum: { type: 'number' } } };
  const body = { data_schema: schema };
  await app.api('PUT', '/admin/v1/categories/bills', { bearer: app.adminKey, body });
});
afterAll(() => app.close());

async function faultsOf(body: unknown, path = ''): Promise<string[]> {
  const answer = await app.api<ProblemAnswer>('POST', `/admin/v1/notifications${path}`, { bearer: app.adminKey, body });
  expect(answer.status).toBe(422);
  return (answer.body.errors ?? []).map(({ field, code }) => `${field} ${code}`).sort();
}

test('names faults of form and of meaning together', async () => {
  const faulty = {
    ...{ user_id: 'email:nobody@example.org', notification_type: 'pigeon', description: 7, category: 'bils' },
    ...{ url: 'http://example.org', expires_at: 'tomorrow', colour: 'red' },
  };
  const expected = [
    'category unknown_category',
    'colour unknown_member',
    'description invalid_type',
    'expires_at invalid_time',
    'notification_type invalid_choice',
    'url invalid_url',
    'user_id unknown_user',
  ];
  expect(await faultsOf(faulty)).toEqual(expected);
  expect(await faultsOf(faulty, '?dry_run=true')).toEqual(expected);
  for (const path of ['', '/batch', '/dry-run']) {
    const user = await createUser(app);
    const right = { user_id: user.id, notification_type: 'payment', description: 'right' };
    expect(await faultsOf([right, faulty, 7], path)).toEqual(
      [...expected.map((each) => `1.${each}`), '2 invalid_type'].sort(),
    );
    // The errors of item 10 do not count for item 1.
    expect(await faultsOf([...Array.from({ length: 10 }, () => right), faulty], path)).toEqual(
      expected.map((each) => `10.${each}`),
    );
  }
});

test('names no fault that only follows from another', async () => {
  const bill = { notification_type: 'payment', category: 'bills', description: 'A bill' };
  expect(await faultsOf({ ...bill, user_ids: [7], data: 'x' })).toEqual([
    'data invalid_type',
    'user_ids.0 invalid_type',
  ]);
  expect(await faultsOf({ ...bill, user_id: 7, data: {} })).toEqual(['data data_invalid', 'user_id invalid_type']);
});
