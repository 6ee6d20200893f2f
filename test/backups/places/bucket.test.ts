import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type BackupBucket, createBackupBucket } from '../../../src/backups/places/bucket.js';
import { listRelated, listStored, removeOldBackups } from '../../../src/backups/places/place.js';

/** A bucket in memory that lists two keys at a time. */
function bucketOf(objects: Map<string, Buffer>): BackupBucket {
  return {
    async upload(key, content) {
      objects.set(key, await buffer(content));
      return objects.get(key)?.length ?? 0;
    },
    async download(key) {
      const found = objects.get(key);
      return (
        found &&
        (async function* () {
          yield found;
        })()
      );
    },
    list: async (prefix, after = '') =>
      [...objects.keys()]
        .filter((key) => key.startsWith(prefix) && key > after)
        .sort()
        .slice(0, 2),
    async remove(key) {
      objects.delete(key);
    },
  };
}

async function* text(content: string): AsyncGenerator<Buffer> {
  yield Buffer.from(content);
}

describe('backups in a bucket', () => {
  it('are listed to the end, and the oldest ones of a database are removed', async () => {
    const objects = new Map<string, Buffer>();
    const store = createBackupBucket(bucketOf(objects), { name: 'bucket', prefix: 'a/' });
    const names = [1, 2, 3, 4, 5].map((day) => `postern-7-2026010${day}T000000Z.tar`);
    for (const name of [...names, 'postern-8-20200101T000000Z.tar', 'notes.txt']) await store.write(name, text(name));
    expect(await store.list('postern-7-')).toEqual(names);
    const made = new Map(names.map((name) => [store.locate(name), { is_verified: true }]));
    await removeOldBackups(store, { owner: '7', keep: 2, now: Date.UTC(2026, 1), made });
    expect([...objects.keys()].sort()).toEqual(
      ['notes.txt', ...names.slice(3), 'postern-8-20200101T000000Z.tar'].map((name) => `a/${name}`),
    );
  });

  it('that others have written, or that were not verified, push out no good one', async () => {
    const objects = new Map<string, Buffer>();
    const store = createBackupBucket(bucketOf(objects), { name: 'bucket', prefix: '' });
    const nameOf = (day: number) => `postern-7-2026010${day}T000000Z.tar`;
    for (let day = 1; day <= 9; day += 1) await store.write(nameOf(day), text('any'));
    const made = new Map([2, 3, 4, 6].map((day) => [store.locate(nameOf(day)), { is_verified: day !== 4 }]));
    const options = { owner: '7', now: Date.UTC(2026, 1), made };
    expect(await removeOldBackups(store, { ...options, keep: 4 })).toEqual([]);
    expect(await removeOldBackups(store, { ...options, keep: 3 })).toEqual([]);
    expect(await removeOldBackups(store, { ...options, keep: 2 })).toEqual([nameOf(2)]);
    expect(await removeOldBackups(store, { ...options, keep: 1 })).toEqual([nameOf(3), nameOf(4)]);
  });

  it('of a restored copy are not those of the original, and without an owner they sort by time', async () => {
    const store = createBackupBucket(bucketOf(new Map()), { name: 'bucket', prefix: 'a/' });
    const [original, copy] = ['postern-7-20260101T000000Z.tar', 'postern-7-0a1b2c3d-20260102T000000Z.tar'];
    for (const name of [original, copy]) await store.write(name, text(name));
    expect(await listStored(store, '7')).toEqual([original]);
    expect(await listStored(store, '7-0a1b2c3d')).toEqual([copy]);
    expect([await listRelated(store, '7'), await listRelated(store, '7-0a1b2c3d')]).toEqual([[copy], [original]]);
    // The names sort in another order.
    expect(await listStored(store)).toEqual([original, copy]);
  });

  it('are never overwritten, and a missing one is an error with its address', async () => {
    const store = createBackupBucket(bucketOf(new Map()), { name: 'bucket', prefix: 'a/' });
    await store.write('one.tar', text('1'));
    await expect(store.write('one.tar', text('2'))).rejects.toThrow('s3://bucket/a/one.tar exists already');
    await expect(buffer(store.read('two.tar'))).rejects.toThrow('There is no backup s3://bucket/a/two.tar.');
  });
});
