import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Image } from '../../../src/contract/image.js';
import type { Notification } from '../../../src/contract/notification.js';
import { createPageCache, type StoredPage } from '../../../src/http/lists/page-cache.js';
import { maintained, startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createImageFolder, formOf, plain } from '../../support/image-fixtures.js';
import { queriesOf } from '../../support/queries.js';
import { type Reader, readersOf, some } from '../../support/readers.js';
import { testSql } from '../../support/sql.js';

/** A page of this size: the cache counts two bytes for each character. */
const pageOf = (bytes: number): StoredPage => ({ headers: {}, body: 'x'.repeat(bytes / 2) });

describe('the page cache', () => {
  test('returns a page only for its user, its request and its state', () => {
    const pages = createPageCache(1_000_000);
    const page = pageOf(100);
    pages.store('a', '/x', 'state 1', page);
    expect(pages.has('a', '/x')).toBe(true);
    expect(pages.find('a', '/x', 'state 1')).toBe(page);
    expect(pages.find('a', '/x', 'state 2')).toBeUndefined();
    expect(pages.find('a', '/y', 'state 1')).toBeUndefined();
    expect(pages.find('b', '/x', 'state 1')).toBeUndefined();
  });

  test('drops pages of an earlier state when it stores a page of a later state', () => {
    const pages = createPageCache(1_000_000);
    pages.store('a', '/x', 'state 1', pageOf(1));
    pages.store('a', '/y', 'state 2', pageOf(1));
    expect([pages.has('a', '/x'), pages.has('a', '/y')]).toEqual([false, true]);
  });

  test('keeps at most four pages of a user, and no large page', () => {
    const pages = createPageCache(10_000_000);
    for (const request of ['1', '2', '3', '4', '5']) pages.store('a', request, 'state', pageOf(10));
    pages.store('b', '1', 'state', pageOf(128 * 1024));
    pages.store('c', '1', 'state', { headers: { link: 'x'.repeat(64 * 1024) }, body: '' });
    expect(['1', '2', '3', '4', '5'].map((request) => pages.has('a', request))).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    expect([pages.has('b', '1'), pages.has('c', '1')]).toEqual([false, false]);
  });

  test('uses no more memory than its limit, and keeps pages that are requested again', () => {
    const pages = createPageCache(1_000_000);
    const users = Array.from({ length: 500 }, (_, nth) => `user ${nth}`);
    for (const user of users) {
      pages.store(user, '/x', 'state', pageOf(10_000));
      pages.find('user 0', '/x', 'state');
    }
    const kept = users.filter((user) => pages.has(user, '/x'));
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.length * 10_000).toBeLessThan(1_000_000);
    expect(kept).toContain('user 0');
  });
});

