import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { createS3Bucket } from '../../../src/delivery/storage/s3-client.js';
import { accessKeyId, type StoreFake, secretAccessKey, startStore } from './s3-fake.js';

const partBytes = 16 * 1024 * 1024;
const outbound = createOutbound({ allowPrivateNetworkTargets: true });

let store: StoreFake;
let bucket: ReturnType<typeof createS3Bucket>;
beforeAll(async () => {
  store = await startStore();
  const credentials = { accessKeyId, secretAccessKey, region: 'eu-west-1' };
  bucket = createS3Bucket({ endpoint: store.url, bucket: 'bucket-of-tests', ...credentials, outbound });
});
afterAll(async () => {
  await outbound.close();
  await store.close();
});
beforeEach(() => {
  store.objects.clear();
  store.received.length = 0;
  store.fail(undefined);
});

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1_000_003) yield bytes.subarray(at, at + 1_000_003);
}
async function read(key: string): Promise<Buffer | undefined> {
  const content = await bucket.download(key);
  return content && buffer(content);
}

describe('an object of any size', () => {
  it('is stored by one request if it is small', async () => {
    const small = randomBytes(100);
    expect(await bucket.upload('small', chunksOf(small))).toBe(100);
    expect(await read('small')).toEqual(small);
    expect(store.received).toEqual(['PUT /bucket-of-tests/small', 'GET /bucket-of-tests/small']);
    expect(await bucket.download('missing')).toBeUndefined();
  });

  it('is stored and read in parts if it is large', async () => {
    const large = randomBytes(2 * partBytes + 12_345);
    expect(await bucket.upload('large', chunksOf(large))).toBe(large.length);
    expect((await read('large'))?.equals(large)).toBe(true);
    expect(store.received.filter((line) => line.startsWith('PUT'))).toHaveLength(3);
    expect(store.uploads.size).toBe(0);
  });

  it('does not exist if the content or the store fails, and leaves no parts', async () => {
    async function* failing() {
      yield Buffer.alloc(partBytes + 1);
      throw new Error('the disk is broken');
    }
    await expect(bucket.upload('broken', failing())).rejects.toThrow('the disk is broken');
    store.fail(/PUT/);
    await expect(bucket.upload('refused', chunksOf(Buffer.alloc(partBytes + 1)))).rejects.toThrow('503 SlowDown');
    expect([store.objects.size, store.uploads.size]).toEqual([0, 0]);
  });

  it('that changes while it is read is an error', async () => {
    store.objects.set('bucket-of-tests/changing', randomBytes(partBytes + 1));
    const parts = (await bucket.download('changing'))?.[Symbol.asyncIterator]();
    await parts?.next();
    store.objects.set('bucket-of-tests/changing', randomBytes(partBytes + 1));
    await expect(parts?.next()).rejects.toThrow('412 PreconditionFailed');
  });

  it('can be listed after another one', async () => {
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1']) store.objects.set(`bucket-of-tests/${name}`, Buffer.alloc(1));
    expect(await bucket.list('a/', 'a/1')).toEqual(['a/2', 'a/3']);
  });
});
