import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import { type ApiAnswer, type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { withoutReferences } from '../../../support/openapi.js';
import { idsOf, linksOf, readersOf, some } from '../../../support/readers.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

interface Enveloped {
  readonly data: Notification[];
  readonly page: { readonly number: number; readonly next_cursor: string | null };
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly default?: unknown } }[];
}
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const { createReader, publish, get } = readersOf(() => postern);

describe('paging', () => {
  it('shows each notification once when a client follows the links, even while others arrive', async () => {
    const reader = await createReader();
    const before = await publish(reader.user, some(23));
    const seen: string[] = [];
    let path: string | undefined = '/v1/notifications?limit=5';
    while (path !== undefined) {
      const { body, headers }: { body: Notification[]; headers: Readonly<Record<string, string>> } = await postern.api<
        Notification[]
      >('GET', path, { bearer: reader.token });
      seen.push(...idsOf(body));
      path = linksOf(headers.link).next;
      await publish(reader.user, some(2));
    }
    expect(seen).toEqual(idsOf(before).toReversed());
  });

  it("keeps the client's parameters in every link, and links back too", async () => {
    const reader = await createReader();
    await publish(reader.user, some(9, { actor: 'Ann, Bob; & "Çelik"' }));
    const own = { sort: 'updated_at:asc', filter: 'actor:like:Bob; & "Ç', since: '2000-01-01 00:00:00', limit: '2' };
    const { headers } = await get(reader, { ...own, page: '3' });
    const links = linksOf(headers.link);
    const pages = Object.entries(links).map(([relation, reference]) => {
      const { page, cursor, ...others } = Object.fromEntries(new URL(reference, postern.url).searchParams);
      expect([cursor, others]).toEqual([expect.stringMatching(/^[\w-]+$/), own]);
      return [relation, page];
    });
    expect(pages).toEqual([
      ['first', '1'],
      ['prev', '2'],
      ['next', '4'],
      ['last', '5'],
    ]);
    const last = await postern.api<Notification[]>('GET', links.last ?? '', { bearer: reader.token });
    expect(last.body.map(({ description }) => description)).toEqual(['8']);
    expect(Object.keys(linksOf(last.headers.link))).toEqual(['first', 'prev', 'last']);
  });

  it('returns an empty array with links to earlier pages beyond the end', async () => {
    const reader = await createReader();
    await publish(reader.user, some(3));
    const { status, body, headers } = await get(reader, { page: '50000', limit: '2' });
    expect([status, body]).toEqual([200, []]);
    const links = Object.entries(linksOf(headers.link));
    expect(links.map(([relation, path]) => [relation, new URL(path, postern.url).searchParams.get('page')])).toEqual([
      ['first', '1'],
      ['prev', '2'],
      ['last', '2'],
    ]);
  });

  it('accepts a page number without a cursor', async () => {
    const reader = await createReader();
    const created = await publish(reader.user, some(5));
    expect((await get(reader, { page: '2', limit: '3' })).body).toEqual(created.slice(0, 2).toReversed());
  });

  it('reports all invalid parameters', async () => {
    const query = { page: '0', limit: '101', sort: 'actor', since: '2017-02-30 00:00:00', filter: 'colour:eq:red' };
    const { status, body } = await get<ProblemAnswer>(await createReader(), query);
    expect(status).toBe(422);
    expect(body.errors.map(({ field, code }) => [field, code])).toEqual([
      ['page', 'invalid_page'],
      ['limit', 'invalid_limit'],
      ['sort', 'invalid_sort'],
      ['since', 'invalid_since'],
      ['filter', 'unknown_filter_field'],
    ]);
  });

  it.each(['cursor=', 'cursor=x', 'cursor=Y3Jl', 'cursor=%ff', `cursor=${'9'.repeat(4000)}`])(
    'refuses %s',
    async (query) => {
      const { token } = await createReader();
      const { status, body } = await postern.api<ProblemAnswer>('GET', `/v1/notifications?${query}`, { bearer: token });
      expect([status, body.errors[0]]).toMatchObject([422, { field: 'cursor', code: 'invalid_cursor' }]);
    },
  );

  it('refuses a cursor of another order, and a repeated cursor', async () => {
    const reader = await createReader();
    await publish(reader.user, some(3));
    const { next = '' } = linksOf((await get(reader, { limit: '1' })).headers.link);
    const cursor = new URL(next, postern.url).searchParams.get('cursor') ?? '';
    expect((await get(reader, { cursor })).status).toBe(200);
    expect((await get(reader, { cursor, sort: 'updated_at' })).status).toBe(422);
    const twice = `/v1/notifications?cursor=${cursor}&cursor=${cursor}`;
    expect((await postern.api('GET', twice, { bearer: reader.token })).status).toBe(422);
  });

  it('shows the same pages forwards and backwards, while others are deleted', async () => {
    const reader = await createReader();
    const created = await publish(reader.user, some(12));
    const pages: string[][] = [];
    let path = '/v1/notifications?limit=3';
    const follow = async (relation: 'next' | 'prev') => {
      const answer = await postern.api<Notification[]>('GET', path, { bearer: reader.token });
      pages.push(answer.body.map(({ description }) => description));
      path = linksOf(answer.headers.link)[relation] ?? '';
    };
    await follow('next');
    await follow('next');
    const deletedId = created[11]?.id;
    await postern.api('DELETE', `/admin/v1/notifications/${deletedId}`, { bearer: postern.adminKey });
    await follow('prev');
    await follow('prev');
    expect(pages).toEqual([
      ['11', '10', '9'],
      ['8', '7', '6'],
      ['5', '4', '3'],
      ['8', '7', '6'],
    ]);
  });

  it.each(['1', '2', '3', '1000000000'])(
    'ends for a client that sends page=%s with each cursor: only the cursor counts',
    async (page) => {
      const reader = await createReader();
      const created = await publish(reader.user, some(7));
      const seen: string[] = [];
      const numbers: number[] = [];
      let cursor: string | null = null;
      // More requests than there are pages.
      for (let count = 0; count < 10; count += 1) {
        const query: Record<string, string> = {
          limit: '2',
          envelope: 'true',
          ...(cursor !== null && { page, cursor }),
        };
        const answer: ApiAnswer<Enveloped> = await get<Enveloped>(reader, query);
        expect(answer.status).toBe(200);
        seen.push(...idsOf(answer.body.data));
        numbers.push(answer.body.page.number);
        cursor = answer.body.page.next_cursor;
        if (cursor === null) break;
      }
      expect(seen).toEqual(idsOf(created).toReversed());
      expect(numbers).toEqual([1, 2, 3, 4]);
    },
  );

  it('ends for a client that sends every documented default with the cursor', async () => {
    const document = withoutReferences((await postern.api<OpenApiDocument>('GET', '/openapi.json')).body);
    const { parameters = [] } = document.paths['/v1/notifications']?.get ?? {};
    const defaults = Object.fromEntries(
      parameters.flatMap(({ name, schema }) => (schema.default === undefined ? [] : [[name, String(schema.default)]])),
    );
    expect(Object.keys(defaults)).not.toContain('page');
    const reader = await createReader();
    await publish(reader.user, some(45));
    const sizes: number[] = [];
    let cursor: string | undefined;
    for (let count = 0; count < 10; count += 1) {
      const { body, headers } = await get<Notification[]>(reader, { ...defaults, ...(cursor && { cursor }) });
      sizes.push(body.length);
      const { next } = linksOf(headers.link);
      if (next === undefined) break;
      cursor = new URL(next, postern.url).searchParams.get('cursor') ?? undefined;
    }
    expect(sizes).toEqual([20, 20, 5]);
  });

  it('declares no default of page on any list', async () => {
    const document = withoutReferences((await postern.api<OpenApiDocument>('GET', '/openapi.json')).body);
    const pages = Object.values(document.paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ parameters = [] }) => parameters.filter(({ name }) => name === 'page'));
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.filter(({ schema }) => schema.default !== undefined)).toEqual([]);
  });

  it('refuses an invalid page also with a cursor', async () => {
    const reader = await createReader();
    await publish(reader.user, some(3));
    const { next = '' } = linksOf((await get(reader, { limit: '1' })).headers.link);
    const cursor = new URL(next, postern.url).searchParams.get('cursor') ?? '';
    expect((await get(reader, { cursor, page: '0' })).status).toBe(422);
  });

  it('sorts by the first key only: all times of a user are different', async () => {
    const reader = await createReader();
    const created = await publish(reader.user, some(3));
    expect((await get(reader, { sort: 'created_at:asc,updated_at:desc' })).body).toEqual(created);
  });
});

