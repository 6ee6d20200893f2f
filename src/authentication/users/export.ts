import type { Database } from '../../database/database.js';
import { walkRows } from '../../database/walk.js';
import { Problem } from '../../lib/problem.js';
import { deviceColumns } from '../devices/queries.js';
import { findUser } from './queries.js';

/** One list of an export, some items at a time. */
export interface ExportSection {
  readonly name: string;
  items(userId: string): AsyncIterable<readonly object[]>;
}

/** Everything that is stored of a user, but for secrets, as the text of one JSON object. */
export interface Exports {
  /**
   * The pieces of the text. Any number of notifications takes no more memory: they are read as the pieces are taken.
   * @param recheck called before each piece is read: throws when whoever asked may no longer read it
   * @throws Problem `not_found`; `too_many_requests` while another export of the user is read from this instance
   */
  open(userId: string, recheck: () => Promise<void>): Promise<AsyncIterable<string>>;
}

/** What this module stores of a user, without hashes, digests and tokens. */
export function ownSections(database: Database): readonly ExportSection[] {
  const section = (name: string, from: string, key: string, columns: string): ExportSection => ({
    name,
    items: (userId) => walkRows(database.lane(userId), { columns, from, key, keyType: 'uuid' }, userId),
  });
  return [
    section('devices', 'devices', 'id', deviceColumns),
    section('passkeys', 'passkeys', 'id', 'id, name, transports, backed_up, created_at, last_used_at'),
    section('external_identities', 'external_identities', 'id', 'id, provider, issuer, subject, created_at'),
    section(
      'logins',
      'authentications',
      'id',
      'id, device_id, authenticator, status, created_at, updated_at, approved_at, first_used_at, ended_at, expires_at',
    ),
    section('sessions', 'sessions', 'id', 'id, authentication_id, device_id, created_at, expires_at'),
    section('activity', 'events', 'id', `id, type, ${whoseAct}, ${ownAddress}, ${ownData}, created_at`),
    section('messages', 'outbox', 'id', 'id, channel, kind, recipient, state, created_at, updated_at'),
  ];
}

/** SQL: who did it. Which key or operator it was is the operator's own business. */
export const whoseAct = `case when actor in ('user', 'system') then actor else 'operator' end as "by"`;
/** SQL: from where, if it was the user. */
export const ownAddress = `case when actor = 'user' then host(address) end as address`;
const ownData = `case when actor in ('user', 'system') then data else '{}' end as data`;

export function createExports(database: Database, sections: readonly ExportSection[]): Exports {
  /** Reading a large inbox keeps a core busy for a while: no user may have that done many times at once. */
  const running = new Set<string>();

  async function* pieces(userId: string, profile: object, recheck: () => Promise<void>): AsyncGenerator<string> {
    if (running.has(userId)) throw new Problem('too_many_requests', { retryAfter: 10 });
    running.add(userId);
    try {
      yield `{"account":${JSON.stringify(profile)}`;
      for (const section of sections) yield* list(section, userId, recheck);
      yield '}';
    } finally {
      running.delete(userId);
    }
  }

  return {
    async open(userId, recheck) {
      const user = await findUser(database, userId);
      if (user === undefined) throw new Problem('not_found');
      const { lock_kind: _, locked_until: __, lock_reason: ___, ...profile } = user;
      return begun(pieces(userId, profile, recheck));
    },
  };
}

async function* list({ name, items }: ExportSection, userId: string, recheck: () => Promise<void>) {
  let separator = '';
  yield `,"${name}":[`;
  for await (const some of items(userId)) {
    yield separator + some.map((item) => JSON.stringify(item)).join(',');
    separator = ',';
    await recheck();
  }
  yield ']';
}

/** The same pieces, the first of which is there: whatever refuses them has done so. */
async function begun(pieces: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await pieces.next();
  return (async function* () {
    try {
      if (first.done !== true) yield first.value;
      yield* pieces;
    } finally {
      await pieces.return(undefined);
    }
  })();
}
