import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { OutboxMessage } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { Database } from '../../src/database/database.js';
import { patient, startTestApp, type TestApp } from '../support/app.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  type FaultyProvider,
  type Misbehaviour,
  misbehaviours,
  startFaultyProvider,
} from '../support/fault-injection/provider.js';
import { createInstallation } from '../support/fault-injection/service.js';
import { buildService } from '../support/process.js';
import { testSql } from '../support/sql.js';
import { createUser, messageOf, newPhone, smsLogin } from '../support/users.js';

type Client = Pick<TestApp, 'api' | 'adminKey'>;

/** The number of messages that the queue of one instance sends in parallel. */
const workers = 10;
const settled = ['sent', 'failed', 'expired', 'dropped'];

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function newProvider(): Promise<FaultyProvider> {
  const provider = await startFaultyProvider();
  cleanUps.push(() => provider.close());
  return provider;
}

async function newPostern(provider: FaultyProvider): Promise<TestApp> {
  const limits = { LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' };
  const postern = await startTestApp({ ...provider.env, ...limits }, patient);
  cleanUps.push(() => postern.close());
  return postern;
}

/** A user's phone. The user has no password, since hashing one takes time. */
async function newRecipient(client: Client): Promise<string> {
  const { phone } = await createUser(client, { phone: newPhone(), password: undefined });
  return phone ?? '';
}

/** Starts a login by SMS and returns its id. */
async function startLogin(client: Client, phone: string): Promise<string> {
  const { status, body } = await client.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
  expect(status).toBe(201);
  return body.id;
}

const startMany = async (client: Client, count: number) => {
  const phones = await Promise.all(Array.from({ length: count }, () => newRecipient(client)));
  return Promise.all(phones.map(async (phone) => ({ phone, id: await startLogin(client, phone) })));
};

/** Makes the next attempt due now. */
async function makeRetriesDue(database: Database): Promise<void> {
  await database.query(testSql('update graphile_worker._private_jobs set run_at = now() where locked_by is null'));
  await database.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
}

/**
 * Records the pause before each further attempt, and then keeps the job until `makeRetriesDue`, however slow the
 * machine is.
 */
const holdRetries = async (database: Database) => {
  await database.query(testSql('create table pauses (attempts int, seconds float8)'));
  await database.query(
    testSql(`create function hold_retry() returns trigger language plpgsql as $$ begin
           insert into public.pauses values (new.attempts, extract(epoch from new.run_at - now()));
           new.run_at = now() + interval '1 day';
           return new;
         end $$`),
  );
  await database.query(
    testSql(`create trigger hold_retry before update on graphile_worker._private_jobs for each row
         when (old.locked_by is not null and new.locked_by is null) execute function public.hold_retry()`),
  );
};

/** Waits until a message has at least this number of failed attempts. */
const waitForFailedAttempts = (client: Client, id: string, count: number) =>
  eventually(`attempt ${count} to fail`, async () => {
    const message = await messageOf(client, id, ['queued', ...settled]);
    return message.attempts >= count && message.last_error !== null ? message : undefined;
  });

const receivedBy = (provider: FaultyProvider, phone: string) => provider.received.filter(({ to }) => to === phone);

/** Expires the code of a login. */
async function expire(database: Database, id: string): Promise<void> {
  await database.query(testSql('update outbox set expires_at = db_now() where authentication_id = $1', [id]));
  await database.query(testSql('update authentications set challenge_ends_at = db_now() where id = $1', [id]));
}

describe('a provider that hangs', () => {
  test('does not slow the start of logins', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    provider.behave('hang');
    for (let count = 0; count < 3 * workers; count += 1) {
      const id = await startLogin(postern, await newRecipient(postern));
      // A login that waited for its message would not start before the provider is healed.
      expect(await messageOf(postern, id, ['queued', ...settled])).toMatchObject({ state: 'queued', last_error: null });
    }
    await eventually('every worker to have a request that hangs', async () =>
      provider.received.length >= workers ? true : undefined,
    );
    provider.heal();
  });

  test('blocks every worker, but all messages are sent after it works again', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    provider.behave('hang');
    const hanging = await startMany(postern, workers);
    await eventually('every worker to have a request that hangs', async () =>
      provider.received.length === workers ? true : undefined,
    );
    const waiting = await startMany(postern, 3);
    provider.heal();
    for (const { id, phone } of waiting) {
      expect(await messageOf(postern, id)).toMatchObject({ state: 'sent', attempts: 1, last_error: null });
      expect(receivedBy(provider, phone)).toHaveLength(1);
    }
    for (const { id, phone } of hanging) {
      expect(await messageOf(postern, id)).toMatchObject({
        state: 'sent',
        attempts: 2,
        last_error: expect.any(String),
      });
      const [first, ...retries] = receivedBy(provider, phone);
      expect(retries).toEqual([first]);
    }
  });

  test('does not delay the erasure of a deleted user, even with more messages than workers', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    provider.behave('hang');
    await startMany(postern, 5 * workers);
    await eventually('every worker to have a request that hangs', async () =>
      new Set(provider.received.map(({ to }) => to)).size >= workers ? true : undefined,
    );
    const user = await createUser(postern, { phone: newPhone(), password: undefined });
    await startLogin(postern, user.phone ?? '');
    const deleted = await postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    expect(deleted.status).toBe(204);
    await eventually('the erasure', async () => {
      const left = await postern.database.query(testSql('select 1 from outbox where user_id = $1', [user.id]));
      return left.length === 0 ? true : undefined;
    });
    // Meanwhile messages waited for their first attempt, and none was sent.
    const states = await postern.database.query<{ state: string; attempts: number }>(
      testSql('select distinct state, attempts from outbox'),
    );
    expect(states).toContainEqual({ state: 'queued', attempts: 0 });
    expect(states.map(({ state }) => state)).not.toContain('sent');
    provider.heal();
  });

  test('never receives a code that expired in the queue', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    provider.behave('hang');
    await startMany(postern, workers);
    await eventually('every worker to have a request that hangs', async () =>
      provider.received.length === workers ? true : undefined,
    );
    const [waiting] = await startMany(postern, 1);
    const { id = '', phone = '' } = waiting ?? {};
    await expire(postern.database, id);
    provider.heal();
    expect(await messageOf(postern, id, settled)).toMatchObject({ state: 'expired', attempts: 1 });
    expect(receivedBy(provider, phone)).toEqual([]);
  });
});

