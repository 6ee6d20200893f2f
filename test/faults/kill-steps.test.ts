import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { DeliveryTrace } from '../../src/contract/push.js';
import { eventually } from '../support/eventually.js';
import { killServer } from '../support/fault-injection/embedded-database.js';
import { createInstallation, type FaultyService, faultRounds } from '../support/fault-injection/service.js';
import { startFakeGateway } from '../support/mail-gateway.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, newEmail } from '../support/users.js';

beforeAll(buildService, BUILD_TIMEOUT);

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
/** Where a kill comes: while requests publish and the engine decides, before the answer of the provider, or directly after it. */
const moments = ['while it publishes and decides', 'before the answer', 'after the answer'] as const;

test(
  `${faultRounds} times kill -9 of the process or the database at each step of a mail: none is lost, and each decision is made once`,
  async () => {
    const gateway = await startFakeGateway();
    onTestFinished(() => gateway.close());
    const installation = await createInstallation({
      ...{ MAIL_PROVIDER: 'webhook', MAIL_FROM: 'no-reply@example.org', PUBLIC_URL: 'http://localhost:8080' },
      ...{ MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: secret, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    });
    onTestFinished(() => installation.remove());
    const start = async () => {
      const started = await installation.start();
      onTestFinished(() => started.stop('SIGKILL').then(() => undefined));
      return started;
    };
    let service = await start();
    const admin = <Body>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
      service.api<Body>(method, `/admin/v1${path}`, { bearer: service.adminKey, ...(body && { body }) });
    const bill = { steps: [{ channel: 'email', if: 'unread' }] };
    expect((await admin('PUT', '/categories/bill', bill)).status).toBe(201);
    const people: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const user = await createUser(service, count % 4 === 0 ? {} : { email: newEmail() });
      people.push(user.id);
    }

    const kills = ['the process', 'the database', 'both'] as const;
    async function carryOut(kill: (typeof kills)[number] | undefined, killed: FaultyService): Promise<void> {
      if (kill !== 'the process') killServer(installation.dataDir);
      if (kill !== 'the database') await killed.stop('SIGKILL');
    }
    /** Those whose publication was acknowledged. */
    const published: Notification[] = [];
    /** The most publications of a round. The mails of a user go one after the other, so many of them would take minutes. */
    const mostOfRound = 5;
    /** Publishes until the service is killed. Meanwhile it may answer 503. */
    async function write(to: FaultyService, isOver: () => boolean): Promise<void> {
      for (let sent = 0; sent < mostOfRound && !isOver(); sent += 1) {
        const body = { user_ids: people, notification_type: 'payment', category: 'bill', description: 'Ada paid you' };
        const answer = await to
          .api<Notification[]>('POST', '/admin/v1/notifications', { bearer: to.adminKey, body })
          .catch((error: unknown) => {
            if (!isOver()) throw error;
          });
        if (answer?.status === 201) published.push(...answer.body);
        else if (answer !== undefined && answer.status !== 503) throw new Error(answer.text);
      }
    }

    for (let round = 0; round < faultRounds; round += 1) {
      const moment = moments[round % moments.length];
      const kill = kills[(round + Math.floor(round / moments.length)) % kills.length];
      const killed = service;
      let killing: Promise<unknown> | undefined;
      const strike = () => {
        killing ??= carryOut(kill, killed);
        return killing;
      };
      if (moment === 'before the answer') gateway.beforeAnswer = async () => void (await strike());
      if (moment === 'after the answer') gateway.afterAnswer = () => void strike();
      const count = published.length;
      const writing = write(killed, () => killing !== undefined);
      await Promise.race([
        writing,
        eventually('something to lose', async () => (published.length > count ? true : undefined)),
      ]);
      if (moment === 'while it publishes and decides') {
        await wait(Math.random() * 300);
        strike();
      }
      await eventually('the kill', async () => (killing !== undefined ? true : undefined), 60_000);
      await Promise.all([killing, writing]);
      [gateway.beforeAnswer, gateway.afterAnswer] = [undefined, undefined];
      // Without its database, the process goes on when the database is back.
      if (kill !== 'the database') service = await start();
      await eventually(
        'the service to answer',
        async () => ((await service.api('GET', '/readyz').catch(() => undefined))?.status === 200 ? true : undefined),
        60_000,
      );
    }

    const faults: string[] = [];
    for (const { id, user_id: userId } of published) {
      const mails = await eventually(
        `the end of ${id}`,
        async () => {
          const { status, body } = await admin<DeliveryTrace>('GET', `/notifications/${id}/deliveries`);
          return status === 200 &&
            body.email.every(({ state }) => state !== 'queued' && state !== 'none') &&
            body.email.length > 0
            ? body.email
            : undefined;
        },
        120_000,
      );
      const hasAddress = people.indexOf(userId) % 4 !== 0;
      const told = mails.map(({ state, reason }) => `${state}/${reason}`).join(' ');
      if (told !== (hasAddress ? 'sent/accepted' : 'skipped/no_address')) faults.push(`${id}: ${told}`);
      const received = gateway.received.filter((mail) => mail.notification_id === id);
      if (received.length > 0 !== hasAddress) faults.push(`${id}: ${received.length} mails arrived`);
      // A mail that is handed over again has the same id, so that the provider drops it.
      if (new Set(received.map((mail) => mail.id)).size > 1) faults.push(`${id}: mails with several ids arrived`);
    }
    expect(faults).toEqual([]);
    expect(await service.stop()).toBe(0);
  },
  120_000 + 30_000 * faultRounds,
);
