import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replacementOf } from '../data-directory.js';
import { isReplacementBlocked, listAttempts } from './folders.js';
import { type FormerBinaries, findFormerBinaries } from './former-binaries.js';

/** What a start does with data of another major version of PostgreSQL. */
export interface MajorUpgradePlan {
  readonly from: number;
  readonly to: number;
  /** The size of the databases, the most that the move may need, and the free space, in bytes. */
  readonly bytes: number;
  readonly needed: number;
  readonly free: number;
  readonly binaries: FormerBinaries | undefined;
  /** Why the data cannot be moved, and what the operator can do. Undefined if the next start moves the data. */
  readonly refusal: string | undefined;
}

/** An empty server with its log, and the programs of the former version. */
const fixedBytes = 400e6;

/** The write-ahead log of the copy, at most: `max_wal_size`, which PostgreSQL may exceed for a while. */
const maxLogBytes = 1.5e9;

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;

/**
 * Finds out what a start of this release does with the data in `dataDir`. Starts nothing and writes nothing.
 * @param bundled the major version of this release
 * @returns undefined if there is no data, or if the data is of the same version
 */
export function planMajorUpgrade(dataDir: string, bundled: number): MajorUpgradePlan | undefined {
  const path = join(dataDir, 'postgres');
  if (!existsSync(join(path, 'PG_VERSION'))) return undefined;
  const from = Number(readFileSync(join(path, 'PG_VERSION'), 'utf8').trim());
  if (from === bundled) return undefined;
  const binaries = findFormerBinaries(dataDir, from);
  const bytes = sizeOf(join(path, 'base'));
  const { bavail, bsize } = statfsSync(dataDir);
  // A copy of all rows with new indexes, its log, and for a while the largest table as text.
  const needed = 2 * bytes + Math.min(bytes, maxLogBytes) + fixedBytes;
  // The start removes what an interrupted move has left before it copies.
  const free = bavail * bsize + listAttempts(dataDir).reduce((sum, folder) => sum + sizeOf(folder), 0);
  const plan = { from, to: bundled, binaries, bytes, needed, free };
  return { ...plan, refusal: isReplacementBlocked(dataDir) ? blocked(path) : refusalOf(path, plan) };
}

function refusalOf(path: string, plan: Omit<MajorUpgradePlan, 'refusal'>): string | undefined {
  const { from, to, binaries, needed, free } = plan;
  const versions = `${path} was created by PostgreSQL ${from}, and this Postern contains PostgreSQL ${to}`;
  if (!(from < to)) return `${versions}: start the release of Postern that used the data last, or a newer one.`;
  if (binaries === undefined) {
    return (
      `${versions}, which cannot move data of that version: start a release of Postern between the two first; or run ` +
      `PostgreSQL ${from} on it and set DATABASE_URL.`
    );
  }
  if (free >= needed) return undefined;
  return (
    `${versions}. To move the data, up to ${gigabytes(needed)} must be free on its disk, and ${gigabytes(free)} are: ` +
    'free some space and start Postern again. Nothing was changed.'
  );
}

const blocked = (path: string) =>
  `${path} was created by an older release of Postern after its data was moved to ${replacementOf(path)}: move ${path} away, ` +
  'then start this release. Nothing was changed.';

/** The plan as a sentence for operators. */
export function describePlan({ from, to, bytes, needed, free, binaries }: MajorUpgradePlan): string {
  const install = binaries?.isInstalled === false ? `, installs ${binaries.specifier} with npm` : '';
  return (
    `a start moves the data from PostgreSQL ${from} to ${to}${install}, and keeps the old files for 7 days. ` +
    `The databases have ${gigabytes(bytes)}; the move needs up to ${gigabytes(needed)}, and ${gigabytes(free)} are free`
  );
}

function sizeOf(folder: string): number {
  let bytes = 0;
  if (!existsSync(folder)) return bytes;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(path);
    // A running server may remove files.
    if (entry.isFile()) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
