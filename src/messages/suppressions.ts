import { recordEvent, recordServiceEvent } from '../audit/events.js';
import type { Suppression, SuppressionReason } from '../contract/suppression.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { sql, statement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';

/** Why an address is suppressed, and who caused it. */
export interface SuppressionCause {
  readonly reason: SuppressionReason;
  readonly origin: Origin;
  /** The user whose mail did not arrive. Undefined: an operator has added the address. */
  readonly userId?: string;
}

/**
 * The addresses that get no mail except codes. All addresses are canonical. They are stored as keyed digests, and found by the
 * digest of each key of SECRET_KEY.
 */
export interface Suppressions {
  has(handle: Queryable, address: string): Promise<boolean>;
  /** Those of these addresses that are suppressed. */
  among(handle: Queryable, addresses: readonly string[]): Promise<ReadonlySet<string>>;
  find(handle: Queryable, address: string): Promise<Suppression | undefined>;
  /**
   * Suppresses addresses. One that is suppressed stays as it is.
   * @returns the suppression of each address, in their order
   */
  add(tx: Transaction, addresses: readonly string[], cause: SuppressionCause): Promise<Suppression[]>;
  /** The suppression of the address that a user has now, as a part of the export of the user's data. */
  exportOf(userId: string): AsyncIterable<readonly Suppression[]>;
  list(request: ListRequest): Promise<Page<Suppression>>;
  /** @throws Problem `not_found` */
  remove(tx: Transaction, id: string, origin: Origin): Promise<void>;
}

const columns = sql`id, reason, created_at`;
const source: ListSource = { columns, from: sql`suppressions` };

export const suppressionFilterFields: FilterFields = {
  id: { kind: 'id' },
  reason: { kind: 'enum', values: ['hard_bounce', 'complaint', 'soft_bounces', 'manual'] },
  created_at: { kind: 'time' },
};

interface Found extends Suppression {
  readonly address_digest: Buffer;
}

const selectFound = statement<{ digests: readonly Buffer[] }, Found>(
  'suppression_find',
  (p) => sql`select ${columns}, address_digest from suppressions where address_digest = any (${p.digests}::bytea[])`,
);

interface NewRows {
  readonly ids: readonly string[];
  readonly digests: readonly Buffer[];
  readonly keyId: string;
  readonly reason: SuppressionReason;
}

/** Rows are inserted in the order of their digests, so that parallel requests do not lock each other out. */
const insertRows = statement<NewRows, Found>(
  'suppression_insert',
  (p) => sql`
  insert into suppressions (id, address_digest, key_id, reason, created_at)
  select id, digest, ${p.keyId}, ${p.reason}, db_now()
  from unnest(${p.ids}::uuid[], ${p.digests}::bytea[]) as added (id, digest) order by digest
  on conflict (address_digest) do nothing
  returning ${columns}, address_digest`,
);

/** Only the owner of the address or an operator names it, so its digest is computed again when it is named. */
const renewDigest = statement<{ id: string; digest: Buffer; keyId: string }>(
  'suppression_renew_digest',
  (p) => sql`
  update suppressions set address_digest = ${p.digest}, key_id = ${p.keyId}
  where id = ${p.id} and not exists (select from suppressions other where other.address_digest = ${p.digest})`,
);

const selectAddress = statement<{ userId: string }, { email: string }>(
  'suppression_user_address',
  (p) => sql`select email from users where id = ${p.userId} and email is not null`,
);

const deleteOne = statement<{ id: string }, Suppression>(
  'suppression_delete',
  (p) => sql`delete from suppressions where id = ${p.id} returning ${columns}`,
);

/** What webhooks learn about changed suppressions. */
export interface SuppressionEvents {
  readonly type: 'suppression.created' | 'suppression.deleted';
  readonly actor: string;
  readonly userId?: string | undefined;
  readonly data: readonly { readonly suppression_id: string; readonly reason: SuppressionReason }[];
}

