import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyId, createSecretKeys, encryptedHeadBytes } from '../../../src/lib/crypto/secret-keys.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';
import { type Environment, runCommand, temporaryFolder } from '../command.js';

let test: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let env: Environment;
beforeAll(async () => {
  [test, folder] = await Promise.all([createTestDatabase(), temporaryFolder()]);
  const plain = { DATABASE_URL: test.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path, PORT: '0' };
  env = { ...plain, SMS_PROVIDER: 'none', MAIL_PROVIDER: 'none' };
  // The role of the tests has it off, which the doctor reports.
  await test.database.query(
    testSql(`alter role current_user in database ${test.target.database} set synchronous_commit = on`),
  );
});
afterAll(async () => {
  await test.drop();
  await folder.remove();
});

/** The exit code of the doctor, and its line about one check. */
const about = async (what: string, more: Environment = {}) => {
  const { code, stdout, stderr } = await runCommand(['doctor'], { ...env, ...more });
  expect(stderr).toBe('');
  return [code, stdout.split('\n').find((line) => line.slice(6).startsWith(`${what}:`))];
};

describe('doctor', () => {
  it('prints a line for each check, and exits with 0 if none fails', async () => {
    const { code, stdout } = await runCommand(['doctor'], env);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(':')[0])).toEqual([
      'ok    configuration',
      'ok    data directory',
      'ok    disk',
      'ok    database',
      'ok    settings of PostgreSQL',
      'ok    migrations',
      'ok    indexes',
      'ok    clock',
      'ok    encrypted values',
      'ok    backups',
      'ok    database role',
      'ok    sms',
      'ok    mail',
      'ok    templates',
      'ok    push',
      'ok    port',
      '',
    ]);
  });

  it('reports all errors of the configuration', async () => {
    const { code, stdout } = await runCommand(['doctor'], { PORT: 'x', DATABASE_URL: test.url });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL {2}configuration: PORT must be a whole number.+\nFAIL {2}configuration: SECRET_KEY is required.+\n$/,
    );
  });

  it('warns about a provider that fails, while it is configured', async () => {
    await test.database.query(
      testSql(
        `insert into message_providers values ('smtp', '2026-11-01T10:00:00Z', 'the server answered 535', now())`,
      ),
    );
    const mail = { MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:25?tls=none', MAIL_FROM: 'a@example.com' };
    expect(await about('mail', mail)).toEqual([
      0,
      'warn  mail: smtp has failed since 2026-11-01T10:00:00.000000Z: the server answered 535',
    ]);
    expect(await about('mail')).toEqual([0, 'ok    mail: off: no mail is sent']);
    await test.database.query(testSql('delete from message_providers'));
  });

  it('fails for a database that does not answer, and runs the other checks', async () => {
    const { code, stdout } = await runCommand(['doctor'], {
      ...env,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}database: The database cannot be reached/m);
    expect(stdout).toMatch(/^ok {4}port: /m);
  });

  it('reports pending migrations, and a newer database', async () => {
    const rename = (from: string, to: string) =>
      test.database.query(testSql('update schema_migrations set name = $2 where name = $1', [from, to]));
    const first = '0001_users_and_logins.sql';
    await test.database.query(testSql('alter table schema_migrations rename to elsewhere'));
    expect(await about('migrations')).toEqual([
      0,
      expect.stringMatching(/^warn {2}migrations: pending: 0001_users_and_logins\.sql/),
    ]);
    await test.database.query(testSql('alter table elsewhere rename to schema_migrations'));
    await rename(first, '9999_future.sql');
    expect(await about('migrations')).toEqual([
      1,
      expect.stringContaining('newer than this version, which does not know 9999_future.sql'),
    ]);
    await rename('9999_future.sql', first);
  });

  it('fails for a secret that other accounts can read, and warns of such a data directory', async () => {
    const file = join(folder.path, 'secret-key');
    await writeFile(file, 'x'.repeat(64), { mode: 0o600 });
    expect(await about('secret-key')).toEqual([0, 'ok    secret-key: only its owner can read it']);
    await chmod(file, 0o644);
    expect(await about('secret-key')).toEqual([1, `FAIL  secret-key: other accounts can read ${file}: chmod 600 it`]);
    await chmod(file, 0o600);
    await chmod(folder.path, 0o755);
    expect(await about('data directory')).toEqual([0, expect.stringMatching(/^warn .* other accounts can read/)]);
    await chmod(folder.path, 0o700);
  });

  it('warns of the development provider, and fails for a webhook with an unknown host', async () => {
    expect(await about('sms', { SMS_PROVIDER: 'console' })).toEqual([
      0,
      expect.stringMatching(/^warn {2}sms: codes are printed/),
    ]);
    const webhook = { SMS_PROVIDER: 'webhook', SMS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}` };
    const checkHost = (host: string) => about('sms', { ...webhook, SMS_WEBHOOK_URL: `https://${host}/sms` });
    expect(await checkHost('[::1]')).toEqual([0, 'ok    sms: the host [::1] of the webhook resolves']);
    expect(await checkHost('nobody.invalid')).toEqual([
      1,
      'FAIL  sms: the host nobody.invalid of the webhook cannot be resolved',
    ]);
  });

  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const vendors = {
    twilio: { TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`, TWILIO_AUTH_TOKEN: 'x'.repeat(32), SMS_SENDER: 'Example' },
    vonage: {
      ...{ VONAGE_APPLICATION_ID: randomUUID(), SMS_SENDER: 'Example' },
      VONAGE_PRIVATE_KEY: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
    sns: { SNS_REGION: 'eu-west-1', SNS_ACCESS_KEY_ID: 'A'.repeat(20), SNS_SECRET_ACCESS_KEY: 'x'.repeat(40) },
  };
  it.each([
    ['twilio', 'TWILIO_ACCOUNT_SID', 'AC1', 'must be AC and 32 hexadecimal digits'],
    ['vonage', 'VONAGE_PRIVATE_KEY', 'no key', 'must be a key in PEM, or the path of a readable file'],
    ['sns', 'SNS_REGION', 'Europe', 'must be a region such as eu-west-1'],
  ] as const)('names what is missing or wrong in the settings of %s', async (provider, setting, wrong, reason) => {
    const settings: Environment = vendors[provider];
    const host = { [`${provider.toUpperCase()}_URL`]: 'https://[::1]' };
    const given = { SMS_PROVIDER: provider, ...settings, ...host };
    expect(await about('sms', given)).toEqual([0, `ok    sms: the host [::1] of ${provider} resolves`]);
    const unknown = { ...given, [`${provider.toUpperCase()}_URL`]: 'https://nobody.invalid' };
    expect(await about('sms', unknown)).toEqual([
      1,
      `FAIL  sms: the host nobody.invalid of ${provider} cannot be resolved`,
    ]);
    expect(await about('configuration', { ...given, [setting]: wrong })).toEqual([
      1,
      `FAIL  configuration: ${setting} ${reason}`,
    ]);
    for (const name of Object.keys(settings)) {
      const missing = { ...env, ...given, [name]: '' };
      const { code, stdout } = await runCommand(['doctor'], missing);
      expect([code, stdout]).toEqual([1, `FAIL  configuration: ${name} is required with SMS_PROVIDER=${provider}\n`]);
    }
  });

  it('names webhooks that fail or that Postern has disabled, but not those that an operator has disabled', async () => {
    const sealed = (id: string) => createSecretKeys(['s'.repeat(32)]).encrypt('a secret', `webhook:${id}`);
    const endpoint = (id: string, path: string, disabled: string | null) =>
      test.database.query(
        testSql(
          `insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, secret, enabled,
                                          disabled_reason, created_at, updated_at)
           values ($1, $2, '', '{*}', '', 'thin', false, $3, $4, $5, db_now(), db_now())`,
          [id, `https://example.com:1${path}`, sealed(id), disabled === null, disabled],
        ),
      );
    const failing = randomUUID();
    await endpoint(failing, '111/secret', null);
    const line = () => about('webhooks');
    expect(await line()).toEqual([0, 'ok    webhooks: 1 without failures']);
    await test.database.query(
      testSql(`insert into webhook_health (endpoint_id, failing_since) values ($1, '2026-11-01')`, [failing]),
    );
    expect(await line()).toEqual([
      0,
      'warn  webhooks: the one at example.com:1111 fails since 2026-11-01T00:00:00.000000Z',
    ]);
    await endpoint(randomUUID(), '222', 'failing');
    await endpoint(randomUUID(), '333', 'operator');
    const { stdout } = await runCommand(['doctor'], env);
    expect(stdout.match(/webhooks: .+/g)).toEqual([
      'webhooks: the one at example.com:1111 fails since 2026-11-01T00:00:00.000000Z',
      'webhooks: the one at example.com:1222 is disabled: failing',
    ]);
    await test.database.query(testSql('delete from webhook_endpoints'));
  });

  it('warns of mail that is printed or sent without TLS, and fails for an unknown server', async () => {
    const printed = await about('mail', { MAIL_PROVIDER: 'console' });
    expect(printed).toEqual([0, expect.stringMatching(/^warn {2}mail: codes are printed/)]);
    const smtp = (url: string) =>
      about('mail', { MAIL_PROVIDER: 'smtp', SMTP_URL: url, MAIL_FROM: 'no-reply@example.com' });
    expect(await smtp('smtp://localhost')).toEqual([0, 'ok    mail: the server localhost resolves']);
    expect(await smtp('smtps://192.0.2.1')).toEqual([0, 'ok    mail: the server 192.0.2.1 resolves']);
    const several = await runCommand(['doctor'], {
      ...{ ...env, MAIL_PROVIDER: 'smtp,webhook', SMTP_URL: 'smtp://localhost', MAIL_FROM: 'no-reply@example.com' },
      ...{ MAIL_WEBHOOK_URL: 'https://nobody.invalid/mails', MAIL_WEBHOOK_SECRET: `whsec_${'a'.repeat(44)}` },
    });
    expect(several.stdout.match(/^.*\bmail: .+$/gm)).toEqual([
      'ok    mail: the server localhost resolves',
      'FAIL  mail: the host nobody.invalid of the webhook cannot be resolved',
    ]);
    const clear = await smtp('smtp://192.0.2.1?tls=none');
    expect(clear).toEqual([0, expect.stringMatching(/^warn {2}mail: goes to 192\.0\.2\.1 without TLS/)]);
    expect(await smtp('smtps://nobody.invalid')).toEqual([
      1,
      'FAIL  mail: the server nobody.invalid cannot be resolved',
    ]);
  });

  it('reports every invalid template', async () => {
    const templates = await temporaryFolder();
    await writeFile(join(templates.path, 'sms.code.fr.txt'), 'Votre code : {code}');
    const find = () => about('templates', { TEMPLATES_DIR: templates.path });
    expect(await find()).toEqual([0, `ok    templates: 1 of your own in ${templates.path}`]);
    await writeFile(join(templates.path, 'sms.code.de.txt'), 'Ihr Code');
    expect(await find()).toEqual([1, 'FAIL  templates: sms.code.de.txt lacks {code}']);
    await templates.remove();
  });

  it('warns of a former name of a setting', async () => {
    const { stdout } = await runCommand(['doctor'], { ...env, SMS_LIMIT_PER_ADDRESS: '9' });
    expect(stdout).toContain('warn  configuration: SMS_LIMIT_PER_ADDRESS is now called CODE_LIMIT_PER_ADDRESS.');
  });

  it('warns of a port in use, because the service may be running', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const port = String((other.address() as AddressInfo).port);
    expect(await about('port', { PORT: port })).toEqual([0, expect.stringMatching(/^warn {2}port: .* is in use/)]);
    other.close();
    expect(await about('port', { HOST: '192.0.2.1', ALLOW_CONSOLE_CODES: 'true' })).toEqual([
      1,
      expect.stringMatching(/^FAIL {2}port: cannot listen/),
    ]);
  });

  it('warns of missing indexes, and says what a search cannot find without pg_trgm', async () => {
    expect(await about('indexes')).toEqual([0, 'ok    indexes: all are built']);
    await test.database.query(testSql('drop index users_by_search_text'));
    expect(await about('indexes')).toEqual([
      0,
      expect.stringMatching(/^warn {2}indexes: users_by_search_text not built yet/),
    ]);
    await test.database.query(testSql('drop extension pg_trgm cascade'));
    const [code, warning] = await about('indexes');
    expect([code, warning]).toEqual([0, expect.stringContaining('does not find a part of the name')]);
  });

  it('warns of imported hashes that cost more than the limit, and prints their cost', async () => {
    await test.database.query(testSql(`insert into password_schemes (scheme) values ('$2b$12'), ('$2b$10')`));
    const line = (cost: string) =>
      `imported hashes: a failed login costs 30.2 of at most ${cost} (IMPORTED_HASH_COST_LIMIT)`;
    expect(await about('imported hashes')).toEqual([0, `ok    ${line('60')}`]);
    const [code, warning] = await about('imported hashes', { IMPORTED_HASH_COST_LIMIT: '30' });
    expect([code, warning]).toEqual([0, expect.stringContaining(`warn  ${line('30')}: no scheme can be added`)]);
    await test.database.query(testSql('delete from password_schemes'));
  });
});

