import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../../test/support/app.js';
import { createInboxCopy, createItemStates, memoryCopyStore, type Postern, partOf } from '../../../src/index.js';
import { createNetwork, lost, signedIn, withFastTime } from '../../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

async function publish(userId: string): Promise<string> {
  const body = { user_id: userId, notification_type: 'payment', description: 'hello', data: { order: 7 } };
  const answer = await app.api<{ id: string }>('POST', '/admin/v1/notifications', {
    ...{ bearer: app.adminKey, body, headers: { 'idempotency-key': randomUUID() } },
  });
  return answer.body.id;
}
async function listed(postern: Postern) {
  const items = [];
  for await (const item of createItemStates(postern).list({ limit: 100 })) items.push(item);
  return items;
}

const anyStep = fc.record({
  act: fc.constantFrom(
    'publish',
    'read',
    'unread',
    'archive',
    'unarchive',
    'snooze',
    'wake',
    'readAll',
    'archiveAll',
    'sync',
  ),
  which: fc.nat(30),
  /** The number of requests after which the network is lost. */
  requests: fc.nat(4),
});

test('after any changes of states and cut synchronisations, the copy equals the list of the service', async () => {
  withFastTime();
  const network = createNetwork();
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 25 }), async (steps) => {
      network.answer = undefined;
      const { postern, user } = await signedIn(app, { fetch: network.fetch });
      const states = createItemStates(postern);
      const copy = createInboxCopy(postern, { storeOf: memoryCopyStore, limit: 3, include: 'extra' });
      const ids: string[] = [await publish(user.id)];
      for (const { act, which, requests } of steps) {
        const one = [ids[which % ids.length] ?? ''];
        const through = which % (ids.length + 1);
        if (act === 'publish') ids.push(await publish(user.id));
        if (act === 'read') await states.markRead(one);
        if (act === 'unread') await states.markUnread(one);
        if (act === 'archive') await states.archive(one);
        if (act === 'unarchive') await states.unarchive(one);
        if (act === 'snooze') await states.snooze(one, '2999-01-01T00:00:00Z');
        if (act === 'wake') await states.snooze(one, null);
        if (act === 'readAll') await states.markRead({ through });
        if (act === 'archiveAll') await states.archive({ through });
        if (act !== 'sync') continue;
        const before = network.sent.length;
        network.answer = () => (network.sent.length - before > requests ? lost() : undefined);
        await copy.sync({ signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
        network.answer = undefined;
      }
      await copy.sync();
      expect(await copy.items()).toEqual(await listed(postern));
      postern.close();
    }),
    { numRuns: 15 },
  );
});

test('a copy that was made without states begins again with them, and one with states without them', async () => {
  const { postern, user } = await signedIn(app);
  const id = await publish(user.id);
  const store = memoryCopyStore();
  const storeOf = () => store;
  await createInboxCopy(postern, { storeOf }).sync();
  await createItemStates(postern).archive([id]);
  const copy = createInboxCopy(postern, { storeOf, include: 'extra' });
  await copy.sync();
  const [item] = await copy.items();
  expect(item).toMatchObject({ id, extra: { data: { order: 7 }, state: { archived: true } } });
  expect(item && partOf(item)).toBe('archived');
  const plain = createInboxCopy(postern, { storeOf });
  await plain.sync();
  expect(Object.keys((await plain.items())[0] ?? {})).not.toContain('extra');
});

test('if Postern has forgotten what changed, the copy reads all states again', async () => {
  const network = createNetwork();
  const { postern, user } = await signedIn(app, { fetch: network.fetch });
  const ids = [await publish(user.id), await publish(user.id)];
  const copy = createInboxCopy(postern, { storeOf: memoryCopyStore, include: 'extra' });
  const states = createItemStates(postern);
  await states.markRead(ids);
  await copy.sync();
  await states.markUnread([ids[1] ?? '']);
  const { after, marker } = await states.changes();
  const reset = { states: [], marker, seen: 0, archived_through: 0, after, has_more: false, reset: true };
  let isReset = false;
  network.answer = (request) => {
    if (isReset || request !== 'GET /v1/notifications/states') return undefined;
    isReset = true;
    return Response.json(reset);
  };
  await copy.sync();
  expect(isReset).toBe(true);
  expect((await copy.items()).map(({ extra }) => extra.state.read)).toEqual([false, true]);
});
