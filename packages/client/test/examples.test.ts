import { expect, test } from 'vitest';
import { compileErrors, examplesIn } from '../../../test/support/package-examples.js';
import * as client from '../src/index.js';

test('every public function has an example', async () => {
  const codes = (await examplesIn('packages/client/src')).join('\n');
  const missing = Object.keys(client).filter((name) => !new RegExp(`\\b${name}\\(`).test(codes));
  expect(missing).toEqual([]);
});

test.each(['browser', 'node'] as const)(
  'the examples in the README and the comments compile in a project for the platform "%s"',
  { timeout: 120_000 },
  async (platform) => {
    const codes = await examplesIn('packages/client/src');
    expect(codes.length).toBeGreaterThan(8);
    expect(await compileErrors(codes, platform, { '@postern/client': 'packages/client/src/index.ts' })).toBe('');
  },
);
