import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A folder on a disk that can be full. */
export interface FaultyDisk {
  readonly how: 'a file system of its own' | 'triggers that refuse to write';
  readonly dataDir: string;
  /** From now on nothing can be stored. */
  fill(): Promise<void>;
  /** On the full disk, files cannot be changed in place either. On a real disk this ends PostgreSQL. */
  starve(): Promise<void>;
  free(): Promise<void>;
  /** All processes that use it must have ended. */
  remove(): Promise<void>;
}

/** A small file system if it can be mounted. Otherwise the same errors, raised where PostgreSQL raises them. */
export async function createFaultyDisk(): Promise<FaultyDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-disk-'));
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const dataDir = join(disk, 'data');
  const remove = () => rm(folder, { recursive: true, force: true });
  const query = (text: string) => asSuperuser(dataDir, text);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=0755', 'tmpfs', disk]);
  } catch {
    return {
      how: 'triggers that refuse to write',
      dataDir,
      fill: () => query(refuseToWrite),
      starve: async () => undefined,
      free: () => query('drop function no_space cascade'),
      remove,
    };
  }
  const ballast = join(disk, 'ballast');
  return {
    how: 'a file system of its own',
    dataDir,
    fill: () => writeUntilFull(ballast),
    // There is no room for the next segment of the log. A statement that needs it ends the server.
    starve: () => query('select pg_switch_wal(); create table starving ()').catch(() => undefined),
    free: () => rm(ballast),
    async remove() {
      await run('umount', [disk]);
      await remove();
    },
  };
}

/** Deferred, so that COMMIT fails: the latest moment for an error of a full disk. */
const refuseToWrite = `
  create function no_space() returns trigger language plpgsql as $$
    begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' loop
      execute format('create constraint trigger no_space after insert or update on %I
                      deferrable initially deferred for each row execute function no_space()', name);
    end loop;
  end $$`;

async function asSuperuser(dataDir: string, text: string): Promise<void> {
  const client = new pg.Client({ host: join(dataDir, 'postgres'), user: 'postern', database: 'postern' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Fills the disk to the last block with smaller and smaller pieces. */
async function writeUntilFull(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (let size = 1024 * 1024; size >= 4096; size /= 4) {
      const piece = Buffer.alloc(size);
      for (let full = false; !full; ) {
        full = await file.write(piece).then(
          ({ bytesWritten }) => bytesWritten < size,
          () => true,
        );
      }
    }
  } finally {
    await file.close();
  }
}
