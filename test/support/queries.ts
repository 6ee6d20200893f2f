import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import pg from 'pg';

/** A statement that was sent to the database. */
export interface SentQuery {
  /** The name of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

interface Recording {
  readonly sent: SentQuery[];
  readonly isOfRequests: boolean;
}
const recordings = new Set<Recording>();
/** True within the recorded work, and while this process answers a request. */
const requests = new AsyncLocalStorage<true>();

const { emit } = http.Server.prototype;
Object.assign(http.Server.prototype, {
  emit(this: http.Server, ...args: unknown[]) {
    const emitEvent = () => Reflect.apply(emit, this, args);
    return args[0] === 'request' ? requests.run(true, emitEvent) : emitEvent();
  },
});

const send = pg.Client.prototype.query;
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]) {
    const [query] = args;
    const isOfRequest = requests.getStore() === true;
    if (isQuery(query)) {
      for (const { sent, isOfRequests } of recordings) if (isOfRequest || !isOfRequests) sent.push(query);
    }
    return Reflect.apply(send, this, args);
  },
});

/**
 * The statements that `work` and the requests of this process send to the database while `work` runs, one for each round
 * trip. Without those of background tasks, which run at any time, without signals and the dispatch of messages, which a
 * request starts and does not wait for, and without the removal of the oldest sessions, which one session in 256 starts.
 */
export async function queriesOf(work: () => Promise<unknown>): Promise<SentQuery[]> {
  const sent = await record(work, true);
  return sent.filter(
    ({ name, text }) => name !== 'session_delete_oldest' && !/ from undispatched_messages|^select pg_notify/.test(text),
  );
}

/** All statements that this process sends to the database while `work` runs, also those of background tasks. */
export function allQueriesOf(work: () => Promise<unknown>): Promise<SentQuery[]> {
  return record(work, false);
}

async function record(work: () => Promise<unknown>, isOfRequests: boolean): Promise<SentQuery[]> {
  const recording: Recording = { sent: [], isOfRequests };
  recordings.add(recording);
  try {
    await requests.run(true, work);
  } finally {
    recordings.delete(recording);
  }
  return recording.sent;
}

/** Statements of Postern are objects. */
function isQuery(query: unknown): query is SentQuery {
  return typeof query === 'object' && query !== null && 'text' in query && typeof query.text === 'string';
}
