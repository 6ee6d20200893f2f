import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBreachedFile } from '../../../src/delivery/breached/file.js';
import { createBreachedRange } from '../../../src/delivery/breached/range.js';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { looksLikeHashList } from '../../../src/lib/hash-list.js';
import { eventually } from '../../support/eventually.js';
import { startHttp, startTcp } from '../local-server.js';

const sha1 = (text: string) => createHash('sha1').update(text, 'utf8').digest('hex').toUpperCase();
const passwords = Array.from({ length: 20_000 }, (_, index) => `password ñ ${index}`);
const hashes = passwords.map(sha1).sort();
/** Counts of one to nine digits, so that lines differ in length. */
const lineOf = (hash: string, index: number) => `${hash}:${10 ** (index % 9)}`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-breached-'));
});
afterAll(() => rm(folder, { recursive: true }));
async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('a file of hashes', () => {
  const failures: unknown[] = [];
  const listAt = (path: string) => createBreachedFile(path, (error) => failures.push(error));

  it.each([
    ['lines with LF', hashes.map(lineOf).join('\n')],
    ['lines with CRLF', `${hashes.map(lineOf).join('\r\n')}\r\n`],
    ['lines without a count', `${hashes.join('\n')}\n`],
    ['lower case', `${hashes.join('\n').toLowerCase()}\n`],
  ])('contains exactly its passwords: %s', async (name, text) => {
    const list = listAt(await fileOf(`${name}.txt`, text));
    const [first = '', last = ''] = [hashes[0], hashes.at(-1)];
    const ends = passwords.filter((password) => [first, last].includes(sha1(password)));
    expect(ends).toHaveLength(2);
    for (const password of [...ends, ...passwords.filter((_, index) => index % 100 === 0)]) {
      expect(await list.contains(password), password).toBe(true);
    }
    for (let index = 0; index < 100; index += 1) expect(await list.contains(`other ${index}`)).toBe(false);
    expect(failures).toEqual([]);
  });

  it.each([1, 2, 70, 80, 90, 100, 110, 120, 200])('finds each of %d lines', async (count) => {
    const few = passwords.slice(0, count);
    const text = few.map(sha1).sort().map(lineOf).join('\r\n');
    const list = listAt(await fileOf(`${count}.txt`, text));
    for (const password of few) expect(await list.contains(password)).toBe(true);
    expect(await list.contains('other')).toBe(false);
  });

  it('is read again after it was replaced', async () => {
    const path = await fileOf('replaced.txt', `${sha1('one')}:1\n`);
    const list = listAt(path);
    expect([await list.contains('one'), await list.contains('two')]).toEqual([true, false]);
    await writeFile(path, `${sha1('two')}:1\n`);
    expect([await list.contains('one'), await list.contains('two')]).toEqual([false, true]);
  });

  it('says that it is unavailable and reports a failure if it is missing or invalid', async () => {
    failures.length = 0;
    expect(await listAt(join(folder, 'missing')).contains('x')).toBeUndefined();
    expect(await listAt(await fileOf('rubbish.txt', 'rubbish\n'.repeat(10_000))).contains('x')).toBeUndefined();
    expect(await listAt(await fileOf('long.txt', 'x'.repeat(100_000))).contains('x')).toBeUndefined();
    expect(failures.map((error) => (error as Error).message)).toEqual([
      expect.stringContaining('ENOENT'),
      expect.stringContaining('is invalid at byte'),
      expect.stringContaining('is invalid at byte'),
    ]);
  });

  it.each([
    ['sorted hashes', `${hashes.slice(0, 300).map(lineOf).join('\r\n')}`, true],
    ['one hash', hashes[0] ?? '', true],
    ['unsorted hashes', `${hashes[1]}:5\n${hashes[0]}:4\n`, false],
    ['NTLM hashes', `${'0'.repeat(32)}:4\n`, false],
    ['passwords', 'password\nqwerty\n', false],
    ['nothing', '', false],
  ])('is recognized by its first lines: %s', async (name, text, expected) => {
    expect(looksLikeHashList(await fileOf(name, text))).toBe(expected);
  });
});

describe('a range API', () => {
  const outbound = createOutbound({ allowPrivateNetworkTargets: true });
  afterAll(() => outbound.close());
  const [prefix, rest] = [sha1('pässword').slice(0, 5), sha1('pässword').slice(5)];

  async function serve(status: number, body: string) {
    const failures: unknown[] = [];
    const server = await startHttp((_request, response) => response.writeHead(status).end(body));
    const list = createBreachedRange({ url: `${server.url}/range/`, outbound, onFailure: (e) => failures.push(e) });
    return { ...server, list, failures };
  }

  it('receives only the first five characters', async () => {
    const { list, received, failures } = await serve(200, `${'0'.repeat(35)}:3\r\n${rest}:2\r\n`);
    expect(await list.contains('pässword')).toBe(true);
    expect(received).toMatchObject([{ method: 'GET', url: `/range/${prefix}`, body: '' }]);
    expect(received[0]?.headers).toMatchObject({ 'add-padding': 'true' });
    expect(JSON.stringify(received)).not.toContain(rest);
    expect(failures).toEqual([]);
  });

  it.each([
    ['holds other hashes', `${'0'.repeat(35)}:3\r\n`, false],
    ['holds the hash as padding', `${rest}:0\r\n`, false],
    ['is empty', '', false],
    ['holds the hash last and in lower case', `${'0'.repeat(35)}:3\n${rest.toLowerCase()}:1`, true],
  ])('finds a hash by a range that %s', async (_, body, expected) => {
    const { list, failures } = await serve(200, body);
    expect(await list.contains('pässword')).toBe(expected);
    expect(failures).toEqual([]);
  });

  it.each([
    [429, ''],
    [302, ''],
    [500, `${rest}:2`],
    [200, 'x'.repeat(600 * 1024)],
  ])('says that it is unavailable and reports a failure if it answers %d', async (status, body) => {
    const { list, failures } = await serve(status, body);
    expect(await list.contains('pässword')).toBeUndefined();
    expect(failures).toHaveLength(1);
    expect(String(failures[0])).not.toContain(prefix);
  });

  it('gets a limited number of requests at a time, and further ones are skipped', async () => {
    const waiting: ServerResponse[] = [];
    const failures: unknown[] = [];
    const server = await startHttp((_request, response) => void waiting.push(response));
    const list = createBreachedRange({ url: server.url, outbound, onFailure: (e) => failures.push(e) });
    const checks = Array.from({ length: 100 }, () => list.contains('pässword'));
    await eventually('sixteen requests', async () => (waiting.length === 16 ? true : undefined));
    expect(failures).toHaveLength(20);
    const answerAll = setInterval(() => {
      for (const response of waiting.splice(0)) response.end(`${rest}:1`);
    }, 1);
    const answers = await Promise.all(checks);
    clearInterval(answerAll);
    expect(answers.filter(Boolean)).toHaveLength(80);
    expect(server.received).toHaveLength(80);
  });

  it('times out if it does not answer', async () => {
    const failures: unknown[] = [];
    const { port } = await startTcp(() => undefined);
    const list = createBreachedRange({
      ...{ url: `http://127.0.0.1:${port}/range`, outbound },
      onFailure: (error) => failures.push(error),
    });
    expect(await list.contains('pässword')).toBeUndefined();
    expect(failures).toMatchObject([{ code: 'timeout' }]);
  });
});
