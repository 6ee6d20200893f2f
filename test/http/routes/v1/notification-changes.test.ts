import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Changes } from '../../../../src/contract/changes.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { createUser, signIn } from '../../../support/users.js';

let postern: TestApp;
let bearer: string;
beforeAll(async () => {
  postern = await startTestApp();
  const user = await createUser(postern);
  bearer = (await signIn(postern, user)).session.token;
  const body = { user_id: user.id, notification_type: 'payment', description: 'x' };
  await postern.api('POST', '/admin/v1/notifications', { bearer: postern.adminKey, body: [body, body, body] });
});
afterAll(() => postern.close());

const get = <Body>(query: string) => postern.api<Body>('GET', `/v1/notifications/changes${query}`, { bearer });

describe('GET /v1/notifications/changes', () => {
  it('pages by after and limit', async () => {
    const first = await get<Changes>('?limit=2');
    expect([first.status, first.body.changes.length, first.body.has_more]).toEqual([200, 2, true]);
    const second = await get<Changes>(`?limit=2&after=${first.body.after}`);
    expect(second.body).toMatchObject({ changes: [{ change_sequence: 3 }], after: '3', has_more: false });
    expect((await get<Changes>('?after=0')).body.changes).toHaveLength(3);
    expect((await get<Changes>('?after=3')).body).toMatchObject({ changes: [], after: '3', reset: false });
    expect((await get<Changes>('?filter=notification_type:pool')).body.changes).toEqual([]);
  });

  it('reports all invalid parameters', async () => {
    const { status, body } = await get<ProblemAnswer>('?after=x&limit=1001&filter=colour:red');
    expect([status, body.errors.map(({ field }) => field)]).toEqual([422, ['after', 'limit', 'filter']]);
  });

  it.each(['after=', 'after=-1', 'after=1&after=2', 'limit=', 'limit=0', 'limit=1e2', 'limit=1&limit=1', 'filter=x'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await get<ProblemAnswer>(`?${query}`);
      expect([status, body.errors[0]?.field]).toEqual([422, query.split('=')[0]]);
    },
  );

  it('needs a session', async () => {
    expect((await postern.api('GET', '/v1/notifications/changes')).status).toBe(401);
  });
});