describe('doctor and the values encrypted with SECRET_KEY', () => {
  const context = (userId: string) => `totp:${userId}`;
  const storeSecret = async (sealed: Buffer, userId: string) =>
    test.database.query(
      testSql(
        `insert into totp (user_id, id, secret, last_step, created_at, last_used_at)
           values ($1, $1, $2, 0, db_now(), db_now())`,
        [userId, sealed],
      ),
    );
  const lostKey = 'g'.repeat(32);

  it('counts the values that no configured key decrypts by kind, and names the missing key', async () => {
    const users = Array.from({ length: 3 }, () => randomUUID());
    for (const id of users) await storeSecret(createSecretKeys([lostKey]).encrypt('a secret', context(id)), id);
    const id = randomUUID();
    const message = createSecretKeys([lostKey]).encrypt('123456', id);
    await test.database.query(
      testSql(
        `insert into outbox (user_id, id, channel, kind, recipient, state, sealed_code, expires_at, created_at, updated_at)
           values ($1, $1, 'sms', 'sms.code', '+1', 'queued', $2, db_now() + interval '5 minutes', db_now(), db_now())`,
        [id, message],
      ),
    );
    const [code, line] = await about('encrypted values');
    expect(code).toBe(1);
    expect(line).toContain('3 secrets of authenticator apps, 1 queued codes cannot be decrypted.');
    expect(line).toContain(`id ${createKeyId(lostKey)} is missing`);
    expect(line).not.toContain(lostKey);
    const both = await about('encrypted values', { SECRET_KEY: `${'s'.repeat(32)},${lostKey}` });
    expect(both).toEqual([0, 'ok    encrypted values: SECRET_KEY decrypts all of them']);
  });

  it('tries all keys for values that were encrypted before keys had ids', async () => {
    const id = randomUUID();
    await storeSecret(createSecretKeys([lostKey]).encrypt('a secret', context(id)).subarray(encryptedHeadBytes), id);
    const [code, line] = await about('encrypted values');
    expect([code, line]).toEqual([1, expect.stringContaining('4 secrets of authenticator apps')]);
    const both = await about('encrypted values', { SECRET_KEY: `${'s'.repeat(32)},${lostKey}` });
    expect(both).toEqual([0, 'ok    encrypted values: SECRET_KEY decrypts all of them']);
  });
});
