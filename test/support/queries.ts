import pg from 'pg';
import { vi } from 'vitest';

/** A statement that went to the database. */
export interface SentQuery {
  /** Of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** What this process sends to the database while `work` runs, but for the queue's own statements: one entry a round trip. */
export async function queriesOf(work: () => Promise<unknown>): Promise<SentQuery[]> {
  const sent: SentQuery[] = [];
  const send = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [query] = args;
    if (isQuery(query)) sent.push(query);
    return Reflect.apply(send, this, args);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return sent;
}

/** Our statements are objects; the queue's library names its schema in all of its own, in quotes. */
function isQuery(query: unknown): query is SentQuery {
  if (typeof query !== 'object' || query === null || !('text' in query)) return false;
  return typeof query.text === 'string' && !query.text.includes('"graphile_worker"');
}
