import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { outages as kinds, type OutageKind, type Round, startOutages } from '../support/fault-injection/outages.js';
import { isLong } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** Rounds of each kind. */
const rounds = isLong ? 4 : 1;
/** Milliseconds after the end of an outage until everything is done: the promise. */
const latest = 30_000;

test(
  `${rounds * 10} outages of ten kinds lose nothing that was acknowledged, and delay nothing by more than 30 s`,
  async () => {
    const outages = await startOutages();
    onTestFinished(() => outages.close());
    const done: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of Object.keys(kinds) as OutageKind[]) {
        // From two to eight seconds.
        done.push(await outages.run(kind, 2000 * (round + 1)));
      }
    }
    console.table(done.map(({ lost, ...round }) => ({ ...round, lost: lost.length })));
    expect(done.flatMap(({ kind, lost }) => lost.map((what) => `${kind}: ${what}`))).toEqual([]);
    expect(outages.violations).toEqual([]);
    expect(done.filter(({ completeMs }) => completeMs > latest)).toEqual([]);
  },
  rounds * 600_000,
);
