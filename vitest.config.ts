import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { otherReact } from './test/support/other-react.js';

/** Tests of the tools of developers and of the examples in comments. They run compilers, and `.ci/run` has them. */
const slow = ['test/docs/package-examples*', 'test/scripts/check-imports*', 'test/scripts/hung-files*'];

/** Tests that need what not every machine has (a browser, reverse proxies, a former PostgreSQL, the history of the repository, Prometheus, PostgreSQL, PgBouncer, systemd, versitygw) run with CI_FULL=1 only, and so do tests (`*.full.test.ts`) that take much time and protect little more than others. */
const withMore = [
  'test/backups/dumps/restore*',
  'test/browser/**',
  'test/embedded/major-upgrade/upgrade*',
  'test/delivery/storage/s3-real*',
  'test/deploy/packages*',
  'test/deploy/packed-packages*',
  'test/deploy/prometheus*',
  'test/faults/failover*',
  'test/faults/pooler*',
  'test/faults/tls*',
  'test/faults/rolling-upgrade*',
  'test/proxies/**',
  'test/security/hostile-dump*',
  ...slow,
  '**/*.full.test.ts',
];
const needsMore = process.env.CI_FULL === '1' ? [] : withMore;

/** Milliseconds. The long form of the fault tests kills and waits more often. */
const longest = process.env.FAULTS === 'long' ? 900_000 : 150_000;

/** The sources of a package, which its users find built. */
const sourceOf = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

/**
 * Begins with the tests of failures, one in six files. Most of their time is waiting, so the other files use the processor
 * meanwhile, and none of them is the last file that all others have to wait for. Closer together, they leave the processor idle.
 */
class WaitingFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWaiting = ({ moduleId }: TestSpecification) => moduleId.includes('/test/faults/');
    const [waiting, others] = [sorted.filter(isWaiting), sorted.filter((file) => !isWaiting(file))];
    const woven = waiting.flatMap((file, index) => [file, ...others.slice(5 * index, 5 * index + 5)]);
    return [...woven, ...others.slice(5 * waiting.length)];
  }
}

export default defineConfig({
  resolve: {
    alias: [
      ...otherReact(),
      { find: '@postern/client/internal', replacement: sourceOf('client/src/internal.ts') },
      { find: '@postern/client', replacement: sourceOf('client/src/index.ts') },
      { find: '@postern/react', replacement: sourceOf('react/src/index.ts') },
      { find: '@postern/elements', replacement: sourceOf('elements/src/index.ts') },
      // Next.js is no package of this repository.
      { find: 'next/headers.js', replacement: sourceOf('server/test/next/headers.ts') },
      { find: '@postern/server/next', replacement: sourceOf('server/src/next/index.ts') },
      { find: '@postern/server/sveltekit', replacement: sourceOf('server/src/sveltekit/index.ts') },
      { find: '@postern/server/testing', replacement: sourceOf('server/src/testing/index.ts') },
      { find: '@postern/server', replacement: sourceOf('server/src/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...needsMore],
    globalSetup: 'test/support/global-setup.ts',
    reporters: ['default', './scripts/lib/hung-files.mjs'],
    pool: 'forks',
    // More than two for each of two cores: many tests wait for a process, a clock or a lock.
    maxWorkers: 5,
    // Tests make much garbage and keep little: with a larger young generation, the collector takes a tenth less of all CPU time.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: WaitingFilesFirst },
    // The files of a worker share their modules, because loading the service takes longer than most files.
    isolate: false,
    // Generous, because a test that waits for an event may share the machine. They only end tests that hang.
    testTimeout: longest,
    hookTimeout: longest,
    expect: { poll: { timeout: 120_000 } },
  },
});
