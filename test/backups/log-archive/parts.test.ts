import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { trustOf } from '../../../src/backups/base/open.js';
import { textEntry, writeArchive } from '../../../src/backups/container/archive.js';
import { listParts, readPart, removeContained, writePart } from '../../../src/backups/log-archive/parts.js';
import { createBackupBucket } from '../../../src/backups/places/bucket.js';
import { ageEncryption } from '../../../src/lib/crypto/age.js';

const folder = 'wal-7-0123456789abcdef';
const key = { id: '01234567', key: 'k'.repeat(40) };
const keys = { passphrase: undefined, secretKeys: [key], acceptsUnauthenticated: false };
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
    const encrypt = ageEncryption('correct horse', 10);
    const of = { archive: header.archive, trust: trustOf({ ...keys, passphrase: 'correct horse' }) };
    for (const start of [0, 512]) {
      const content = bytes(Buffer.alloc(512, `log ${start}`));
      await writePart(store, folder, { start, end: start + 512 }, { header, content, encrypt, key });
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
      const read = await readPart(store, part, of);
      expect(read.header).toEqual({ format: 1, ...header, start: part.start });
      expect(read.content).toEqual(Buffer.alloc(512, `log ${part.start}`));
    }
    await expect(
      readPart(store, { name: '', start: 0, end: 0, ...parts[0] }, { ...of, trust: trustOf(keys) }),
    ).rejects.toThrow('is encrypted');
  });

  it.each([
    ['of another position', ([, other]: Buffer[]) => other, 'is another part of the log than its name says'],
    [
      'of another archive',
      (_own: Buffer[], foreign: Buffer) => foreign,
      'is another part of the log than its name says',
    ],
    ['that another key has signed', (_own: Buffer[], _foreign: Buffer, forged: Buffer) => forged, 'signature is wrong'],
    ['without its end', ([own]: Buffer[]) => own?.subarray(0, -1024), 'its end is missing'],
  ])('is refused if its file is one %s', async (_title, choose, message) => {
    const { store, objects } = emptyStore();
    const write = async (of: string, start: number, signer = key) => {
      const content = bytes(Buffer.alloc(512, `log ${start}`));
      const range = { start, end: start + 512 };
      const options = { header: { ...header, archive: of }, content, encrypt: undefined, key: signer };
      const { name } = await writePart(store, `wal-7-${of}`, range, options);
      const file = objects.get(name) ?? Buffer.alloc(0);
      objects.delete(name);
      return file;
    };
    const forged = await write(header.archive, 0, { ...key, key: 'o'.repeat(40) });
    const own = [await write(header.archive, 0), await write(header.archive, 512)];
    const foreign = await write('fedcba9876543210', 0);
    const part = { name: `${folder}/first.tar`, start: 0, end: 512 };
    objects.set(part.name, own[0] ?? Buffer.alloc(0));
    const of = { archive: header.archive, trust: trustOf(keys) };
    expect((await readPart(store, part, of)).header.start).toBe(0);
    objects.set(part.name, choose(own, foreign, forged) ?? Buffer.alloc(0));
    await expect(readPart(store, part, of)).rejects.toThrow(message);
  });

  it('is refused without encryption if there is a passphrase', async () => {
    const { store } = emptyStore();
    const content = bytes(Buffer.alloc(512));
    const part = await writePart(store, folder, { start: 0, end: 512 }, { header, content, encrypt: undefined, key });
    const trust = trustOf({ ...keys, passphrase: 'correct horse' });
    await expect(readPart(store, part, { archive: header.archive, trust })).rejects.toThrow('is not encrypted');
  });

  it('has a name in the folder of its archive', async () => {
    const { store, objects } = emptyStore();
    const range = `${'0'.repeat(16)}-${'1'.padStart(16, '0')}`;
    for (const name of [
      `x/${range}`,
      `../${range}`,
      `${'F'.repeat(16)}-${'F'.repeat(16)}`,
      `${'0'.repeat(16)}-0000000100000000`,
    ]) {
      objects.set(`${folder}/${name}.tar`, Buffer.alloc(1));
    }
    expect(await listParts(store, folder)).toEqual([]);
  });

  it('has a name that nobody can take before it is written', async () => {
    const { store, objects } = emptyStore();
    const write = () =>
      writePart(
        store,
        folder,
        { start: 0, end: 512 },
        { header, content: bytes(Buffer.alloc(512)), encrypt: undefined, key },
      );
    const first = await write();
    objects.set(first.name, Buffer.from('not a part'));
    objects.set(first.name.replace(/-[0-9a-f]{16}(?=\.tar)/, ''), Buffer.from('not a part'));
    const second = await write();
    const isOwn = async ({ name }: { readonly name: string }) => name === second.name;
    const parts = await listParts(store, folder);
    expect(parts).toHaveLength(3);
    expect(await removeContained(store, parts, isOwn)).toEqual([second]);
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
      await writePart(store, folder, { start, end }, { header, content, encrypt: undefined, key });
    }
    const parts = await listParts(store, folder);
    expect(await removeContained(store, parts, async () => false)).toEqual(parts);
    const kept = await removeContained(store, parts, async () => true);
    expect(kept.map(({ start, end }) => [start, end])).toEqual([
      [0, 20],
      [20, 30],
    ]);
    expect(objects.size).toBe(2);
  });
});

describe('a file that somebody has put in the place of a part', () => {
  it.each([
    ['the content twice', [textEntry('log', 'a'.repeat(512)), textEntry('log', 'a'.repeat(512))]],
    ['an empty content first', [textEntry('log', ''), textEntry('log', 'a'.repeat(512))]],
    ['another list', [textEntry('log', 'a'.repeat(512)), textEntry('manifest.json', '{}')]],
    ['another file', [textEntry('log', 'a'.repeat(512)), textEntry('log.more', '')]],
    ['a second header', [textEntry('postern-log.json', '{}'), textEntry('log', 'a'.repeat(512))]],
  ])('with %s is refused before more of it is kept in memory', async (_, entries) => {
    const { store, objects } = emptyStore();
    const name = `${folder}/0000000000000000-0000000000000200.tar`;
    async function* all() {
      yield textEntry('postern-log.json', JSON.stringify({ format: 1, ...header, start: 0 }));
      yield* entries;
    }
    objects.set(name, await buffer(writeArchive(all(), () => ({}), key)));
    const [part = expect.unreachable()] = await listParts(store, folder);
    await expect(readPart(store, part, { archive: header.archive, trust: trustOf(keys) })).rejects.toThrow(
      'is damaged',
    );
  });

  it('with one other byte anywhere, or cut anywhere, is refused', async () => {
    const { store, objects } = emptyStore();
    const content = bytes(Buffer.alloc(512, 'log'));
    const range = { start: 0, end: 512 };
    const { name } = await writePart(store, folder, range, { header, content, encrypt: undefined, key });
    const good = objects.get(name) ?? expect.unreachable();
    const [part = expect.unreachable()] = await listParts(store, folder);
    const read = () => readPart(store, part, { archive: header.archive, trust: trustOf(keys) });
    expect((await read()).header.start).toBe(0);
    for (let at = 0; at < good.length; at += 61) {
      const changed = Buffer.from(good);
      changed[at] = (good[at] ?? 0) ^ 0x20;
      objects.set(name, changed);
      await expect(read(), `byte ${at}`).rejects.toThrow();
      objects.set(name, good.subarray(0, at));
      await expect(read(), `the first ${at} bytes`).rejects.toThrow();
    }
  });
});
