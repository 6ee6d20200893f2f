import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../../test/support/app.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { runs } from '../../../../../test/support/rounds.js';
import { testSql } from '../../../../../test/support/sql.js';
import { password } from '../../../../../test/support/users.js';
import { createHub, type Port } from '../../../src/inbox/shared/hub.js';
import {
  createInbox,
  createInboxView,
  createItemStates,
  createItemsView,
  createLogin,
  createPreferences,
  type ItemsSnapshot,
  type ItemsView,
  type ItemsViewOptions,
  type Postern,
} from '../../../src/index.js';
import { clientOf, createNetwork, lost, problem, signedIn, withFastTime } from '../../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

interface Sent {
  readonly id: string;
  readonly sequence: number;
}
async function publish(userId: string, description: string, fields: object = {}): Promise<Sent> {
  const body = { user_id: userId, notification_type: 'payment', description, ...fields };
  const { status, body: sent } = await app.api<Sent>('POST', '/admin/v1/notifications', {
    ...{ bearer: app.adminKey, body, headers: { 'idempotency-key': randomUUID() } },
  });
  expect(status).toBe(201);
  return sent;
}
const day = () => new Date(Date.now() + 86_400_000);

/** A view that is subscribed to until the end of the test, with all that it has shown. */
function viewOf(postern: Postern, options: ItemsViewOptions = {}) {
  const view = createItemsView(postern, createInbox(postern), options);
  const shown: ItemsSnapshot[] = [];
  const unsubscribe = view.subscribe((snapshot) => shown.push(snapshot));
  onTestFinished(() => {
    unsubscribe();
    postern.close();
  });
  return { view, shown };
}
const texts = ({ current }: ItemsView) => current.items.map(({ description }) => description);
const shows = (view: ItemsView, ...expected: string[]) => expect.poll(() => texts(view)).toEqual(expected);
const counts = (view: ItemsView, expected: object) => expect.poll(() => view.current.counts).toMatchObject(expected);

/** Another device of the same user. */
async function otherDevice(username: string | null): Promise<Postern> {
  const postern = clientOf(app);
  const state = await createLogin(postern)
    .start()
    .password({ identity: username ?? '', password });
  if (state.step !== 'done') throw new Error('not signed in');
  onTestFinished(() => postern.close());
  return postern;
}

