import pg from 'pg';
import { expect, test } from 'vitest';
import { hostsError, urlsOfHosts, withoutEmptyHost } from '../../src/lib/postgres-hosts.js';

test('each host of a list gets the other parts of the URL', () => {
  expect(urlsOfHosts('postgres://me:a%2Cb@a.example.com:5433,[::1]:5432,c/postern?sslmode=require')).toEqual([
    'postgres://me:a%2Cb@a.example.com:5433/postern?sslmode=require',
    'postgres://me:a%2Cb@[::1]:5432/postern?sslmode=require',
    'postgres://me:a%2Cb@c/postern?sslmode=require',
  ]);
  expect(urlsOfHosts('postgresql://a,b/x')).toEqual(['postgresql://a/x', 'postgresql://b/x']);
});

test.each(['postgres://me@a/postern', 'postgres://me:x,y@a:1/p', 'postgres://localhost:5432/p?host=%2Ftmp%2Ca'])(
  '%s has one host',
  (url) => {
    expect(urlsOfHosts(url)).toEqual([url]);
  },
);

test.each([
  ['postgres://a,b/postern?target_session_attrs=any', 'must have target_session_attrs=read-write, not any'],
  ['postgres://x/postern?host=a,b', 'must name several hosts before the database'],
  ['postgres://a:x,b/postern', 'must be a URL that starts with postgres://'],
  ['mysql://a,b/postern', 'must be a URL that starts with postgres://'],
])('%s is refused', (url, message) => {
  expect(hostsError(url)).toContain(message);
});

test.each(['postgres://a,b/postern?target_session_attrs=read-write', 'postgres://a,b/postern', 'postgres://a/postern'])(
  '%s is accepted',
  (url) => {
    expect(hostsError(url)).toBeUndefined();
  },
);

test.each([
  ['postgresql://user@/db', { user: 'user', database: 'db' }],
  ['postgres://user@/db?host=/var/run/postgresql', { user: 'user', database: 'db', host: '/var/run/postgresql' }],
  ['postgres:///db?host=/var/run/postgresql', { database: 'db', host: '/var/run/postgresql' }],
  ['postgres://us%40er:p%2Bw+%26@:5433/db?host=%2Ftmp', { user: 'us@er', password: 'p+w+&', port: 5433, host: '/tmp' }],
  ['postgres://user:a:b@/?host=/tmp&dbname=x', { user: 'user', password: 'a:b', host: '/tmp' }],
  ['postgres://user:p@host:5432/db', { user: 'user', password: 'p', host: 'host', port: 5432, database: 'db' }],
])('%s is read as PostgreSQL reads it', (url, expected) => {
  const normal = withoutEmptyHost(url);
  expect(hostsError(normal)).toBeUndefined();
  const { user, password, host, port, database } = new pg.Client({ connectionString: normal });
  expect({ user, password, host, port, database }).toMatchObject(expected);
});
