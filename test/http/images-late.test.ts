import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Image } from '../../src/contract/notification.js';
import { sql } from '../../src/database/database.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { createImageFolder, formOf, plain } from '../support/pictures.js';

let folder: Awaited<ReturnType<typeof createImageFolder>>;
let postern: TestApp;
beforeAll(async () => {
  folder = await createImageFolder();
  postern = await startTestApp({ IMAGE_DIR: folder.path });
});
afterAll(async () => {
  await postern.close();
  await folder.remove();
});

const upload = async (key?: string) =>
  postern.api<Image & ProblemAnswer>('POST', '/admin/v1/images', {
    bearer: postern.adminKey,
    body: formOf(['file', await plain(60, 40).png().toBuffer(), 'lunch.png']),
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
const stored = async () => (await postern.database.query(sql('select id from images'))).length;

/** Takes all threads of the pool, as files that decode for ever would: opening a FIFO waits for who writes into it. */
async function blockThreads(): Promise<() => Promise<void>> {
  const pipes = await mkdtemp(join(tmpdir(), 'postern-threads-'));
  const paths = Array.from({ length: 4 }, (_, at) => join(pipes, String(at)));
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

test('an image that is not made in time is 503 and never stored, and its key is free again', async () => {
  // The library is loaded, and the files can be written.
  expect((await upload()).status).toBe(201);
  const before = await stored();
  const file = await plain(60, 40).png().toBuffer();
  const release = await blockThreads();
  const late = postern.api<ProblemAnswer>('POST', '/admin/v1/images', {
    ...{ bearer: postern.adminKey, headers: { 'idempotency-key': 'late' } },
    body: formOf(['file', file, 'lunch.png']),
  });
  const { status, headers, body } = await late.finally(release);
  expect([status, headers['retry-after'], body.errors[0]?.code]).toEqual([503, '1', 'image_not_stored']);
  expect(body.errors[0]?.message).toContain('not stored');

  // The one decoder is free when this one is done: the late one is over.
  const again = await upload('late');
  expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, undefined]);
  expect(await stored()).toBe(before + 1);
  expect(postern.logged.filter((line) => line.includes('already sent'))).toEqual([]);
});
