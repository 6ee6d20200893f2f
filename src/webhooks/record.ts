import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { nilId } from '../lib/ids.js';

/** Something that concerns no user, for webhooks. */
interface ServiceCause {
  /** A type of the catalogue, or the type of an audit event that causes one. */
  readonly type: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const insertCause = statement<{ type: string; actor: string; userId: string; data: string }>(
  'webhook_outbox_insert',
  (p) => sql`
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select db_now(), ${p.type}, ${p.actor}, array[${p.userId}::uuid], ${p.data}::jsonb
    where exists (select from webhook_endpoints)`,
);

/** Records an event that concerns no user, in the transaction that causes it. Without an endpoint, it writes nothing. */
export async function recordServiceCause(tx: Queryable, { type, actor, data }: ServiceCause): Promise<void> {
  await tx.query(insertCause({ type, actor, userId: nilId, data: JSON.stringify(data) }));
}
