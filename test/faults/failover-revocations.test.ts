import { beforeAll, expect, test } from 'vitest';
import {
  createTestAudience,
  createTokenHolder,
  nextTokenHolder,
  startLocalChecks,
  type TokenHolder,
  tokenIssuer,
} from '../support/access-tokens.js';
import { eventually } from '../support/eventually.js';
import { createServerFolder, startPrimary, startStandby } from '../support/fault-injection/postgres.js';
import { createInstallation } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

beforeAll(buildService, BUILD_TIMEOUT);

test('after the primary dies, readers of revocations know of every acknowledged logout from the promoted standby', async ({
  onTestFinished,
}) => {
  const folder = await createServerFolder();
  onTestFinished(() => folder.remove());
  const primary = await startPrimary(folder);
  const standby = await startStandby(folder, primary, 'standby');
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
  const installation = await createInstallation({
    DATABASE_URL: `postgres://postgres@${hosts}/postern?target_session_attrs=read-write`,
    PUBLIC_URL: tokenIssuer,
  });
  onTestFinished(() => installation.remove());
  const service = await installation.start();
  onTestFinished(() => service.stop().then(() => undefined));
  await createTestAudience(service);
  const [checks, late] = [startLocalChecks(service), startLocalChecks(service)];
  onTestFinished(() => [checks, late].forEach((each) => void each.close()));
  const staying = await createTokenHolder(service);
  const leaving: TokenHolder[] = [];
  while (leaving.length < 20) leaving.push(await createTokenHolder(service));
  for (const holder of [staying, ...leaving]) await checks.becomes(holder, holder.userId);

  const ended: TokenHolder[] = [];
  const queue = leaving.values();
  const logOuts = Promise.all(
    Array.from({ length: 2 }, async () => {
      for (const holder of queue) if ((await holder.logOut()) === 200) ended.push(holder);
    }),
  );
  await eventually('some logouts', async () => (ended.length >= 5 ? true : undefined));
  primary.kill();
  await standby.query('select pg_promote()');
  await logOuts;
  const next = await nextTokenHolder(service);
  expect(await next.logOut()).toBe(200);
  for (const holder of [...ended, next]) await checks.becomes(holder, null);
  await checks.becomes(staying, staying.userId);
  // One that begins now reads the last 20 minutes.
  for (const holder of [...ended, next]) await late.becomes(holder, null);
  expect(await late.check(staying)).toBe(staying.userId);
});
