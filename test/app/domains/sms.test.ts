import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkSms } from '../../../src/app/doctor/checks.js';
import { createSmsSender } from '../../../src/app/domains/sms.js';
import { type Config, readConfig } from '../../../src/config/config.js';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { errorsOf } from '../../support/config.js';

/** A configuration with a provider that readConfig would refuse. */
const unchecked: Config = { ...readConfig({}), ...JSON.parse('{ "SMS_PROVIDER": ["pigeon"] }') };

test('an unknown SMS_PROVIDER is a configuration error', () => {
  const error = 'SMS_PROVIDER must be console, none, or some of webhook, twilio, vonage, sns, joined by commas';
  for (const SMS_PROVIDER of ['pigeon', 'twilio,pigeon', 'twilio,twilio', 'twilio,console', 'none,sns', ','])
    expect(errorsOf({ SMS_PROVIDER })).toEqual([error]);
});

test('no sender is created for an unknown SMS_PROVIDER', async () => {
  const outbound = createOutbound({ allowPrivateNetworkTargets: false });
  await expect(createSmsSender(unchecked, outbound, consoleOutput)).rejects.toThrow('unknown SMS_PROVIDER pigeon');
  await outbound.close();
});

test('the doctor fails for an unknown SMS_PROVIDER', async () => {
  expect(await checkSms(unchecked)).toEqual([{ level: 'FAIL', what: 'sms', detail: 'SMS_PROVIDER pigeon is unknown' }]);
});

/** The modules of providers, and the packages for them, that a new process has loaded, after it has loaded the service and created its sender. */
function loadedWith(env: Readonly<Record<string, string>>): string[] {
  const hooks = `export async function resolve(...all) {
    const resolved = await all[2](all[0], all[1]);
    process._rawDebug('loaded ' + resolved.url);
    return resolved;
  }`;
  const program = `
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
    const { createOutbound, createSmsSender, readConfig } = await import('./dist/tools.js');
    const sender = await createSmsSender(readConfig(process.env), createOutbound({ allowPrivateNetworkTargets: false }), { print: () => {}, refusal: () => {} });
    console.log(sender?.name);`;
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    ...{ cwd: root, env, encoding: 'utf8', timeout: 120_000 },
  });
  expect(status, stderr).toBe(0);
  const loaded = [
    ...stderr.matchAll(
      /^loaded .*\/(?:dist\/chunks\/(webhook|twilio|vonage|sns)-[\w-]{8}\.js|node_modules\/(aws4fetch)\/)/gm,
    ),
  ];
  return [...new Set(loaded.map(([, provider, library]) => provider ?? library ?? ''))].sort();
}

const consoleOutput = { print: () => undefined, refusal: () => undefined };

test('only the configured providers are loaded', () => {
  const twilio = {
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: 'x'.repeat(32),
    SMS_SENDER: 'Example',
  };
  const sns = { SNS_REGION: 'eu-west-1', SNS_ACCESS_KEY_ID: 'A'.repeat(20), SNS_SECRET_ACCESS_KEY: 'x'.repeat(40) };
  expect(loadedWith({})).toEqual([]);
  expect(loadedWith({ SMS_PROVIDER: 'twilio', ...twilio, ...sns })).toEqual(['twilio']);
  expect(loadedWith({ SMS_PROVIDER: 'sns', ...twilio, ...sns })).toEqual(['aws4fetch', 'sns']);
});
