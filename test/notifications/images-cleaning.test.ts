import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../src/database/database.js';
import { createImageDisk } from '../../src/delivery/image-disk.js';
import { Problem } from '../../src/lib/problem.js';
import { cleanImages } from '../../src/notifications/images/cleaning.js';
import { eraseImagesOf } from '../../src/notifications/images/erase.js';
import { createImages, type Images } from '../../src/notifications/images/images.js';
import type { ImageStorage } from '../../src/notifications/images/storage.js';
import { createImageUrls } from '../../src/notifications/images/url.js';
import type { Notifications } from '../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createImageFolder } from '../support/pictures.js';
import { createInbox, createTestNotifications, input, newestFirst, problemOf, publishAll } from './inbox.js';

const hour = 3_600_000;
let test: TestDatabase;
let folder: Awaited<ReturnType<typeof createImageFolder>>;
let now = 0;
let storage: ImageStorage;
let images: Images;
let notifications: Notifications;
let user: string;
beforeAll(async () => {
  test = await createTestDatabase();
  folder = await createImageFolder();
  storage = createImageDisk({ folder: folder.path, now: () => now });
  const file = Buffer.from('file');
  images = createImages({
    ...{ database: test.database, storage },
    render: async () => ({ card: file, full: file, thumbnail: file }),
    download: async () => file,
    urls: createImageUrls(() => 'https://postern.example'),
  });
  notifications = createTestNotifications(test.database);
});
beforeEach(async () => {
  await test.database.query(sql('delete from images'));
  user = await createInbox(test.database);
});
afterAll(async () => {
  await test.drop();
  await folder.remove();
});

const clean = () => cleanImages({ database: test.database, storage });
const upload = async (userId?: string) => {
  const image = await images.add({ file: Buffer.from('x') }, userId, (insert) => test.database.transaction(insert));
  return image.id;
};
const publish = (imageId: string) =>
  publishAll({ database: test.database, notifications }, [input(user, { image_id: imageId })]);
/** As if this much time had passed for all images. */
const pass = (interval: string) =>
  test.database.query(sql(`update images set check_after = check_after - $1::interval`), [interval]);
const rowOf = async (id: string) =>
  (await test.database.query<{ id: string }>(sql('select id from images where id = $1'), [id]))[0]?.id;
async function hasFiles(id: string): Promise<boolean> {
  const file = await images.open(id, 'card');
  file?.content.destroy();
  return file !== undefined;
}
const unsettled = () => readdir(join(folder.path, 'unsettled'));

