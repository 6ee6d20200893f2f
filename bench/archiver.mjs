// Archives the write-ahead log in a separate process, for backup.mjs: `node bench/archiver.mjs <DATA_DIR> <folder>`. It
// answers each message, `start` and `stop`, when it has started or stopped.
import { join } from 'node:path';
import { createBackupFolder, startArchiver } from '../dist/tools.js';
import { openPostgres } from './service.mjs';

const [dataDir, folder] = process.argv.slice(2);
const secretKey = { id: '01234567', key: 'k'.repeat(40) };
const log = { info() {}, warn: console.error, error: console.error };
const postgres = await openPostgres(dataDir);
let archiver;

process.on('message', async (message) => {
  if (message === 'start') {
    const serverFolder = join(dataDir, 'postgres');
    const store = createBackupFolder(folder);
    archiver = startArchiver({ target: postgres.target, serverFolder, store, passphrase: undefined, secretKey, log });
  } else {
    await archiver.stop();
  }
  process.send(message);
});
process.on('disconnect', async () => {
  await archiver?.stop();
  await postgres.close();
});
process.send('ready');
