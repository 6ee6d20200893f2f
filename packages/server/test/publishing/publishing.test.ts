import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createImageFolder, plain } from '../../../../test/support/image-fixtures.js';
import { createUser } from '../../../../test/support/users.js';
import { createInbox } from '../../../client/src/index.js';
import { backendOf, lost, signedIn } from '../support.js';

let app: TestApp;
let folder: Awaited<ReturnType<typeof createImageFolder>>;
beforeAll(async () => {
  folder = await createImageFolder();
  app = await startTestApp({ IMAGE_DIR: folder.path });
});
afterAll(async () => {
  await app.close();
  await folder.remove();
});

const news = { notification_type: 'payment', description: 'You got 12.50' };
const once = () => ({ idempotencyKey: `payment-${randomUUID()}` });

test('one notification reaches the inbox of its user', async () => {
  const { server } = backendOf(app);
  const { user, postern } = await signedIn(app);
  const published = await server.publish({ user_id: user.id, ...news }, once());
  expect(published).toMatchObject({ ...news, user_id: user.id });
  expect((await createInbox(postern).list().page()).data.map(({ id }) => id)).toEqual([published.id]);
});

test('several users and several notifications give a list, in the order of the call', async () => {
  const { server } = backendOf(app);
  const [ada, grace] = [await createUser(app), await createUser(app)];
  const users = [ada.id, grace.id];
  const toBoth = await server.publish({ user_ids: users, ...news }, once());
  expect(toBoth.map((item) => item.user_id)).toEqual(users);
  const three = await server.publish(
    [
      { user_id: grace.id, ...news, description: 'first' },
      { user_ids: users, ...news, description: 'second' },
    ],
    once(),
  );
  expect(three.map(({ user_id, description }) => [user_id, description])).toEqual([
    [grace.id, 'first'],
    [ada.id, 'second'],
    [grace.id, 'second'],
  ]);
});

test('a repeat with its key publishes nothing, also after a lost answer', async () => {
  const { server, network } = backendOf(app);
  const { user, postern } = await signedIn(app);
  const options = once();
  const first = await server.publish({ user_id: user.id, ...news }, options);
  expect(await server.publish({ user_id: user.id, ...news }, options)).toEqual(first);
  network.answer = async (request, number) => {
    if (request !== 'POST /admin/v1/notifications' || number !== 3) return undefined;
    return lost();
  };
  await server.publish({ user_id: user.id, ...news, description: 'another' }, once());
  const { data } = await createInbox(postern).list().page();
  expect(data.map(({ description }) => description)).toEqual(['another', news.description]);
});

test.each([undefined, '', ' x', 'x\n', 'é', 'x'.repeat(256)])(
  'the idempotency key %j is refused before anything is sent',
  async (idempotencyKey) => {
    const { server, network } = backendOf(app);
    const options = { idempotencyKey: idempotencyKey as string };
    await expect(server.publish({ user_id: randomUUID(), ...news }, options)).rejects.toThrow('`idempotencyKey`');
    expect(network.sent).toEqual([]);
  },
);

test('an invalid notification is rejected with its invalid fields', async () => {
  const { server } = backendOf(app);
  const error = await server.publish({ user_id: randomUUID(), ...news }, once()).catch((reason) => reason);
  expect(error).toMatchObject({ kind: 'problem', code: 'validation_failed' });
  expect(error.field('user_id').code).toBe('unknown_user');
});

test('a dry run reports the recipients, and writes nothing', async () => {
  const { server } = backendOf(app);
  const { user, postern } = await signedIn(app);
  const forecast = await server.tryPublish({ user_id: user.id, ...news });
  expect(forecast).toMatchObject({ deliveries: 1, items: [{ user_id: user.id }] });
  expect((await createInbox(postern).list().page()).data).toEqual([]);
});

test('a notification can be changed, traced and deleted', async () => {
  const { server } = backendOf(app);
  const user = await createUser(app);
  const { id } = await server.publish({ user_id: user.id, ...news }, once());
  expect(await server.notifications.change(id, { description: 'You got 13' })).toMatchObject({
    id,
    description: 'You got 13',
  });
  expect(await server.notifications.trace(id)).toMatchObject({ notification_id: id, user_id: user.id });
  await server.notifications.delete(id);
  expect((await server.users.notifications(user.id).page()).data).toEqual([]);
});

test('an image is stored once for each key, from bytes and from a Blob', async () => {
  const { server } = backendOf(app);
  const user = await createUser(app);
  const bytes = new Uint8Array(await plain(32, 18).png().toBuffer());
  const options = once();
  const image = await server.uploadImage(bytes, options);
  expect(await server.uploadImage(new Blob([bytes]), options)).toEqual(image);
  const published = await server.publish({ user_id: user.id, ...news, image_id: image.id }, once());
  expect(published).toMatchObject({ image: { id: image.id } });
  await expect(server.uploadImage({ url: 'http://example.com/x.png' }, once())).rejects.toMatchObject({
    code: 'validation_failed',
  });
});
