import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { nilId } from '../lib/ids.js';

/** Something that happened, for webhooks. */
interface NewCauses {
  /** A type of the catalogue, or the type of an audit event that causes one. */
  readonly type: string;
  readonly actor: string;
  /** The user whom it concerns; absent: none. */
  readonly userId?: string | undefined;
  /** The values of each event. */
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

const insertCauses = statement<{ type: string; actor: string; userId: string; data: string }>(
  'webhook_outbox_insert',
  (p) => sql`
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select db_now(), ${p.type}, ${p.actor}, array[${p.userId}::uuid], each
    from jsonb_array_elements(${p.data}::jsonb) each
    where exists (select from webhook_endpoints)`,
);

/** Records events in the transaction that causes them. Without an endpoint, it writes nothing. */
export async function recordCauses(tx: Queryable, { type, actor, userId = nilId, data }: NewCauses): Promise<void> {
  await tx.query(insertCauses({ type, actor, userId, data: JSON.stringify(data) }));
}
