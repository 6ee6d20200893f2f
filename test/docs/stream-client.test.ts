import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createUser, signIn } from '../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

/** The client in the guide. */
interface Client {
  follow(
    base: string,
    session: string,
    position: { id?: string },
    handle: (event: string, data: Notification) => void,
  ): Promise<void>;
}

async function clientOfGuide(): Promise<Client> {
  const guide = readFileSync(new URL('../../docs/guide.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.includes('function follow')) ?? '';
  return (await import(`data:text/javascript,${encodeURIComponent(`${code}\nexport { follow };`)}`)) as Client;
}

test('the client in the guide gets every event once, across a lost connection, until its session is revoked', async () => {
  const { follow } = await clientOfGuide();
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  const position: { id?: string } = {};
  const seen: string[] = [];
  const following = follow(other.url, session.token, position, (event, { id }) => {
    if (event === 'message') seen.push(id);
  });
  await eventually('a position', async () => position.id);

  const published: string[] = [];
  const publish = async () => {
    const body = { user_id: user.id, notification_type: 'payment', description: 'x\n\ny\u2028z' };
    const answer = await postern.api<Notification>('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body,
    });
    published.push(answer.body.id);
  };
  await publish();
  await eventually('the first', async () => (seen.length === 1 ? true : undefined));
  other.app.server.closeAllConnections();
  await publish();
  await publish();
  await eventually('the others', async () => (seen.length === 3 ? true : undefined));
  await postern.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: postern.adminKey });
  await following;
  expect(seen).toEqual(published);
});
