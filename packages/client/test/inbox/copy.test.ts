import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createInbox, createInboxCopy, memoryCopyStore } from '../../src/index.js';
import { createNetwork, lost, signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

const anyStep = fc.oneof(
  fc.record({
    act: fc.constant('publish' as const),
    text: fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' }),
  }),
  fc.record({ act: fc.constantFrom('change' as const, 'delete' as const), which: fc.nat(30) }),
  fc.record({
    act: fc.constant('sync' as const),
    /** The number of requests after which the network is lost. */ requests: fc.nat(4),
  }),
);

test('after any interleaving of changes and cut synchronisations, the copy equals the list of the service', async () => {
  const network = createNetwork();
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 25 }), async (steps) => {
      network.answer = undefined;
      const { postern, user } = await signedIn(app, { fetch: network.fetch });
      const inbox = createInbox(postern);
      const copy = createInboxCopy(postern, { storeOf: memoryCopyStore, limit: 3 });
      const ids: string[] = [];
      const admin = { bearer: app.adminKey };
      for (const step of steps) {
        if (step.act === 'publish') {
          const body = { user_id: user.id, notification_type: 'payment', description: step.text };
          const answer = await app.api<{ id: string }>('POST', '/admin/v1/notifications', {
            ...admin,
            body,
            headers: { 'idempotency-key': randomUUID() },
          });
          ids.push(answer.body.id);
        } else if (step.act === 'sync') {
          const before = network.sent.length;
          network.answer = () => (network.sent.length - before > step.requests ? lost() : undefined);
          await copy.sync({ signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
          network.answer = undefined;
        } else {
          const path = `/admin/v1/notifications/${ids[step.which % Math.max(1, ids.length)] ?? randomUUID()}`;
          if (step.act === 'delete') await app.api('DELETE', path, admin);
          else await app.api('PATCH', path, { ...admin, body: { description: `changed ${step.which}` } });
        }
      }
      await copy.sync();
      const listed = [];
      for await (const item of inbox.list({ limit: 100, sort: 'created_at:desc' })) listed.push(item);
      expect(await copy.items()).toEqual(listed.toSorted((a, b) => b.sequence - a.sequence));
      postern.close();
    }),
    { numRuns: 12 },
  );
});

test('the copy is available without a network, each user has a separate one, and it is erased on request and at the sign-out', async () => {
  const stores = new Map<string, ReturnType<typeof memoryCopyStore>>();
  const storeOf = (userId: string) => {
    const store = stores.get(userId) ?? memoryCopyStore();
    stores.set(userId, store);
    return store;
  };
  const network = createNetwork();
  const { postern, user } = await signedIn(app, { fetch: network.fetch });
  const body = { user_id: user.id, notification_type: 'payment', description: 'hello' };
  await app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  await createInboxCopy(postern, { storeOf }).sync();
  network.answer = lost;
  const copy = createInboxCopy(postern, { storeOf });
  expect(await copy.items()).toMatchObject([{ description: 'hello' }]);
  network.answer = undefined;
  const { postern: other } = await signedIn(app);
  expect(await createInboxCopy(other, { storeOf }).items()).toEqual([]);
  await copy.erase();
  expect(await copy.items()).toEqual([]);
  await copy.sync();
  expect(await copy.items()).toHaveLength(1);
  await postern.logOut();
  await eventually('the copy to be erased', async () =>
    (await storeOf(user.id).load()).items.length === 0 ? true : undefined,
  );
  await expect(copy.items()).rejects.toMatchObject({ kind: 'signed_out' });
});
