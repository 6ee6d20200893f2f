import type { Command } from 'commander';
import { copyImagesToBucket } from '../../app/image-copy.js';
import { readConfig } from '../../config/config.js';
import { withDatabase } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern images` with its subcommand. */
export function imagesCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('images')
    .description('move uploaded images')
    .command('copy')
    .description('copy the images of the disk to the bucket of IMAGE_STORAGE and compare them; repeat it to continue')
    .option('--delete', 'remove the images from the disk that are in the bucket')
    .addHelpText('after', '\nExample:\n  IMAGE_STORAGE=s3://bucket/prefix postern images copy')
    .action((options: { delete?: true }) => copyImages(io, options.delete === true, exitWith));
}

async function copyImages(io: Io, deletesFromDisk: boolean, exitWith: (code: number) => void): Promise<void> {
  if (readConfig(io.env).IMAGE_STORAGE === undefined) throw new CommandError('IMAGE_STORAGE is not set.');
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.on(signal, stop);
  try {
    const { copied, present, missing } = await withDatabase(io, (database, config) =>
      copyImagesToBucket(database, config, {
        deletesFromDisk,
        signal: stopping.signal,
        onProgress: (counts) => {
          if (io.isTerminal) printLine(io.stderr, `${counts.copied + counts.present} images are in the bucket.`);
        },
      }),
    );
    printLine(
      io.stdout,
      `Copied ${copied}, already in the bucket ${present}, missing on the disk and in the bucket ${missing}.`,
    );
    if (stopping.signal.aborted) {
      printLine(io.stderr, 'Stopped. Run the command again to continue.');
      exitWith(1);
    } else if (missing > 0) exitWith(1);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.off(signal, stop);
  }
}
