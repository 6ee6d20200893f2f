import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { AwsV4Signer } from 'aws4fetch';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Image } from '../../../src/contract/image.js';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { createImageBucket } from '../../../src/delivery/storage/s3.js';
import { createS3Bucket } from '../../../src/delivery/storage/s3-client.js';
import { runCommand } from '../../cli/command.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { createImageFolder, plain } from '../../support/image-fixtures.js';
import { problemOf } from '../../support/inbox.js';
import { BUILD_TIMEOUT, buildService } from '../../support/process.js';

// These tests do the same as those in s3.test.ts, but with a real store that checks signatures: versitygw.

const accessKeyId = 'access-of-tests';
const secretAccessKey = 'secret/of+tests';
const region = 'us-east-1';
const bucketName = 'images-of-tests';

interface Store {
  readonly url: string;
  /** The keys of the objects. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

async function startStore(): Promise<Store> {
  const home = await mkdtemp(join(tmpdir(), 'postern-store-'));
  const [objects, metadata] = [join(home, 'objects'), join(home, 'metadata')];
  await Promise.all([mkdir(objects), mkdir(metadata)]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // Without --sidecar, versitygw would use extended attributes, which not every file system has.
  const args = ['--port', `127.0.0.1:${port}`, '--region', region, '--quiet', 'posix', '--sidecar', metadata, objects];
  const env = { PATH: process.env.PATH, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey };
  const child = spawn('versitygw', args, { env, stdio: 'ignore' });
  const ended = once(child, 'close');
  await eventually('the store', async () => {
    if (child.exitCode !== null) throw new Error(`versitygw ended with ${child.exitCode}`);
    const options = { accessKeyId, secretAccessKey, region, service: 's3', method: 'PUT', url: `${url}/${bucketName}` };
    const signed = await new AwsV4Signer(options).sign();
    const answer = await fetch(signed.url, { method: 'PUT', headers: signed.headers }).catch(() => undefined);
    return answer?.status === 200 ? true : undefined;
  });
  return {
    url,
    async keys() {
      const found = await readdir(join(objects, bucketName), { recursive: true, withFileTypes: true });
      const folder = join(objects, bucketName).length + 1;
      return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name).slice(folder));
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

let store: Store;
let folder: Awaited<ReturnType<typeof createImageFolder>>;
let postern: TestApp;
let env: Record<string, string>;
beforeAll(async () => {
  await buildService();
  [store, folder] = await Promise.all([startStore(), createImageFolder()]);
  postern = await startTestApp({ IMAGE_DIR: folder.path, SECRET_KEY: 's'.repeat(32) });
  const disk = { ...postern.databaseEnv, SECRET_KEY: 's'.repeat(32), IMAGE_DIR: folder.path };
  env = { ...disk, ...bucketSettings() };
}, BUILD_TIMEOUT);
afterAll(async () => {
  await postern?.close();
  await store?.close();
  await folder?.remove();
});

const bucketSettings = () => ({
  ...{ IMAGE_STORAGE: `s3://${bucketName}/shop`, IMAGE_S3_ENDPOINT: store.url, IMAGE_S3_REGION: region },
  ...{ IMAGE_S3_ACCESS_KEY_ID: accessKeyId, IMAGE_S3_SECRET_ACCESS_KEY: secretAccessKey },
});

function bucketOf({ secret = secretAccessKey, bucket = bucketName } = {}) {
  const outbound = createOutbound({ allowPrivateNetworkTargets: true });
  onTestFinished(() => outbound.close());
  return createS3Bucket({ endpoint: store.url, region, bucket, accessKeyId, secretAccessKey: secret, outbound });
}

const renditions = { card: Buffer.from('card'), full: Buffer.from([0, 255, 1]), thumbnail: Buffer.from('thumbnail') };
const isOfFolder = (prefix: string) => (key: string) => key.startsWith(prefix);

test('an image is stored, read, settled and removed', async () => {
  const images = createImageBucket({ bucket: bucketOf(), prefix: 'a/b/', redirects: false });
  const id = crypto.randomUUID();
  expect(await images.open(id, 'card')).toBeUndefined();
  await images.put(id, renditions);
  for (const rendition of ['card', 'full', 'thumbnail'] as const) {
    const file = await images.open(id, rendition);
    expect(file && (await buffer(file.content))).toEqual(renditions[rendition]);
  }
  const path = `a/b/${id.slice(0, 2)}/${id.slice(2, 4)}/${id}`;
  const files = ['card.jpg', 'full.jpg', 'thumbnail.jpg'].map((file) => `${path}/${file}`);
  expect((await store.keys()).filter(isOfFolder('a/b/')).sort()).toEqual([...files, `a/b/unsettled/${id}`].sort());
  await images.markSettled(id);
  await images.remove(id);
  await images.remove(id);
  expect((await store.keys()).filter(isOfFolder('a/b/'))).toEqual([]);
});

test('keys are listed in order, by prefix and after a key', async () => {
  const bucket = bucketOf();
  for (const key of ['list/b', 'list/a', 'list/c', 'other/a']) await bucket.put(key, Buffer.alloc(1), 'text/plain');
  expect(await bucket.list('list/')).toEqual(['list/a', 'list/b', 'list/c']);
  expect(await bucket.list('list/', 'list/a')).toEqual(['list/b', 'list/c']);
});

test('a large object is stored in parts and read in ranges', async () => {
  const bucket = bucketOf();
  const parts = Array.from({ length: 35 }, (_, part) => Buffer.alloc(1024 * 1024, part));
  const content = (async function* () {
    yield* parts;
  })();
  expect(await bucket.upload('large', content)).toBe(35 * 1024 * 1024);
  const read: Buffer[] = [];
  for await (const chunk of (await bucket.download('large')) ?? []) read.push(chunk);
  expect(read.length).toBe(3);
  expect(Buffer.concat(read).equals(Buffer.concat(parts))).toBe(true);
  expect(await bucket.download('nothing')).toBeUndefined();
});

test('a wrong secret and an unknown bucket are refused with the reason', async () => {
  const id = crypto.randomUUID();
  const open = async (options: Parameters<typeof bucketOf>[0]) => {
    const images = createImageBucket({ bucket: bucketOf(options), prefix: '', redirects: false });
    return String((await problemOf(images.open(id, 'card'))).options.cause);
  };
  expect(await open({ secret: 'another' })).toContain('403 SignatureDoesNotMatch');
  expect(await open({ bucket: 'never-created' })).toContain('NoSuchBucket');
});

test('a presigned URL reads one object, and no other', async () => {
  const images = createImageBucket({ bucket: bucketOf(), prefix: 'signed/', redirects: true });
  const id = crypto.randomUUID();
  await images.put(id, renditions);
  const { url } = (await images.locate?.(id, 'full')) ?? { url: '' };
  expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(renditions.full);
  expect((await fetch(url.replace('full.jpg', 'card.jpg'))).status).toBe(403);
  expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
});

async function upload(app: TestApp): Promise<Image> {
  const encoded = (await plain(40, 30).png().toBuffer()).toString('base64');
  const { status, body } = await app.api<Image>('POST', '/admin/v1/images', {
    bearer: app.adminKey,
    body: { encoded },
  });
  expect(status).toBe(201);
  return body;
}
const cardOf = async (app: TestApp, { id }: Image, init: RequestInit = {}) =>
  fetch(`${app.url}/images/${id}/card.jpg`, init);

test('a copy of images from the disk that is killed continues, and a service with the bucket serves them', async () => {
  const images: Image[] = [];
  while (images.length < 12) images.push(await upload(postern));
  const cards = await Promise.all(images.map(async (image) => (await cardOf(postern, image)).text()));
  const program = fileURLToPath(new URL('../../../dist/cli/bin.js', import.meta.url));
  const copying = spawn(process.execPath, [program, 'images', 'copy'], {
    ...{ env: { PATH: process.env.PATH, ...env }, cwd: folder.path, stdio: 'ignore' },
  });
  const ended = once(copying, 'close');
  await eventually('the first files', async () =>
    (await store.keys()).some(isOfFolder('shop/')) || copying.exitCode !== null ? true : undefined,
  );
  copying.kill('SIGKILL');
  await ended;
  const { code, stdout } = await runCommand(['images', 'copy'], env);
  const [copied = 0, present = 0] = (stdout.match(/\d+/g) ?? []).map(Number);
  expect([code, copied + present]).toEqual([0, images.length]);
  expect(await runCommand(['images', 'copy', '--delete'], env)).toMatchObject({
    code: 0,
    stdout: `Copied 0, already in the bucket ${images.length}, missing on the disk and in the bucket 0.\n`,
  });
  const served = await postern.another({ ...bucketSettings(), IMAGE_S3_READS: 'redirect' });
  try {
    expect(await Promise.all(images.map(async (image) => (await cardOf(served, image)).text()))).toEqual(cards);
    const own = await upload(served);
    const answer = await cardOf(served, own, { redirect: 'manual' });
    expect([answer.status, (await fetch(answer.headers.get('location') ?? '')).status]).toEqual([302, 200]);
  } finally {
    await served.close();
  }
});
