import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * The text that `postern serve` prints when it is ready: the address, the first API key or its file, and three commands that
 * work in this order in one shell. If the key is not known any more, they need the variable `KEY`.
 */
export function banner({ url, firstKey }: { readonly url: string; readonly firstKey: FirstKey }): string {
  const name = `ada${randomInt(1000, 10_000)}`;
  const json = "-H 'Content-Type: application/json'";
  const newUser = JSON.stringify({ username: name, password: 'a battery of horses' });
  const login = JSON.stringify({
    identity: { type: 'username', value: name },
    authenticator: 'password',
    secret: 'a battery of horses',
    device: { make: 'Acme', model: 'curl' },
  });
  return [
    '',
    `Postern is ready at ${url} (API: ${url}/docs)`,
    ...describeKey(firstKey),
    '',
    'Try in another shell: create a user, log in, get a session.',
    '',
    `curl -s ${url}/admin/v1/users -H "Authorization: Bearer ${keyInShell(firstKey)}" ${json} -d '${newUser}'; echo`,
    '',
    `TOKEN=$(curl -s ${url}/v1/tokens ${json} -d '${login}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/'); echo "$TOKEN"`,
    '',
    `curl -s -X POST ${url}/v1/sessions -u "$TOKEN:"; echo`,
    '',
  ].join('\n');
}

type FirstKey = { readonly token?: string; readonly file?: string };

function describeKey({ token, file }: FirstKey): string[] {
  if (token !== undefined) return [`The first admin key, shown only now: ${token}`];
  if (file !== undefined) return [`The first admin key is in ${file}`];
  return [
    'KEY is an admin key: ADMIN_API_KEY, the key that the first start has printed, or a new one, created with:',
    'npm run postern -- keys create --name mine --scopes admin',
  ];
}

/** The key in the commands. */
function keyInShell({ token, file }: FirstKey): string {
  if (token !== undefined) return token;
  return file === undefined ? '$KEY' : `$(cat ${shellPath(file)})`;
}

function shellPath(file: string): string {
  const near = relative(process.cwd(), file);
  const path = near.startsWith('..') ? file : near;
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this Postern. */
export const { version } = manifest;
