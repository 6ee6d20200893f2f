import {
  type MessageChannel,
  messageChannels,
  type OutboxMessage,
  outboxStates,
} from '../../contract/administration.js';
import type { Database } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { type ListRequest, type Page, readPage } from '../listing.js';

/** What was sent, or is about to be. */
export interface Outbox {
  /** @param withCodes whether to show the codes that still live; without effect unless the provider is the development one. */
  list(request: ListRequest, options: { readonly withCodes: boolean }): Promise<Page<OutboxMessage>>;
}

/** What messages can be listed by. */
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

const messages = {
  columns: `id, user_id, authentication_id, channel, kind, recipient, state, attempts, last_error,
            case when expires_at > db_now() then sealed_code end as sealed_code, expires_at, created_at, updated_at`,
  from: 'outbox',
};

export interface OutboxOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  /** The channels whose provider is `console`, of which the codes are no secret. */
  readonly showsCodesOf: readonly MessageChannel[];
}

export function createOutbox({ database, keys, showsCodesOf }: OutboxOptions): Outbox {
  return {
    async list(request, { withCodes }) {
      const page = await readPage<OutboxRow>(database, messages, request);
      const items = page.items.map(({ sealed_code, ...message }) => {
        const shown = withCodes && showsCodesOf.includes(message.channel) ? sealed_code : null;
        return { ...message, code: shown === null ? null : (keys.open(shown, message.id) ?? null) };
      });
      return { ...page, items };
    },
  };
}
