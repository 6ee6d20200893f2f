import type { Command } from 'commander';
import type { Block } from '../../contract/block.js';
import type { Database } from '../../database/database.js';
import { nilId, parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { type Blocks, createBlocks } from '../../limits/admission/blocks.js';
import { parseNetwork } from '../../limits/admission/networks.js';
import { cliOrigin, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';
import { readAll } from '../support/read-all.js';

interface AddOptions {
  readonly reason?: string;
  readonly until?: string;
  readonly json?: true;
}

/** Registers `postern blocks` with its subcommands. */
export function blocksCommand(program: Command, io: Io): void {
  const blocks = program.command('blocks').description('refuse the requests of addresses');
  blocks
    .command('list')
    .description('list the blocked addresses')
    .option('--json', 'print the blocks as JSON')
    .action((options: { json?: true }) => listBlocks(io, options.json === true));
  blocks
    .command('add')
    .description('block an address: all instances refuse its requests within two seconds')
    .argument('<address>', 'an IP address, or a range such as 203.0.113.0/24')
    .option('--reason <text>', 'why, for other operators')
    .option('--until <time>', 'when the block ends, such as 2030-01-01T00:00:00Z (default never)')
    .option('--json', 'print the block as JSON')
    .action((address: string, options: AddOptions) => addBlock(io, address, options));
  blocks
    .command('remove')
    .description('unblock an address')
    .argument('<block>', 'the id or the address that `blocks list` shows')
    .action((idOrAddress: string) => removeBlock(io, idOrAddress));
}

async function listBlocks(io: Io, json: boolean): Promise<void> {
  const blocks = await withDatabase(io, allBlocks);
  if (json) return printJson(io.stdout, blocks);
  if (blocks.length === 0) return printLine(io.stdout, 'No address is blocked.');
  const rows = blocks.map(({ id, address, ends_at, reason }) => [id, address, ends_at ?? 'never', reason ?? '']);
  printTable(io.stdout, [['ID', 'ADDRESS', 'ENDS', 'REASON'], ...rows]);
}

const allBlocks = (database: Database) => readAll<Block>(createBlocks(database).list);

async function addBlock(io: Io, address: string, { reason, until, json }: AddOptions): Promise<void> {
  const input = { address, ...(reason !== undefined && { reason }), ...(until !== undefined && { ends_at: until }) };
  const block = await withBlocks(io, (blocks, database) =>
    database.transaction((tx) => blocks.create(tx, input, cliOrigin)),
  );
  if (json === true) return printJson(io.stdout, block);
  printLine(io.stdout, `Blocked ${block.address}${block.ends_at === null ? '' : ` until ${block.ends_at}`}.`);
}

async function removeBlock(io: Io, idOrAddress: string): Promise<void> {
  await withBlocks(io, async (blocks, database) => {
    const network = parseNetwork(idOrAddress)?.text;
    const block =
      network === undefined
        ? undefined
        : (await allBlocks(database)).find(({ address }) => parseNetwork(address)?.text === network);
    const id = parseId(idOrAddress) ?? block?.id ?? nilId;
    try {
      await database.transaction((tx) => blocks.remove(tx, id, cliOrigin));
    } catch (error) {
      const isUnknown = error instanceof Problem && error.code === 'not_found';
      throw isUnknown ? new CommandError(`There is no block ${idOrAddress}.`) : error;
    }
  });
  printLine(io.stdout, `Unblocked ${idOrAddress}.`);
}

/** Opens the blocks while `work` runs. A running service notices a change by itself. */
async function withBlocks<T>(io: Io, work: (blocks: Blocks, database: Database) => Promise<T>): Promise<T> {
  return withDatabase(io, (database) => work(createBlocks(database), database));
}
