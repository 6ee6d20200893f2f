import type pg from 'pg';
import type { ShardTarget } from '../../open.js';

export interface Move {
  /** With `main` first. */
  readonly targets: readonly ShardTarget[];
  /** The name of the server that gets the buckets. */
  readonly to: string;
  readonly buckets: readonly number[];
  /** Called before the first bucket. `resumed`: buckets of a command that ended early, which move first. */
  readonly onPlanned?: (planned: { readonly buckets: number; readonly resumed: number }) => void;
  readonly onMoved: (bucket: number, moved: { readonly users: number; readonly stoppedMs: number }) => void;
  /** Called if users cannot move until a server has sealed its audit events of a day (UTC). */
  readonly onWaiting?: (server: string, day: string) => void;
  /** Ends the command: buckets that have moved are cleaned up, and the others stay. */
  readonly signal?: AbortSignal;
  readonly times?: Partial<MoveTimes>;
}

/** In milliseconds. */
export interface MoveTimes {
  /** Until every instance looks often for a new map. */
  readonly notice: number;
  /** Before a further attempt. */
  readonly pause: number;
  /** For connections to show the new map before they are ended. */
  readonly grace: number;
  /** After which no request that began with the old map runs, and audit streams have read what they follow. */
  readonly longestRequest: number;
  /** For work that began before the stop, such as a job. Longer than the lease of a sender of webhooks. */
  readonly patience: number;
  /** For the hashes of audit events. Servers seal a day at different times, because the task pauses for ten minutes. */
  readonly sealing: number;
}

export const defaultTimes: MoveTimes = {
  notice: 1500,
  pause: 100,
  grace: 400,
  longestRequest: 6000,
  patience: 90_000,
  sealing: 1_800_000,
};

/** Users cannot move now. The message says why, for the operator. */
export class MoveError extends Error {}

/** A bucket that moves, as the table `shard_moves` has it. */
export interface Planned {
  readonly bucket: number;
  readonly source: string;
  readonly target: string;
  /** Whether a command that ended early has begun it. */
  readonly isResumed: boolean;
}

/** The connections of the command. */
export interface Servers {
  /** Has the lock of the command, and no transaction of a bucket. */
  readonly directory: pg.Client;
  readonly of: (name: string) => pg.Client;
}
