import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../src/contract/user.js';
import type { ListRequest, Page, SortColumn } from '../../src/database/listing.js';
import { collectFilter } from '../../src/lib/filter/parse.js';
import type { FieldError } from '../../src/lib/problem.js';
import { searchIndex } from '../../src/schema/late-indexes.js';
import { createUserList, type ListUsers } from '../../src/users/list.js';
import { userFilterFields } from '../../src/users/search/fields.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { queriesOf } from '../support/queries.js';
import { testSql } from '../support/sql.js';

/** The number of users. It is larger than `firstRows`, the number that a search reads before it uses an index. */
const count = 3000;
const firstRows = 500;

let test: TestDatabase;
let list: ListUsers;

beforeAll(async () => {
  test = await createTestDatabase();
  await test.database.query(
    testSql(
      `insert into users (id, username, email, phone, name, status, role, lock_kind, created_at, updated_at)
       select md5(n::text)::uuid, 'user' || n, 'mail' || n || '@example.com', '+1555' || lpad(n::text, 7, '0'),
         case when n % 1000 = 7 then 'Zdeněk Rare ' || n else 'Common Person' end,
         case when n % 500 = 3 then 'deactivated' else 'active' end,
         case when n = 11 then 'operator' else 'user' end,
         case when n in (21, 22) then 'permanent' end,
         timestamptz '2020-01-01' + n * interval '1 minute', timestamptz '2021-01-01' - n * interval '1 minute'
       from generate_series(1, $1) n`,
      [count],
    ),
  );
  await test.database.query(testSql('analyze users'));
  list = createUserList({ database: test.database, defaultRegion: 'US', concurrency: 4, firstRows });
});
afterAll(() => test.drop());

const newest: readonly SortColumn[] = [{ field: 'created_at', direction: 'desc' }];
const filterOf = (text: string) => {
  const errors: FieldError[] = [];
  const filter = text === '' ? [] : collectFilter(text, userFilterFields, errors);
  expect(errors).toEqual([]);
  return filter;
};
interface Query extends Partial<Omit<ListRequest, 'filter'>> {
  readonly search?: string;
  readonly filter?: string;
}
const read = ({ filter = '', ...query }: Query, listUsers: ListUsers = list) =>
  listUsers({ page: 1, limit: 20, sort: newest, ...query, filter: filterOf(filter) });
const numbers = ({ items }: Page<User>) => items.map(({ username }) => Number(username?.slice(4)));

/** Reads every page, each after the last key of the page before. */
async function walk(query: Query, listUsers: ListUsers = list): Promise<{ numbers: number[]; pages: Page<User>[] }> {
  const pages = [await read(query, listUsers)];
  for (let page = pages[0]; page?.hasMore && page.ends !== undefined; page = pages.at(-1)) {
    pages.push(await read({ ...query, anchor: { side: 'after', key: page.ends.last } }, listUsers));
  }
  return { numbers: pages.flatMap(numbers), pages };
}
const descending = (from: number, matches: (n: number) => boolean) =>
  Array.from({ length: from }, (_, index) => from - index).filter(matches);

