import type { TransportOptions } from '../../transport.js';
import type { InboxEvent } from '../types.js';

/** How the worker sends requests. A `fetch` of the app cannot travel there. */
export type WorkerTransport = Omit<TransportOptions, 'fetch'>;

/** What a tab wants to follow. Tabs that want the same share a stream. */
export interface Opening {
  readonly transport: WorkerTransport;
  readonly user: string;
  readonly filter: string | undefined;
}

export type ToWorker =
  | { readonly open: Opening }
  /** The answer to `ask`. Null: this tab has no session now. */
  | { readonly session: string | null }
  | { readonly alive: true }
  /** The tab came to the foreground, so a pause can end. */
  | { readonly wake: true }
  | { readonly bye: true };

export type ToTab =
  /** `position`: that of the stream, also for events without one. */
  | { readonly event: InboxEvent; readonly position: string | undefined }
  | { readonly ask: { readonly fresh: boolean } }
  /** Postern refuses the stream, such as for a wrong filter. */
  | { readonly problem: { readonly status: number; readonly body: string; readonly retryAfter: string | null } }
  /** Sent again and again. A tab that does not answer is gone. */
  | { readonly beat: true };

/** Milliseconds between two beats. */
export const beatPause = 10_000;