describe('the cleaning', () => {
  it('removes after a day an image that nothing shows, with its files', async () => {
    const id = await upload();
    expect(await unsettled()).toEqual([]);
    await pass('23 hours');
    expect([await clean(), await rowOf(id), await hasFiles(id)]).toEqual([0, id, true]);
    await pass('1 hour');
    expect([await clean(), await rowOf(id), await hasFiles(id)]).toEqual([1, undefined, false]);
    expect(await unsettled()).toEqual([]);
  });

  it('leaves what is shown, and looks again after a week', async () => {
    const id = await upload();
    const [notification] = await publish(id);
    await pass('1 day');
    expect([await clean(), await hasFiles(id)]).toEqual([0, true]);
    await test.database.transaction((tx) => notifications.remove(tx, notification?.id ?? ''));
    await pass('6 days');
    expect(await clean()).toBe(0);
    await pass('1 day');
    expect([await clean(), await hasFiles(id)]).toEqual([1, false]);
  });

  it('removes images that are hosted elsewhere alike, many at once', async () => {
    const urls = Array.from({ length: 250 }, (_, index) => `https://images.example.com/${index}`);
    const inputs = urls.map((image) => input(user, { image }));
    const [kept] = await publishAll({ database: test.database, notifications }, inputs);
    await test.database.query(sql('delete from notifications where id <> $1'), [kept?.id]);
    await pass('1 day');
    expect(await clean()).toBe(249);
    expect(await test.database.query(sql('select id from images'))).toEqual([{ id: kept?.image?.id }]);
  });

  it('removes the files of an upload that got no row, once no request can be at it any more', async () => {
    let id = '';
    const failure = new Error('the commit failed');
    const failing = images.add({ file: Buffer.from('x') }, undefined, (insert) =>
      test.database.transaction(async (tx) => {
        id = (await insert(tx)).id;
        throw failure;
      }),
    );
    await expect(failing).rejects.toBe(failure);
    await clean();
    expect([await rowOf(id), await hasFiles(id), await unsettled()]).toEqual([undefined, true, [id]]);
    now += hour + 1;
    await clean();
    expect([await hasFiles(id), await unsettled()]).toEqual([false, []]);
  });

  it('keeps the files of an upload whose row came, though its process died before it could say so', async () => {
    const id = await upload();
    await storage.unsettle(id);
    await clean();
    now += hour + 1;
    await clean();
    expect([await hasFiles(id), await unsettled()]).toEqual([true, []]);
  });

  it('finishes what was removed from the database but not from disk', async () => {
    const id = await upload();
    await pass('1 day');
    const dying: ImageStorage = { ...storage, remove: () => Promise.reject(new Error('killed')) };
    await expect(cleanImages({ database: test.database, storage: dying })).rejects.toThrow('killed');
    expect([await rowOf(id), await hasFiles(id)]).toEqual([undefined, true]);
    await clean();
    now += hour + 1;
    await clean();
    expect([await hasFiles(id), await unsettled()]).toEqual([false, []]);
  });

  it('and a publisher at the same time: the image is shown and stays, or is gone and unknown; 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const ids = await Promise.all([upload(), upload(), upload()]);
      await pass('1 day');
      const acts = await Promise.allSettled([...ids.map(publish), clean(), clean()]);
      const published = acts.slice(0, ids.length);
      for (const [index, act] of published.entries()) {
        const id = ids[index] ?? '';
        if (act.status === 'fulfilled') {
          expect([await rowOf(id), await hasFiles(id)]).toEqual([id, true]);
        } else {
          expect(act.reason).toBeInstanceOf(Problem);
          expect((act.reason as Problem).options.errors).toEqual([{ field: '0.image_id', code: 'unknown_image' }]);
          expect(await rowOf(id)).toBeUndefined();
        }
      }
      expect(acts.slice(ids.length).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      await test.database.query(sql("update images set check_after = db_now() + interval '1 day'"));
    }
  });

  it('skips an image that a publisher holds, and does not wait', async () => {
    const id = await upload();
    await pass('1 day');
    await test.database.transaction(async (tx) => {
      const [notification] = await notifications.publish(tx, [input(user, { image_id: id })]);
      expect(notification?.image?.id).toBe(id);
      expect(await clean()).toBe(0);
    });
    expect([await clean(), await hasFiles(id)]).toEqual([0, true]);
  });

  it('makes a publisher wait that names an image which is being removed', async () => {
    const id = await upload();
    let publishing: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      await tx.query(sql('delete from images where id = $1'), [id]);
      publishing = problemOf(publish(id));
    });
    expect(await publishing).toMatchObject({ options: { errors: [{ field: '0.image_id', code: 'unknown_image' }] } });
  });
});

describe('the erasure of a user', () => {
  const erase = () =>
    eraseImagesOf(
      {
        ...{ database: test.database, storage },
        hide: (tx, id) => notifications.change(tx, id, { image_id: null }),
      },
      user,
    );

  it('removes all that the user has uploaded, and nobody else’s; whoever was shown it hears of a change', async () => {
    const [own, shown, others] = [
      await upload(user),
      await upload(user),
      await upload(await createInbox(test.database)),
    ];
    const other = await createInbox(test.database);
    const shownTo = Array.from({ length: 120 }, () => input(other, { image_id: shown }));
    await publishAll({ database: test.database, notifications }, shownTo);
    const before = (await notifications.state(other))?.changeSequence;
    await erase();
    for (const id of [own, shown]) expect([await rowOf(id), await hasFiles(id)]).toEqual([undefined, false]);
    expect([await rowOf(others), await hasFiles(others)]).toEqual([others, true]);
    const page = await notifications.list(other, newestFirst);
    expect(new Set(page?.items.map(({ image }) => image))).toEqual(new Set([null]));
    expect((await notifications.state(other))?.changeSequence).toBe((before ?? 0) + 120);
    expect(await unsettled()).not.toContain(own);
    expect(await unsettled()).not.toContain(shown);
  });

  it('is not outrun by an upload under way', async () => {
    await test.database.query(sql('delete from inboxes where user_id = $1'), [user]);
    await erase();
    expect((await problemOf(upload(user))).code).toBe('invalid_session_token');
    expect(await test.database.query(sql('select id from images where user_id = $1'), [user])).toEqual([]);
  });
});
