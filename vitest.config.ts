import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that need what not every machine has (a browser) run with CI_FULL=1 only. */
const needsMore = process.env.CI_FULL === '1' ? [] : ['test/browser/**'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...needsMore],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 3,
    // Generous, because a test that waits for an event may share the machine. They only end tests that hang.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