describe('a search', () => {
  it.each([
    ['a user name', 'USER2999', [2999]],
    ['a mail address', 'ail2998@exa', [2998]],
    ['a name in another case', 'zdeněk RARE', [2007, 1007, 7]],
    ['a phone number', '15550002997', [2997]],
    ['a phone number with spaces and brackets', '(555) 000 29 96', [2996]],
    ['a phone number with a leading zero', '0555 0002995', [2995]],
    ['old users beyond those that are read first', 'rare 7', [7]],
  ])('finds a part of %s', async (_, search, found) => {
    const page = await read({ search });
    expect([numbers(page), page.total, page.totalIsExact, page.hasMore, page.partial]).toEqual([
      found,
      found.length,
      true,
      false,
      undefined,
    ]);
  });

  it.each([['%'], ['_'], ['\\'], ["'"], ['"'], ['user%9'], ['mail_1'], ['\u202eresu'], ['$1'], ['x'.repeat(320)]])(
    'takes %j literally',
    async (search) => expect(numbers(await read({ search }))).toEqual([]),
  );

  it('does not match across two values', async () => {
    expect(numbers(await read({ search: '2999mail' }))).toEqual([]);
    expect(numbers(await read({ search: 'user2999 mail2999' }))).toEqual([]);
  });

  it.each(['email', 'phone'] as const)('for a full %s finds only its user', async (type) => {
    const [first] = (await read({ search: 'user1234' })).items;
    const insertIdentity = testSql(
      `insert into identities (digest, user_id, type, canonical) select sha256(convert_to($1 || chr(10) || $2, 'utf8')), $3, $1, $2`,
      [type, first?.[type], first?.id],
    );
    await test.database.query(insertIdentity);
    const spelled = type === 'email' ? 'MAIL1234@Example.COM' : ' 1 (555) 000-1234';
    const statements = await queriesOf(async () => {
      expect(numbers(await read({ search: spelled.trim() }))).toEqual([1234]);
    });
    expect(statements.map(({ text }) => text).join()).not.toContain(' like ');
  });

  it('finds a user by the id of the user or of a device', async () => {
    const [user] = (await read({ search: 'user77' })).items;
    const device = randomUUID();
    await test.database.query(
      testSql('insert into devices (user_id, id, created_at, updated_at) values ($1, $2, now(), now())', [
        user?.id,
        device,
      ]),
    );
    for (const search of [user?.id ?? '', device.toUpperCase()]) {
      expect((await read({ search })).items.map(({ id }) => id)).toEqual([user?.id]);
    }
    expect((await read({ search: randomUUID() })).items).toEqual([]);
  });

  it('counts to a thousand, and says that there are more', async () => {
    const common = await read({ search: 'common' });
    expect([numbers(common)[0], common.total, common.totalIsExact]).toEqual([3000, 1000, false]);
    expect(await read({ search: 'r1', limit: 1 })).toMatchObject({ total: 1111 - 111, totalIsExact: false });
    expect(await read({ search: 'user11', limit: 1 })).toMatchObject({ total: 111, totalIsExact: true });
  });

  it('counts the users who match a search of three characters exactly up to a thousand', async () => {
    expect(await read({ search: '123', limit: 1 })).toMatchObject({
      total: descending(count, (n) => String(n).padStart(7, '0').includes('123')).length,
      totalIsExact: true,
    });
    expect(await read({ search: 'com', limit: 1 })).toMatchObject({ total: 1000, totalIsExact: false });
  });

  it('never uses the index for a text without three letters or digits in a row', async () => {
    const statements = await queriesOf(async () => {
      const page = await read({ search: 'k r', limit: 2 });
      expect([numbers(page), page.total, page.hasMore]).toEqual([[2007, 1007], 3, true]);
    });
    // A statement that uses an index has a time limit.
    expect(statements.filter(({ text }) => text.includes('statement_timeout'))).toEqual([]);
  });

  it.each([
    ['common', (n: number) => n % 1000 !== 7],
    ['user29', (n: number) => String(n).startsWith('29')],
    ['rare', (n: number) => n % 1000 === 7],
  ])('for %j returns every user once by cursor, in both directions', async (search, matches) => {
    const all = descending(count, matches);
    const forward = await walk({ search, limit: 90 });
    expect(forward.numbers).toEqual(all);
    const key = [forward.pages.at(-1)?.ends?.last ?? []].flat();
    const back = await read({ search, limit: 5, anchor: { side: 'before', key } });
    expect(numbers(back)).toEqual(all.slice(-6, -1).slice(-5));
  });

  it('works together with a sort, a filter, a time and a page number', async () => {
    const byUpdate: readonly SortColumn[] = [{ field: 'updated_at', direction: 'desc' }];
    expect(numbers(await read({ search: 'rare', sort: byUpdate }))).toEqual([7, 1007, 2007]);
    expect(numbers(await read({ search: 'user', filter: 'status:deactivated', limit: 2 }))).toEqual([2503, 2003]);
    expect(numbers(await read({ search: 'rare', since: '2020-01-01T17:00:00Z' }))).toEqual([2007]);
    expect(numbers(await read({ search: 'rare', limit: 1, page: 2 }))).toEqual([1007]);
    expect(numbers(await read({ search: 'user1', limit: 100, page: 11 }))).toEqual(
      descending(count, (n) => String(n).startsWith('1')).slice(1000, 1100),
    );
  });

  it.each(['r7', '7', '@', '+1', '.c', 'ě'])('finds %j, which the index does not know', async (search) => {
    const page = await read({ search, filter: '', limit: 100 });
    expect(page.items.length).toBeGreaterThan(0);
    expect(page.partial).toBeUndefined();
    const { numbers: all } = await walk({ search: 'ěk' });
    expect(all).toEqual([2007, 1007, 7]);
  });

  it('uses its index for users beyond those that are read first', async () => {
    const statements = await queriesOf(() => read({ search: 'rare' }));
    const indexed = statements.find(({ text }) => text.includes('materialized'));
    const settings = statements.find(({ text }) => text.includes('set_config'));
    const plan = await test.database.transaction(async (tx) => {
      await tx.query(testSql(settings?.text ?? '', settings?.values));
      return tx.query<object>(testSql(`explain (format json) ${indexed?.text}`, indexed?.values));
    });
    expect(JSON.stringify(plan)).toContain(searchIndex);
  });
});