describe('a view of items', () => {
  test('shows the parts of the inbox with counts of the service, and what is published later', async () => {
    const { postern, user } = await signedIn(app);
    const [one, two] = [await publish(user.id, 'one'), await publish(user.id, 'two')];
    const { view } = viewOf(postern);
    await shows(view, 'two', 'one');
    await counts(view, { unread: 2, unseen: 2 });
    await view.seen();
    await counts(view, { unread: 2, unseen: 0 });
    await publish(user.id, 'three');
    await shows(view, 'three', 'two', 'one');
    await counts(view, { unread: 3, unseen: 1 });
    await view.archive([one.id]);
    await view.snooze([two.id], day());
    await shows(view, 'three');
    await counts(view, { unread: 1 });
    view.show('archived');
    expect(view.current).toMatchObject({ view: 'archived', loading: true });
    await shows(view, 'one');
    view.show('snoozed');
    await shows(view, 'two');
    await view.snooze([two.id], null);
    await shows(view);
    view.show('inbox');
    await shows(view, 'three', 'two');
    await view.markRead([two.id]);
    expect(view.current.items.map(({ isUnread }) => isUnread)).toEqual([true, false]);
    await view.markUnread([two.id]);
    expect(view.current.items.map(({ isUnread }) => isUnread)).toEqual([true, true]);
    expect(view.current.changeError).toBeNull();
  });

  test('follows another device, also when something comes back into the part that is shown', async () => {
    const { postern, user } = await signedIn(app);
    const [one, two] = [await publish(user.id, 'one'), await publish(user.id, 'two')];
    const { view } = viewOf(postern);
    await shows(view, 'two', 'one');
    await expect.poll(() => view.current.connection).toBe('live');
    const other = createItemStates(await otherDevice(user.username));
    await other.archive([one.id, two.id]);
    await shows(view);
    await counts(view, { unread: 0 });
    await other.unarchive([one.id]);
    await shows(view, 'one');
    await counts(view, { unread: 1 });
    await other.markRead({ through: two.sequence });
    await expect.poll(() => view.current.items[0]?.isUnread).toBe(false);
    await other.archive({ through: two.sequence });
    view.show('archived');
    await shows(view, 'two', 'one');
  });

  test('shows what a category keeps out of the inbox in no part, as the service lists it', async () => {
    const { postern, user } = await signedIn(app);
    await createPreferences(postern).change({ categories: { pool: { inbox: 'off' } } });
    const [one] = [await publish(user.id, 'one')];
    const { view, shown } = viewOf(postern, { view: 'archived' });
    await expect.poll(() => view.current.connection).toBe('live');
    await publish(user.id, 'kept out', { notification_type: 'pool' });
    await view.archive([one.id]);
    await shows(view, 'one');
    view.show('inbox');
    await publish(user.id, 'kept out again', { notification_type: 'pool' });
    await publish(user.id, 'two');
    await shows(view, 'two');
    await counts(view, { unread: 1, unseen: 1 });
    view.show('archived');
    await expect.poll(() => view.current.loading).toBe(false);
    await shows(view, 'one');
    expect(shown.flatMap(({ items }) => items.map(({ description }) => description))).not.toContain('kept out');
    expect(shown.flatMap(({ items }) => items.map(({ description }) => description))).not.toContain('kept out again');
  });

  test('reads what comes back into the part that is shown, if it has not read it before', async () => {
    const { postern, user } = await signedIn(app);
    const [one] = [await publish(user.id, 'one'), await publish(user.id, 'two')];
    const other = createItemStates(await otherDevice(user.username));
    await other.archive([one.id]);
    const { view } = viewOf(postern);
    await shows(view, 'two');
    await expect.poll(() => view.current.connection).toBe('live');
    await other.unarchive([one.id]);
    await shows(view, 'two', 'one');
  });

  test('shows a change at once, and undoes what Postern refuses', async () => {
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    const { id } = await publish(user.id, 'one');
    const { view } = viewOf(postern);
    await shows(view, 'one');
    let refuse = () => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    network.answer = async (request) => {
      if (request !== 'PATCH /v1/notifications/states') return undefined;
      await refused;
      return problem(422, 'too_many_marks');
    };
    const done = view.archive([id]);
    expect(texts(view)).toEqual([]);
    refuse();
    await done;
    expect(texts(view)).toEqual(['one']);
    expect(view.current.changeError).toMatchObject({ code: 'too_many_marks' });
    network.answer = undefined;
    await view.archive([id]);
    expect(texts(view)).toEqual([]);
    expect(view.current.changeError).toBeNull();
  });

  test('two quick changes of a notification are sent one after the other, so that the last one stays', async () => {
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    const { id } = await publish(user.id, 'one');
    const { view } = viewOf(postern);
    await shows(view, 'one');
    const patch = 'PATCH /v1/notifications/states';
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    network.answer = async (request, number) => {
      if (request === patch && number === 1) await isReleased;
      return undefined;
    };
    const changes = [view.markRead([id]), view.markUnread([id])];
    await eventually('the first request', async () => (network.count(patch) > 0 ? true : undefined));
    expect(view.current.items[0]?.isUnread).toBe(true);
    release();
    await Promise.all(changes);
    expect(network.count(patch)).toBe(2);
    expect(view.current.items[0]?.isUnread).toBe(true);
    await counts(view, { unread: 1 });
  });

  test('a change without a network is undone, and after the network is back the list is that of the service', async () => {
    withFastTime();
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    const [one, two] = [await publish(user.id, 'one'), await publish(user.id, 'two')];
    const { view } = viewOf(postern);
    await shows(view, 'two', 'one');
    const other = createItemStates(await otherDevice(user.username));
    network.answer = lost;
    await view.markRead([one.id]);
    expect(view.current.items.map(({ isUnread }) => isUnread)).toEqual([true, true]);
    expect(view.current.changeError).toMatchObject({ kind: 'network' });
    await other.archive([two.id]);
    network.answer = undefined;
    await view.markRead([one.id]);
    await shows(view, 'one');
    expect(view.current.items.map(({ isUnread }) => isUnread)).toEqual([false]);
    await counts(view, { unread: 0 });
  });

  test('an answer that is lost on its way counts: the list shows what the service did', async () => {
    withFastTime();
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    const { id } = await publish(user.id, 'one');
    const { view } = viewOf(postern);
    await shows(view, 'one');
    const states = createItemStates(await otherDevice(user.username));
    network.answer = async (request) => {
      if (request !== 'PATCH /v1/notifications/states') return undefined;
      await states.archive([id]);
      return lost();
    };
    await view.archive([id]);
    await shows(view);
    await counts(view, { unread: 0 });
  });

  test('one notification that is read on one device and archived on another is both', async () => {
    const { postern, user } = await signedIn(app);
    const second = await otherDevice(user.username);
    const [one, two] = [await publish(user.id, 'one'), await publish(user.id, 'two')];
    const [here, there] = [viewOf(postern).view, viewOf(second).view];
    await Promise.all([shows(here, 'two', 'one'), shows(there, 'two', 'one')]);
    await Promise.all([
      here.markRead([one.id]),
      there.archive([one.id]),
      here.markAllRead(),
      there.markUnread([two.id]),
    ]);
    for (const view of [here, there]) view.show('archived');
    await Promise.all([shows(here, 'one'), shows(there, 'one')]);
    for (const view of [here, there]) expect(view.current.items[0]?.extra.state.read).toBe(true);
    const truth = await createItemStates(postern).counts();
    await Promise.all([counts(here, truth), counts(there, truth)]);
  });

  test('what arrives while everything is marked as read stays unread', async () => {
    const { postern, user } = await signedIn(app);
    await publish(user.id, 'one');
    const { view } = viewOf(postern);
    await shows(view, 'one');
    await Promise.all([view.markAllRead(), publish(user.id, 'two')]);
    await shows(view, 'two', 'one');
    await expect.poll(() => view.current.items.map(({ isUnread }) => isUnread)).toEqual([true, false]);
    await counts(view, { unread: 1 });
  });

  test('a view with a filter marks only what matches, and counts each type', async () => {
    const { postern, user } = await signedIn(app);
    await publish(user.id, 'paid');
    await publish(user.id, 'asked', { notification_type: 'request' });
    const { view } = viewOf(postern, { filter: { notification_type: 'request' }, countsBy: 'notification_type' });
    await shows(view, 'asked');
    await counts(view, { unread: 2, by: { payment: { unread: 1 }, request: { unread: 1 } } });
    await view.markAllRead();
    await counts(view, { unread: 1, by: { payment: { unread: 1 } } });
    await view.archiveAll();
    await shows(view);
  });

  test('an action is chosen once: a second device shows the choice of the first', async () => {
    const { postern, user } = await signedIn(app);
    const actions = [
      { key: 'accept', label: 'Accept' },
      { key: 'decline', label: 'Decline' },
    ];
    const { id } = await publish(user.id, 'Dinner?', { actions });
    const { view } = viewOf(postern);
    await shows(view, 'Dinner?');
    const other = createItemStates(await otherDevice(user.username));
    expect(await other.act(id, 'accept')).toMatchObject({ key: 'accept' });
    await view.act(id, 'decline');
    await expect
      .poll(() => view.current.items[0]?.extra.state)
      .toMatchObject({ read: true, action: { key: 'accept' } });
  });

  test('a snooze that ends, and a notification that expires, change the list and the counts, although nothing is sent then', async () => {
    const { postern, user } = await signedIn(app);
    const { id } = await publish(user.id, 'snoozed');
    const { id: short } = await publish(user.id, 'short', { expires_at: day().toISOString() });
    await createItemStates(postern).snooze([id], day());
    // Only now, because a busy machine may take longer than that for the requests.
    const { query } = app.database;
    const soon = new Date(Date.now() + 3000).toISOString();
    await query(testSql('update notifications set expires_at = $2 where id = $1', [short, soon]));
    await query(testSql('update notification_states set snoozed_until = $2 where user_id = $1', [user.id, soon]));
    const { view, shown } = viewOf(postern);
    await shows(view, 'snoozed');
    expect(shown.map(({ items }) => items.map(({ description }) => description))).toContainEqual(['short']);
    await counts(view, { unread: 1 });
  });

  test('pages are read one after the other, and a list that is archived away is filled again', async () => {
    const { postern, user } = await signedIn(app);
    const ids: string[] = [];
    for (let number = 1; number <= 5; number += 1) ids.push((await publish(user.id, `${number}`)).id);
    const { view } = viewOf(postern, { limit: 2 });
    await shows(view, '5', '4');
    await view.loadMore();
    expect(texts(view)).toEqual(['5', '4', '3', '2']);
    await view.archive(ids.slice(1));
    await shows(view, '1');
    await view.archiveAll();
    await shows(view);
    expect(view.current.hasMore).toBe(false);
  });
});

