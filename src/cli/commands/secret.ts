import type { Command } from 'commander';
import { readConfig } from '../../config/config.js';
import { addKeyToFile, removeOldKeysFromFile } from '../../keys/key-file.js';
import { countOldKeyUses, type OldKeyUse } from '../../keys/old-keys.js';
import { needSecretKeys } from '../../keys/secret-key-file.js';
import { acceptNewKey } from '../../keys/start-keys.js';
import { describeCounts } from '../../keys/unreadable.js';
import { createSecretKeys } from '../../lib/crypto/secret-keys.js';
import { withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern secret` with its subcommands. */
export function secretCommand(program: Command, io: Io): void {
  const secret = program.command('secret').description('replace the secret key');
  secret
    .command('rotate')
    .description('put a new key before the old one in DATA_DIR; then restart Postern')
    .action(() => rotate(io));
  secret
    .command('status')
    .description('show the ids of the keys, and the values that still need an old one')
    .action(() => status(io));
  secret
    .command('remove-old')
    .description('remove the old keys from DATA_DIR, if no value needs them')
    .action(() => removeOld(io));
  secret
    .command('accept-new')
    .description('let Postern start with a new key if the old one is lost, and give up the values that need it')
    .action(() => acceptNew(io));
}

async function rotate(io: Io): Promise<void> {
  const [current, ...old] = await addKeyToFile(readConfig(io.env));
  printLine(
    io.stdout,
    `The new key has the id ${current}. The old key ${old.join(', ')} still decrypts stored values.`,
  );
  printLine(io.stdout, 'Restart Postern now. It then encrypts the stored secrets with the new key, in the background.');
  printLine(io.stdout, '`postern secret status` says when you can remove the old key.');
}

async function status(io: Io): Promise<void> {
  const { ids, uses } = await readUses(io);
  const [current, ...old] = ids;
  printLine(io.stdout, `current  ${current}`);
  for (const id of old) printLine(io.stdout, `old      ${id}`);
  if (old.length === 0) return;
  printLine(
    io.stdout,
    uses.length > 0 ? describeUses(uses) : 'No value needs an old key: `postern secret remove-old` removes it.',
  );
}

async function removeOld(io: Io): Promise<void> {
  const { ids, uses } = await readUses(io);
  if (uses.length > 0) throw new CommandError(describeUses(uses));
  const removedIds = await removeOldKeysFromFile(readConfig(io.env), ids);
  printLine(
    io.stdout,
    removedIds.length === 0 ? 'There is no old key.' : `Removed ${removedIds.join(', ')}. Restart Postern.`,
  );
}

async function acceptNew(io: Io): Promise<void> {
  const { id, unreadable } = await withDatabase(io, acceptNewKey);
  printLine(io.stdout, `Postern now starts with the key ${id}.`);
  printLine(
    io.stdout,
    unreadable.length === 0
      ? 'It decrypts all stored values.'
      : `These values need a lost key and never work again: ${describeCounts(unreadable)}.`,
  );
}

function readUses(io: Io): Promise<{ readonly ids: readonly string[]; readonly uses: readonly OldKeyUse[] }> {
  return withDatabase(io, async (database, config) => {
    const keys = createSecretKeys(await needSecretKeys(config));
    return { ids: keys.ids, uses: keys.ids.length === 1 ? [] : await countOldKeyUses(database, keys) };
  });
}

const describeUses = (uses: readonly OldKeyUse[]) =>
  `An old key is still needed by ${uses.map(({ kind, count }) => `${count} ${kind}`).join(', ')}.`;
