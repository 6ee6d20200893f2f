// The rate of logins with a password relative to the bare argon2id rate, and the latency of concurrent session checks:
// `npm run build && node bench/login.mjs [rounds] [seconds]`.
import { readFileSync } from 'node:fs';
import { closedLoop, openLoop } from './load.mjs';
import { shown, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { startBare, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 4] = process.argv.slice(2).map(Number);
const sizes = { users: 10_000, notifications: 40_000, inbox: 10_000 };
const connections = 16;

await withFilledPostern({ sizes }, async ({ postern, pool, dataDir, keep }) => {
  const bare = keep(await startBare(dataDir));
  const { login, verify } = operations(postern, await sample(pool, { ...sizes, owners: 1500 }));
  const logIn = (extra = 0) => closedLoop({ ...postern, next: login, connections, seconds: seconds + extra });
  const [own, argon2id, checks] = await takeTurns(
    [
      { ...postern, dataDir, name: 'login', run: () => withMainThread(logIn) },
      { ...bare, name: 'argon2id', run: () => bare.run({ kind: 'argon2id', seconds }) },
      {
        name: 'concurrent checks',
        run: async () => {
          const [result] = await Promise.all([
            openLoop({ ...postern, next: verify, connections: 64, seconds, rate: 200 }),
            logIn(0.5),
          ]);
          return result;
        },
      },
    ],
    rounds,
  );
  console.log(`argon2id ${shown(argon2id.rate)}/s, ${shown(argon2id.cpu)} µs of CPU each
login ${shown(own.rate)}/s, p50 ${shown(own.p50)} ms, p99 ${shown(own.p99)} ms; ${shown(own.cpu)} µs of CPU, ${shown(own.main)} of them on the main thread; PostgreSQL ${shown(own.databaseCpu)} µs
ratio ${shown(argon2id.ratio)}, by CPU ${shown(argon2id.cpu / (own.cpu + own.databaseCpu))}
concurrent checks of sessions: p50 ${shown(checks.p50)} ms, p99 ${shown(checks.p99)} ms`);

  /** Adds the cost of each login for the main thread of the service: everything except the hash. */
  async function withMainThread(work) {
    const before = mainThreadCpu(postern.pid);
    const result = await work();
    return { ...result, main: (mainThreadCpu(postern.pid) - before) / result.count };
  }
});

/** The CPU time in microseconds that the main thread of a process has used. */
function mainThreadCpu(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1000;
}
