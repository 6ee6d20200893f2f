import type { Command } from 'commander';
import { needSecretKeys } from '../../keys/secret-key-file.js';
import { createSecretKeys } from '../../lib/crypto/secret-keys.js';
import { type RotationMode, rotateSigningKeys } from '../../sessions/access-tokens/signing-keys.js';
import { cliOrigin, withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

interface RotateOptions {
  readonly now?: true;
  readonly revoke?: true;
}

/** Registers `postern signing-keys` with its subcommand. */
export function signingKeysCommand(program: Command, io: Io): void {
  program
    .command('signing-keys')
    .description('replace the keys that sign access tokens')
    .command('rotate')
    .description('let the next key of each algorithm sign, once it was published for 24 hours')
    .option(
      '--now',
      'let it sign at once: services that keep the public keys may refuse tokens until they read them again',
    )
    .option(
      '--revoke',
      'also withdraw the current key at once: services refuse its tokens when they read the keys again',
    )
    .action((options: RotateOptions) => rotate(io, options));
}

async function rotate(io: Io, { now, revoke }: RotateOptions): Promise<void> {
  if (now === true && revoke === true) throw new CommandError('--revoke implies --now: give one of them');
  const mode: RotationMode = revoke === true ? 'revoke' : now === true ? 'now' : 'planned';
  const rotated = await withDatabase(io, async (database, config) => {
    const keys = createSecretKeys(await needSecretKeys(config));
    return database.transaction((tx) => rotateSigningKeys(tx, keys, mode, cliOrigin));
  });
  if (rotated.length === 0) return printLine(io.stdout, 'There are no keys yet: the first audience creates them.');
  for (const { alg, kid, signs_since: since } of rotated) {
    printLine(io.stdout, `${alg}: the key ${kid} signs from ${since} on.`);
  }
}
