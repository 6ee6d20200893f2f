// The rate of session checks relative to an empty route: `npm run build && node bench/verify.mjs [rounds] [seconds]`.
// It passes DATABASE_BATCHING on to Postern: `DATABASE_BATCHING=false node bench/verify.mjs`.
import { fileURLToPath } from 'node:url';
import { closedLoop, request } from './load.mjs';
import { shown, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { startProcess, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2).map(Number);
const sizes = { users: 10_000, notifications: 40_000, inbox: 10_000 };
const { DATABASE_BATCHING = 'true' } = process.env;
const settings = { DATABASE_BATCHING };

await withFilledPostern({ sizes, settings }, async ({ postern, pool, keep }) => {
  const empty = keep(await startProcess([fileURLToPath(new URL('empty-route.mjs', import.meta.url))]));
  const post = request('POST', `${empty.url}/`);
  const { verify } = operations(postern, await sample(pool, { ...sizes, owners: 1500 }));
  for (const connections of [64, 256]) {
    const [own, bare] = await takeTurns(
      [
        { ...postern, name: 'verify', run: () => closedLoop({ ...postern, next: verify, connections, seconds }) },
        { ...empty, name: 'empty route', run: () => closedLoop({ ...empty, next: () => post, connections, seconds }) },
      ],
      rounds,
    );
    console.log(
      `${connections} connections: empty ${shown(bare.rate)}/s, ${shown(bare.cpu)} µs of CPU each; ` +
        `verify ${shown(own.rate)}/s, ${shown(own.cpu)} µs, p50 ${shown(own.p50)} ms, p99 ${shown(own.p99)} ms; ` +
        `ratio ${shown(bare.ratio)}, by CPU ${shown(bare.cpu / own.cpu)}`,
    );
  }
});
