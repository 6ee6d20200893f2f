// What of an empty route's rate checking a session keeps: `node bench/verify.mjs [rounds] [seconds]`.
// Both servers run in a process of their own and take turns, so that whatever else the machine does falls on both.

import { load } from './lib/load.mjs';
import { cpuMicroseconds, median, round, startProcess } from './lib/measure.mjs';
import { openPostern } from './lib/postern.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2).map(Number);
const sessionsPerUser = 8;

const empty = await startProcess(
  [new URL('./lib/empty-route.mjs', import.meta.url).pathname],
  {},
  /^listening on (\S+)/m,
);
const postern = await openPostern();
try {
  for (const connections of [64, 256]) {
    const tokens = await postern.sessions(Math.ceil(connections / sessionsPerUser), sessionsPerUser);
    const contenders = [
      { name: 'empty route', pid: empty.pid, url: empty.url, path: '/', tokens: [] },
      { name: 'verify', pid: postern.pid, url: postern.url, path: '/v1/sessions/verify', tokens },
    ];
    const results = contenders.map(() => []);
    // The first round only warms up.
    for (let turn = 0; turn <= rounds; turn += 1) {
      for (const [index, { pid, ...target }] of contenders.entries()) {
        const before = cpuMicroseconds(pid);
        const result = await load({ ...target, connections, seconds });
        const cpu = (cpuMicroseconds(pid) - before) / result.answers;
        if (turn > 0) results[index].push({ ...result, cpu });
      }
    }
    const [bare, own] = results.map((list) => ({
      rate: median(list.map(({ answers }) => answers / seconds)),
      cpu: median(list.map(({ cpu }) => cpu)),
      p50: median(list.map(({ p50 }) => p50)),
      p99: median(list.map(({ p99 }) => p99)),
    }));
    console.log(
      `${connections} connections: ` +
        `empty ${round(bare.rate)}/s, ${round(bare.cpu, 1)} µs of CPU each; ` +
        `verify ${round(own.rate)}/s, ${round(own.cpu, 1)} µs, p50 ${round(own.p50, 1)} ms, p99 ${round(own.p99, 1)} ms; ` +
        `ratio ${round(own.rate / bare.rate, 3)}, by CPU ${round(bare.cpu / own.cpu, 3)}`,
    );
  }
} finally {
  await postern.close();
  await empty.stop();
}
