import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { DeliveryTrace } from '../../src/contract/push.js';
import type { User } from '../../src/contract/user.js';
import type { TestApp } from './app.js';
import { eventually } from './eventually.js';
import { testSql } from './sql.js';
import { createUser, signIn } from './users.js';

/** A user, and a phone of the user with a push token. */
export interface Phone {
  readonly user: User;
  readonly session: string;
  readonly token: string;
  readonly authenticationId: string;
  readonly deviceId: string;
}

export const hexToken = () => randomBytes(32).toString('hex');

/** The pushes that a fake has received for this token or endpoint. */
export const arrivals = (fake: { received: readonly { to: string }[] }, to: string) =>
  fake.received.filter((pushed) => pushed.to === to);

/** The steps of tests that push notifications to phones. @param app called at each step */
export function createPushSteps(app: () => TestApp) {
  function register(session: string, type: string, token: unknown) {
    return app().api('POST', '/v1/devices/tokens', { bearer: session, body: { type, token } });
  }

  /** A user with a new phone that has a push token. */
  async function newPhone(type: 'ios' | 'android', owner?: User, token = hexToken()): Promise<Phone> {
    const user = owner ?? (await createUser(app()));
    const { session, authentication } = await signIn(app(), user);
    const { status } = await register(session.token, type, token);
    expect(status).toBe(201);
    const { device_id: deviceId, id: authenticationId } = authentication;
    return { user, session: session.token, token, authenticationId, deviceId };
  }

  async function publish(user: User, content: object = {}): Promise<Notification> {
    const { status, body } = await app().api<Notification>('POST', '/admin/v1/notifications', {
      bearer: app().adminKey,
      body: { user_id: user.id, notification_type: 'payment', description: 'Ada paid you 12.50', ...content },
    });
    expect(status).toBe(201);
    return body;
  }

  async function trace(id: string): Promise<DeliveryTrace> {
    const { body } = await app().api<DeliveryTrace>('GET', `/admin/v1/notifications/${id}/deliveries`, {
      bearer: app().adminKey,
    });
    return body;
  }

  /** The only push of a notification, when it has reached this state. */
  const pushInState = (id: string, state: string) =>
    eventually(`the push of ${id} to be ${state}`, async () => {
      const { push } = await trace(id);
      return push.find((entry) => entry.state === state);
    });

  /** Waits until this number of attempts has failed and the next one is queued. */
  const untilRetried = (id: string, attempts: number) =>
    eventually(`attempt ${attempts} of ${id} to fail`, async () => {
      const [push] = (await trace(id)).push;
      return push?.state === 'queued' && push.attempts >= attempts ? push : undefined;
    });

  /** Makes all queued jobs due now. */
  async function makeJobsDue(): Promise<void> {
    await app().database.query(
      testSql('update graphile_worker._private_jobs set run_at = now() where locked_by is null'),
    );
    await app().database.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
  }

  /** Seconds until the only queued job is due. */
  async function secondsToNextAttempt(): Promise<number> {
    const rows = await app().database.query<{ seconds: number }>(
      testSql(
        'select extract(epoch from run_at - now())::float8 as seconds from graphile_worker._private_jobs where run_at > now()',
      ),
    );
    expect(rows).toHaveLength(1);
    return rows[0]?.seconds ?? 0;
  }
  return {
    register,
    newPhone,
    publish,
    trace,
    pushInState,
    untilRetried,
    makeJobsDue,
    secondsToNextAttempt,
  };
}
