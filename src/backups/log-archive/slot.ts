import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { parseLsn } from '../base/positions.js';
import { slotPrefix, withSession } from '../base/session.js';

/** The replication slot that makes the server keep its log, and its log archive. */
interface Slot {
  readonly archive: string;
  /** The position in the log from which the server keeps it. */
  readonly from: number;
  readonly segmentBytes: number;
  readonly systemId: string;
}

/**
 * Finds the slot of the archive in this store, or begins a new archive. It also begins one if the slot was lost. A copy
 * of the server's files has no slot, so a restored server begins a new archive. So each archive contains only one
 * history.
 */
export async function openSlot(client: pg.Client, location: string): Promise<Slot> {
  const kept = await findSlot(client, location);
  await dropSlots(client, kept);
  const name = kept ?? slotPrefix + newArchive(location);
  if (kept === undefined) await client.query('select pg_create_physical_replication_slot($1, true)', [name]);
  const { rows: slots } = await client.query<{ from: string; segment: string; system: string }>(
    `select restart_lsn::text as from, (select setting from pg_settings where name = 'wal_segment_size') as segment,
            (select system_identifier::text from pg_control_system()) as system
     from pg_replication_slots where slot_name = $1`,
    [name],
  );
  const [slot] = slots;
  if (slot === undefined) throw new Error('the replication slot of the archive is missing');
  return {
    archive: name.slice(slotPrefix.length),
    from: parseLsn(slot.from),
    segmentBytes: Number(slot.segment),
    systemId: slot.system,
  };
}

/** The name of the slot of the archive in this store. */
async function findSlot(client: pg.Client, location: string): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select slot_name as name from pg_replication_slots
     where starts_with(slot_name, $1) and wal_status is distinct from 'lost' and restart_lsn is not null`,
    [slotPrefix],
  );
  return rows.find(({ name }) => isOfPlace(name.slice(slotPrefix.length), location))?.name;
}

/** Drops the slots of all archives but one. */
export async function dropSlots(client: pg.Client, except: string | undefined): Promise<void> {
  await client.query(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots
     where starts_with(slot_name, $1) and slot_name is distinct from $2 and not active`,
    [slotPrefix, except],
  );
}

/** Milliseconds to wait for the archive, and between two checks. */
const [startMs, pollMs] = [30_000, 50];

/**
 * Waits until some process archives the log to this store, because the archive does not continue a backup that begins
 * earlier. After `startMs` it returns anyway: without an archive, backups are even more important.
 */
export function untilArchiveBegins(
  target: DatabaseTarget,
  location: string,
  stop: AbortSignal | undefined,
): Promise<void> {
  const deadline = performance.now() + startMs;
  return withSession(
    target,
    async (client) => {
      while ((await findSlot(client, location)) === undefined && performance.now() < deadline) await wait(pollMs);
    },
    stop,
  );
}

/** Creates the id of an archive: random digits, and a digest that identifies the store of the archive. */
function newArchive(location: string): string {
  const random = randomBytes(4).toString('hex');
  return random + digestOf(random, location);
}

const isOfPlace = (archive: string, location: string) => archive.slice(8) === digestOf(archive.slice(0, 8), location);

const digestOf = (random: string, location: string) =>
  createHash('sha256').update(random).update(location).digest('hex').slice(0, 8);
