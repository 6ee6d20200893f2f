import pg from 'pg';

/** A statement that was sent to the database. */
export interface SentQuery {
  /** The name of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

type Sent = { readonly query: SentQuery; readonly part: Part }[];
const parts = new Map<pg.Client, Part>();
const recordings = new Set<Sent>();

// Sees all statements since the start of the test file: if a transaction began before a recording, only its earlier
// statements show what it belongs to.
const send = pg.Client.prototype.query;
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]) {
    const [query] = args;
    if (isQuery(query)) classify(this, query);
    return Reflect.apply(send, this, args);
  },
});

/** The end of a transaction, also of one that was prepared, or in one round trip with its last statement. */
const ofEnd = /(?:^|; )(?:commit|rollback)(?: prepared .*)?$/;
/** Statements of the jobs that send messages and notices, and of the relay of webhooks. */
const ofSending = /^(?:message_(?!enqueue|last_code)|notice_(?!insert)|webhook_)/;
/** Statements that run at any time outside a transaction. The last three read all servers for maintenance tasks. */
const atAnyTime = /^(?:statistics_.*|outcome_prepared|outcome_delete|password_schemes_used|images_shown|shards_all)$/;

function classify(client: pg.Client, query: SentQuery): void {
  const [begins, ends] = [query.text === 'begin', ofEnd.test(query.text)];
  const former = begins ? { isTransaction: true } : parts.get(client);
  // A named statement outside a transaction does not belong to what the connection was used for before.
  const isAlone = former?.isTransaction !== true && query.name !== undefined;
  const part: Part = isAlone ? {} : (former ?? {});
  const isOfSending = ofSending.test(query.name ?? '');
  if (isOfSending && part.isTransaction !== true) return;
  const isOfTask = query.name?.startsWith('maintenance_') === true || query.text.includes('pg_try_advisory_xact_lock');
  if (isOfSending || isOfTask) part.isMaintenance = true;
  else if (!begins && !ends) part.isMaintenance ??= false;
  for (const sent of recordings) sent.push({ query, part });
  if (ends) parts.delete(client);
  else parts.set(client, part);
}

/**
 * The statements that this process sends to the database while `work` runs, one for each round trip. Without those of the
 * queue, of the dispatch and sending of messages and webhooks, of statistics, of maintenance tasks and of the recovery of
 * transactions over several servers, which run at any time.
 */
export async function queriesOf(work: () => Promise<unknown>): Promise<SentQuery[]> {
  const sent: Sent = [];
  recordings.add(sent);
  try {
    await work();
  } finally {
    recordings.delete(sent);
  }
  return sent.flatMap(({ query, part }) => (part.isMaintenance === false ? [query] : []));
}

/** A transaction on a connection, or the statements between two. Not every statement of a maintenance task has a name. */
interface Part {
  readonly isTransaction?: boolean;
  /** True also for the sending of a message. Undefined if only its begin or its end was seen, and the rest came before or after the work. */
  isMaintenance?: boolean;
}

/** Our statements are objects. All statements of the queue's library contain the quoted name of its schema. */
function isQuery(query: unknown): query is SentQuery {
  if (typeof query !== 'object' || query === null || !('text' in query)) return false;
  const { text } = query;
  if ('name' in query && atAnyTime.test(String(query.name))) return false;
  const background = ['"graphile_worker"', 'from undispatched_messages', 'from images where check_after'];
  return typeof text === 'string' && !background.some((part) => text.includes(part));
}
