import { expect, test } from 'vitest';
import { compileErrors, examplesIn } from '../../../test/support/package-examples.js';

test.each(['browser', 'node'] as const)(
  'the examples in the comments compile in a project for the platform "%s"',
  { timeout: 120_000 },
  async (platform) => {
    const codes = await examplesIn('packages/client/src');
    expect(codes.length).toBeGreaterThan(8);
    expect(await compileErrors(codes, platform, { '@postern/client': 'packages/client/src/index.ts' })).toBe('');
  },
);
