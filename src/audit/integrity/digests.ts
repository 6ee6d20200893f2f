import { createHash } from 'node:crypto';
import { type Sql, sql } from '../../database/sql.js';

/** An event in a hash chain. */
export interface Leaf {
  readonly id: string;
  /** The digest of the whole event, in hex. */
  readonly digest: string;
  /** The digest of the event as it is after its user was deleted, in hex. */
  readonly erasedDigest: string;
}

/** Bytes of an id and of a digest. 16 bytes of SHA-256 are enough: a forger needs a second event with the same digest. */
const digestSize = 16;
const leafSize = 3 * digestSize;

/** SQL: the data that an event still has after its user was deleted (`eraseUser`). */
const erasedData = sql`case type when 'user.locked' then data - 'changes' - 'reason' else data - 'changes' end`;

/** SQL: the first bytes of the digest of an event. In a JSON array, null and an empty text are different. */
const digest = (data: Sql): Sql => sql`
  substr(sha256(convert_to(jsonb_build_array(user_id, id, type, actor, address, request_id,
    (extract(epoch from created_at) * 1000000)::bigint, ${data})::text, 'UTF8')), 1, 16)`;

/** SQL: the leaf of a row of `events`, as `bytea`. */
export const leafOfEvent: Sql = sql`(uuid_send(id) || ${digest(sql`data`)} || ${digest(erasedData)})`;

/**
 * Parses the leaves of a part of a day (the events of one hash of the chain).
 * @throws RangeError if the last leaf is incomplete
 */
export function readLeaves(bytes: Buffer): Leaf[] {
  if (bytes.length % leafSize !== 0) throw new RangeError('the leaves of a part are incomplete');
  return Array.from({ length: bytes.length / leafSize }, (_, index) => {
    const [id = '', digest = '', erasedDigest = ''] = [0, 1, 2].map((field) => {
      const from = index * leafSize + field * digestSize;
      return bytes.toString('hex', from, from + digestSize);
    });
    return { id: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), digest, erasedDigest };
  });
}

/** The next hash of a chain. @param previous the last hash; empty at the start of the first day */
export function chainHash(previous: Buffer, leaves: Buffer): Buffer {
  return createHash('sha256').update(previous).update(leaves).digest();
}
