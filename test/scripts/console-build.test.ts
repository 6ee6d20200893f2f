import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const built = 'console/built';
const assets = readdirSync(`${built}/assets`);
const page = readFileSync(`${built}/index.html`, 'utf8');

describe('the built console', () => {
  test('matches its sources', () => {
    const { status, stderr } = spawnSync(process.execPath, ['console/build.mjs', '--check'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  test('loads less than 200 kB compressed before the overview', () => {
    const named = [...page.matchAll(/(?:src|href)="\.\/assets\/([^"]+\.(?:js|css))"/g)].map(([, name]) => name ?? '');
    expect(named.length).toBeGreaterThan(2);
    // A page loads one language. The overview is a file of its own, with its styles.
    const later = assets.filter((name) => /^(?:en|overview)-[^.]+\.(?:js|css)$/.test(name));
    expect(later.length).toBeGreaterThan(1);
    const bytes = [...new Set([...named, ...later])].map((name) => statSync(`${built}/assets/${name}.br`).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
  });

  test('has each script, style sheet and picture uncompressed, and compressed with the same content', () => {
    const plain = assets.filter((name) => !/\.(?:br|gz)$/.test(name));
    for (const name of plain) {
      const content = readFileSync(`${built}/assets/${name}`);
      expect(brotliDecompressSync(readFileSync(`${built}/assets/${name}.br`)).equals(content)).toBe(true);
      expect(gunzipSync(readFileSync(`${built}/assets/${name}.gz`)).equals(content)).toBe(true);
      expect(name).toMatch(/-[\w-]{8}\.(?:js|css|svg)$/);
    }
  });

  test('needs no exception from its content security policy', () => {
    expect(page).not.toMatch(/<style|style=|<script>|javascript:|data:|https?:\/\/|\son\w+=/);
    for (const name of assets.filter((asset) => asset.endsWith('.css'))) {
      expect(readFileSync(`${built}/assets/${name}`, 'utf8')).not.toMatch(/@import|url\(["']?(?:data|https?):/);
    }
  });
});

describe('build.mjs --check', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'console-'));
    // The console and the service share the reading of import files.
    for (const part of ['console', 'src/users/import-file']) {
      cpSync(part, join(folder, part), { recursive: true, filter: (path) => !path.includes('node_modules') });
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const check = () =>
    spawnSync(process.execPath, ['build.mjs', '--check'], { cwd: join(folder, 'console'), encoding: 'utf8' });

  test.each(['src/main.tsx', 'built/index.html', 'package-lock.json', '../src/users/import-file/csv.ts'])(
    'finds a change of %s',
    (path) => {
      const file = join(folder, 'console', path);
      const before = readFileSync(file);
      expect(check().status).toBe(0);
      writeFileSync(file, `${before}\n`);
      expect(check()).toMatchObject({ status: 1, stderr: expect.stringContaining('node console/build.mjs') });
      writeFileSync(file, before);
    },
  );
});
