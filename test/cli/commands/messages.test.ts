import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../command.js';

/** A fake of Twilio and of Amazon SNS. */
const received: { readonly url: string | undefined; readonly form: URLSearchParams }[] = [];
let isBroken = false;
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  received.push({ url: request.url, form: new URLSearchParams(Buffer.concat(chunks).toString()) });
  if (isBroken && request.url !== '/') return response.writeHead(500).end();
  return response.writeHead(200).end(request.url === '/' ? '<MessageId>567910cd</MessageId>' : '{"sid":"SM123"}');
});

const env: Record<string, string> = {
  ...{ SMS_PROVIDER: 'twilio,sns', SMS_SENDER: 'Example', ALLOW_PRIVATE_NETWORK_TARGETS: 'true', APP_NAME: 'Shop' },
  ...{ TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`, TWILIO_AUTH_TOKEN: 'x'.repeat(32) },
  ...{ SNS_REGION: 'eu-west-1', SNS_ACCESS_KEY_ID: 'A'.repeat(20), SNS_SECRET_ACCESS_KEY: 'x'.repeat(40) },
};
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(env, { TWILIO_URL: url, SNS_URL: url });
});
afterAll(() => server.close());
beforeEach(() => {
  received.length = 0;
  isBroken = false;
});

const send = (...args: string[]) => runCommand(['messages', 'test', ...args], env);

test('messages test sends through the first provider, or through the named one', async () => {
  expect(await send('--to', '+1 202 555 0123')).toMatchObject({
    code: 0,
    stdout: 'twilio has accepted the message. Its id is SM123.\n',
  });
  expect(await send('--to', '+12025550123', '--provider', 'sns')).toMatchObject({
    code: 0,
    stdout: 'sns has accepted the message. Its id is 567910cd.\n',
  });
  expect(received.map(({ form }) => [form.get('To') ?? form.get('PhoneNumber'), form.get('Body')])).toEqual([
    ['+12025550123', 'This is a test message of Shop.'],
    ['+12025550123', null],
  ]);
});

test('messages test uses the next provider when the first one fails, but not in place of the named one', async () => {
  isBroken = true;
  expect(await send('--to', '+12025550123')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sns has/) });
  expect(await send('--to', '+12025550123', '--provider', 'twilio')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'The message was not accepted. twilio: the provider failed or did not understand the request (500)\n',
  });
});

test('messages test refuses a provider that is not configured, and a number without its country code', async () => {
  expect(await send('--to', '+12025550123', '--provider', 'vonage')).toMatchObject({
    code: 1,
    stderr: 'SMS_PROVIDER does not contain vonage.\n',
  });
  expect(await send('--to', '555')).toMatchObject({
    code: 1,
    stderr: '555 is not a phone number with its country code.\n',
  });
  expect((await send()).code).toBe(2);
  expect(received).toEqual([]);
});

test('messages test prints the message with the console provider', async () => {
  const { code, stdout } = await runCommand(['messages', 'test', '--to', '+12025550123'], {});
  expect(code).toBe(0);
  expect(stdout).toBe('SMS to +12025550123: This is a test message of Postern.\nconsole has accepted the message.\n');
});