describe('a filter', () => {
  it.each([
    ['status:deactivated', [2503, 2003, 1503, 1003, 503, 3]],
    ['role:operator', [11]],
    ['role:neq:user', [11]],
    ['locked:true', [22, 21]],
    ['locked:true,username:like:21', [21]],
    ['name:like:RARE', [2007, 1007, 7]],
    ['name:Zdeněk Rare 7', [7]],
    ['last_login_at:gt:2019-01-01T00:00:00Z', []],
    ['factor:totp', []],
  ])('%s finds its users', async (filter, found) => {
    await test.database.query(testSql('delete from devices'));
    const page = await read({ filter });
    expect([numbers(page), page.total, page.totalIsExact]).toEqual([found, found.length, true]);
  });

  it('by factor, lock and last login excludes with neq', async () => {
    const [one, two] = (await read({ search: 'rare' })).items;
    await test.database.query(
      testSql(
        `insert into totp (user_id, id, secret, last_step, created_at, last_used_at) values ($1, $1, '', 0, now(), now())`,
        [one?.id],
      ),
    );
    await test.database.query(
      testSql(
        `insert into devices (user_id, id, created_at, updated_at, last_login_at)
         values ($1, gen_random_uuid(), now(), now(), '2022-02-02'), ($1, gen_random_uuid(), now(), now(), '2021-02-02')`,
        [two?.id],
      ),
    );
    const found = async (filter: string) => numbers(await read({ filter: `name:like:rare,${filter}` }));
    expect(await found('factor:totp')).toEqual([2007]);
    expect(await found('factor:neq:totp')).toEqual([1007, 7]);
    expect(await found('factor:none')).toEqual([1007, 7]);
    expect(await found('factor:in:none;totp')).toEqual([2007, 1007, 7]);
    expect(await found('locked:false')).toEqual([2007, 1007, 7]);
    expect(await found('last_login_at:gt:2021-06-01T00:00:00Z')).toEqual([1007]);
    expect(await found('last_login_at:lt:2022-01-01T00:00:00Z')).toEqual([]);
    expect((await read({ search: 'rare' })).items.map((user) => user.last_login_at)).toEqual([
      null,
      '2022-02-02T00:00:00.000000Z',
      null,
    ]);
  });
});

describe('a list that runs out of time', () => {
  let atOnce: ListUsers;
  beforeAll(() => {
    const limits = { search: 0, indexed: 1000, count: 1000 };
    atOnce = createUserList({ database: test.database, defaultRegion: 'US', concurrency: 4, firstRows, limits });
  });

  it('is partial, and its cursors lead to every user that matches', async () => {
    const { pages, numbers: found } = await walk({ filter: 'name:like:rare,factor:in:none;totp' }, atOnce);
    expect(found).toEqual([2007, 1007, 7]);
    // Each page reads 500 of 3000 users. The last one finds the end.
    expect(pages.map(({ partial }) => partial)).toEqual([...Array(6).fill('time'), undefined]);
    expect(pages[0]).toMatchObject({ hasMore: true, total: 0, totalIsExact: false });
  });

  it('says that the reason is a missing index, and finds full identities nevertheless', async () => {
    await test.database.query(testSql(`drop index ${searchIndex}`));
    const { pages, numbers: found } = await walk({ search: 'rare' }, atOnce);
    expect([found, pages[0]?.partial]).toEqual([[2007, 1007, 7], 'index']);
    const backwards = await read({ search: 'rare', anchor: { side: 'before', key: afterOldestUser } }, atOnce);
    expect([numbers(backwards), backwards.partial, backwards.hasMore]).toEqual([[7], 'index', true]);
    const further = await read(
      { search: 'rare', anchor: { side: 'before', key: backwards.ends?.first ?? [] } },
      atOnce,
    );
    expect(numbers(further)).toEqual([]);
    expect(numbers(await read({ search: 'mail1234@example.com' }))).toEqual([1234]);
    const enough = await read({ search: 'rare' });
    expect([numbers(enough), enough.partial]).toEqual([[2007, 1007, 7], undefined]);
  });
});

/** The key of a place after the oldest user. */
const afterOldestUser = ['2020-01-01T00:00:00.000000Z', '00000000-0000-0000-0000-000000000000'];
