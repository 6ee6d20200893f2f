import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { stepClock } from '../support/clock.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { createInstallation, type FaultyService, isLong } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { testSql } from '../support/sql.js';
import { createUser } from '../support/users.js';
import { type ReceivedEvent, startWebhookReceiver } from '../support/webhook-receiver.js';

beforeAll(buildService, BUILD_TIMEOUT);

const rounds = isLong ? 20 : 1;
const users = 6;
const changes = 8;

test(
  `${rounds} times kill -9, with a receiver that fails each third request, loses no event and keeps the order of each user`,
  async () => {
    const db = await createTestDatabase();
    onTestFinished(() => db.drop());
    const installation = await createInstallation({ DATABASE_URL: db.url, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
    onTestFinished(() => installation.remove());
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    const accepted: ReceivedEvent[] = [];
    let isFailing = true;
    let asked = 0;
    receiver.answer = (event) => {
      asked += 1;
      if (isFailing && asked % 3 === 1) return 500;
      accepted.push(event);
      return 204;
    };
    let service: FaultyService = await installation.start();
    onTestFinished(() => service.stop('SIGKILL').then(() => undefined));
    const request = (method: string, path: string, body: object) =>
      service.api<User>(method, `/admin/v1${path}`, { bearer: service.adminKey, body });
    await request('POST', '/webhooks', { url: receiver.url, events: ['user.*'] });
    const all = await Promise.all(Array.from({ length: users }, () => createUser(service)));
    const acknowledged = new Map(all.map(({ id }) => [id, 1]));

    for (let round = 1; round <= rounds; round += 1) {
      const before = receiver.received.length;
      const writing = Promise.allSettled([
        ...all.map(async ({ id }) => {
          for (let n = 0; n < changes; n += 1) {
            const { status } = await request('PATCH', `/users/${id}`, { name: `${round} ${n}` });
            if (status === 200) acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1);
          }
        }),
        // All other users may be waiting minutes for a retry.
        createUser(service).then(({ id }) => acknowledged.set(id, 1)),
      ]);
      await eventually('deliveries to interrupt', async () => (receiver.received.length > before ? true : undefined));
      await service.stop('SIGKILL');
      await writing;
      // While no process runs: the leases of the dead one have ended, and the first retries are due.
      await stepClock(db.database, `${round * 90} seconds`);
      service = await installation.start();
    }
    await service.stop('SIGKILL');
    isFailing = false;
    await stepClock(db.database, '3 hours');
    service = await installation.start();

    const rows = <Row extends object>(text: string) => db.database.query<Row>(testSql(text));
    await eventually('the end of all deliveries', async () => {
      const [left] = await rows<{ count: number }>(
        `select (select count(*) from webhook_outbox)::int
              + (select count(*) from webhook_deliveries where state = 'pending')::int as count`,
      );
      return left?.count === 0 ? true : undefined;
    });
    const numbers = await rows<{ user_id: string; last_sequence: number }>('select * from webhook_users');
    expect(numbers.map(({ user_id }) => user_id)).toEqual(expect.arrayContaining([...acknowledged.keys()]));
    for (const { user_id: id, last_sequence: last } of numbers) {
      const sequences = accepted.filter(({ data }) => data.user_id === id).map(({ data }) => data.sequence);
      // Repetitions after a kill are allowed: the first acceptance of each event counts.
      expect([...new Set(sequences)]).toEqual(Array.from({ length: last }, (_, index) => index + 1));
      // A kill can end a request whose change was committed.
      expect(last).toBeGreaterThanOrEqual(acknowledged.get(id) ?? 1);
    }
    expect(receiver.received.length).toBeGreaterThan(accepted.length);
    expect(await rows(`select 1 from webhook_deliveries where state <> 'delivered'`)).toEqual([]);
    expect(await rows('select 1 from webhook_queues')).toEqual([]);
  },
  120_000 + 30_000 * rounds,
);
