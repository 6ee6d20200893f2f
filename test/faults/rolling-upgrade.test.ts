import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../acceptance/client.js';
import { createTestDatabase } from '../support/database.js';
import { type EventStream, openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { buildFormerRelease, buildNextRelease } from '../support/fault-injection/former-release.js';
import { buildService, startProcess } from '../support/process.js';
import { sendSingle } from '../support/single-request.js';
import { testSql } from '../support/sql.js';
import { newPhone, smsLogin } from '../support/users.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

/** Answers of each kind that a phase waits for. */
const answersInPhase = 6;

test('the former release and this one serve the same database, and a rolling upgrade loses nothing', async () => {
  const [former] = await Promise.all([buildFormerRelease(), buildService()]);
  onTestFinished(() => former.remove());
  const db = await createTestDatabase('template template0');
  onTestFinished(() => db.drop());
  const rows = <Row extends object>(text: string) => db.database.query<Row>(testSql(text));
  const receiver = await startWebhookReceiver();
  onTestFinished(() => receiver.close());
  const adminKey = `admin-${randomBytes(24).toString('hex')}`;
  const env = {
    ...{ PORT: '0', DATABASE_URL: db.url, SECRET_KEY: randomBytes(32).toString('hex'), ADMIN_API_KEY: adminKey },
    ...{ LOG_LEVEL: 'warn', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  };
  async function start(program: string) {
    const cwd = await mkdtemp(join(tmpdir(), 'postern-neighbour-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const service = await startProcess({ env, cwd, program });
    onTestFinished(() => service.stop().then(() => undefined));
    return service;
  }
  const migrations = async () =>
    (await rows<{ name: string }>('select name from schema_migrations order by name')).map(({ name }) => name);

  const older = await start(former.program);
  const migrated = await createTestDatabase();
  onTestFinished(() => migrated.drop());
  const tables = await migrated.database.query<{ name: string }>(
    testSql(`select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'`),
  );
  const next = await buildNextRelease(tables.map(({ name }) => name));
  onTestFinished(() => next.remove());
  let urls = [older.url];
  let requests = 0;
  const nextUrl = () => urls[requests++ % urls.length] ?? '';

  const admin = { authorization: `Bearer ${adminKey}` };
  const client = createClient({ url: older.url, adminKey });
  const user = await client.createUser();
  const { session, authentication } = await client.signIn(user);
  const hook = { url: receiver.url, events: ['user.created'] };
  expect(await sendSingle(`${older.url}/admin/v1/webhooks`, 'POST', admin, hook)).toBe(201);

  const bearer = { authorization: `Bearer ${session.token}` };
  const basic = { authorization: `Basic ${Buffer.from(authentication.token ?? '').toString('base64')}` };
  const answers: Record<string, number[]> = { verify: [], session: [], list: [], publish: [], user: [], code: [] };
  const load = {
    verify: () => sendSingle(`${nextUrl()}/v1/sessions/verify`, 'POST', bearer),
    session: () => sendSingle(`${nextUrl()}/v1/sessions`, 'POST', basic),
    list: () => sendSingle(`${nextUrl()}/v1/notifications?limit=5`, 'GET', bearer),
    publish: () =>
      sendSingle(
        `${nextUrl()}/admin/v1/notifications`,
        'POST',
        { ...admin, 'idempotency-key': randomUUID() },
        { user_id: user.id, notification_type: 'payment', description: 'Ada paid you' },
      ),
    code: async () => {
      const phone = newPhone();
      answers.user?.push(await sendSingle(`${nextUrl()}/admin/v1/users`, 'POST', admin, { phone }));
      return sendSingle(`${nextUrl()}/v1/tokens`, 'POST', {}, smsLogin(phone));
    },
  };
  let isOver = false;
  // One after the other, so that a phase that waits for answers knows that no request goes to a former URL.
  const loops = Object.entries(load).map(async ([name, send]) => {
    while (!isOver) answers[name]?.push(await send());
  });
  const moreAnswers = () => {
    const counts = Object.values(answers).map((list) => list.length);
    return eventually('answers of each kind', async () =>
      Object.values(answers).every((list, index) => list.length > (counts[index] ?? 0) + answersInPhase)
        ? true
        : undefined,
    );
  };
  const received: string[] = [];
  const following = (async () => {
    for (let position = '0'; ; ) {
      const stream: EventStream = await openStream(nextUrl(), { bearer: session.token, lastEventId: position });
      await eventually(
        'the end of a stream',
        async () => (isOver || stream.end !== undefined ? true : undefined),
        300_000,
      );
      // A stream that has ended is continued by another one.
      const isLast = stream.end === undefined;
      if (isLast) {
        await Promise.all(loops);
        const [last] = await rows<{ id: string }>('select id from notifications order by sequence desc limit 1');
        await eventually('the newest notification', async () =>
          stream.text.includes(last?.id ?? '-') ? true : undefined,
        );
      }
      received.push(...stream.events.filter(({ event }) => event === 'message').map(({ data }) => data));
      position = stream.lastEventId;
      stream.destroy();
      if (isLast) return;
    }
  })();

  await moreAnswers();
  const newer = await start(next.program);
  expect(await migrations()).toEqual([...(await readdir('migrations')), ...next.added].sort());
  await moreAnswers();
  urls = [older.url, newer.url];
  await moreAnswers();
  urls = [newer.url];
  await moreAnswers();
  expect(await older.stop()).toBe(0);
  await moreAnswers();
  isOver = true;
  await Promise.all([...loops, following]);

  const statuses = Object.entries(answers).map(([name, list]) => [name, [...new Set(list)]]);
  expect(Object.fromEntries(statuses), `${former.version}: ${older.stderr()} ${newer.stderr()}`).toEqual({
    ...{ verify: [200], session: [201], list: [200] },
    ...{ publish: [201], user: [201], code: [201] },
  });
  expect(next.added.length).toBeGreaterThan(50);
  const sequences = received.map((data) => (JSON.parse(data) as { sequence: number }).sequence);
  expect(sequences).toEqual(Array.from({ length: answers.publish?.length ?? 0 }, (_, index) => index + 1));
  await eventually('the end of the queue and of the deliveries', async () => {
    const [left] = await rows<{ count: number }>(
      `select ((select count(*) from outbox where state = 'queued')
             + (select count(*) from webhook_outbox)
             + (select count(*) from webhook_deliveries where state = 'pending'))::int as count`,
    );
    return left?.count === 0 ? true : undefined;
  });
  expect(await rows('select state, count(*)::int from outbox group by state')).toEqual([
    { state: 'sent', count: answers.code?.length },
  ]);
  expect(new Set(receiver.received.map(({ data }) => data.user_id)).size).toBe(answers.user?.length);
}, 600_000);
