import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { runs } from '../../../../test/support/rounds.js';
import {
  createInbox,
  createInboxView,
  type InboxEvent,
  type InboxSnapshot,
  type Postern,
  type Snapshot,
} from '../../src/index.js';
import { createNetwork, signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

async function publish(userId: string, description: string): Promise<string> {
  const body = { user_id: userId, notification_type: 'payment', description };
  const answer = await app.api<{ id: string }>('POST', '/admin/v1/notifications', {
    ...{ bearer: app.adminKey, body, headers: { 'idempotency-key': randomUUID() } },
  });
  return answer.body.id;
}

test('a list shows each notification once, page by page, while others arrive', async () => {
  const { postern, user } = await signedIn(app);
  for (let count = 0; count < 5; count += 1) await publish(user.id, `${count}`);
  const seen: string[] = [];
  for await (const { description } of createInbox(postern).list({ limit: 2 })) {
    seen.push(description);
    if (seen.length < 3) await publish(user.id, 'later');
  }
  expect(seen).toEqual(['4', '3', '2', '1', '0']);
});

test('the marker moves, mutes are added and removed, and a notification is traced', async () => {
  const { postern, user } = await signedIn(app);
  const inbox = createInbox(postern);
  await publish(user.id, 'one');
  const id = await publish(user.id, 'two');
  expect(await inbox.marker()).toMatchObject({ last_read_sequence: 0, unread_count: 2 });
  const [, first] = (await inbox.list().page()).data;
  expect(await inbox.markRead({ sequence: first?.sequence ?? 0 })).toMatchObject({ unread_count: 1 });
  const mute = await inbox.mutes.add('notification_type:eq:payment');
  expect(await inbox.mutes.list()).toEqual([mute]);
  await inbox.mutes.remove(mute.id);
  expect(await inbox.mutes.list()).toEqual([]);
  expect(await inbox.trace(id)).toMatchObject({ notification_id: id });
});

describe('a live inbox', () => {
  /** Collects events until the signal. */
  function collect(postern: Postern, after?: string) {
    const controller = new AbortController();
    const events: InboxEvent[] = [];
    const inbox = createInbox(postern);
    const ended = (async () => {
      for await (const event of inbox.live({ after, signal: controller.signal })) events.push(event);
    })().catch((error: unknown) => error);
    const isLive = () =>
      eventually('the stream', async () =>
        events.find((event) => event.type === 'connection' && event.connection === 'live'),
      );
    return { controller, events, ended, isLive };
  }
  const putsOf = (events: readonly InboxEvent[]) =>
    events.flatMap((event) => (event.type === 'put' ? [event.notification.description] : []));

  test('receives changes, and ends with the reason of its signal', async () => {
    const { postern, user } = await signedIn(app);
    const { controller, events, ended, isLive } = collect(postern);
    await isLive();
    const id = await publish(user.id, 'hello');
    // A stream does not show the deletion of what it has not shown.
    await eventually('the notification', async () => putsOf(events)[0]);
    await app.api('DELETE', `/admin/v1/notifications/${id}`, { bearer: app.adminKey });
    await eventually('the deletion', async () => events.find((event) => event.type === 'delete' && event.id === id));
    const reason = new Error('no longer needed');
    controller.abort(reason);
    expect(await ended).toBe(reason);
    postern.close();
  });

  test('loses, repeats and leaks nothing across many cut connections', async () => {
    // Node.js warns about signals that collect listeners.
    const warnings: string[] = [];
    const warned = ({ name }: Error) => warnings.push(name);
    process.on('warning', warned);
    const network = createNetwork();
    const most = runs(40, 100);
    let cuts = 0;
    const cutting: typeof network.fetch = async (input, init) => {
      const answer = await network.fetch(input, init);
      if (!`${input}`.includes('/stream') || cuts >= most || answer.body === null) return answer;
      cuts += 1;
      // Some of the bytes arrive, also a part of an event.
      let left = 40 + ((cuts * 37) % 400);
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, out) {
          out.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left <= 0) out.terminate();
        },
      });
      return new Response(answer.body.pipeThrough(cut), { status: answer.status, headers: answer.headers });
    };
    const { postern, user } = await signedIn(app, {
      fetch: cutting,
      // Wakes the pauses at once, so that the test does not wait for them.
      onResume: (wake) => {
        const timer = setTimeout(wake, 1);
        return () => clearTimeout(timer);
      },
    });
    const { controller, events, ended, isLive } = collect(postern);
    await isLive();
    const sent: string[] = [];
    while (cuts < most) {
      const description = `number ${sent.length}`;
      sent.push(description);
      await publish(user.id, description);
    }
    await publish(user.id, 'the last one');
    sent.push('the last one');
    await eventually('the last one', async () => (putsOf(events).includes('the last one') ? true : undefined));
    expect(putsOf(events)).toEqual(sent);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
    controller.abort();
    await ended;
    postern.close();
  });

  test('ends with the login', async () => {
    const { postern, user } = await signedIn(app);
    const { ended, isLive } = collect(postern);
    await isLive();
    await app.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: app.adminKey });
    expect(await ended).toBeUndefined();
    expect(postern.current.status).toBe('signed_out');
    postern.close();
  });

  test('continues after a position, also a day later', async () => {
    const { postern, user } = await signedIn(app);
    await publish(user.id, 'before');
    const inbox = createInbox(postern);
    let position = '';
    for await (const event of inbox.changes()) if ('position' in event) position = event.position;
    await publish(user.id, 'meanwhile');
    const { events, controller, ended } = collect(postern, position);
    await eventually('what was missed', async () => putsOf(events).find((text) => text === 'meanwhile'));
    expect(putsOf(events)).toEqual(['meanwhile']);
    controller.abort();
    await ended;
    postern.close();
  });

  test('polls for changes on a platform without streams', async () => {
    const { postern, user } = await signedIn(app, {
      onResume: (wake) => {
        const timer = setTimeout(wake, 20);
        return () => clearTimeout(timer);
      },
    });
    const controller = new AbortController();
    const seen: string[] = [];
    const ended = (async () => {
      for await (const event of createInbox(postern, { stream: 'poll' }).live({ signal: controller.signal })) {
        if (event.type === 'connection') seen.push(event.connection);
        if (event.type === 'put') seen.push(event.notification.description);
      }
    })().catch(() => undefined);
    await eventually('the first question', async () => seen.find((entry) => entry === 'polling'));
    await publish(user.id, 'hello');
    await eventually('the notification', async () => seen.find((entry) => entry === 'hello'));
    controller.abort();
    await ended;
    expect(seen.filter((entry) => entry === 'hello')).toHaveLength(1);
    postern.close();
  });
});