describe('an envelope', () => {
  it('has the same values as the headers, and a cursor to the next page', async () => {
    const reader = await createReader();
    const created = await publish(reader.user, some(5));
    const first = await get<Enveloped>(reader, { envelope: 'true', limit: '3' });
    expect(first.body).toEqual({
      data: created.toReversed().slice(0, 3),
      page: { number: 1, limit: 3, total: 5, total_is_exact: true, next_cursor: expect.any(String) },
    });
    const { next = '' } = linksOf(first.headers.link);
    expect(new URL(next, postern.url).searchParams.get('envelope')).toBe('true');
    await publish(reader.user, some(2));
    const cursor = first.body.page.next_cursor ?? '';
    const second = await get<Enveloped>(reader, { envelope: 'true', limit: '3', cursor });
    expect(second.body).toEqual({
      data: created.toReversed().slice(3),
      page: { number: 2, limit: 3, total: 5, total_is_exact: true, next_cursor: null },
    });
    expect((await get(reader, { envelope: 'false' })).body).toHaveLength(7);
  });

  it.each(['1', 'yes', '', 'TRUE'])('refuses envelope=%s', async (envelope) => {
    const { status, body } = await get<ProblemAnswer>(await createReader(), { envelope });
    expect([status, body.errors[0]?.field]).toEqual([422, 'envelope']);
  });
});
