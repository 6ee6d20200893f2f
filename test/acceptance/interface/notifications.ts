import { beforeAll, describe, expect, test } from 'vitest';
import type { TestService } from '../../support/process.js';
import {
  type Answer,
  type Client,
  createClient,
  expectProblem,
  fieldsOf,
  linksOf,
  type Notification,
} from '../client.js';
import { createInbox, numbered, type Reader, textsOf } from '../inbox.js';

export function describeNotifications(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  let inbox: ReturnType<typeof createInbox>;
  let anyReader: Reader;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
    inbox = createInbox(client);
    anyReader = await inbox.newReader();
  });

  describe('4.7 GET /v1/notifications', () => {
    test('is 200 with a bare array of all of the user’s notifications, newest first', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(3));
      const answer = await inbox.list(reader);
      expect([answer.status, textsOf(answer)]).toEqual([200, ['3', '2', '1']]);
      expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('X-Total-Count')).toBe('3');
    });

    test('is an empty array for a user who has none', async () => {
      const answer = await inbox.list(await inbox.newReader());
      expect([answer.status, answer.text, answer.headers.get('X-Total-Count')]).toEqual([200, '[]', '0']);
    });

    test('shows no notifications of other users', async () => {
      const [ann, bob] = [await inbox.newReader(), await inbox.newReader()];
      await inbox.publish(ann, numbered(2));
      await inbox.publish(bob, [{ description: 'for Bob' }]);
      expect(textsOf(await inbox.list(bob))).toEqual(['for Bob']);
      expect(textsOf(await inbox.list(bob, { filter: `user_id:eq:${ann.user.id}` }))).toEqual([]);
    });

    test('shows payments, pools and requests; other types cannot be published', async () => {
      const reader = await inbox.newReader();
      const types = ['payment', 'pool', 'request'];
      await inbox.publish(
        reader,
        types.map((notification_type) => ({ notification_type })),
      );
      expect((await inbox.list(reader)).body.map(({ notification_type }) => notification_type)).toEqual(
        types.toReversed(),
      );
      const item = { user_id: reader.user.id, notification_type: 'security', description: 'x' };
      expectProblem(await client.admin('POST', '/notifications', item), 422, 'invalid_choice');
    });

    test('keeps the order of a batch, with different times', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(50));
      const { body } = await inbox.list(reader, { limit: '50', sort: 'created_at:asc' });
      expect(body.map(({ description }) => description)).toEqual(numbered(50).map(({ description }) => description));
      const times = body.map(({ created_at }) => created_at);
      expect(new Set(times).size).toBe(50);
      expect(times).toEqual(times.toSorted());
    });

    test('has no other operation', async () => {
      const reader = await inbox.newReader();
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await client.send(method, '/v1/notifications', { bearer: reader.bearer });
        expectProblem(answer, 405, 'method_not_allowed');
      }
    });
  });

  describe('4.7 page and limit', () => {
    test('a page has 20 items by default and 100 at most', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(101));
      expect((await inbox.list(reader)).body).toHaveLength(20);
      expect((await inbox.list(reader, 'limit=1')).body).toHaveLength(1);
      expect((await inbox.list(reader, 'limit=100')).body).toHaveLength(100);
      expect(textsOf(await inbox.list(reader, 'limit=100&page=2'))).toEqual(['1']);
    });

    test('pages start at 1, and a page after the last one is empty', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(5));
      const pages = [];
      for (const page of ['1', '2', '3', '4', '50000'])
        pages.push(textsOf(await inbox.list(reader, { page, limit: '2' })));
      expect(pages).toEqual([['5', '4'], ['3', '2'], ['1'], [], []]);
    });

    test.each([
      ...[
        'page=0',
        'page=-1',
        'page=1.5',
        'page=x',
        'page=',
        'page=1e3',
        'page=%201',
        'page=1&page=1',
        'page=9999999999999999',
      ],
      ...['limit=0', 'limit=-1', 'limit=101', 'limit=ten', 'limit=', 'limit=5&limit=5', 'limit[]=5&limit=0x10'],
    ])('?%s is 422', async (query) => {
      const answer = await inbox.list(anyReader, query);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, [/^\w+/.exec(query)?.[0]]]);
    });

    test('reports all invalid parameters at once', async () => {
      const answer = await inbox.list(anyReader, 'page=0&limit=0&sort=colour&since=yesterday&filter=colour:eq:red');
      expect([answer.status, fieldsOf(answer).sort()]).toEqual([422, ['filter', 'limit', 'page', 'since', 'sort']]);
    });
  });

  describe('4.7 Link and X-Total-Count', () => {
    test('first, prev, next and last lead to the pages, as published clients read them', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(9));
      const middle = await inbox.list(reader, 'limit=2&page=3');
      expect(middle.headers.get('X-Total-Count')).toBe('9');
      const links = linksOf(middle);
      expect(Object.keys(links)).toEqual(['first', 'prev', 'next', 'last']);
      const shown = await Promise.all(
        Object.values(links).map((path) => client.send<Notification[]>('GET', path, reader)),
      );
      expect(shown.map(textsOf)).toEqual([['9', '8'], ['7', '6'], ['3', '2'], ['1']]);
      expect(Object.keys(linksOf(await inbox.list(reader, 'limit=2')))).toEqual(['first', 'next', 'last']);
      expect(Object.keys(linksOf(await inbox.list(reader, 'limit=2&page=5')))).toEqual(['first', 'prev', 'last']);
      expect(Object.keys(linksOf(await inbox.list(reader)))).toEqual(['first', 'last']);
    });

    test('is on one line, and keeps the client’s parameters with encoded commas and semicolons', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(
        reader,
        Array.from({ length: 5 }, () => ({ actor: 'Ann, Bob; <Çelik> & "Co"' })),
      );
      const own = {
        sort: 'created_at:asc,updated_at:desc',
        filter: 'actor:like:\\, Bob\\; <Ç|actor:neq:x',
        since: '2000-01-01 00:00:00',
      };
      const answer = await inbox.list(reader, { ...own, limit: '2', page: '2' });
      expect(answer.body).toHaveLength(2);
      const links = Object.values(linksOf(answer));
      expect(links).toHaveLength(4);
      for (const link of links) {
        expect(link).toMatch(/^\/v1\/notifications\?[\w.~%=&-]+$/);
        const { page, cursor, ...kept } = Object.fromEntries(new URL(link, service.url).searchParams);
        expect(kept).toEqual({ ...own, limit: '2' });
      }
    });

    test('following next shows each item once, also while new items arrive', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(12));
      const seen: string[] = [];
      for (let path: string | undefined = '/v1/notifications?limit=5'; path !== undefined; ) {
        const page: Answer<Notification[]> = await client.send('GET', path, reader);
        seen.push(...textsOf(page));
        path = linksOf(page).next;
        await inbox.publish(reader, [{ description: 'new' }, { description: 'new' }]);
      }
      expect(seen).toEqual(
        numbered(12)
          .map(({ description }) => description)
          .toReversed(),
      );
    });

    test('the count is exact; with a filter up to 1000, unless Prefer asks for the exact count', async () => {
      const reader = await inbox.newReader();
      await inbox.publish(reader, numbered(1000));
      await inbox.publish(reader, [{ notification_type: 'pool' }, { description: 'last' }]);
      expect((await inbox.list(reader)).headers.get('X-Total-Count')).toBe('1002');
      const capped = await inbox.list(reader, 'filter=notification_type:eq:payment');
      expect([capped.headers.get('X-Total-Count'), capped.headers.get('X-Total-Count-Capped')]).toEqual([
        '1000',
        'true',
      ]);
      expect(Object.keys(linksOf(capped))).toEqual(['first', 'next']);
      const exact = await inbox.list(reader, 'filter=notification_type:eq:payment', { Prefer: 'count=exact' });
      expect([exact.headers.get('X-Total-Count'), exact.headers.get('X-Total-Count-Capped')]).toEqual(['1001', null]);
      expect(Object.keys(linksOf(exact))).toEqual(['first', 'next', 'last']);
      expect((await inbox.list(reader, 'filter=notification_type:eq:pool')).headers.get('X-Total-Count')).toBe('1');
    });
  });

  describe('4.7 a notification that is changed or deleted', () => {
    test('shows its new content and updated_at, in its old place', async () => {
      const reader = await inbox.newReader();
      const [one, two] = await inbox.publish(reader, numbered(2));
      const { status, body } = await inbox.change(one, { description: 'corrected' });
      expect([status, body.created_at, body.updated_at > (two as Notification).updated_at]).toEqual([
        200,
        one?.created_at,
        true,
      ]);
      expect((await inbox.list(reader)).body).toEqual([two, body]);
    });

    test('is removed, from the count too', async () => {
      const reader = await inbox.newReader();
      const [one] = await inbox.publish(reader, numbered(2));
      await client.admin('DELETE', `/notifications/${one?.id}`);
      const answer = await inbox.list(reader);
      expect([textsOf(answer), answer.headers.get('X-Total-Count')]).toEqual([['2'], '1']);
    });
  });
}
