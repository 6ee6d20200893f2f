// Moves the buckets BUCKETS to the server TO, and kills its own process before it sends a statement for the KILL_AT-th time
// that starts with KILL_BEFORE. With PAUSE_BEFORE it stops there instead, until SIGCONT. Prints the milliseconds for which
// each bucket was stopped.
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

const { DIST, SERVERS, TO, BUCKETS, TIMES, KILL_BEFORE, KILL_AT = '1', PAUSE_BEFORE } = process.env;
const send = pg.Client.prototype.query;
let found = 0;
let hasPaused = false;
pg.Client.prototype.query = function (query, ...rest) {
  const text = (typeof query === 'string' ? query : (query.text ?? '')).trim();
  if (KILL_BEFORE && text.startsWith(KILL_BEFORE)) {
    found += 1;
    if (found === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
  }
  if (PAUSE_BEFORE && !hasPaused && text.startsWith(PAUSE_BEFORE)) {
    hasPaused = true;
    writeSync(1, 'paused\n');
    process.kill(process.pid, 'SIGSTOP');
  }
  return send.call(this, query, ...rest);
};

const { moveBuckets } = await import(pathToFileURL(`${DIST}/database/sharding/moving/move.js`).href);
await moveBuckets({
  targets: JSON.parse(SERVERS).map(([name, target]) => ({ name, target })),
  to: TO,
  buckets: JSON.parse(BUCKETS),
  onMoved: (_bucket, { stoppedMs }) => process.stdout.write(`${stoppedMs}\n`),
  times: JSON.parse(TIMES),
});
