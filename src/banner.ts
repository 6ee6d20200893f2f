import { randomInt } from 'node:crypto';
import { relative } from 'node:path';

/**
 * What `postern serve` prints when it is ready: the address, the first API key or where it is, and three commands that
 * work as printed, one after the other, in one shell; with a key that is not known here any more, once `KEY` is set there.
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
    'Try, in another shell: make a user, log in, get a session.',
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
  if (token !== undefined) return [`The first admin key, shown this once: ${token}`];
  if (file !== undefined) return [`The first admin key is in ${file}`];
  return [
    'KEY is an admin key: ADMIN_API_KEY, the one that the first start has shown, or a new one, made with:',
    'npm run postern -- keys create --name mine --scopes admin',
  ];
}

/** How the commands get the key. */
function keyInShell({ token, file }: FirstKey): string {
  if (token !== undefined) return token;
  return file === undefined ? '$KEY' : `$(cat ${shellPath(file)})`;
}

function shellPath(file: string): string {
  const near = relative(process.cwd(), file);
  const path = near.startsWith('..') ? file : near;
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