test('tabs that share a stream see the changes of each other, and a tab without states gets no extra', async () => {
  const hub = createHub();
  class Worker {
    onerror = null;
    readonly port: InstanceType<typeof MessagePort>;
    constructor() {
      const { port1, port2 } = new MessageChannel();
      this.port = port1;
      hub.connect(port2 as unknown as Port);
    }
  }
  vi.stubGlobal('SharedWorker', Worker);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { postern, user } = await signedIn(app);
  const [one, two] = [await publish(user.id, 'one'), await publish(user.id, 'two')];
  const [here, there] = [viewOf(postern).view, viewOf(await otherDevice(user.username)).view];
  const plain = createInboxView(postern, createInbox(postern));
  onTestFinished(plain.subscribe(() => undefined));
  await Promise.all([shows(here, 'two', 'one'), shows(there, 'two', 'one')]);
  for (const view of [here, there]) await expect.poll(() => view.current.connection).toBe('live');
  await here.archive([one.id]);
  await there.markRead([two.id]);
  for (const view of [here, there]) {
    await expect
      .poll(() => view.current.items.map((item) => [item.description, item.isUnread]))
      .toEqual([['two', false]]);
    await counts(view, { unread: 0 });
  }
  await publish(user.id, 'three');
  await expect.poll(() => plain.current.items.map(({ description }) => description)).toEqual(['three', 'two', 'one']);
  for (const item of plain.current.items) expect(item).not.toHaveProperty('extra');
  await shows(there, 'three', 'two');
});

