// What must stay the same in a soak: memory, files, connections and the sizes of tables.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { residentMegabytes } from '../measure.mjs';

/** Tables that keep rows for a day or longer, so they grow in every run. */
const kept = /^(notification|inbox|events|audit_|event_|outbox|messages|webhook_|statistic)/;

/** @returns a function that reads all figures */
export function createFigures({ pid, pool, dataDir }) {
  return async () => {
    const { rows } = await pool.query(
      `select relname as name, pg_total_relation_size(relid)::float8 / 1e6 as size from pg_stat_user_tables`,
    );
    const { rows: clients } = await pool.query(
      `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'`,
    );
    return {
      rss: residentMegabytes(pid),
      files: readdirSync(`/proc/${pid}/fd`).length,
      connections: clients[0].count,
      databaseRss: ofPostgres(dataDir),
      tables: rows.reduce((sum, { size }) => sum + size, 0),
      sizes: Object.fromEntries(rows.map(({ name, size }) => [name, size])),
    };
  };
}

/** Private memory of all processes of the server, in MB. Shared memory would count once for each process. */
function ofPostgres(dataDir) {
  const [postmaster] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'latin1').split('\n');
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'latin1').trim().split(' ');
  return [postmaster, ...children].reduce((sum, pid) => sum + anonymousMegabytes(pid), 0);
}

function anonymousMegabytes(pid) {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;
  } catch {
    // The process has ended.
    return 0;
  }
}

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/**
 * Compares the last quarter of a run with its second quarter; the first one fills caches.
 * @returns the figures that are larger by more than a tenth, and by more than such a figure usually varies
 */
export function growthOf(samples) {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) return [];
  const [before, after] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)];
  const compare = (name, read, noise, isFailure = true) => {
    const [from, to] = [mean(before.map(read)), mean(after.map(read))];
    if (to <= from * 1.1 || to - from <= noise) return [];
    return [{ text: `${name} has grown from ${from.toFixed(1)} to ${to.toFixed(1)}`, isFailure }];
  };
  const names = Object.keys(samples.at(-1).sizes).sort();
  return [
    ...compare('Memory of the service (MB)', ({ rss }) => rss, 20),
    ...compare('The number of open files', ({ files }) => files, 10),
    ...compare('The number of connections', ({ connections }) => connections, 2),
    ...compare('Memory of PostgreSQL (MB)', ({ databaseRss }) => databaseRss, 30),
    ...names.flatMap((name) =>
      compare(
        `The table ${name} (MB)${kept.test(name) ? ', which keeps its rows for days,' : ''}`,
        ({ sizes }) => sizes[name] ?? 0,
        2,
        !kept.test(name),
      ),
    ),
  ];
}
