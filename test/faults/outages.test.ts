import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type OutageKind, startOutages } from '../support/fault-injection/outages.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** The kinds that no other test covers. `outages.full.test.ts` runs all ten. */
const kinds: readonly OutageKind[] = ['freeze', 'half-open connections', 'refused connections', 'a slow link'];

test('outages of the database lose nothing that was acknowledged', async () => {
  const outages = await startOutages();
  onTestFinished(() => outages.close());
  for (const kind of kinds) {
    const { lost } = await outages.run(kind, 1500);
    expect([kind, lost]).toEqual([kind, []]);
  }
  expect(outages.violations).toEqual([]);
}, 400_000);
