import { EventEmitter, once } from 'node:events';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { Database, Transaction } from '../../../../src/database/database.js';
import type { Idempotency } from '../../../../src/database/idempotency.js';
import { handlerLimitPlugin } from '../../../../src/http/plugins/handler-limit.js';
import { problemsPlugin } from '../../../../src/http/plugins/problems.js';
import { createIdempotent } from '../../../../src/http/requests/idempotent.js';
import type { App } from '../../../../src/http/requests/route.js';
import { adminNotificationRoutes } from '../../../../src/http/routes/admin/notifications.js';
import { createUserReferences } from '../../../../src/identities/user-references.js';
import { createPacer } from '../../../../src/lib/pacing.js';
import type { Notifications } from '../../../../src/notifications/notifications.js';
import type { Push } from '../../../../src/notifications/push/push.js';

const [id, time] = ['582a5abb-1335-4794-8855-11e067b8c55e', '2026-01-02T03:04:05.000000Z'];
const notification = {
  id,
  user_id: id,
  sequence: 1,
  actor_id: null,
  actor: null,
  notification_type: 'pool',
  notification_key: null,
  object_id: null,
  object_data_number: null,
  object_data_string: '',
  description: 'a',
  image: null,
  created_at: time,
  updated_at: time,
};

test('a large publication that ends after the handler timeout is committed', async () => {
  const signals = new EventEmitter();
  const answered = once(signals, 'answered');
  const ended = once(signals, 'ended');
  const transaction = (work: (tx: Transaction) => Promise<unknown>) =>
    work({} as Transaction).then(
      () => signals.emit('ended', 'committed'),
      (error: Error) => signals.emit('ended', error.message),
    );
  const database = { transaction } as unknown as Database;
  const notifications = {
    async publish(_tx: unknown, _request: unknown, _numbers: unknown, onPart: (part: readonly object[]) => void) {
      await answered;
      for (const part of [1, 2]) onPart([{ ...notification, sequence: part }]);
    },
  } as unknown as Notifications;

  const app: App = Fastify();
  app.setValidatorCompiler(() => () => true);
  problemsPlugin(app);
  handlerLimitPlugin(app, 50);
  // The 503 response of all routes requires a title, which a notification does not have.
  app.addHook('onRoute', ({ schema }) => {
    Object.assign(schema?.response ?? {}, { 503: { type: 'object', required: ['title'], properties: { title: {} } } });
  });
  app.addHook('preValidation', async (request) => {
    request.rawBody = JSON.stringify(request.body);
  });
  const idempotent = createIdempotent(database, {} as Idempotency);
  adminNotificationRoutes(app, {
    notifications,
    push: {} as Push,
    idempotent,
    database,
    userReferences: createUserReferences(database),
    pacer: createPacer(),
    decideSteps: async () => [],
  });
  const payload = [1, 2].map(() => ({ user_id: id, notification_type: 'pool', description: 'a' }));

  expect((await app.inject({ method: 'POST', url: '/admin/v1/notifications', payload })).statusCode).toBe(503);
  signals.emit('answered');
  expect(await ended).toEqual(['committed']);
  await app.close();
});
