import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { extract, isImageOrKey, Manifest } from '../../../src/backups/base/extract.js';
import { acceptAnyOrigin, readArchive, textEntry, writeArchive } from '../../../src/backups/container/archive.js';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-extract-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function* archive(rows: Record<string, number>) {
  async function* entries() {
    yield textEntry('secret-key', 'a key');
  }
  yield* writeArchive(entries(), () => ({ rows, is_quiet: true }), undefined);
}

it.each([
  ['after its origin was checked', acceptAnyOrigin, 1],
  [
    'not before',
    () => {
      throw new Error('forged');
    },
    0,
  ],
])(
  'the list of files in a backup is parsed %s: it can take many times the memory of its text',
  async (_, check, times) => {
    const folder = await temporaryFolder();
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const entries = readArchive(archive({ marker: 1 }), check);
    const extracted = extract(entries, folder, { isAllowed: isImageOrKey, schema: Manifest });
    if (times === 0) await expect(extracted).rejects.toThrow('forged');
    else expect(await extracted).toMatchObject({ rows: { marker: 1 }, files: [{ path: 'secret-key', size: 5 }] });
    expect(parse.mock.calls.filter(([text]) => text.includes('marker'))).toHaveLength(times);
    expect(await readdir(folder)).toEqual(['secret-key']);
  },
);
