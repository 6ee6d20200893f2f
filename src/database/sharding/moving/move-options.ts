import type pg from 'pg';
import type { ShardTarget } from '../../open.js';

export interface Move {
  /** All servers, with `main` first. */
  readonly targets: readonly ShardTarget[];
  /** The name of the server that gets the buckets. */
  readonly to: string;
  readonly buckets: readonly number[];
  /**
   * Called before the first bucket moves. `buckets`: how many move. `resumed`: how many of these an earlier command has
   * left; they move first.
   */
  readonly onPlanned?: (planned: { readonly buckets: number; readonly resumed: number }) => void;
  readonly onMoved: (bucket: number, moved: { readonly users: number; readonly stoppedMs: number }) => void;
  /** Called if users cannot move until a server has sealed its audit events of a day (UTC). */
  readonly onWaiting?: (server: string, day: string) => void;
  /** Ends the command: buckets that have moved are cleaned up, and the others stay. */
  readonly signal?: AbortSignal;
  readonly times?: Partial<MoveTimes>;
}

/** How long the parts of a move wait, in milliseconds. */
export interface MoveTimes {
  /** At the start, until every instance has noticed the move and checks more often for a new map. */
  readonly notice: number;
  /** Before another attempt. */
  readonly pause: number;
  /** Until connections that do not show the new map are ended. */
  readonly grace: number;
  /** Until no request runs that began with the old map, and audit streams have read the events on the former server. */
  readonly longestRequest: number;
  /**
   * Until work that began before the stop, such as a job, must have ended. Longer than the lease of a sender of webhooks.
   */
  readonly patience: number;
  /**
   * Until the hashes of audit events must be stored. Servers store them at different times, because the task pauses for
   * ten minutes.
   */
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
  /** Whether an earlier command has begun the move and not completed it. */
  readonly isResumed: boolean;
}

/** The connections of the command. */
export interface Servers {
  /** This connection has the lock of the command. The transactions that copy buckets use other connections. */
  readonly directory: pg.Client;
  readonly of: (name: string) => pg.Client;
}
