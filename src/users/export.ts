import type { Database } from '../database/database.js';
import { iterateRows } from '../database/maintenance/keyset.js';
import { type Sql, sql } from '../database/sql.js';
import { deviceColumns } from '../devices/queries.js';
import { Problem } from '../lib/problem.js';
import { listExternalIdentities } from './external-identities.js';
import { findUser } from './queries.js';

/** One list of an export. */
export interface ExportSection {
  readonly name: string;
  /** The items of the list, in batches. */
  items(userId: string): AsyncIterable<readonly object[]>;
}

/** Exports everything that is stored about a user, except secrets, as the text of one JSON object. */
export interface Exports {
  /**
   * Returns the pieces of the text. Each is read when the caller asks for it, so memory does not grow with the number of
   * notifications.
   * @param recheck called before each further piece is read; throws when the client may no longer read it
   * @throws Problem `not_found`; `too_many_requests` while this instance runs another export of the user
   */
  open(userId: string, recheck: () => Promise<void>): Promise<AsyncIterable<string>>;
}

/** The sections of the tables that belong to users, without hashes, digests and tokens. */
export function userSections(database: Database): readonly ExportSection[] {
  const section = (name: string, from: string, columns: Sql): ExportSection => ({
    name,
    items: (userId) => iterateRows(database.user(userId), { columns, from, key: 'id', keyType: 'uuid' }, userId),
  });
  return [
    section('devices', 'devices', deviceColumns),
    section('passkeys', 'passkeys', sql`id, name, transports, backed_up, created_at, last_used_at`),
    {
      name: 'external_identities',
      async *items(userId) {
        yield await listExternalIdentities(database, userId);
      },
    },
    section('apps', 'page_apps', sql`id, app as redirect_uri, allowed_at`),
    section(
      'support_logins',
      'support_logins',
      sql`id, reason, can_write as write, created_at, expires_at, allowed_at, issued_at, ended_at, is_refused`,
    ),
    section(
      'logins',
      'authentications',
      sql`id, device_id, authenticator, status, created_at, updated_at, approved_at, first_used_at, ended_at,
          least(expires_at, idle_expires_at) as expires_at`,
    ),
    section('sessions', 'sessions', sql`id, authentication_id, device_id, created_at, expires_at`),
    section('activity', 'events', sql`id, type, ${actorForUser}, ${addressForUser}, ${ownData}, created_at`),
    section('messages', 'outbox', sql`id, channel, kind, recipient, state, created_at, updated_at`),
    section(
      'mail_reports',
      'mail_deliveries',
      sql`id, notification_id, provider, delivered_at, soft_bounced_at, hard_bounced_at, complained_at, created_at`,
    ),
  ];
}

/** SQL: the column `by`, which says who caused an event. Users do not see which key or operator it was. */
export const actorForUser = sql`case when actor in ('user', 'system') then actor else 'operator' end as "by"`;
/** SQL: the address of an event that the user caused. */
export const addressForUser = sql`case when actor = 'user' then host(address) end as address`;
const ownData = sql`case when actor in ('user', 'system') then data else '{}' end as data`;

/** Creates exports with these sections, in this order. */
export function createExports(database: Database, sections: readonly ExportSection[]): Exports {
  /** Users with a running export. A large inbox keeps a core busy for some time, so each user has one export at a time. */
  const running = new Set<string>();

  async function* pieces(userId: string, profile: object, recheck: () => Promise<void>): AsyncGenerator<string> {
    if (running.has(userId)) throw new Problem('too_many_requests', { retryAfter: 10 });
    running.add(userId);
    try {
      yield `{"account":${JSON.stringify(profile)}`;
      for (const section of sections) yield* sectionPieces(section, userId, recheck);
      yield '}';
    } finally {
      running.delete(userId);
    }
  }

  return {
    async open(userId, recheck) {
      const user = await findUser(database.user(userId), userId);
      if (user === undefined) throw new Problem('not_found');
      const { lock_kind: _, locked_until: __, lock_reason: ___, ...profile } = user;
      return readFirst(pieces(userId, profile, recheck));
    },
  };
}

async function* sectionPieces({ name, items }: ExportSection, userId: string, recheck: () => Promise<void>) {
  let separator = '';
  yield `,"${name}":[`;
  for await (const batch of items(userId)) {
    if (batch.length === 0) continue;
    yield separator + batch.map((item) => JSON.stringify(item)).join(',');
    separator = ',';
    await recheck();
  }
  yield ']';
}

/** Reads the first piece and returns all pieces. A refusal is thrown here, before the response starts. */
async function readFirst(pieces: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  let first: IteratorResult<string> | undefined = await pieces.next();
  const next = async () => {
    const result = first ?? (await pieces.next());
    first = undefined;
    return result;
  };
  // No generator: `return` of one that has not begun would not end `pieces`, and the user would count as running for ever.
  return { [Symbol.asyncIterator]: () => ({ next, return: () => pieces.return(undefined) }) };
}
