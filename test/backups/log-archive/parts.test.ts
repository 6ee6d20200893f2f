import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { listParts, readPart, removeContained, writePart } from '../../../src/backups/log-archive/parts.js';
import { createBackupBucket } from '../../../src/backups/places/bucket.js';
import { ageDecryption, ageEncryption } from '../../../src/lib/crypto/age.js';

const folder = 'wal-7-0123456789abcdef';
const header = { archive: '0123456789abcdef', timeline: 1, segment_bytes: 1024, created_at: '2026-11-23T12:00:00Z' };

function emptyStore() {
  const objects = new Map<string, Buffer>();
  const store = createBackupBucket(
    {
      upload: async (key, content) => objects.set(key, await buffer(content)).size,
      download: async (key) => bytes(objects.get(key) ?? Buffer.alloc(0)),
      list: async (prefix, after = '') =>
        [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort(),
      remove: async (key) => void objects.delete(key),
    },
    { name: 'bucket', prefix: '' },
  );
  return { store, objects };
}

async function* bytes(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

describe('a part of the log', () => {
  it('is encrypted, and a process derives the key from the passphrase once for all parts', async () => {
    const { store, objects } = emptyStore();
    const [encrypt, decrypt] = [ageEncryption('correct horse', 10), ageDecryption('correct horse')];
    for (const start of [0, 512]) {
      const content = bytes(Buffer.alloc(512, `log ${start}`));
      await writePart(store, folder, { start, end: start + 512 }, { header, content, encrypt });
    }
    const parts = await listParts(store, folder);
    expect(parts.map(({ start, end }) => [start, end])).toEqual([
      [0, 512],
      [512, 1024],
    ]);
    const [one = Buffer.alloc(0), other = Buffer.alloc(0)] = [...objects.values()];
    expect(one.includes('log 0')).toBe(false);
    const lines = (file: Buffer) => file.toString('latin1').split('\n').slice(0, 4);
    expect(lines(one)).toEqual(lines(other));
    const end = lines(one).join('\n').length + 1;
    expect(one.subarray(end, end + 16)).not.toEqual(other.subarray(end, end + 16));
    for (const part of parts) {
      const read = await readPart(store, part, decrypt);
      expect(read.header).toEqual({ format: 1, ...header });
      expect(read.content).toEqual(Buffer.alloc(512, `log ${part.start}`));
    }
    await expect(readPart(store, { name: '', start: 0, end: 0, ...parts[0] }, undefined)).rejects.toThrow(
      'is encrypted',
    );
  });

  it('is removed when a larger one contains it', async () => {
    const { store, objects } = emptyStore();
    for (const [start = 0, end = 0] of [
      [0, 10],
      [10, 20],
      [0, 20],
      [20, 30],
    ]) {
      const content = bytes(Buffer.alloc(end - start));
      await writePart(store, folder, { start, end }, { header, content, encrypt: undefined });
    }
    const kept = await removeContained(store, await listParts(store, folder));
    expect(kept.map(({ start, end }) => [start, end])).toEqual([
      [0, 20],
      [20, 30],
    ]);
    expect(objects.size).toBe(2);
  });
});
