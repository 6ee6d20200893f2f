import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that need what not every machine has (a browser) run with CI_FULL=1 only. */
const needsMore = process.env.CI_FULL === '1' ? [] : ['test/browser/**'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...needsMore],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