describe('a cached page', () => {
  let folder: Awaited<ReturnType<typeof createImageFolder>>;
  let postern: TestApp;
  let second: TestApp;
  beforeAll(async () => {
    folder = await createImageFolder();
    postern = await startTestApp({ IMAGE_DIR: folder.path });
    second = await postern.another();
  });
  afterAll(async () => {
    await second.close();
    await postern.close();
    await folder.remove();
  });
  const { createReader, publish } = readersOf(() => postern);
  const queries = [
    '',
    '?limit=10',
    '?limit=10&page=2',
    '?sort=updated_at:asc',
    '?envelope=true',
    '?filter=actor:eq:Ada',
  ];
  const listOn = (app: TestApp, reader: Reader, query = '') =>
    app.api<Notification[]>('GET', `/v1/notifications${query}`, { bearer: reader.token });
  let nth = 0;
  /** A query that is in no cache: `/v1` ignores unknown parameters. */
  const uncached = (query: string) => `${query}${query === '' ? '?' : '&'}unknown=${nth++}`;
  /** An answer without the headers that differ each time. */
  const comparable = ({ status, headers, text }: Awaited<ReturnType<typeof listOn>>) => {
    const { date: _date, 'request-id': _id, ...rest } = headers;
    return { status, headers: rest, text };
  };

  /** Fills the caches of both instances, runs a change, and compares their responses with fresh ones. */
  async function expectFreshAfter(reader: Reader, change: () => Promise<unknown>): Promise<void> {
    const requests = [postern, second].flatMap((app) => queries.slice(0, 4).map((query) => ({ app, query })));
    const before = await Promise.all(requests.map(({ app, query }) => listOn(app, reader, query)));
    await change();
    for (const [index, { app, query }] of requests.entries()) {
      const answer = comparable(await listOn(app, reader, query));
      expect(answer).toEqual(comparable(await listOn(app, reader, uncached(query))));
      expect(answer).not.toEqual(before[index] && comparable(before[index]));
    }
  }

  it('has the same bytes as the first response, for every query, and its rows are not read again', async () => {
    const reader = await createReader();
    await publish(reader.user, some(25, { actor: 'Ada' }));
    for (const query of queries) {
      const first = await listOn(postern, reader, query);
      const sent = await queriesOf(async () => {
        expect(comparable(await listOn(postern, reader, query))).toEqual(comparable(first));
      });
      expect(sent.filter(({ text }) => text.includes('from notifications'))).toEqual([]);
      expect(comparable(await listOn(postern, reader, uncached(query)))).toEqual(comparable(first));
    }
  });

  it('differs for a client that prefers an exact count', async () => {
    const reader = await createReader();
    await publish(reader.user, some(2));
    const prefer = { bearer: reader.token, headers: { Prefer: 'count=exact' } };
    for (const _ of [1, 2]) {
      expect((await listOn(postern, reader)).headers['preference-applied']).toBeUndefined();
      const exact = await postern.api('GET', '/v1/notifications', prefer);
      expect(exact.headers['preference-applied']).toBe('count=exact');
    }
  });

  it('is never sent to another user or to an operator', async () => {
    const [reader, other] = [await createReader(), await createReader()];
    await publish(reader.user, some(2));
    await listOn(postern, reader);
    expect((await listOn(postern, other)).body).toEqual([]);
    const path = `/admin/v1/users/${reader.user.id}/notifications`;
    for (const _ of [1, 2]) {
      const { headers, body } = await postern.api<Notification[]>('GET', path, { bearer: postern.adminKey });
      expect(headers.link).toContain(`<${path}?`);
      expect(body).toHaveLength(2);
    }
  });

  it('is not sent to a session that has ended', async () => {
    const reader = await createReader();
    await listOn(postern, reader);
    await listOn(postern, reader);
    await postern.api('POST', `/admin/v1/users/${reader.user.id}/logout`, { bearer: postern.adminKey });
    expect((await listOn(postern, reader)).status).toBe(401);
  });

  it('is replaced after a creation, a change and a deletion on any instance', async () => {
    const reader = await createReader();
    const [one, two, three] = await publish(reader.user, some(15));
    for (const [app, deleted] of [[second, two] as const, [postern, three] as const]) {
      const options = { bearer: app.adminKey };
      const body = { user_id: reader.user.id, notification_type: 'payment', description: 'New' };
      await expectFreshAfter(reader, () => app.api('POST', '/admin/v1/notifications', { ...options, body }));
      const change = { ...options, body: { description: `Changed by ${app.url}` } };
      await expectFreshAfter(reader, () => app.api('PATCH', `/admin/v1/notifications/${one?.id}`, change));
      await expectFreshAfter(reader, () => app.api('DELETE', `/admin/v1/notifications/${deleted?.id}`, options));
    }
  });

  it('is replaced after retention has removed rows', async () => {
    const reader = await createReader();
    await publish(reader.user, some(12));
    await postern.database.query(
      testSql(
        "update notifications set created_at = created_at - interval '40 days' where user_id = $1 and sequence < 4",
        [reader.user.id],
      ),
    );
    await expectFreshAfter(reader, async () => {
      const cleaner = await postern.another({ NOTIFICATION_RETENTION: '*:30d' }, maintained);
      await eventually('the old rows to go', async () => {
        const { body } = await listOn(postern, reader, uncached(''));
        return body.length === 9 ? true : undefined;
      });
      await cleaner.close();
    });
  });

  it('is replaced after the actor and the image of its notifications were erased', async () => {
    const [reader, actor] = [await createReader(), await createReader()];
    const body = formOf(['file', await plain(20, 20).png().toBuffer()]);
    const image = await postern.api<Image>('POST', '/v1/images', { bearer: actor.token, body });
    const shows = { actor_id: actor.user.id, actor: 'Ada', image_id: image.body.id };
    await publish(reader.user, some(12, shows));
    expect((await listOn(postern, reader)).body[0]).toMatchObject({ actor: 'Ada', image: { id: image.body.id } });
    await expectFreshAfter(reader, async () => {
      await second.api('DELETE', `/admin/v1/users/${actor.user.id}`, { bearer: second.adminKey });
      await eventually('the name and the image to go', async () => {
        const { body: items } = await listOn(postern, reader, uncached(''));
        return items.every((item) => item.actor === null && item.image === null) ? true : undefined;
      });
    });
  });

  it('of a deleted user is not sent any more', async () => {
    const reader = await createReader();
    await publish(reader.user, some(2));
    const path = `/admin/v1/users/${reader.user.id}/notifications`;
    const read = () => postern.api('GET', path, { bearer: postern.adminKey });
    expect([(await read()).status, (await read()).status]).toEqual([200, 200]);
    await second.api('DELETE', `/admin/v1/users/${reader.user.id}`, { bearer: second.adminKey });
    expect((await read()).status).toBe(404);
    expect((await listOn(postern, reader)).status).toBe(401);
  });
});
