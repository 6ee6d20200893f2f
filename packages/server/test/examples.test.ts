import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { examplesIn } from '../../../test/support/package-examples.js';
import * as server from '../src/index.js';

test('each exported function is in an example', async () => {
  const examples = (await examplesIn('packages/server/src')).join('\n');
  const own = Object.keys(server).filter((name) => !/^is[A-Z]/.test(name));
  expect(own.filter((name) => !examples.includes(name))).toEqual([]);
});

test('the published package depends on the client of the same version only', async () => {
  const read = async (name: string) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'));
  const [{ version }, { dependencies }] = await Promise.all([read('client'), read('server')]);
  expect(dependencies).toEqual({ '@postern/client': version });
});
