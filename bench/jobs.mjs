// The baseline of a fan-out: a job for each recipient, which inserts the notification of the recipient. The service's own queue runs
// the jobs. They do less than the service would: no inbox, no change for streams, no webhooks.
import { startQueue } from '../dist/tools.js';
import { insertNotification } from './bare-notification.mjs';
import { openPostgres } from './service.mjs';

const task = 'bench.notify';
/** As many jobs at a time as the service runs of the steps of notifications, and as many connections as its queue has. */
const [concurrency, connections] = [8, 4];
const silent = { info() {}, warn: console.error, error: console.error };

/** How many recipients a second get their notification, from adding the jobs to the end of the last one. */
export async function jobForEach(dataDir, recipients) {
  const postgres = await openPostgres(dataDir);
  const pool = postgres.pool({ max: concurrency });
  let left = recipients;
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const notify = async () => {
    await pool.query({ name: 'bench_notify', text: `${insertNotification} from generate_series(1, 1) n` });
    left -= 1;
    if (left === 0) finish();
  };
  const groups = [{ tasks: { [task]: notify }, concurrency }];
  const queue = await startQueue({ target: postgres.target, groups, connections, log: silent });
  try {
    const since = performance.now();
    await pool.query(
      `select count(*) from graphile_worker.add_jobs(array(
         select row($1, json_build_object('recipient', n), null, null, null, null, null, null)::graphile_worker.job_spec
         from generate_series(1, $2::int) n))`,
      [task, recipients],
    );
    await finished;
    return recipients / ((performance.now() - since) / 1000);
  } finally {
    await queue.stop();
    await postgres.close();
  }
}
