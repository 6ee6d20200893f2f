import type { TransportOptions } from '../../transport.js';
import type { LiveQuery, StatefulInboxEvent } from '../types.js';

/** How the worker sends requests. A function such as the `fetch` of the app cannot be sent to it. */
export type WorkerTransport = Omit<TransportOptions, 'fetch'>;

/** The stream that a tab needs. Tabs with the same request share a stream. */
export interface StreamRequest {
  readonly transport: WorkerTransport;
  readonly user: string;
  readonly filter: string | undefined;
  readonly include: LiveQuery['include'];
}

export type ToWorker =
  | { readonly open: StreamRequest }
  /** The answer to `ask`. Null: this tab has no session now. */
  | { readonly session: string | null }
  | { readonly alive: true }
  /** The tab came to the foreground, so a pause can end. */
  | { readonly wake: true }
  | { readonly bye: true };

export type ToTab =
  /** `position`: the position of the stream, also for events that have none. */
  | { readonly event: StatefulInboxEvent; readonly position: string | undefined }
  | { readonly ask: { readonly fresh: boolean } }
  /** Postern refuses the stream, such as for a wrong filter. */
  | { readonly problem: { readonly status: number; readonly body: string; readonly retryAfter: string | null } }
  /** A heartbeat. A tab that does not answer counts as closed. */
  | { readonly beat: true };

/** The time in milliseconds between two messages `beat`. */
export const heartbeatMs = 10_000;
