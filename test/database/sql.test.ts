import { expect, test } from 'vitest';
import { bound, compose, identifier, join, type Sql, sql, statement } from '../../src/database/sql.js';

const find = statement<{ userId: string; name: string }>(
  'test_find',
  (p) => sql`select 1 from users where id = ${p.userId} and ${sql`username = ${p.name}`} and id = ${p.userId}`,
);

test('each use of a parameter has the same number', () => {
  expect(find({ name: 'ada', userId: 'u1' })).toEqual({
    name: 'test_find',
    text: 'select 1 from users where id = $1 and username = $2 and id = $1',
    values: ['u1', 'ada'],
  });
});

test('the text of a statement is the same string for each call', () => {
  expect(find({ userId: 'u1', name: 'ada' }).text).toBe(find({ userId: 'u2', name: 'bob' }).text);
});

test('the values of a composed statement have the order of its text', () => {
  const conditions = join([sql`a = ${bound(1)}`, sql`b = ${bound('x')}::text`], ' and ');
  expect(compose(sql`select 1 from t where ${conditions} order by ${identifier('t.created_at')}`)).toEqual({
    text: 'select 1 from t where a = $1 and b = $2::text order by t.created_at',
    values: [1, 'x'],
  });
});

test('a join of no parts or of one part has no separator', () => {
  expect(compose(sql`in (${join([], ', ')})`).text).toBe('in ()');
  expect(compose(sql`in (${join([sql`a`], ', ')})`).text).toBe('in (a)');
});

test('an identifier that is not a lower-case word is refused', () => {
  for (const name of ['', 'a b', 'a"b', 'a;', '1a', 'a.', 'A']) expect(() => identifier(name)).toThrow('not a name');
});

test('a name belongs to one statement: another text is refused when it is defined', () => {
  const define = (text: () => Sql) => statement('test_twice', text);
  define(() => sql`select 1`);
  define(() => sql`select 1`);
  expect(() => define(() => sql`select 2`)).toThrow('two statements have the name test_twice');
  expect(() => statement('test_twice', () => sql`select 2`)).toThrow('two statements');
});

test('a prepared statement must not contain a value', () => {
  const build = () => statement('test_value', () => sql`select ${bound(1)}`);
  expect(build).toThrow('the statement test_value contains a value');
});

test('a composed statement must not contain a parameter', () => {
  let stray = sql``;
  statement<{ id: string }>('test_stray', (p) => {
    stray = sql`${p.id}`;
    return stray;
  });
  expect(() => compose(stray)).toThrow('may not have parameters, but has id');
});
