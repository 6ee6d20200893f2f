import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.js';
import { lockHolds } from '../../../src/identities/accounts.js';
import { allCategories, completeCategory } from '../../../src/notifications/categories/category.js';
import { createStepDryRun, type DecideSteps, type StepSubject } from '../../../src/notifications/deliveries/dry-run.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, types } from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
let database: Database;
const suppressed = new Set<string>();
const denied = new Set<string>();
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  suppressed.clear();
  denied.clear();
});

const steps = [
  { channel: 'push' },
  { channel: 'email', after: '1h', if: 'unread' },
  { channel: 'sms', after: '2h', if: 'undelivered' },
] as const;
const categoryOf = (input: object) => {
  const category = allCategories([completeCategory('billing', { steps: [...steps], ...input })], types).get('billing');
  if (category === undefined) throw new Error('there is no such category');
  return category;
};
const decideSteps: DecideSteps = (subjects) =>
  createStepDryRun({
    ...{ database, lockHolds, timeZone: 'UTC', channels: ['push', 'email'] },
    categories: { get: () => undefined },
    readAddresses: async (_handle, _channel, addresses) =>
      new Map(addresses.map((each) => [each, { isSuppressed: suppressed.has(each), isAllowedOut: !denied.has(each) }])),
    isAllowedOut: (proven) => !proven.some((each) => denied.has(each)),
  })(subjects);

/** The decisions about a user whose row is changed by this SQL. */
async function decisions(change: string, input: object = {}, more: Partial<StepSubject> = {}) {
  const [userId = ''] = await createInboxes(database, 1);
  await database.query(
    testSql(
      `update users set email = id || '@example.org', email_verified = true, phone = '+1' || floor(random() * 1e10 + 1e10),
         phone_verified = true where id = $1`,
      [userId],
    ),
  );
  if (change !== '') await database.query(testSql(change, [userId]));
  const subject = { userId, category: categoryOf(input), isExpired: false, push: { hasDevice: true, isMuted: false } };
  const [decided] = await decideSteps([{ ...subject, ...more }]);
  return decided?.steps.map((each) => (each.state === 'send' ? 'send' : `${each.state}/${each.reason}`));
}
const prefer = (columns: string, values: string) =>
  `insert into preferences (user_id, ${columns}) values ($1, ${values})`;

test.each([
  ['nothing forbids it', '', {}, ['send', 'send', 'failed/no_provider']],
  [
    'the user has no address',
    'update users set email = null, phone = null where id = $1',
    {},
    ['send', 'skipped/no_address', 'skipped/no_address'],
  ],
  [
    'no address is proven',
    'update users set email_verified = false, phone_verified = false where id = $1',
    {},
    ['send', 'skipped/not_proven', 'skipped/not_proven'],
  ],
  [
    'the account is locked',
    `update users set lock_kind = 'permanent' where id = $1`,
    {},
    ['skipped/account_locked', 'skipped/account_locked', 'skipped/account_locked'],
  ],
  [
    'the channel is off, and a cell is on',
    prefer('channels, categories', `'{"email": {"value": "off"}}', '{"billing": {"email": {"value": "on"}}}'`),
    {},
    ['send', 'skipped/channel_off', 'failed/no_provider'],
  ],
  [
    'cells are off',
    prefer('categories', `'{"billing": {"push": {"value": "off"}, "sms": {"value": "off"}}}'`),
    {},
    ['skipped/preference_off', 'send', 'skipped/preference_off'],
  ],
  [
    'the category is critical',
    prefer('categories', `'{"billing": {"push": {"value": "off"}}}'`),
    { is_critical: true },
    ['send', 'send', 'failed/no_provider'],
  ],
  ['the default is off', '', { defaults: { email: 'off' } }, ['send', 'skipped/preference_off', 'failed/no_provider']],
  [
    'the inbox is off: what asks for unread does not go',
    prefer('categories', `'{"billing": {"inbox": {"value": "off"}}}'`),
    {},
    ['send', 'skipped/read', 'failed/no_provider'],
  ],
] as const)('decides about each step: %s', async (_case, change, input, expected) => {
  expect(await decisions(change, input)).toEqual(expected);
});

test('decides about pushes by devices and mutes, and about all by the end of the notification', async () => {
  expect((await decisions('', {}, { push: { hasDevice: false, isMuted: false } }))?.[0]).toBe('skipped/no_address');
  expect((await decisions('', {}, { push: { hasDevice: true, isMuted: true } }))?.[0]).toBe('skipped/muted');
  expect(new Set(await decisions('', {}, { isExpired: true }))).toEqual(new Set(['expired/notification_expired']));
});

test('knows suppressed addresses, and those that OUTBOUND does not allow', async () => {
  const [userId = ''] = await createInboxes(database, 1);
  await database.query(
    testSql(`update users set email = 'ada@example.org', email_verified = true where id = $1`, [userId]),
  );
  const subject = { userId, category: categoryOf({}), isExpired: false, push: { hasDevice: true, isMuted: false } };
  suppressed.add('ada@example.org');
  expect((await decideSteps([subject]))[0]?.steps[1]).toEqual({ state: 'skipped', reason: 'suppressed' });
  suppressed.clear();
  denied.add('ada@example.org');
  const [decided] = await decideSteps([subject]);
  expect(decided?.steps.slice(0, 2).map((each) => each.state === 'skipped' && each.reason)).toEqual([
    'sandbox',
    'sandbox',
  ]);
});
