import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable, ScopedDatabase, Transaction } from '../../src/database/database.js';
import {
  directoryStatement,
  everyoneStatement,
  spanningStatement,
  sql,
  userStatement,
} from '../../src/database/sql.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

// Scopes exist only in types. Each line after `@ts-expect-error` must be a type error. If it is not, the compiler reports the
// comment. At run time these lines succeed.

const ofUser = userStatement<object, { one: number }>('scopes_user', () => sql`select 1 as one`);
const ofDirectory = directoryStatement<object, { one: number }>('scopes_directory', () => sql`select 1 as one`);
const ofBoth = spanningStatement<object, { one: number }>('scopes_spanning', () => sql`select 1 as one`);
const ofEveryone = everyoneStatement<object, { one: number }>('scopes_everyone', () => sql`select 1 as one`);

const needsUser = (handle: Queryable<'user'>) => handle.query(ofUser({}));
const needsUserAndDirectory = async (tx: Transaction<'user' | 'directory'>) => [
  ...(await tx.query(ofUser({}))),
  ...(await tx.query(ofDirectory({}))),
];
const one = [{ one: 1 }];

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('the handle of a user accepts only statements on rows of users', async () => {
  for (const handle of [db.database.user(randomUUID()), db.database.users]) {
    expect(await handle.query(ofUser({}))).toEqual(one);
    // @ts-expect-error
    await handle.query(ofDirectory({}));
    // @ts-expect-error
    await handle.query(ofBoth({}));
    // @ts-expect-error
    await handle.query(ofEveryone({}));
  }
});

test('the handle of the directory accepts only statements on rows that belong to no user', async () => {
  const { directory } = db.database;
  expect(await directory.query(ofDirectory({}))).toEqual(one);
  // @ts-expect-error
  await directory.query(ofUser({}));
  // @ts-expect-error
  await directory.query(ofBoth({}));
  // @ts-expect-error
  await directory.query(ofEveryone({}));
});

test('the spanning handles accept all statements except those on all users', async () => {
  for (const handle of [db.database.spanning, db.database.spanningFor(randomUUID())]) {
    for (const statement of [ofUser({}), ofDirectory({}), ofBoth({})]) {
      expect(await handle.query(statement)).toEqual(one);
    }
    // @ts-expect-error
    await handle.query(ofEveryone({}));
  }
});

test('the handle of everyone accepts all statements', async () => {
  for (const statement of [ofUser({}), ofDirectory({}), ofBoth({}), ofEveryone({})]) {
    expect(await db.database.everyone.query(statement)).toEqual(one);
  }
});

test('a function that needs one scope accepts a transaction with more scopes', async () => {
  expect(await db.database.spanning.transaction((tx) => needsUser(tx))).toEqual(one);
  expect(await db.database.spanning.transaction((tx) => needsUserAndDirectory(tx))).toEqual([...one, ...one]);
  const narrowed: ScopedDatabase<'user' | 'directory'> = db.database.everyone;
  expect(await narrowed.transaction((tx) => needsUser(tx))).toEqual(one);
});

test('a function that needs two scopes refuses a transaction with one of them', async () => {
  // @ts-expect-error
  await db.database.user(randomUUID()).transaction((tx) => needsUserAndDirectory(tx));
  // @ts-expect-error
  await db.database.directory.transaction((tx) => needsUserAndDirectory(tx));
  // @ts-expect-error
  const widened: ScopedDatabase<'user' | 'directory'> = db.database.user(randomUUID());
  expect(await widened.query(ofUser({}))).toEqual(one);
});