describe('a provider that fails for some numbers', () => {
  const bad = Object.keys(misbehaviours).filter((how): how is Misbehaviour => how !== 'accept');

  test(`(${bad.join(', ')}) delays no other message, and receives the same message again after it works`, async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    // Otherwise a second attempt could fail before the provider works.
    await holdRetries(postern.database);
    const victims = await Promise.all(bad.map(async (how) => ({ how, phone: await newRecipient(postern), id: '' })));
    for (const victim of victims) {
      provider.behave(victim.how, victim.phone);
      victim.id = await startLogin(postern, victim.phone);
    }
    const [other] = await startMany(postern, 1);
    expect(await messageOf(postern, other?.id ?? '')).toMatchObject({ state: 'sent', attempts: 1 });

    await eventually('an attempt at each', async () =>
      victims.every(({ phone }) => receivedBy(provider, phone).length > 0) ? true : undefined,
    );
    provider.heal();
    for (const { how, phone, id } of victims) {
      const { state, last_error } = await eventually(`the end of the message (${how})`, async () => {
        // At each look, because an attempt that hung ends only now.
        await makeRetriesDue(postern.database);
        const message = await messageOf(postern, id, ['queued', ...settled]);
        return settled.includes(message.state) ? message : undefined;
      });
      expect({ how, state }).toEqual({ how, state: 'sent' });
      const [first, ...retries] = receivedBy(provider, phone);
      expect({ how, retries }).toEqual({ how, retries: [first] });
      expect(last_error).toMatch(/^(the SMS webhook answered (500|307)|127\.0\.0\.1 cannot be reached \(\w+\))$/);
      expect(last_error).not.toContain(first?.code);
    }
  });
});

