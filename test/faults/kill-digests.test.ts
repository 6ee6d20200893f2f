import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { Api } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type EmbeddedDatabase, joinEmbeddedDatabase } from '../support/fault-injection/embedded-database.js';
import {
  createInstallation,
  type FaultyService,
  faultRounds,
  type Installation,
} from '../support/fault-injection/service.js';
import { startFakeGateway } from '../support/mail-gateway.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { hexToken } from '../support/push.js';
import { type FcmFake, startFcm } from '../support/push-fakes/fcm.js';
import { createUser, newEmail, signIn } from '../support/users.js';

/** The service and the database server are killed while digests close and what quiet hours held is released. */

let installation: Installation;
let database: EmbeddedDatabase;
let fcm: FcmFake;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let service: FaultyService;
const mailSecret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

beforeAll(async () => {
  await buildService();
  [fcm, gateway] = await Promise.all([startFcm(), startFakeGateway()]);
  installation = await createInstallation({
    ...{ MAIL_PROVIDER: 'webhook', MAIL_FROM: 'no-reply@example.org', PUBLIC_URL: 'http://localhost:8080' },
    ...{ MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: mailSecret, NOTICES: 'none', ...fcm.env },
    LOG_LEVEL: 'error',
  });
  database = await joinEmbeddedDatabase(installation.dataDir);
  service = await installation.start();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service.stop();
  await database.close();
  await Promise.all([installation.remove(), fcm.close(), gateway.close()]);
});

const api: Api = (...request) => service.api(...request);
const rows = <Row extends object>(text: string, values: unknown[] = []) => database.rows<Row>(text, values);
const isNone = (what: string, text: string) =>
  eventually(what, async () => ((await rows(text)).length === 0 ? true : undefined));

const kills = ['the process', 'the database', 'both'] as const;
async function strike(kill: (typeof kills)[number] | undefined): Promise<void> {
  if (kill !== 'the process') database.kill();
  if (kill !== 'the database') {
    await service.stop('SIGKILL');
    service = await installation.start();
  }
  await eventually('the service to answer', async () =>
    (await api('GET', '/readyz').catch(() => undefined))?.status === 200 ? true : undefined,
  );
  await eventually('the database to answer', () => rows('select 1').catch(() => undefined));
}

/** The notifications of a round. The user reads the first one before the digest closes. */
const perRound = 5;

/** Users with a proven address and a phone that gets pushes. */
async function createPeople(count: number): Promise<string[]> {
  const app = service;
  const ids: string[] = [];
  for (let place = 0; place < count; place += 1) {
    const user = await createUser(app, { email: newEmail() });
    const { session } = await signIn(app, user);
    const body = { type: 'android', token: hexToken() };
    expect((await api('POST', '/v1/devices/tokens', { bearer: session.token, body })).status).toBe(201);
    ids.push(user.id);
  }
  return ids;
}

/** Publishes to everyone in their quiet hours, and reads the first one. Returns the descriptions. */
async function fill(people: readonly string[], round: number): Promise<string[]> {
  await rows(
    `insert into preferences (user_id, quiet_hours)
     select id, jsonb_build_object('from', to_char(now() at time zone 'UTC' - interval '2 hours', 'HH24:MI'),
                                   'until', to_char(now() at time zone 'UTC' + interval '2 hours', 'HH24:MI'))
     from unnest($1::uuid[]) id on conflict (user_id) do update set quiet_hours = excluded.quiet_hours`,
    [people],
  );
  const texts = Array.from({ length: perRound }, (_each, place) => `round ${round}, number ${place}`);
  for (const [place, description] of texts.entries()) {
    const body = { user_ids: people, notification_type: 'payment', category: 'club', description };
    const answer = await api<Notification[]>('POST', '/admin/v1/notifications', { bearer: service.adminKey, body });
    expect(answer.status).toBe(201);
    if (place > 0) continue;
    await rows(
      `insert into notification_states (user_id, sequence, is_read, version, updated_at)
       select user_id, sequence, true, 1, db_now() from notifications where id = any ($1::uuid[])`,
      [answer.body.map(({ id }) => id)],
    );
  }
  await eventually(`round ${round} to be held`, async () => {
    const [found] = await rows<{ held: number; waiting: number; joined: number }>(
      `select (select count(*)::int from push_deliveries d join notifications n on n.user_id = d.user_id and n.id = d.notification_id
               where d.state = 'held' and n.description = any ($1::text[])) as held,
              (select count(*)::int from pending_steps) as waiting,
              (select count(*)::int from digests where due_at is not null) as joined`,
      [texts.slice(1)],
    );
    // The push of the first one is held too, if it came before the user has read it.
    return found?.held === people.length * (perRound - 1) && found?.waiting === 0 && found.joined === people.length
      ? true
      : undefined;
  });
  return texts;
}

