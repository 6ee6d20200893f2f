import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settings } from '../../src/config/settings.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The lines below a key, which are indented more than the key. */
function below(text: string, path: readonly string[]): string {
  let rest = text;
  for (const [depth, key] of path.entries()) {
    const indent = ' '.repeat(2 * depth);
    const [, found] = new RegExp(`^${indent}${key}:\\n((?:(?:${indent} .*)?\\n)+)`, 'm').exec(rest) ?? [];
    if (found === undefined) throw new Error(`${path.join('.')} is missing`);
    rest = found;
  }
  return rest;
}

test.each(['deploy/compose.yaml', 'deploy/compose.postgres.yaml'])(
  '%s sets only settings that exist, and keeps the data in a volume',
  (path) => {
    const text = read(path);
    const environment = below(text, ['services', 'postern', 'environment']);
    const names = [...environment.matchAll(/^ {6}(\w+):/gm)].map(([, name = '']) => name);
    expect(names).toContain('PUBLIC_URL');
    expect(names.filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
    // The Dockerfile sets DATA_DIR.
    const [, dataDir] = /\bDATA_DIR=(\S+)/.exec(read('Dockerfile')) ?? [];
    const mounts = below(text, ['services', 'postern', 'volumes']);
    const [, volume = '', place] = /^ {6}- (\w+):(\S+)$/m.exec(mounts) ?? [];
    expect(place).toBe(dataDir);
    expect(below(text, ['volumes'])).toMatch(new RegExp(`^  ${volume}:$`, 'm'));
  },
);

test('compose.postgres.yaml requires POSTGRES_PASSWORD and SECRET_KEY, and its comment sets both in one command', () => {
  const text = read('deploy/compose.postgres.yaml');
  const used = [...text.matchAll(/\$\{(\w+)(:[?-])?/g)].filter(([, name]) => name !== 'PUBLIC_URL');
  expect(new Set(used.map(([, name]) => name))).toEqual(new Set(['POSTGRES_PASSWORD', 'SECRET_KEY']));
  expect(used.filter(([, , operator]) => operator !== ':?')).toEqual([]);
  const commands = text.split('\n').filter((line) => line.startsWith('#   export'));
  expect(commands).toHaveLength(1);
  for (const name of ['POSTGRES_PASSWORD', 'SECRET_KEY']) expect(commands[0]).toContain(`${name}=`);
});

test('the unit of systemd sets only settings that exist', () => {
  const unit = read('deploy/systemd/postern.service');
  const [, line = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
  const names = [...line.matchAll(/(\w+)=/g)].map(([, name = '']) => name).filter((name) => name !== 'NODE_ENV');
  expect(names).toEqual(['DATA_DIR']);
  expect(names.filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
});
