import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Image } from '../../../../src/contract/image.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { createImageFolder, formOf, plain } from '../../../support/image-fixtures.js';
import { testSql } from '../../../support/sql.js';

let folder: Awaited<ReturnType<typeof createImageFolder>>;
let postern: TestApp;
/** An instance that gives an image 3 s: each late image costs a new decoder, whose start takes long on a busy machine. */
let hurried: TestApp;
beforeAll(async () => {
  folder = await createImageFolder();
  postern = await startTestApp({ IMAGE_DIR: folder.path });
  hurried = await postern.another({}, { imageTimeout: 3000 });
});
afterAll(async () => {
  await hurried.close();
  await postern.close();
  await folder.remove();
});

const upload = async (on: TestApp, key?: string) =>
  on.api<Image & ProblemAnswer>('POST', '/admin/v1/images', {
    bearer: on.adminKey,
    body: formOf(['file', await plain(60, 40).png().toBuffer(), 'lunch.png']),
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
const countImages = async () => (await postern.database.query(testSql('select id from images'))).length;

/** Blocks all threads of the pool, as files that never finish decoding would: opening a FIFO waits for a writer. */
async function blockThreads(): Promise<() => Promise<void>> {
  const pipes = await mkdtemp(join(tmpdir(), 'postern-threads-'));
  const paths = Array.from({ length: 4 }, (_, index) => join(pipes, String(index)));
  await promisify(execFile)('mkfifo', paths);
  const waiting = paths.map((path) => open(path, 'r'));
  return async () => {
    const writers = paths.map((path) => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    const readers: FileHandle[] = await Promise.all(waiting);
    for (const writer of writers) closeSync(writer);
    await Promise.all(readers.map((reader) => reader.close()));
    await rm(pipes, { recursive: true });
  };
}

test('an image that is not converted in time gets 503 and is never stored, and its key can be used again', async () => {
  // Loads the library, and checks that files can be written.
  expect((await upload(postern)).status).toBe(201);
  const before = await countImages();
  const file = await plain(60, 40).png().toBuffer();
  const release = await blockThreads();
  const late = hurried.api<ProblemAnswer>('POST', '/admin/v1/images', {
    ...{ bearer: hurried.adminKey, headers: { 'idempotency-key': 'late' } },
    body: formOf(['file', file, 'lunch.png']),
  });
  const { status, headers, body } = await late.finally(release);
  expect([status, headers['retry-after'], body.errors[0]?.code]).toEqual([503, '1', 'image_not_stored']);
  expect(body.errors[0]?.message).toContain('not stored');

  // There is one decoder, so the late image is finished when this one is. On a busy machine, this one may be late too.
  const again = await eventually('an image in time', async () => {
    const answer = await upload(hurried, 'late');
    return answer.status === 503 ? undefined : answer;
  });
  expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, undefined]);
  expect(await countImages()).toBe(before + 1);
  expect(hurried.logged.filter((line) => line.includes('already sent'))).toEqual([]);
});