describe('a provider that keeps failing', () => {
  /** The pause after a failing attempt, in seconds. */
  const pauseAfter = async (database: Database, attempt: number) => {
    const all = testSql<{ seconds: number }>('select seconds from pauses where attempts = $1', [attempt]);
    const { seconds } = await eventually(
      `the pause after attempt ${attempt}`,
      async () => (await database.query(all))[0],
    );
    return seconds;
  };

  test('is retried after increasing pauses until the eighth failure, then the message has failed', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    await holdRetries(postern.database);
    provider.behave('answer 500');
    const phone = await newRecipient(postern);
    const id = await startLogin(postern, phone);
    let last = 0;
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const pause = await pauseAfter(postern.database, attempt);
      expect(pause).toBeGreaterThan(1.5 * last);
      last = pause;
      await makeRetriesDue(postern.database);
    }
    expect(await messageOf(postern, id, settled)).toMatchObject({
      state: 'failed',
      attempts: 8,
      last_error: 'the SMS webhook answered 500',
    });
    expect(receivedBy(provider, phone)).toHaveLength(8);
    const jobs = testSql('select from graphile_worker._private_jobs');
    await eventually('an empty queue', async () => ((await postern.database.query(jobs))[0] ? undefined : true));
  });

  test('is not retried when the code has expired, and the message has failed', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    await holdRetries(postern.database);
    provider.behave('answer 500');
    const phone = await newRecipient(postern);
    const id = await startLogin(postern, phone);
    await pauseAfter(postern.database, 1);
    await expire(postern.database, id);
    provider.heal();
    await makeRetriesDue(postern.database);
    expect(await messageOf(postern, id, settled)).toMatchObject({ state: 'failed' });
    expect(receivedBy(provider, phone)).toHaveLength(1);
  });

  test('is not visible in the status of a login', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    provider.behave('answer 500');
    const [known, unknown] = [await newRecipient(postern), newPhone()];
    const ids = [await startLogin(postern, known), await startLogin(postern, unknown)];
    await waitForFailedAttempts(postern, ids[0] ?? '', 1);
    await messageOf(postern, ids[1] ?? '', ['dropped']);
    const statuses = await Promise.all(ids.map((id) => postern.api('GET', `/v1/tokens/${id}`)));
    expect(statuses.map(({ body }) => body.status)).toEqual(['pending', 'pending']);
  });
});

describe('a message that an instance is sending', () => {
  test('is sent after the next start with the same id if the instance is killed', async () => {
    await buildService();
    const provider = await newProvider();
    const db = await createTestDatabase();
    cleanUps.push(() => db.drop());
    const installation = await createInstallation({ ...provider.env, DATABASE_URL: db.url });
    cleanUps.push(() => installation.remove());
    provider.behave('hang');
    const killed = await installation.start();
    onTestFinished(() => killed.stop('SIGKILL').then(() => undefined));
    const phone = await newRecipient(killed);
    const id = await startLogin(killed, phone);
    await eventually('the attempt', async () => receivedBy(provider, phone)[0]);
    await killed.stop('SIGKILL');

    provider.heal();
    const next = await installation.start();
    onTestFinished(() => next.stop('SIGKILL').then(() => undefined));
    expect(await messageOf(next, id)).toMatchObject({ state: 'sent', attempts: 2 } satisfies Partial<OutboxMessage>);
    const [first, ...retries] = receivedBy(provider, phone);
    expect(retries).toEqual([first]);
    expect(await next.stop()).toBe(0);
  });

  test('is not taken over when another instance starts', async () => {
    const provider = await newProvider();
    const postern = await newPostern(provider);
    const phone = await newRecipient(postern);
    provider.behave('hang', phone);
    const id = await startLogin(postern, phone);
    await eventually('the attempt', async () => receivedBy(provider, phone)[0]);

    const second = await postern.another();
    cleanUps.push(() => second.close());
    // More messages than the first instance has free workers, so the second instance's workers have searched for jobs.
    for (const other of await startMany(second, 2 * workers)) await messageOf(second, other.id);
    provider.acceptHanging();
    expect(await messageOf(postern, id)).toMatchObject({ attempts: 1 });
    expect(receivedBy(provider, phone)).toHaveLength(1);
  });
});
