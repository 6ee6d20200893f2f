import { randomInt } from 'node:crypto';
import { relative } from 'node:path';
import type { OfferedSetUpLink } from '../sessions/setup-links.js';

/** The values in the text of a start. */
export interface BannerOptions {
  /** The URL on which the service listens. */
  readonly url: string;
  /** The URL of the server that has the console and the admin API. */
  readonly administrationUrl: string;
  readonly firstKey: FirstKey;
  /** Whether `/docs` is served. */
  readonly apiDocs: boolean;
  /** Undefined: there is no console. */
  readonly consoleUrl: string | undefined;
  /** Undefined if an operator exists. */
  readonly setUpLink: OfferedSetUpLink | undefined;
}

/**
 * The text that `postern serve` prints when it is ready: the addresses, the link for the first operator and the first API key
 * or their files, and three commands that work in this order in one shell. If the key is no longer known, they use the
 * variable `KEY`.
 */
export function banner({ url, administrationUrl, firstKey, apiDocs, consoleUrl, setUpLink }: BannerOptions): string {
  const name = `ada${randomInt(1000, 10_000)}`;
  const jsonHeader = "-H 'Content-Type: application/json'";
  const newUser = JSON.stringify({ username: name, password: 'a battery of horses' });
  const login = JSON.stringify({
    identity: { type: 'username', value: name },
    authenticator: 'password',
    secret: 'a battery of horses',
    device: { make: 'Acme', model: 'curl' },
  });
  return [
    '',
    `Postern is ready at ${url}${apiDocs ? ` (API: ${url}/docs)` : ''}`,
    ...describeConsole(consoleUrl, setUpLink),
    ...describeKey(firstKey),
    '',
    'Try in another shell: create a user, log in, get a session.',
    '',
    `curl -s ${administrationUrl}/admin/v1/users -H "Authorization: Bearer ${keyInShell(firstKey)}" ${jsonHeader} -d '${newUser}'; echo`,
    '',
    `TOKEN=$(curl -s ${url}/v1/tokens ${jsonHeader} -d '${login}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/'); echo "$TOKEN"`,
    '',
    `curl -s -X POST ${url}/v1/sessions -u "$TOKEN:"; echo`,
    '',
  ].join('\n');
}

function describeConsole(url: string | undefined, link: OfferedSetUpLink | undefined): string[] {
  if (url === undefined) return [];
  if (link === undefined) return [`The console is at ${url}`];
  if ('file' in link) return [`The link that creates the first operator, within 30 minutes, is in ${link.file}`];
  return ['Create the first operator within 30 minutes. Open in a browser:', link.url, ''];
}

type FirstKey = { readonly token?: string; readonly file?: string };

function describeKey({ token, file }: FirstKey): string[] {
  if (token !== undefined) return [`The first admin key, shown only now: ${token}`];
  if (file !== undefined) return [`The first admin key is in ${file}`];
  return [
    'KEY is an admin key: ADMIN_API_KEY, the key that the first start printed, or a new one, created with:',
    'npm run postern -- keys create --name mine --scopes admin',
  ];
}

/** The key, or the shell expression that reads it, for the commands. */
function keyInShell({ token, file }: FirstKey): string {
  if (token !== undefined) return token;
  return file === undefined ? '$KEY' : `$(cat ${shellPath(file)})`;
}

function shellPath(file: string): string {
  const relativePath = relative(process.cwd(), file);
  const path = relativePath.startsWith('..') ? file : relativePath;
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
