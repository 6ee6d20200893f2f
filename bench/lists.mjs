// Pages of large inboxes, near the top and far down: by links, by page number, by type and by a part of a text, one request
// at a time. The users take turns, because Postern limits the time that expensive lists of one user take. Also the query
// plans.
import { encodeCursor, listStatement } from '../dist/tools.js';
import { askOnce, closedLoop, request } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { oneAfterAnother } from './operations.mjs';

const limit = 20;
/** The number of different pages around each depth, so that the same page is not read repeatedly. */
const around = 20;
const seconds = 0.4;

/** A search in texts reads row by row, so one page of each depth is enough. */
const ways = {
  'no filter': { share: 1, query: '', isNaive: true },
  'by type': { share: 0.3, query: 'filter=notification_type:payment&', isNaive: true },
  'a `like` that all match': { share: 1, query: 'filter=description:like:concert&', isNaive: false },
  'a `like` that one matches': { share: 0, query: 'filter=description:like:number%200&', isNaive: false },
};
const naiveWay = 'OFFSET and count';
const explanation =
  '"found by" says how a page is requested: by the `link` of the page before, or by its `number`. "OFFSET and count" is a route for comparison. CPU time is counted in steps of 10 ms, so it is inexact in rows with few requests.';

/**
 * @param {{ postern: object, naive?: object, pool: import('pg').Pool, dataDir: string, users: number, rows: number, rounds: number }} options
 *   users: the number of users with a large inbox; rows: the number of notifications of each of them
 * @returns a page of Markdown, and the figures of each cell
 */
export async function lists({ postern, naive, pool, dataDir, users, rows, rounds }) {
  const { rows: readers } = await pool.query(
    `select bench.id('user', n) as id, 'Bearer ' || bench.session_token(n) as authorization
     from generate_series(1, $1) n`,
    [users],
  );
  const [{ id, authorization }] = readers;
  const contenders = [];
  /** Each page is read by each reader in turn. */
  const add = (name, target, pages) => {
    const requests = pages.flatMap((page) =>
      readers.map((reader) =>
        target === postern
          ? request('GET', page, { authorization: reader.authorization })
          : request('GET', page.replace('{user}', reader.id)),
      ),
    );
    const run = () =>
      closedLoop({ url: target.url, next: oneAfterAnother(requests), connections: 1, seconds, mayRefuse: true });
    contenders.push({ name, dataDir, pid: target.pid, run });
  };
  for (const [way, { share, query, isNaive }] of Object.entries(ways)) {
    for (const depth of depthsOf(rows * share)) {
      const numbers = pagesAround(depth, isNaive ? around : 1);
      const typed = numbers.map((page) => `${postern.url}/v1/notifications?${query}page=${page}`);
      const linked = [];
      for (const url of depth > 1 && isNaive ? typed : []) linked.push(await linkAfter(url, authorization));
      if (depth > 1 && !isNaive) linked.push(`${typed[0]}&cursor=${cursorBehind((depth - 1) * limit, rows)}`);
      add([way, 'link', depth], postern, depth > 1 ? linked : typed);
      if (depth > 1) add([way, 'number', depth], postern, typed);
      if (naive === undefined || !isNaive) continue;
      const type = way === 'by type' ? '&type=payment' : '';
      add(
        [way, naiveWay, depth],
        naive,
        numbers.map((page) => `${naive.url}/notifications?user={user}&page=${page}${type}`),
      );
    }
  }
  const results = await takeTurns(contenders, rounds);
  return { text: `${explanation}\n\n${tableOf(results)}\n\n${await plans(pool, id, rows)}`, results };
}

/** Page 1, and pages down to the end of the inbox. */
function depthsOf(rows) {
  const last = Math.max(1, Math.floor(rows / limit));
  return [...new Set([1, 100, 10_000, 50_000, last])].filter((page) => page <= last).sort((a, b) => a - b);
}

/** Different pages before a page, never after it, because it may be the last one. */
function pagesAround(depth, count) {
  return Array.from({ length: Math.min(count, depth) }, (_, i) => depth - i);
}

/** The target of the link `next` on the page before this one. */
async function linkAfter(url, authorization) {
  const before = new URL(url);
  before.searchParams.set('page', String(Number(before.searchParams.get('page')) - 1));
  const answer = await askOnce(url, request('GET', before.href, { authorization }));
  const next = /<([^<>]+)>; rel="next"/.exec(answer.toString())?.[1];
  if (next === undefined) throw new Error(`no next link at ${before}`);
  return new URL(next, url).href;
}

/** The cursor of that link, if every row matches. */
function cursorBehind(passed, rows) {
  const anchor = { side: 'after', place: rows - passed + 1 };
  return encodeCursor({ field: 'created_at', direction: 'desc' }, { mark: rows, page: passed / limit + 1, anchor });
}

function tableOf(results) {
  const top = (way, by) =>
    results.find(({ name }) => name[0] === way && name[2] === 1 && (name[1] === naiveWay) === (by === naiveWay)).p50;
  return table([
    ['Pages', 'found by', 'page', 'p50 ms', 'p99 ms', '÷ page 1', '÷ page 1 without filter', 'CPU µs', 'of PostgreSQL'],
    ...results.map(({ name: [way, by, depth], p50, p99, cpu, databaseCpu, refused }) => [
      ...[way, by, depth.toLocaleString('en'), `${shown(p50)}${refused > 0 ? ' (503)' : ''}`, shown(p99)],
      ...[shown(p50 / top(way, by)), shown(p50 / top('no filter', by)), shown(cpu), shown(databaseCpu)],
    ]),
  ]);
}

/** EXPLAIN of the deepest page, by a link and by its number. */
async function plans(pool, userId, rows) {
  const newestFirst = { limit, sort: { field: 'created_at', direction: 'desc' }, filter: [], countsExactly: false };
  const page = Math.floor(rows / limit);
  const queries = {
    [`Page ${page} by a link`]: { ...newestFirst, page, mark: rows, anchor: { side: 'after', place: limit + 1 } },
    [`Page ${page} by its number`]: { ...newestFirst, page },
  };
  const parts = [];
  for (const [title, query] of Object.entries(queries)) {
    const { text, values } = listStatement(userId, query);
    const { rows: lines } = await pool.query(`explain (analyze, buffers, costs off) ${text}`, values);
    parts.push(`${title}:\n\n\`\`\`text\n${lines.map((line) => line['QUERY PLAN']).join('\n')}\n\`\`\``);
  }
  return parts.join('\n\n');
}
