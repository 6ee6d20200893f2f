import type { MessageChannel, outboxStates } from '../contract/administration.js';
import { timeText } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';

/** The last login code to an address of a user. */
export interface LastCode {
  readonly id: string;
  readonly state: (typeof outboxStates)[number];
  readonly attempts: number;
  readonly error: string | null;
  readonly updatedAt: string;
  /** Whether the code can be sent again: it failed or did not arrive, and is still valid. */
  readonly canBeRetried: boolean;
}

const readLast = statement<{ userId: string; channel: string; recipient: string }, LastCode>(
  'message_last_code',
  (p) => sql`
  select id, state, attempts, last_error as error, ${timeText(sql`updated_at`)} as "updatedAt",
         state in ('failed', 'undelivered') and expires_at > db_now() as "canBeRetried"
  from outbox
  where user_id = ${p.userId} and channel = ${p.channel} and recipient = ${p.recipient} and kind in (${p.channel} || '.code', ${p.channel} || '.code_link')
  order by created_at desc limit 1`,
);

export async function lastCodeTo(
  handle: Queryable,
  recipient: { readonly userId: string; readonly channel: MessageChannel; readonly recipient: string },
): Promise<LastCode | undefined> {
  const [row] = await handle.query(readLast(recipient));
  return row;
}

/** Whether a message was not sent, did not arrive, or was tried and waits for the next attempt. */
export function hasFailed({ state, error }: LastCode): boolean {
  return state === 'failed' || state === 'expired' || state === 'undelivered' || (state === 'queued' && error !== null);
}
