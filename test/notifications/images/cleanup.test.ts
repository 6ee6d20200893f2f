import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createImageDisk } from '../../../src/delivery/storage/disk.js';
import { Problem } from '../../../src/lib/problem.js';
import { cleanUpImages, imageRemovalLock } from '../../../src/notifications/images/cleanup.js';
import { eraseImagesOf } from '../../../src/notifications/images/erase.js';
import { createImages, type Images } from '../../../src/notifications/images/images.js';
import type { ImageStorage } from '../../../src/notifications/images/storage.js';
import { createImageUrls } from '../../../src/notifications/images/url.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createImageFolder } from '../../support/image-fixtures.js';
import {
  createInbox,
  createTestNotifications,
  input,
  newestFirst,
  problemOf,
  publishAll,
} from '../../support/inbox.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

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
  storage = createImageDisk({ folder: folder.path, monotonicNow: () => now });
  const file = Buffer.from('file');
  images = createImages({
    database: test.database,
    storage,
    render: async () => ({ card: file, full: file, thumbnail: file }),
    download: async () => file,
    urls: createImageUrls(() => 'https://postern.example'),
  });
  notifications = createTestNotifications(test.database);
});
beforeEach(async () => {
  await test.database.query(testSql('delete from images'));
  user = await createInbox(test.database);
});
afterAll(async () => {
  await test.drop();
  await folder.remove();
});

const clean = () => cleanUpImages({ database: test.database, storage });
const upload = async (userId?: string) => {
  const image = await images.add({ file: Buffer.from('x') }, userId, (insert) => test.database.transaction(insert));
  return image.id;
};
const publish = (imageId: string) =>
  publishAll({ database: test.database, notifications }, [input(user, { image_id: imageId })]);
/** Lets this much time pass for all images. */
const letPass = (interval: string) =>
  test.database.query(testSql(`update images set check_after = check_after - $1::interval`, [interval]));
const rowOf = async (id: string) =>
  (await test.database.query<{ id: string }>(testSql('select id from images where id = $1', [id])))[0]?.id;
async function hasFiles(id: string): Promise<boolean> {
  const file = await images.open(id, 'card');
  file?.content.destroy();
  return file !== undefined;
}
const unsettled = () => readdir(join(folder.path, 'unsettled'));

describe('the cleanup', () => {
  it('removes an image a day after its upload if no notification shows it, with its files', async () => {
    const id = await upload();
    expect(await unsettled()).toEqual([]);
    await letPass('23 hours');
    expect([await clean(), await rowOf(id), await hasFiles(id)]).toEqual([0, id, true]);
    await letPass('1 hour');
    expect([await clean(), await rowOf(id), await hasFiles(id)]).toEqual([1, undefined, false]);
    expect(await unsettled()).toEqual([]);
  });

  it('keeps an image that is shown, and checks it again after a week', async () => {
    const id = await upload();
    const [notification] = await publish(id);
    await letPass('1 day');
    expect([await clean(), await hasFiles(id)]).toEqual([0, true]);
    await test.database.transaction((tx) => notifications.remove(tx, notification?.id ?? ''));
    await letPass('6 days');
    expect(await clean()).toBe(0);
    await letPass('1 day');
    expect([await clean(), await hasFiles(id)]).toEqual([1, false]);
  });

  it('removes images that are hosted elsewhere too, many at once', async () => {
    const urls = Array.from({ length: 250 }, (_, index) => `https://images.example.com/${index}`);
    const inputs = urls.map((image) => input(user, { image }));
    const [kept] = await publishAll({ database: test.database, notifications }, inputs);
    await test.database.query(testSql('delete from notifications where id <> $1', [kept?.id]));
    await letPass('1 day');
    expect(await clean()).toBe(249);
    expect(await test.database.query(testSql('select id from images'))).toEqual([{ id: kept?.image?.id }]);
  });

  it('removes the files of an upload without a row, after its request must have ended', async () => {
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

  it('keeps the files of an upload with a row, even when its process died before it settled them', async () => {
    const id = await upload();
    await storage.markUnsettled(id);
    await clean();
    now += hour + 1;
    await clean();
    expect([await hasFiles(id), await unsettled()]).toEqual([true, []]);
  });

  it('removes files from disk whose row an interrupted cleanup has removed', async () => {
    const id = await upload();
    await letPass('1 day');
    const dying: ImageStorage = { ...storage, remove: () => Promise.reject(new Error('killed')) };
    await expect(cleanUpImages({ database: test.database, storage: dying })).rejects.toThrow('killed');
    expect([await rowOf(id), await hasFiles(id)]).toEqual([undefined, true]);
    await clean();
    now += hour + 1;
    await clean();
    expect([await hasFiles(id), await unsettled()]).toEqual([false, []]);
  });

  it('and a publisher at the same time: the image is shown and stays, or is removed and unknown', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const ids = await Promise.all([upload(), upload(), upload()]);
      await letPass('1 day');
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
      await test.database.query(testSql("update images set check_after = db_now() + interval '1 day'"));
    }
  });

  it('skips an image that a publisher has locked, and does not wait for it', async () => {
    const id = await upload();
    await letPass('1 day');
    await test.database.transaction(async (tx) => {
      const [notification] = await notifications.publish(tx, [input(user, { image_id: id })]);
      expect(notification?.image?.id).toBe(id);
      expect(await clean()).toBe(0);
    });
    expect([await clean(), await hasFiles(id)]).toEqual([0, true]);
  });

  it('makes a publisher wait while it removes the image that the publisher names', async () => {
    const id = await upload();
    let publishing: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      await tx.query(testSql('delete from images where id = $1', [id]));
      publishing = problemOf(publish(id));
    });
    expect(await publishing).toMatchObject({ options: { errors: [{ field: '0.image_id', code: 'unknown_image' }] } });
  });
});

describe('the erasure of a user', () => {
  const erase = () =>
    eraseImagesOf(
      {
        database: test.database,
        storage,
        hide: (tx, id) => notifications.change(tx, id, { image_id: null }),
      },
      user,
    );

  it('is refused while a backup runs, and the cleanup then removes nothing', async () => {
    const own = await upload(user);
    await test.database.transaction(async (backup) => {
      await backup.query(testSql(`select pg_advisory_xact_lock(${imageRemovalLock})`));
      await letPass('1 day');
      expect(await clean()).toBe(0);
      await expect(erase()).rejects.toThrow('storage_unavailable');
      expect([await rowOf(own), await hasFiles(own)]).toEqual([own, true]);
    });
    await erase();
    expect([await rowOf(own), await hasFiles(own)]).toEqual([undefined, false]);
  });

  it('removes the uploads of the user and no others; users who were shown one get a change', async () => {
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

  it('also prevents that an upload which is still running stores an image', async () => {
    await test.database.query(testSql('delete from inboxes where user_id = $1', [user]));
    await erase();
    expect((await problemOf(upload(user))).code).toBe('invalid_session_token');
    expect(await test.database.query(testSql('select id from images where user_id = $1', [user]))).toEqual([]);
  });
});