describe('a view', () => {
  const until = (view: { readonly current: InboxSnapshot }, what: string, is: (shown: InboxSnapshot) => boolean) =>
    eventually(what, async () => (is(view.current) ? view.current : undefined));

  test('shows the newest page, follows changes, and reads older pages', async () => {
    const { postern, user } = await signedIn(app);
    for (let count = 0; count < 5; count += 1) await publish(user.id, `${count}`);
    const view = createInboxView(postern, createInbox(postern), { limit: 2 });
    expect(view.current).toMatchObject({ items: [], loading: true });
    const end = view.subscribe(() => undefined);
    const texts = () => view.current.items.map(({ description }) => description);
    await until(view, 'the first page', ({ loading }) => !loading);
    expect(texts()).toEqual(['4', '3']);
    expect(view.current).toMatchObject({ hasMore: true, unread: { unread_count: 5 } });
    await publish(user.id, '5');
    await until(view, 'the new one, counted', ({ items, unread }) => items.length === 3 && unread.unread_count === 6);
    await view.loadMore();
    expect(texts()).toEqual(['5', '4', '3', '2', '1']);
    await view.markAllRead();
    expect(view.current.unread.unread_count).toBe(0);
    expect(view.current.items.every(({ isUnread }) => !isUnread)).toBe(true);
    end();
    postern.close();
  });

  test('shows the snapshot of a server before it has read anything', async () => {
    const { postern, user } = await signedIn(app);
    await publish(user.id, 'one');
    await publish(user.id, 'two');
    const inbox = createInbox(postern);
    const session = await postern.getSession();
    if (session === null) throw new Error('There is no session.');
    const { token: _, ...shown } = session;
    const snapshot = JSON.parse(
      JSON.stringify({
        session: shown,
        inbox: { page: await inbox.list({ limit: 1 }).page(), marker: await inbox.marker() },
      }),
    );
    const view = createInboxView(postern, inbox, { limit: 1, snapshot });
    const first = { items: [{ description: 'two', isUnread: true }], unread: { unread_count: 2 }, hasMore: true };
    expect(view.current).toMatchObject({ ...first, loading: false });
    const seen: string[][] = [];
    const end = view.subscribe(({ items }) => seen.push(items.map(({ description }) => description)));
    await publish(user.id, 'three');
    await until(view, 'the new one', ({ items }) => items[0]?.description === 'three');
    expect(seen).not.toContainEqual([]);
    end();
    postern.close();
  });

  test('forgets the snapshot of another user', async () => {
    const { postern } = await signedIn(app);
    const inbox = createInbox(postern);
    const { postern: other, user } = await signedIn(app);
    await publish(user.id, 'private');
    const session = { ...(await other.getSession()), token: undefined };
    const page = await createInbox(other).list().page();
    const snapshot = { session, inbox: { page, marker: await inbox.marker() } } as Snapshot;
    const view = createInboxView(postern, inbox, { snapshot });
    const end = view.subscribe(() => undefined);
    await until(view, 'the list of the user who is signed in', ({ items, loading }) => !loading && items.length === 0);
    end();
    for (const client of [postern, other]) client.close();
  });

  test('is empty after a sign-out, and opens no stream without a subscriber', async () => {
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    await publish(user.id, 'hello');
    const view = createInboxView(postern, createInbox(postern));
    expect(network.count('GET /v1/notifications/stream')).toBe(0);
    const end = view.subscribe(() => undefined);
    await until(view, 'the notification', ({ items }) => items.length === 1);
    await postern.logOut();
    expect(view.current).toMatchObject({ items: [], connection: 'offline' });
    end();
    postern.close();
  });
});

test('a limit that no list takes is refused at once', async () => {
  const { postern } = await signedIn(app);
  expect(() => createInbox(postern).list({ limit: 0 })).toThrow(/from 1 to 100/);
  expect(() => createInbox(postern, { stream: 'often' as never })).toThrow(/'shared', 'tab' or 'poll'/);
});
