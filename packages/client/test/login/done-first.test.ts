import { expect, test } from 'vitest';
import { createLogin, createPostern } from '../../src/index.js';
import { createInboxService, storageOf } from '../fake/inbox-service.js';

test('a login is done before the client says who is signed in, and a page that then removes the login changes nothing', async () => {
  const service = createInboxService(() => 0);
  const token = { id: 'a', status: 'approved', token: 'new', user_id: 'bob', device_id: 'd' };
  service.answer = (request) => (request === 'POST /v1/tokens' ? Response.json(token, { status: 201 }) : undefined);
  const postern = createPostern({ url: 'https://auth.example.com', storage: storageOf('ada'), fetch: service.fetch });
  await postern.ready();
  const login = createLogin(postern);
  const order: string[] = [];
  const end = login.onChange((state) => state.step === 'done' && order.push(`done ${state.user_id}`));
  postern.onChange((state) => {
    order.push(`${state.status} ${'user_id' in state ? state.user_id : ''}`);
    end();
  });
  await login.start().password({ identity: 'bob', password: 'x' });
  expect(order).toEqual(['done bob', 'signed_in bob']);
  postern.close();
});
