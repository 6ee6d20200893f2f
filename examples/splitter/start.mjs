// `npm run splitter`: builds, and starts a Postern and Splitter.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { PATH, HOME, OIDC_PROVIDERS, POSTERN_PORT = '3001', SPLITTER_PORT = '3000' } = process.env;
const {
  ALLOW_PRIVATE_NETWORK_TARGETS,
  SPLITTER_DATA = `${root}data/splitter`,
  SPLITTER_MAIL_AFTER = '1h',
} = process.env;
const build = (script, cwd) =>
  execFileSync(process.execPath, [`${root}scripts/${script}.mjs`], { cwd, stdio: 'inherit' });
build('build', root);
for (const name of ['server', 'elements']) build('build-package', `${root}packages/${name}`);
// An app of your own gets the packages from npm. This one uses those of this repository.
mkdirSync(`${root}node_modules/@postern`, { recursive: true });
for (const name of ['client', 'elements', 'server']) {
  const link = `${root}node_modules/@postern/${name}`;
  if (!existsSync(link)) symlinkSync(`../../packages/${name}`, link);
}

mkdirSync(SPLITTER_DATA, { recursive: true });
const apiKey = `admin-${randomBytes(24).toString('hex')}`;
const env = {
  ...{ PATH, HOME, PORT: POSTERN_PORT, DATA_DIR: SPLITTER_DATA, ADMIN_API_KEY: apiKey, TRUST_PROXY: '127.0.0.1' },
  ...{ APP_NAME: 'Splitter', APP_COLOR: '#0f766e', REGISTRATION: 'on', PIN_POLICY: 'off' },
  ...{ CONSOLE: 'off', LOG_LEVEL: 'warn', SMS_LIMIT_TOTAL: '100', SMS_LIMIT_PER_PREFIX: '100' },
  // Mails have a link to unsubscribe, and a provider sends the browser back to Postern.
  PUBLIC_URL: `http://127.0.0.1:${POSTERN_PORT}`,
  REDIRECT_URIS: `http://localhost:${SPLITTER_PORT}/`,
  // A provider may be on this machine.
  ...{ OIDC_PROVIDERS, ALLOW_PRIVATE_NETWORK_TARGETS },
};
const program = [`${root}dist/cli/bin.js`, 'serve'];
const postern = spawn(process.execPath, program, { env, cwd: SPLITTER_DATA, stdio: ['ignore', 'pipe', 'inherit'] });
postern.on('exit', (code) => process.exit(code ?? 1));
process.on('exit', () => postern.kill());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => postern.kill(signal));

const { startSplitter } = await import('./server.js');
for await (const line of createInterface({ input: postern.stdout })) {
  const [, url] = /^Postern is ready at (\S+)/.exec(line) ?? [];
  if (url) {
    const options = { url, apiKey, port: Number(SPLITTER_PORT), mailAfter: SPLITTER_MAIL_AFTER };
    console.log(`Splitter is ready at ${await startSplitter(options)}`);
  }
  // What Postern would send.
  else if (/^(SMS|Mail) to /.test(line)) console.log(line);
}
