import pg from 'pg';
import { vi } from 'vitest';

/** A statement that went to the database. */
export interface SentQuery {
  /** Of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/**
 * What this process sends to the database while `work` runs, one entry a round trip; but for the queue's own statements,
 * the look for messages to dispatch, and chores, which come at any time.
 */
export async function queriesOf(work: () => Promise<unknown>): Promise<SentQuery[]> {
  const sent: { query: SentQuery; part: Part }[] = [];
  const parts = new Map<pg.Client, Part>();
  const send = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [query] = args;
    if (isQuery(query)) {
      const [begins, ends] = [query.text === 'begin', ['commit', 'rollback'].includes(query.text)];
      const part: Part = (begins ? undefined : parts.get(this)) ?? {};
      if (query.name?.startsWith('chores_')) part.isChore = true;
      else if (!begins && !ends) part.isChore ??= false;
      sent.push({ query, part });
      if (ends) parts.delete(this);
      else parts.set(this, part);
    }
    return Reflect.apply(send, this, args);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return sent.flatMap(({ query, part }) => (part.isChore === false ? [query] : []));
}

/** A transaction on a connection, or what is sent there between two. Not every statement of a chore has a name. */
interface Part {
  /** Undefined where only its begin or its end was seen: the rest came before the work, or comes after it. */
  isChore?: boolean;
}

/** Our statements are objects; the queue's library names its schema in all of its own, in quotes. */
function isQuery(query: unknown): query is SentQuery {
  if (typeof query !== 'object' || query === null || !('text' in query)) return false;
  const { text } = query;
  return (
    typeof text === 'string' && !text.includes('"graphile_worker"') && !text.includes('from undispatched_messages')
  );
}
