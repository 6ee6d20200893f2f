import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { destructiveStatements } from '../support/destructive-statements.js';

const folder = new URL('../../migrations/', import.meta.url);
const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');

test('a migration removes only what a release has not used, so that the former release works on the new schema', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const refused = names.flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const [, release = 'none'] = /^-- not used since (\d+\.\d+\.\d+)$/m.exec(text) ?? [];
    if (changelog.includes(`\n## [${release}]`)) return [];
    return destructiveStatements(text).map((statement) => `${name}: ${statement}`);
  });
  expect(refused).toEqual([]);
});

test.each([
  'drop table a',
  'drop table if exists a',
  'alter table a drop column b',
  'alter table a\n  add column d text, drop column b',
  'alter table a rename column b to c',
  'alter table a rename to b',
  'alter table a alter column b type bigint',
  'alter table a alter column b set data type bigint',
  'alter table a alter column b set not null',
  'alter table a add column b text not null',
  'drop function a',
  'drop view a',
  'alter table a rename to b; create view a as select c from b',
  'alter table a rename column b to c; create view a as select * from c',
])('finds that %j removes something', (statement) => {
  expect(destructiveStatements(`create table x (a int not null);\n${statement};`)).toHaveLength(1);
});

test.each([
  'alter table a add column b text not null default 0',
  'alter table a add column b bigint not null generated always as identity',
  'alter table a add column b text, add constraint c check (b is not null)',
  'alter table a drop constraint b, alter column c drop not null',
  'create or replace function a() returns int language sql as $$ select 1 $$',
  '-- drop table a',
  'drop index a',
  'alter index a rename to b',
  'alter table a rename to b; create view a as select * from b',
  "insert into t select 'drop table a'",
])('allows %j', (statement) => {
  expect(destructiveStatements(`${statement};`)).toEqual([]);
});
