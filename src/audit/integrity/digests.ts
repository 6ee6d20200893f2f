import { createHash } from 'node:crypto';
import { type Sql, sql } from '../../database/sql.js';

/** An event in a hash chain. */
export interface Leaf {
  readonly id: string;
  /** The digest of the whole event, in hex. */
  readonly whole: string;
  /** The digest without the values that a deletion of the user erases, in hex. */
  readonly erased: string;
}

/** Bytes of an id and of a digest. 16 bytes of SHA-256 are enough: a forger needs a second event with a given digest. */
const size = 16;
const leafSize = 3 * size;

/** SQL: the data that stays when the user is deleted (`eraseUser`). */
const keptData = sql`case type when 'user.locked' then data - 'changes' - 'reason' else data - 'changes' end`;

/** SQL: the first bytes of the digest of an event. An array of JSON keeps null and an empty text apart. */
const digest = (data: Sql): Sql => sql`
  substr(sha256(convert_to(jsonb_build_array(user_id, id, type, actor, address, request_id,
    (extract(epoch from created_at) * 1000000)::bigint, ${data})::text, 'UTF8')), 1, 16)`;

/** SQL: the leaf of a row of `events`, as `bytea`. */
export const leafOfEvent: Sql = sql`(uuid_send(id) || ${digest(sql`data`)} || ${digest(keptData)})`;

/** Splits the leaves of a part. @throws RangeError if the bytes are no whole number of leaves */
export function readLeaves(bytes: Buffer): Leaf[] {
  if (bytes.length % leafSize !== 0) throw new RangeError('the leaves of a part are incomplete');
  return Array.from({ length: bytes.length / leafSize }, (_, index) => {
    const [id = '', whole = '', erased = ''] = [0, 1, 2].map((field) => {
      const from = index * leafSize + field * size;
      return bytes.toString('hex', from, from + size);
    });
    return { id: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), whole, erased };
  });
}

/** The next hash of a chain. @param before the hash before it; empty at the start of the first day */
export function chainHash(before: Buffer, leaves: Buffer): Buffer {
  return createHash('sha256').update(before).update(leaves).digest();
}
