import type { Family } from '../../app/metrics/families.js';

/** An environment, as {@link readConfig} takes it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * To a worker: serve with this environment; stop; stop after its clients had time to connect to another worker; or send
 * your metrics.
 */
export type ToWorker = { readonly start: Environment } | 'stop' | 'retire' | 'metrics';

/**
 * From a worker: it can receive messages from now on (earlier ones are lost); it serves at this URL; its metrics, when the
 * primary has asked for them and before it ends; or, as its last message, the reason why it could not start.
 */
export type FromWorker =
  | 'listening'
  | { readonly ready: string }
  | { readonly metrics: readonly Family[] }
  | { readonly failed: string };

/** Milliseconds from the signal to the end, at most. Process supervisors kill after about this time. */
export const stopDeadlineMs = 30_000;
