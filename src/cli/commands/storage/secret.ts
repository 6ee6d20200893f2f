import type { Command } from 'commander';
import { readConfig } from '../../../config/config.js';
import { addKeyToFile, removeOldKeysFromFile } from '../../../database/secrets/key-file.js';
import { countOldKeyUses, type OldKeyUse } from '../../../database/secrets/old-keys.js';
import { needSecretKeys } from '../../../database/secrets/secret-key-file.js';
import { createSecretKeys } from '../../../lib/crypto/secret-keys.js';
import { withDatabase } from '../../support/dependencies.js';
import { CommandError } from '../../support/failure.js';
import { type Io, printLine } from '../../support/io.js';

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

function readUses(io: Io): Promise<{ readonly ids: readonly string[]; readonly uses: readonly OldKeyUse[] }> {
  return withDatabase(io, async (database, config) => {
    const keys = createSecretKeys(await needSecretKeys(config));
    return { ids: keys.ids, uses: keys.ids.length === 1 ? [] : await countOldKeyUses(database, keys) };
  });
}

const describeUses = (uses: readonly OldKeyUse[]) =>
  `An old key is still needed by ${uses.map(({ kind, count }) => `${count} ${kind}`).join(', ')}.`;
