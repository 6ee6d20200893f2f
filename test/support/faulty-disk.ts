import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A place for data whose disk can be full. */
export interface FaultyDisk {
  readonly how: 'a file system of its own' | 'triggers that refuse to write';
  readonly dataDir: string;
  /** Nothing more can be stored. */
  fill(): Promise<void>;
  /** While it is full: nor can anything be changed in place, which ends PostgreSQL itself where the disk is real. */
  starve(): Promise<void>;
  free(): Promise<void>;
  /** Whoever uses it must have ended. */
  remove(): Promise<void>;
}

/** Where file systems may be mounted, a small one; elsewhere the same errors, raised where PostgreSQL would raise them. */
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
    // The next segment of the log has no room: a statement that needs it ends the server.
    starve: () => query('select pg_switch_wal(); create table starving ()').catch(() => undefined),
    free: () => rm(ballast),
    async remove() {
      await run('umount', [disk]);
      await remove();
    },
  };
}

/** Deferred, so that it is COMMIT that fails: the latest moment at which a full disk shows. */
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

/** To the last block: smaller and smaller pieces. */
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
