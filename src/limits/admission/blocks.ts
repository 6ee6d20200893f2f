import { recordServiceEvent } from '../../audit/events.js';
import type { Block, NewBlock } from '../../contract/block.js';
import type { Handle, Queryable, Transaction } from '../../database/database.js';
import { type ListRequest, type Page, readPage } from '../../database/listing.js';
import { sql, statement } from '../../database/sql.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import { errorCodeOfUnreadableTime, parseTime } from '../../lib/times.js';
import type { BlockList } from './block-list.js';
import { createNetworkTable, type Network, parseNetwork } from './networks.js';

/** The origin of a new block. */
export interface BlockOrigin extends Origin {
  /** The address of a backend that has sent the request for a client. A block of it would shut the backend out. */
  readonly callerAddress?: string | undefined;
}

/** The blocks of addresses, as operators see and change them. */
export interface Blocks {
  /**
   * Blocks an address or a range. A block of the same range is replaced.
   * @throws Problem `validation_failed`, also if the range contains an address of the caller and `allow_own` is not true
   */
  create(tx: Transaction, input: NewBlock, origin: BlockOrigin): Promise<Block>;
  list(request: ListRequest): Promise<Page<Block>>;
  /** @throws Problem `not_found` */
  remove(tx: Transaction, id: string, origin: Origin): Promise<void>;
  /** Waits until this process has read the changes. If that fails, the process reads them later. */
  refresh(): Promise<void>;
}

const shownAddress = sql`case when masklen(network) = case family(network) when 4 then 32 else 128 end
  then host(network) else network::text end`;
const columns = sql`id, ${shownAddress} as address, reason, ends_at, created_by, created_at`;

export const blockFilterFields: FilterFields = {
  id: { kind: 'id' },
  address: { kind: 'string', like: true },
  reason: { kind: 'string', like: true },
  ends_at: { kind: 'time' },
  created_at: { kind: 'time' },
};

interface BlockValues {
  readonly id: string;
  readonly network: string;
  readonly reason: string | null;
  readonly endsAt: string | null;
  readonly createdBy: string;
}

const upsertBlock = statement<BlockValues, Block>(
  'block_upsert',
  (p) => sql`
  insert into address_blocks (id, network, reason, ends_at, created_by, created_at)
  select ${p.id}, ${p.network}::cidr, ${p.reason}, ${p.endsAt}::timestamptz, ${p.createdBy}, now
  from (select db_now() as now) clock
  where ${p.endsAt}::timestamptz is null or ${p.endsAt}::timestamptz > now
  on conflict (network) do update set reason = excluded.reason, ends_at = excluded.ends_at,
    created_by = excluded.created_by, created_at = excluded.created_at
  returning ${columns}`,
);

const deleteBlock = statement<{ id: string }, Block>(
  'block_delete',
  (p) => sql`delete from address_blocks where id = ${p.id} returning ${columns}`,
);

/** @param list the list of this process, if there is one. `refresh` makes it read changes at once. */
export function createBlocks(database: Handle, list?: Pick<BlockList, 'refresh'>): Blocks {
  return {
    async create(tx, input, origin) {
      const { network, endsAt } = readBlock(input, origin);
      const values = {
        id: newId(),
        network: network.text,
        reason: input.reason ?? null,
        endsAt,
        createdBy: origin.actor,
      };
      const [block] = await tx.query(upsertBlock(values));
      if (block === undefined)
        throw new Problem('validation_failed', { errors: [{ field: 'ends_at', code: 'time_in_past' }] });
      await recordServiceEvent(tx, { type: 'block.created', origin, data: dataOf(block) });
      return block;
    },
    list: (request) =>
      readPage<Block>(
        database,
        {
          columns,
          from: sql`address_blocks`,
          filterExpressions: { address: shownAddress },
        },
        request,
      ),
    async remove(tx, id, origin) {
      const [block] = await tx.query(deleteBlock({ id }));
      if (block === undefined) throw new Problem('not_found');
      await recordServiceEvent(tx, { type: 'block.deleted', origin, data: dataOf(block) });
    },
    refresh: async () => list?.refresh().catch(() => undefined),
  };
}

/** A block that applies now. */
export interface CurrentBlock {
  readonly id: string;
  readonly network: string;
  readonly reason: string | null;
  /** Null: until an operator ends it. */
  readonly ends_at: string | null;
  readonly created_at: string;
}

const selectCurrent = statement<Record<never, never>, CurrentBlock>(
  'blocks_current',
  () => sql`
  select id, network::text, reason, ends_at, created_at from address_blocks
  where ends_at is null or ends_at > db_now() order by ends_at desc nulls first, id`,
);

/** The block that refuses the requests of an address now. If there are several, the one that ends last. */
export async function findBlock(handle: Queryable, address: string): Promise<CurrentBlock | undefined> {
  const blocks = await handle.query(selectCurrent({}));
  const entries = blocks.flatMap((block) => {
    const network = parseNetwork(block.network);
    return network === undefined ? [] : [[network, block] as const];
  });
  const found = new Set(createNetworkTable(entries).find(address));
  return blocks.find((block) => found.has(block));
}

const dataOf = ({ id, address, reason, ends_at }: Block) => ({ block_id: id, address, reason, ends_at });

/** @throws Problem `validation_failed` with all errors */
function readBlock(
  input: NewBlock,
  origin: BlockOrigin,
): { readonly network: Network; readonly endsAt: string | null } {
  const errors: FieldError[] = [];
  const network = parseNetwork(input.address.trim());
  const endsAt = input.ends_at == null ? null : parseTime(input.ends_at);
  if (network === undefined) errors.push({ field: 'address', code: 'invalid_network' });
  else if (input.allow_own !== true && isOwn(network, origin)) errors.push({ field: 'address', code: 'own_address' });
  if (endsAt === undefined) errors.push({ field: 'ends_at', code: errorCodeOfUnreadableTime(input.ends_at ?? '') });
  throwIfErrors(errors);
  if (network === undefined || endsAt === undefined) throw new Error('unreachable: the errors were thrown above');
  return { network, endsAt };
}

/** Whether the caller would be blocked too. */
function isOwn(network: Network, { clientAddress, callerAddress }: BlockOrigin): boolean {
  const table = createNetworkTable([[network, true]]);
  return [clientAddress, callerAddress].some((own) => own !== undefined && table.find(own).length > 0);
}
