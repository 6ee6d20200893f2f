import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { errorsOf } from '../support/config.js';

const base = { DATABASE_URL: 'postgres://postern@main/postern', SECRET_KEY: 's'.repeat(32) };
const errorsWith = (value: string) => errorsOf({ ...base, SHARDS: value });

test('SHARDS names servers, whose URLs may list several hosts', () => {
  const text = 'east=postgres://postern@a,b:5433/postern; west-2=postgres://postern@c/postern;';
  expect(readConfig({ ...base, SHARDS: text }).SHARDS).toEqual([
    { name: 'east', url: 'postgres://postern@a,b:5433/postern' },
    { name: 'west-2', url: 'postgres://postern@c/postern' },
  ]);
});

const example = 'such as east=postgres://postern@a/postern;west=postgres://postern@b/postern';
test.each([
  [';', `SHARDS must name a server, ${example}`],
  ['postgres://postern@a/postern', `SHARDS must be names with URLs, joined by semicolons, ${example}`],
  ['east=postgres://a/b,west=postgres://c/d', `SHARDS must be names with URLs, joined by semicolons, ${example}`],
  [
    'East=postgres://postern@a/postern',
    'SHARDS must have names of 1 to 32 lower-case letters, digits and hyphens, not "East"',
  ],
  ['main=postgres://postern@a/postern', 'SHARDS must not use the name main, which is the server of DATABASE_URL'],
  [
    'east=postgres://postern@a/postern;east=postgres://postern@b/postern',
    'SHARDS must have each name once, and has east twice',
  ],
  [
    'east=postgres://postern@a/postern;west=postgres://postern@a/postern',
    'SHARDS must have each URL once, and west has another name too',
  ],
  ['east=postgres://postern@main/postern', 'SHARDS must name other databases than DATABASE_URL, and east is the same'],
])('SHARDS cannot be %s', (value, message) => {
  expect(errorsWith(value)).toEqual([message]);
});

test('SHARDS needs DATABASE_URL', () => {
  expect(errorsOf({ SHARDS: 'east=postgres://postern@a/postern' })).toEqual([
    'DATABASE_URL is required with SHARDS: the embedded database cannot be one of several servers',
  ]);
});