test('another user sees nothing of the former one', async () => {
  const { postern, user } = await signedIn(app);
  await publish(user.id, 'secret');
  const { view, shown } = viewOf(postern);
  await shows(view, 'secret');
  await postern.logOut();
  expect(view.current).toMatchObject({ items: [], counts: { unread: 0 } });
  const next = await signedIn(app);
  await publish(next.user.id, 'mine');
  const start = shown.length;
  const state = await createLogin(postern)
    .start()
    .password({ identity: next.user.username ?? '', password });
  expect(state.step).toBe('done');
  await shows(view, 'mine');
  expect(shown.slice(start).flatMap(({ items }) => items.map(({ description }) => description))).not.toContain(
    'secret',
  );
  next.postern.close();
});

interface Row extends Sent {
  read: boolean;
  archived: boolean;
  snoozed: boolean;
}
const anyStep = fc.record({
  act: fc.constantFrom('publish', 'read', 'unread', 'archive', 'unarchive', 'snooze', 'wake', 'all', 'seen'),
  which: fc.nat(20),
  here: fc.boolean(),
});

test('after any changes here and on another device, items and counts are those of a model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 16 }), async (steps) => {
      const { postern, user } = await signedIn(app);
      const other = clientOf(app);
      await createLogin(other)
        .start()
        .password({ identity: user.username ?? '', password });
      const away = createItemStates(other);
      const view = createItemsView(postern, createInbox(postern), { limit: 50 });
      const end = view.subscribe(() => undefined);
      const model: Row[] = [];
      let seen = 0;
      const isCounted = (row: Row) => !row.read && !row.archived && !row.snoozed;
      const expectModel = async () => {
        await expect
          .poll(() => view.current.items.map(({ sequence, isUnread }) => [sequence, isUnread]))
          .toEqual(
            model
              .filter(({ archived, snoozed }) => !archived && !snoozed)
              .map(({ sequence, read }) => [sequence, !read])
              .reverse(),
          );
        const unread = model.filter(isCounted).length;
        const unseen = model.filter((row) => isCounted(row) && row.sequence > seen).length;
        await counts(view, { unread, unseen, is_capped: false });
      };
      await eventually('the stream', async () => (view.current.connection === 'live' ? true : undefined));
      for (const { act, which, here } of steps) {
        const row = model[which % Math.max(1, model.length)];
        const through = model.at(-1)?.sequence ?? 0;
        const from = here ? view : away;
        // "All" ends at the newest one that is shown.
        const isNewestShown = model.at(-1)?.archived === false && model.at(-1)?.snoozed === false;
        if (act === 'publish') {
          model.push({ ...(await publish(user.id, `${which}`)), read: false, archived: false, snoozed: false });
          // Otherwise the next step here may not know it.
          await expectModel();
        } else if (act === 'all') {
          await (here && isNewestShown ? view.markAllRead() : away.markRead({ through }));
          for (const one of model) if (one.sequence <= through) one.read = true;
        } else if (act === 'seen') {
          await away.seen(through);
          seen = Math.max(seen, through);
        } else if (row !== undefined) {
          const ids = [row.id];
          if (act === 'read') await from.markRead(ids);
          if (act === 'unread') await from.markUnread(ids);
          if (act === 'archive') await from.archive(ids);
          if (act === 'unarchive') await from.unarchive(ids);
          if (act === 'snooze') await from.snooze(ids, day());
          if (act === 'wake') await from.snooze(ids, null);
          if (act === 'read' || act === 'unread') row.read = act === 'read';
          if (act === 'archive' || act === 'unarchive') row.archived = act === 'archive';
          if (act === 'snooze' || act === 'wake') row.snoozed = act === 'snooze';
        }
      }
      await expectModel();
      expect(view.current.changeError).toBeNull();
      end();
      postern.close();
      other.close();
    }),
    { numRuns: runs(6, 12) },
  );
});
