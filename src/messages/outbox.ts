import { type MessageChannel, messageChannels, type OutboxMessage, outboxStates } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { sql } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { FilterFields } from '../lib/filter/fields.js';

/** The messages that were sent or are queued, for operators. */
export interface Outbox {
  /** @param options.withCodes whether to show valid codes. It has an effect only with the development provider `console`. */
  list(request: ListRequest, options: { readonly withCodes: boolean }): Promise<Page<OutboxMessage>>;
}

/** The filter fields of lists of messages. */
export const outboxFilterFields: FilterFields = {
  id: { kind: 'id' },
  user_id: { kind: 'id' },
  authentication_id: { kind: 'id' },
  channel: { kind: 'enum', values: messageChannels },
  kind: { kind: 'key' },
  state: { kind: 'enum', values: outboxStates },
  recipient: { kind: 'key' },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

type OutboxRow = Omit<OutboxMessage, 'code'> & { readonly sealed_code: Buffer | null };

const messages: ListSource<'everyone'> = {
  scope: 'everyone',
  columns: sql`id, user_id, authentication_id, channel, kind, recipient, state, attempts, last_error,
            case when expires_at > db_now() then sealed_code end as sealed_code, expires_at, created_at, updated_at`,
  from: sql`outbox`,
};

export interface OutboxOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  /** The channels whose provider is `console`. Operators may see their codes. */
  readonly channelsWithVisibleCodes: readonly MessageChannel[];
}

export function createOutbox({ database, keys, channelsWithVisibleCodes: showsCodesOf }: OutboxOptions): Outbox {
  return {
    async list(request, { withCodes }) {
      const page = await readPage<OutboxRow, 'everyone'>(database.everyone, messages, request);
      const items = page.items.map(({ sealed_code, ...message }) => {
        const shown = withCodes && showsCodesOf.includes(message.channel) ? sealed_code : null;
        return { ...message, code: shown === null ? null : (keys.decrypt(shown, message.id) ?? null) };
      });
      return { ...page, items };
    },
  };
}