/** @param options.announce records events for webhooks, in the transaction of the change */
export function createSuppressions({
  database,
  keys,
  announce,
}: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly announce: (tx: Transaction, events: SuppressionEvents) => Promise<void>;
}): Suppressions {
  const keyId = keys.ids[0] ?? '';
  const digestsOf = (address: string) => keys.digests('address', address);

  async function find(handle: Queryable, address: string): Promise<Suppression | undefined> {
    const digests = digestsOf(address);
    const [current] = digests;
    const [found] = await handle.query(selectFound({ digests }));
    if (found === undefined || current === undefined) return undefined;
    const { address_digest: digest, ...suppression } = found;
    if (!digest.equals(current)) await handle.query(renewDigest({ id: found.id, digest: current, keyId }));
    return suppression;
  }

  async function record(tx: Transaction, rows: readonly Suppression[], { origin, userId }: SuppressionCause) {
    const type = 'suppression.created';
    const each = rows.map(({ id, reason }) => ({ suppression_id: id, reason }));
    for (const data of each) {
      const event = { type, origin, data } as const;
      await (userId === undefined ? recordServiceEvent(tx, event) : recordEvent(tx, { ...event, userId }));
    }
    if (each.length > 0) await announce(tx, { type, actor: origin.actor, userId, data: each });
  }

  return {
    find,
    async among(handle, addresses) {
      if (addresses.length === 0) return new Set();
      const byDigest = new Map(
        addresses.flatMap((address) => digestsOf(address).map((digest) => [digest.toString('hex'), address] as const)),
      );
      const rows = await handle.query(selectFound({ digests: addresses.flatMap(digestsOf) }));
      return new Set(rows.flatMap((row) => byDigest.get(row.address_digest.toString('hex')) ?? []));
    },
    has: async (handle, address) => (await find(handle, address)) !== undefined,
    async add(tx, addresses, cause) {
      const unique = [...new Set(addresses)];
      const known = new Map<string, Suppression>();
      const foundRows = await tx.query(selectFound({ digests: unique.flatMap(digestsOf) }));
      const byDigest = new Map(foundRows.map((row) => [row.address_digest.toString('hex'), row]));
      for (const address of unique) {
        const row = digestsOf(address)
          .map((digest) => byDigest.get(digest.toString('hex')))
          .find((found) => found !== undefined);
        if (row !== undefined) known.set(address, withoutDigest(row));
      }
      const added = unique.filter((address) => !known.has(address));
      if (added.length > 0) {
        const digests = added.map((address) => keys.digest('address', address));
        const { reason } = cause;
        const inserted = await tx.query(insertRows({ ids: added.map(() => newId()), digests, keyId, reason }));
        await record(tx, inserted, cause);
        // A parallel request may have inserted the others.
        const all = inserted.length === added.length ? inserted : await tx.query(selectFound({ digests }));
        for (const row of all) {
          const address = added[digests.findIndex((digest) => digest.equals(row.address_digest))];
          if (address !== undefined) known.set(address, withoutDigest(row));
        }
      }
      return addresses.flatMap((address) => known.get(address) ?? []);
    },
    async *exportOf(userId) {
      const handle = database.user(userId);
      const [user] = await handle.query(selectAddress({ userId }));
      const found = user === undefined ? undefined : await find(handle, user.email);
      if (found !== undefined) yield [found];
    },
    list: (request) => readPage<Suppression>(database, source, request),
    async remove(tx, id, origin) {
      const [removed] = await tx.query(deleteOne({ id }));
      if (removed === undefined) throw new Problem('not_found');
      const data = { suppression_id: id, reason: removed.reason };
      await recordServiceEvent(tx, { type: 'suppression.deleted', origin, data });
      await announce(tx, { type: 'suppression.deleted', actor: origin.actor, data: [data] });
    },
  };
}

const withoutDigest = ({ id, reason, created_at }: Found): Suppression => ({ id, reason, created_at });
