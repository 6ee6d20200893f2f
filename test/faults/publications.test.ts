import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Publication } from '../../src/contract/publication.js';
import { eventually } from '../support/eventually.js';
import { type EmbeddedDatabase, joinEmbeddedDatabase } from '../support/fault-injection/embedded-database.js';
import {
  createInstallation,
  type FaultyService,
  type Installation,
  isLong,
} from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

/** The service and the database server are killed while publications are written and recalled. */

let installation: Installation;
let database: EmbeddedDatabase;
let service: FaultyService;
/** Each round writes and recalls one publication, with three faults and one. */
const rounds = isLong ? 20 : 1;

beforeAll(async () => {
  await buildService();
  installation = await createInstallation({ LOG_LEVEL: 'error' });
  database = await joinEmbeddedDatabase(installation.dataDir);
  service = await installation.start();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service.stop();
  await database.close();
  await installation.remove();
});

const kills = ['the process', 'the database', 'both'] as const;
async function strike(kill: (typeof kills)[number] | undefined): Promise<void> {
  await wait(Math.random() * 100);
  if (kill !== 'the process') database.kill();
  if (kill !== 'the database') {
    await service.stop('SIGKILL');
    service = await installation.start();
  }
  await eventually('the database to answer', () => rows('select 1').catch(() => undefined), 60_000);
  await eventually(
    'the service to answer',
    async () => ((await service.api('GET', '/readyz').catch(() => undefined))?.status === 200 ? true : undefined),
    60_000,
  );
}
const rows = <Row extends object>(text: string, values: unknown[] = []) => database.rows<Row>(text, values);
const admin = <Body>(method: string, path: string, body?: object) =>
  service.api<Body>(method, `/admin/v1${path}`, { bearer: service.adminKey, ...(body && { body }) });

/** The number that a query counts. */
async function count(text: string, id: string): Promise<number> {
  const [row] = await rows<{ n: number }>(`select ${text} as n from notification_publications where id = $1`, [id]);
  return row?.n ?? 0;
}
const atLeast = (what: string, text: string, id: string, least: number) =>
  eventually(what, async () => ((await count(text, id)) >= least ? true : undefined));

test(
  `${rounds} times, each recipient gets one notification, and a recall removes all of them, whatever is killed meanwhile: process, database or both`,
  async () => {
    const users = Array.from({ length: 8000 }, () => randomUUID());
    await rows(
      `insert into users (id, created_at, updated_at) select id, db_now(), db_now() from unnest($1::uuid[]) id`,
      [users],
    );
    await rows('insert into inboxes (user_id) select id from unnest($1::uuid[]) id', [users]);
    await admin('PUT', '/topics/all', { title: 'All' });
    await rows(
      `insert into subscriptions (topic_id, user_id, created_at)
       select topics.id, u.id, db_now() from topics, unnest($1::uuid[]) u (id)`,
      [users],
    );
    for (let round = 0; round < rounds; round += 1) {
      const { body } = await admin<Publication>('POST', '/publications', {
        to: { topic: 'all' },
        notification: { notification_type: 'request', description: 'The tournament begins' },
        rate: 4000,
      });
      for (const [index, kill] of kills.entries()) {
        await atLeast(`chunks before fault ${index}`, 'created', body.id, 2000 * (index + 1));
        await strike(kill);
      }
      await eventually('the end', async () =>
        (await count(`(status = 'done')::int`, body.id)) === 1 ? true : undefined,
      );
      const inboxes = `select count(*)::int as users, sum(n)::int as rows from (
        select user_id, count(*) as n from notifications group by user_id) inbox`;
      expect(await rows(inboxes)).toEqual([{ users: users.length, rows: users.length }]);
      expect(await count('created', body.id)).toBe(users.length);

      const recall = await admin('POST', `/publications/${body.id}/recall`);
      expect(recall.status).toBe(202);
      await atLeast('a part of the recall', 'removed', body.id, 1);
      await strike(kills[round % kills.length]);
      await eventually('the end of the recall', async () =>
        (await count('(recall_finished_at is not null)::int', body.id)) === 1 ? true : undefined,
      );
      expect(await count('removed', body.id)).toBe(users.length);
      const left = `select (select count(*)::int from notifications) as n,
                           (select count(*)::int from notification_tombstones) as t`;
      expect(await rows(left)).toEqual([{ n: 0, t: users.length * (round + 1) }]);
    }
  },
  60_000 + 60_000 * rounds,
);
