import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { watchCopy } from '../../database/watched-copy.js';
import { createNetworkTable, type NetworkTable, parseNetwork } from './networks.js';

/** The blocked addresses, in the memory of this process. */
export interface BlockList {
  /** Whether no address is blocked. */
  isEmpty(): boolean;
  /** Whether an address is blocked now. */
  isBlocked(address: string): boolean;
  /**
   * Waits for a block of an address. Call this at the start of an answer that stays open.
   * @param onBlocked is called at most once; at once if the address is blocked already
   * @returns a function that ends the wait
   */
  whenBlocked(address: string, onBlocked: () => void): () => void;
  /** Reads changes now, after this process has made one. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

export interface BlockListOptions {
  readonly database: Queryable;
  /** Called when a read fails. The list then stays as it is. */
  readonly onError: (error: Error) => void;
  /** Milliseconds between two reads of the list. */
  readonly interval?: number;
  /** Milliseconds since any fixed moment. */
  readonly now?: () => number;
}

/** The maximum number of addresses whose result is cached until the list changes. */
const maxCachedAddresses = 20_000;

const findVersion = statement<object, { version: string }>(
  'block_list_version',
  () => sql`select version::text from address_blocks_version`,
);

/** The version and the blocks of one snapshot. */
const findBlocks = statement<object, { version: string; network: string | null; ends_in: number | null }>(
  'block_list',
  () => sql`
    select v.version::text, b.network::text, extract(epoch from b.ends_at - db_now())::float8 * 1000 as ends_in
    from address_blocks_version v left join address_blocks b on b.ends_at is null or b.ends_at > db_now()`,
);

/** Reads the list, and then looks for changes until it is stopped. */
export async function startBlockList(options: BlockListOptions): Promise<BlockList> {
  const { database, onError, interval, now = () => performance.now() } = options;
  let version = '';
  let blocks = 0;
  /** The blocked networks. The value of each is the time when its block ends, by `now`. */
  let table: NetworkTable<number> = createNetworkTable<number>([]);
  /** The time at which the last block of each address ends; 0 if it has no block. */
  let endByAddress = new Map<string, number>();
  /** The address of the client of each open answer, by the function that ends the answer. */
  const openAnswers = new Map<() => void, string>();

  function isBlocked(address: string): boolean {
    if (blocks === 0) return false;
    let endsAt = endByAddress.get(address);
    if (endsAt === undefined) {
      endsAt = Math.max(0, ...table.find(address));
      if (endByAddress.size >= maxCachedAddresses) endByAddress.clear();
      endByAddress.set(address, endsAt);
    }
    return endsAt !== 0 && endsAt > now();
  }

  async function read(): Promise<void> {
    const [current] = await database.query(findVersion({}));
    if (current?.version === version) return;
    const since = now();
    const rows = await database.query(findBlocks({}));
    const entries = rows.flatMap(({ network: text, ends_in: endsIn }) => {
      const network = text === null ? undefined : parseNetwork(text);
      return network === undefined
        ? []
        : [[network, endsIn === null ? Number.POSITIVE_INFINITY : since + endsIn] as const];
    });
    table = createNetworkTable(entries);
    blocks = entries.length;
    endByAddress = new Map();
    version = rows[0]?.version ?? '';
    for (const [endAnswer, address] of [...openAnswers]) if (isBlocked(address)) endAnswer();
  }
  const { refresh, stop } = await watchCopy(read, onError, interval);

  return {
    isEmpty: () => blocks === 0,
    isBlocked,
    whenBlocked(address, onBlocked) {
      const endAnswer = () => {
        if (openAnswers.delete(endAnswer)) onBlocked();
      };
      openAnswers.set(endAnswer, address);
      if (isBlocked(address)) endAnswer();
      return () => void openAnswers.delete(endAnswer);
    },
    refresh,
    stop,
  };
}