test(
  `${faultRounds} times, each unread notification is in one digest and each held push decided once, whatever is killed: process, database or both`,
  async () => {
    const category = {
      ...{ title: { en: 'Club' }, steps: [{ channel: 'push' }, { channel: 'email' }] },
      ...{ defaults: { email: 'digest' }, digest: { every: '1h' } },
    };
    expect((await api('PUT', '/admin/v1/categories/club', { bearer: service.adminKey, body: category })).status).toBe(
      201,
    );
    const people = await createPeople(4);
    const addressOf = new Map(
      (await rows<{ id: string; email: string }>('select id, email from users')).map(({ id, email }) => [id, email]),
    );
    const faults: string[] = [];
    for (let round = 0; round < faultRounds; round += 1) {
      const texts = await fill(people, round);
      // Half of the kills come in the middle of a mail.
      let isHandedOver = () => undefined as unknown;
      const handedOver = new Promise((resolve) => {
        isHandedOver = () => resolve(undefined);
      });
      gateway.beforeAnswer = async () => void isHandedOver();
      await rows(
        `with chosen as (update preferences set quiet_hours = null where user_id = any ($1::uuid[])),
            released as (update quiet_holds set held_until = db_now())
       update digests set due_at = db_now() where due_at is not null`,
        [people],
      );
      await (round % 2 === 0 ? handedOver : wait(Math.random() * 200));
      gateway.beforeAnswer = undefined;
      await strike(kills[round % kills.length]);
      await isNone('the digests to close', 'select from digests where due_at is not null');
      await isNone('the mails to be sent', `select from step_deliveries where state in ('queued', 'held')`);
      await isNone('the pushes to be decided', `select from push_deliveries where state in ('queued', 'held')`);

      for (const userId of people) {
        const mails = gateway.received.filter(
          ({ to, text }) => to === addressOf.get(userId) && text.includes(`round ${round},`),
        );
        // A mail that is handed over again has the same id and the same members, so that the provider drops it.
        const distinct = new Map(mails.map(({ id, text }) => [id, text]));
        const members = [...distinct.values()].flatMap((text) => text.split('\n\n')).sort();
        const wanted = texts.slice(1);
        if (distinct.size !== 1 || `${members}` !== `${wanted}`)
          faults.push(`${userId}: ${distinct.size} mails with ${members.join('; ')}`);
        const pushes = await rows<{ outcome: string; count: number }>(
          `select d.state || '/' || d.reason as outcome, count(*)::int as count
         from push_deliveries d join notifications n on n.user_id = d.user_id and n.id = d.notification_id
         where d.user_id = $1 and n.description = any ($2::text[]) group by 1 order by 1`,
          [userId, wanted],
        );
        const told = pushes.map(({ outcome, count }) => `${count} ${outcome}`).join(', ');
        if (told !== `${perRound - 2} dropped/collapsed, 1 sent/accepted`) faults.push(`${userId}: pushes ${told}`);
      }
    }
    expect(faults).toEqual([]);
  },
  60_000 + 60_000 * faultRounds,
);
