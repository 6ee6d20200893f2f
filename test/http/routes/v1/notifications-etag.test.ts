import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { type Reader, readersOf, some } from '../../../support/readers.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { createReader, publish, get } = readersOf(() => postern);

describe('an ETag', () => {
  const conditional = (reader: Reader, tag: string, query = '') =>
    postern.api<Notification[]>('GET', `/v1/notifications${query}`, {
      bearer: reader.token,
      headers: { 'If-None-Match': tag },
    });

  it('causes 304 until something is created, changed or deleted', async () => {
    const reader = await createReader();
    const [one, two] = await publish(reader.user, some(2));
    const acts: (() => Promise<unknown>)[] = [
      () => publish(reader.user, some(1)),
      () =>
        postern.api('PATCH', `/admin/v1/notifications/${one?.id}`, {
          bearer: postern.adminKey,
          body: { description: 'changed' },
        }),
      () => postern.api('DELETE', `/admin/v1/notifications/${two?.id}`, { bearer: postern.adminKey }),
    ];
    for (const act of acts) {
      const { headers } = await get(reader);
      const tag = headers.etag ?? '';
      expect(headers['cache-control']).toBe('private, no-cache');
      const unchanged = await conditional(reader, tag);
      expect([unchanged.status, unchanged.headers.etag, unchanged.text]).toEqual([304, tag, '']);
      expect((await conditional(reader, `"other", ${tag.replace('W/', '')}`)).status).toBe(304);
      await act();
      const changed = await conditional(reader, tag);
      expect(changed.status).toBe(200);
      expect(changed.headers.etag).not.toBe(tag);
    }
    expect((await conditional(reader, 'W/"other"')).status).toBe(200);
  });

  it('is checked last: an invalid query gets 422 and an ended session 401', async () => {
    const reader = await createReader();
    const { headers } = await get(reader);
    expect((await conditional(reader, headers.etag ?? '', '?page=0')).status).toBe(422);
    expect((await conditional({ ...reader, token: 'pss_x' }, headers.etag ?? '')).status).toBe(401);
  });

  it('differs between users, even with the same content', async () => {
    const [ann, bob] = [await createReader(), await createReader()];
    expect((await get(ann)).headers.etag).not.toBe((await get(bob)).headers.etag);
  });
});
