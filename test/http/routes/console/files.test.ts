import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConsoleFiles } from '../../../../src/http/routes/console/files.js';
import { startTestApp, type TestApp } from '../../../support/app.js';

const assetFolder = new URL('../../../../console/built/assets/', import.meta.url);

let postern: TestApp;
let assets: string[];
beforeAll(async () => {
  postern = await startTestApp();
  assets = (await readdir(assetFolder)).filter((name) => !/\.(?:br|gz)$/.test(name));
});
afterAll(() => postern.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(postern.url + path, { headers });

test('every path of the console returns the page with its policy, which is never stored', async () => {
  const built = await readFile(new URL('../index.html', assetFolder), 'utf8');
  const page = built.replaceAll('"./assets/', '"/console/assets/');
  for (const path of ['', '/', '/setup', '/users', '/users/0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11', '/a/b.c?d=e']) {
    const answer = await get(`/console${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'",
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(await answer.text()).toBe(page);
  }
  expect((await fetch(`${postern.url}/console`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${postern.url}/console`, { method: 'POST' })).status).toBe(405);
});

test('the page names only assets that exist, and nothing inline', async () => {
  const page = await (await get('/console')).text();
  const named = [...page.matchAll(/(?:src|href)="\/console\/assets\/([^"]+)"/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(1);
  // A compressed answer takes most of a second.
  for (const name of named) {
    expect((await get(`/console/assets/${name}`, { 'accept-encoding': 'identity' })).status).toBe(200);
  }
  expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)[^>]*>/);
});

test('assets can be cached for ever, and are compressed as the browser accepts', async () => {
  expect(assets.length).toBeGreaterThan(3);
  for (const name of assets) {
    const content = await readFile(new URL(name, assetFolder));
    const plain = await get(`/console/assets/${name}`, { 'accept-encoding': 'identity' });
    expect(plain.status).toBe(200);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    expect(plain.headers.get('content-encoding')).toBeNull();
    // `toEqual` compares byte by byte, which is slow.
    expect([name, content.equals(Buffer.from(await plain.arrayBuffer()))]).toEqual([name, true]);
  }
  const script = assets.find((name) => name.endsWith('.js')) ?? '';
  const content = await readFile(new URL(script, assetFolder));
  const coded = async (accepted: string) => {
    const answer = await postern.app.inject({
      method: 'GET',
      url: `/console/assets/${script}`,
      headers: { 'accept-encoding': accepted },
    });
    return {
      coding: answer.headers['content-encoding'],
      type: answer.headers['content-type'],
      body: answer.rawPayload,
    };
  };
  for (const accepted of ['gzip, deflate, br, zstd', 'br;q=0.1, gzip', 'BR']) {
    const { coding, type, body } = await coded(accepted);
    expect([accepted, coding, type]).toEqual([accepted, 'br', 'text/javascript; charset=utf-8']);
    expect(content.equals(brotliDecompressSync(body))).toBe(true);
  }
  for (const accepted of ['gzip', 'gzip, br;q=0', 'deflate, x-gzip']) {
    const { coding, body } = await coded(accepted);
    expect([accepted, coding]).toEqual([accepted, 'gzip']);
    expect(content.equals(gunzipSync(body))).toBe(true);
  }
  for (const accepted of ['', 'identity', 'zstd', 'gzip;q=0, br;q=0.0', 'brotli']) {
    expect([accepted, (await coded(accepted)).coding]).toEqual([accepted, undefined]);
  }
});

test('the root redirects a browser to the console, and is 404 for other clients', async () => {
  const open = (accept: string) => fetch(`${postern.url}/`, { headers: { accept }, redirect: 'manual' });
  const browser = await open('text/html,application/xhtml+xml,*/*;q=0.8');
  expect([browser.status, browser.headers.get('location')]).toEqual([303, 'console']);
  expect(browser.headers.get('cache-control')).toBe('no-store');
  expect((await fetch(`${postern.url}/`, { headers: { accept: 'text/html' } })).headers.get('content-type')).toBe(
    'text/html; charset=utf-8',
  );
  for (const accept of ['*/*', 'application/json']) expect((await open(accept)).status).toBe(404);
  const withoutConsole = await postern.another({ CONSOLE: 'off' });
  const answer = await fetch(`${withoutConsole.url}/`, { headers: { accept: 'text/html' }, redirect: 'manual' });
  await withoutConsole.close();
  expect(answer.status).toBe(404);
});

test('an asset that does not exist is 404, and never the page', async () => {
  const [known = ''] = assets;
  const paths = ['nothing.js', '', `${known}.br`, `x/${known}`, '..%2findex.html', '%00'];
  for (const path of paths) {
    const answer = await get(`/console/assets/${path}`);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      ...[path, 404, 'application/problem+json; charset=utf-8'],
    ]);
  }
  expect((await get('/console/assets')).status).toBe(200);
  expect((await get('/consolex')).status).toBe(404);
});

test('a file of an unknown type stops the start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-console-'));
  try {
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), '');
    await writeFile(join(folder, 'assets', 'a.js'), '');
    expect([...(await readConsoleFiles(folder)).assets.keys()]).toEqual(['a.js']);
    await writeFile(join(folder, 'assets', 'a.exe'), '');
    await expect(readConsoleFiles(folder)).rejects.toThrow('a.exe');
  } finally {
    await rm(folder, { recursive: true });
  }
});
