import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Image } from '../../../src/contract/image.js';
import { accessKeyId, type StoreFake, secretAccessKey, startStore } from '../../delivery/storage/s3-fake.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createImageFolder, plain } from '../../support/image-fixtures.js';
import { runCommand } from '../command.js';

let folder: Awaited<ReturnType<typeof createImageFolder>>;
let store: StoreFake;
let postern: TestApp;
let bucket: Record<string, string>;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await createImageFolder();
  store = await startStore();
  postern = await startTestApp({ IMAGE_DIR: folder.path, SECRET_KEY: 's'.repeat(32) });
  bucket = {
    ...{ IMAGE_STORAGE: 's3://bucket-of-tests/shop', IMAGE_S3_ENDPOINT: store.url, IMAGE_S3_REGION: 'eu-west-1' },
    ...{ IMAGE_S3_ACCESS_KEY_ID: accessKeyId, IMAGE_S3_SECRET_ACCESS_KEY: secretAccessKey },
  };
  const disk = { ...postern.databaseEnv, SECRET_KEY: 's'.repeat(32), IMAGE_DIR: folder.path };
  env = { ...disk, ...bucket };
});
afterAll(async () => {
  await postern.close();
  await store.close();
  await folder.remove();
});

const copy = (...args: string[]) => runCommand(['images', 'copy', ...args], env);

async function upload(app: TestApp): Promise<Image> {
  const encoded = (await plain(40, 30).png().toBuffer()).toString('base64');
  const { status, body } = await app.api<Image>('POST', '/admin/v1/images', {
    bearer: app.adminKey,
    body: { encoded },
  });
  expect(status).toBe(201);
  return body;
}

const read = (app: TestApp, { id }: Image, init: RequestInit = {}) => fetch(`${app.url}/images/${id}/card.jpg`, init);

test('images copy needs a bucket', async () => {
  const { IMAGE_STORAGE: _, ...disk } = env;
  expect(await runCommand(['images', 'copy'], disk)).toMatchObject({ code: 1, stderr: 'IMAGE_STORAGE is not set.\n' });
});

test('images are copied, also after an interruption, and a service with the bucket serves them', async () => {
  const images = [await upload(postern), await upload(postern), await upload(postern)];
  const cards = await Promise.all(images.map(async (image) => (await read(postern, image)).text()));
  store.fail(/PUT .*thumbnail\.jpg$/);
  expect((await copy()).code).toBe(1);
  store.fail(undefined);
  expect(await copy()).toMatchObject({
    code: 0,
    stdout: 'Copied 3, already in the bucket 0, missing on the disk and in the bucket 0.\n',
  });
  expect(await copy('--delete')).toMatchObject({
    code: 0,
    stdout: 'Copied 0, already in the bucket 3, missing on the disk and in the bucket 0.\n',
  });
  const files = await readdir(folder.path, { recursive: true });
  expect(files.filter((file) => file.endsWith('.jpg'))).toEqual([]);
  expect(await copy()).toMatchObject({ code: 0, stdout: expect.stringContaining('already in the bucket 3') });

  const served = await postern.another(bucket);
  try {
    expect(await Promise.all(images.map(async (image) => (await read(served, image)).text()))).toEqual(cards);
    const own = await upload(served);
    expect((await read(served, own)).status).toBe(200);
    expect((await read(served, { ...own, id: crypto.randomUUID() })).status).toBe(404);
    expect([...store.objects.keys()].filter((key) => key.includes('/unsettled/'))).toEqual([]);
    store.fail(/GET/);
    expect((await read(served, own)).status).toBe(503);
    store.fail(undefined);
  } finally {
    await served.close();
  }
});

test('the doctor checks the bucket', async () => {
  const findings = async (more: Record<string, string> = {}) =>
    (await runCommand(['doctor'], { ...env, ...more })).stdout.split('\n').filter((line) => line.includes(' images: '));
  expect(await findings()).toEqual(['ok    images: the bucket bucket-of-tests answers']);
  expect(await findings({ IMAGE_S3_SECRET_ACCESS_KEY: 'another-secret' })).toEqual([
    'FAIL  images: the bucket bucket-of-tests: the store refused to list an object: 403 SignatureDoesNotMatch',
  ]);
});

test('images copy --delete keeps the remaining files of an image that is not in the bucket', async () => {
  const image = await upload(postern);
  const filesOf = async ({ id }: Image) =>
    (await readdir(folder.path, { recursive: true })).filter((file) => file.includes(`${id}/`)).sort();
  const files = await filesOf(image);
  expect(files).toHaveLength(3);
  const [lost = '', ...left] = files;
  await rename(join(folder.path, lost), join(folder.path, 'lost'));
  expect(await copy('--delete')).toMatchObject({ code: 1, stdout: expect.stringContaining('in the bucket 1.') });
  expect(await filesOf(image)).toEqual(left);
  await rename(join(folder.path, 'lost'), join(folder.path, lost));
  expect(await copy('--delete')).toMatchObject({ code: 0, stdout: expect.stringContaining('Copied 1,') });
  expect(await filesOf(image)).toEqual([]);
});

test('images copy reports images that are neither on the disk nor in the bucket', async () => {
  await upload(postern);
  await folder.remove();
  expect(await copy()).toMatchObject({ code: 1, stdout: expect.stringContaining('in the bucket 1.') });
});

test('clients are redirected to the bucket if that is configured', async () => {
  const served = await postern.another({ ...bucket, IMAGE_S3_READS: 'redirect' });
  try {
    const image = await upload(served);
    const answer = await read(served, image, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, max-age=1800']);
    const location = answer.headers.get('location') ?? '';
    expect(location.startsWith(`${store.url}/bucket-of-tests/shop/`)).toBe(true);
    expect((await fetch(location)).status).toBe(200);
  } finally {
    await served.close();
  }
});
