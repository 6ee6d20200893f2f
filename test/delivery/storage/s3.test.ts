import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { createImageBucket } from '../../../src/delivery/storage/s3.js';
import { createS3Bucket } from '../../../src/delivery/storage/s3-client.js';
import type { ImageStorage } from '../../../src/notifications/images/storage.js';
import { problemOf } from '../../support/inbox.js';
import { accessKeyId, type StoreFake, secretAccessKey, startStore } from './s3-fake.js';

const renditions = { card: Buffer.from('card'), full: Buffer.from([0, 255, 1]), thumbnail: Buffer.from('thumbnail') };
const hour = 3_600_000;

let store: StoreFake;
beforeAll(async () => {
  store = await startStore();
});
afterAll(() => store.close());

let now: number;
let images: ImageStorage;
beforeEach(() => {
  now = 1000;
  store.objects.clear();
  store.fail(undefined);
  images = storage();
});

function storage({ redirects = false, secret = secretAccessKey } = {}): ImageStorage {
  const outbound = createOutbound({ allowPrivateNetworkTargets: true });
  onTestFinished(() => outbound.close());
  const credentials = { accessKeyId, secretAccessKey: secret, region: 'eu-west-1' };
  const bucket = createS3Bucket({ endpoint: store.url, bucket: 'bucket-of-tests', ...credentials, outbound });
  return createImageBucket({ bucket, prefix: 'a/b/', redirects, monotonicNow: () => now });
}

async function content(id: string, rendition: keyof typeof renditions): Promise<Buffer | undefined> {
  const file = await images.open(id, rendition);
  return file && buffer(file.content);
}

describe('images in a bucket', () => {
  it('are three objects and a mark until they are settled', async () => {
    const id = crypto.randomUUID();
    await images.put(id, renditions);
    for (const rendition of ['card', 'full', 'thumbnail'] as const)
      expect(await content(id, rendition)).toEqual(renditions[rendition]);
    const folder = `bucket-of-tests/a/b/${id.slice(0, 2)}/${id.slice(2, 4)}/${id}`;
    const files = ['card.jpg', 'full.jpg', 'thumbnail.jpg'].map((file) => `${folder}/${file}`);
    expect([...store.objects.keys()].sort()).toEqual([...files, `bucket-of-tests/a/b/unsettled/${id}`].sort());
    await images.markSettled(id);
    expect([...store.objects.keys()].sort()).toEqual(files);
  });

  it('do not exist before they are stored or after they are removed, and can be removed repeatedly', async () => {
    const id = crypto.randomUUID();
    expect(await content(id, 'card')).toBeUndefined();
    await images.remove(id);
    await images.put(id, renditions);
    await images.remove(id);
    await images.remove(id);
    expect(await content(id, 'card')).toBeUndefined();
    expect(store.objects.size).toBe(0);
  });

  it.each([/PUT .*unsettled/, /PUT .*card\.jpg$/, /PUT .*thumbnail\.jpg$/])(
    'are stored completely or not at all when the store refuses %s',
    async (request) => {
      const id = crypto.randomUUID();
      store.fail(request);
      expect(await problemOf(images.put(id, renditions))).toMatchObject({ code: 'storage_unavailable' });
      expect(store.objects.size).toBe(0);
    },
  );

  it('are found by their mark when they could not be removed after a failure', async () => {
    const id = crypto.randomUUID();
    store.fail(/(PUT|DELETE) .*full\.jpg$/);
    expect(await problemOf(images.put(id, renditions))).toMatchObject({ code: 'storage_unavailable' });
    expect([...store.objects.keys()]).toContain(`bucket-of-tests/a/b/unsettled/${id}`);
    store.fail(undefined);
    await images.longUnsettled();
    now += hour + 1;
    expect(await images.longUnsettled()).toEqual([id]);
  });

  it('are reported after an hour without a result, and not after they are settled', async () => {
    const [old, settled, young] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    await images.put(old, renditions);
    await images.markUnsettled(settled);
    expect(await images.longUnsettled()).toEqual([]);
    await images.markSettled(settled);
    now += hour + 1;
    await images.put(young, renditions);
    store.objects.set('bucket-of-tests/a/b/unsettled/junk', Buffer.alloc(0));
    expect(await images.longUnsettled()).toEqual([old]);
  });

  it('cannot be read while the store fails or refuses the key, and errors hold no secret', async () => {
    const id = crypto.randomUUID();
    await images.put(id, renditions);
    store.fail(/GET/);
    const failed = await problemOf(images.open(id, 'card'));
    expect(failed).toMatchObject({ code: 'storage_unavailable' });
    expect(String(failed.options.cause)).toBe('S3Error: the store refused to read an object: 503 SlowDown');
    store.fail(undefined);
    const refused = await problemOf(storage({ secret: 'wrong-secret' }).open(id, 'card'));
    expect(String(refused.options.cause)).toBe(
      'S3Error: the store refused to read an object: 403 SignatureDoesNotMatch',
    );
  });

  it('can be read by clients for an hour, if that is configured', async () => {
    const id = crypto.randomUUID();
    await images.put(id, renditions);
    expect(images.locate).toBeUndefined();
    const { url, validFor } = (await storage({ redirects: true }).locate?.(id, 'full')) ?? { url: '', validFor: 0 };
    expect([validFor, new URL(url).searchParams.get('X-Amz-Expires')]).toEqual([3600, '3600']);
    expect(url).not.toContain(secretAccessKey);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(renditions.full);
    expect((await fetch(url.replace('full.jpg', 'card.jpg'))).status).toBe(403);
  });
});
