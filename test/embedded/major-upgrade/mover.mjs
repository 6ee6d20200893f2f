// Opens and closes the database of a DATA_DIR. Kills itself with SIGKILL at a given place: after a message of the log, or after
// a rename to a file whose name begins with a given text.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const [dataDir, killAt] = process.argv.slice(2);
/** @param {string} place */
const pass = (place) => {
  if (killAt !== '' && place.startsWith(String(killAt))) process.kill(process.pid, 'SIGKILL');
};
const { renameSync } = fs;
fs.renameSync = (from, to) => {
  renameSync(from, to);
  pass(`rename ${basename(String(to))};`);
};
syncBuiltinESMExports();

/** @param {object} _ @param {string} message */
const print = (_, message) => {
  console.log(message);
  pass(message);
};
const { openTarget } = await import('../../../dist/tools.js');
const { close } = await openTarget({ DATA_DIR: dataDir }, { info: print, warn: print, error: print });
await close();
