import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ArchiveEntry, readArchive, textEntry, writeArchive } from '../../../src/backups/container/archive.js';
import { originOf } from '../../../src/backups/container/signature.js';

const key = { id: '01234567', key: 'k'.repeat(40) };
/** As for a backup: the archive must be signed with the key. */
const demandKey = (digest: string, signature: string | undefined) => {
  const origin = originOf([key], digest, signature);
  if (origin !== 'known') throw new Error(`The backup is not known: ${JSON.stringify(origin)}`);
};
const large = Buffer.alloc(1500, 'large');

async function* entries(): AsyncGenerator<ArchiveEntry> {
  yield textEntry('first', 'one');
  yield { path: 'folder', type: 'folder', size: 0, mode: 0o700, modifiedAt: 0 };
  const inParts = [large.subarray(0, 700), large.subarray(700)];
  yield {
    path: 'folder/large',
    type: 'file',
    size: large.length,
    mode: 0o600,
    modifiedAt: 1_700_000_000,
    content: inParts,
  };
  yield textEntry('empty', '');
}

async function archive(): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of writeArchive(entries(), () => ({ note: 'kept' }), key)) parts.push(part);
  return Buffer.concat(parts);
}

async function* inParts(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
}

async function read(bytes: Buffer): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { path, content } of readArchive(inParts(bytes), demandKey)) {
    let text = '';
    for await (const part of content) text += part.toString();
    found.set(path, text);
  }
  return found;
}

describe('an archive', () => {
  it('gives its files, and a list with the SHA-256 of each', async () => {
    const found = await read(await archive());
    expect([...found.keys()]).toEqual(['first', 'folder', 'folder/large', 'empty', 'manifest.json']);
    expect(found.get('folder/large')).toBe(large.toString());
    const manifest: unknown = JSON.parse(found.get('manifest.json') ?? '');
    const sha256 = createHash('sha256').update(large).digest('hex');
    expect(manifest).toMatchObject({
      note: 'kept',
      files: [{ path: 'first', size: 3 }, { path: 'folder/large', size: 1500, sha256 }, { path: 'empty' }],
    });
  });

  it('is a tar file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'postern-archive-'));
    try {
      await writeFile(join(folder, 'a.tar'), await archive());
      await promisify(execFile)('tar', ['--extract', '--file', 'a.tar'], { cwd: folder });
      expect(await readFile(join(folder, 'folder', 'large'))).toEqual(large);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is refused wherever it was cut', async () => {
    const bytes = await archive();
    for (let length = 0; length < bytes.length; length += 211) {
      await expect(read(bytes.subarray(0, length)), `cut at ${length}`).rejects.toThrow('its end is missing');
    }
    await expect(read(bytes.subarray(0, -1))).rejects.toThrow('its end is missing');
  });

  it('is refused wherever one bit was changed, and with bytes after its end', async () => {
    const bytes = await archive();
    for (let at = 0; at < bytes.length; at += 13) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await expect(read(changed), `changed at ${at}`).rejects.toThrow('The backup');
    }
    await expect(read(Buffer.concat([bytes, Buffer.alloc(1)]))).rejects.toThrow('was changed');
  });
});
