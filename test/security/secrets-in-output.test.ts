import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import type { Setting } from '../../src/config/parsers.js';
import { settings } from '../../src/config/settings.js';
import { type Environment, runCommand, temporaryFolder } from '../cli/command.js';

/** The text that no output may contain. It is where people put passwords and keys. */
const canary = 'hunter2canary';

/** Texts in which a part is a secret, also with mistakes for which a setting is refused. */
const urls = [
  `https://key:${canary}@host.example:99999/path`,
  `https://key:${canary}@host.example/path`,
  `https://${canary}@host.example`,
  `HTTPS://key:${canary}@host.example`,
  `postgres://key:${canary}@127.0.0.1:1,127.0.0.1:x/name`,
  `postgres://key:${canary}@[::1/name`,
  `smtp://key:${canary}@host.example:0?tls=perhaps`,
  `s3://key:${canary}@bucket/prefix`,
  `S3://key:${canary}@bucket/prefix`,
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** What a start and each command say about a configuration. */
function saidAbout(env: Environment): string {
  try {
    const { warnings, effective } = readConfig(env);
    return JSON.stringify([warnings, effective]);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Settings that hold no URL: the paths of folders, and names that an error repeats. */
const others = /_DIR$|^BACKUP_PROGRAMS$|^LOGIN_METHODS$/;

test.each(Object.entries<Setting<unknown>>(settings).filter(([name]) => !others.test(name)))(
  'no message about %s shows a secret in it',
  (name, { isSecret }) => {
    const secrets = [
      canary,
      canary.repeat(8),
      `whsec_${canary}`,
      `[{"client_secret":"${canary}"`,
      `a=${canary},${canary}`,
    ];
    const files = [`${name}_FILE`].filter(() => isSecret === true);
    for (const text of [...urls, ...(isSecret === true ? secrets : [])]) {
      for (const variable of [name, ...files]) {
        expect(saidAbout({ [variable]: text }), `${variable}=${text}`).not.toContain(canary);
      }
    }
  },
);

describe('a command', () => {
  const run = (line: readonly string[], env: Environment = {}) =>
    runCommand(line, {
      ...{ DATA_DIR: join(folder.path, 'data'), SECRET_KEY: 's'.repeat(40) },
      ...{ BACKUP_S3_ACCESS_KEY_ID: 'key', BACKUP_S3_SECRET_ACCESS_KEY: canary },
      DATABASE_URL: `postgres://key:${canary}@127.0.0.1:1/name?sslmode=disable`,
      ...env,
    });

  test('shows no password of the database when it cannot connect', async () => {
    for (const line of ['doctor', 'migrate', 'keys list', 'users list', 'backup create --to /x', 'upgrade --check']) {
      const { code, stdout, stderr } = await run(line.split(' '));
      expect([line, code]).toEqual([line, 1]);
      expect(stdout + stderr, line).not.toContain(canary);
    }
  });

  test.each(urls)(
    'refuses the place %s of a backup without showing it, and creates no folder of this name',
    async (url) => {
      await mkdir(join(folder.path, 'data'), { recursive: true });
      const before = await readdir('.');
      for (const line of [
        ['backup', 'verify', url],
        ['backup', 'restore', url, '--to', join(folder.path, 'never')],
      ]) {
        const { code, stdout, stderr } = await run(line);
        expect(code).toBe(1);
        expect(stdout + stderr, line.join(' ')).not.toContain(canary);
      }
      expect(await readdir('.')).toEqual(before);
    },
  );
});
