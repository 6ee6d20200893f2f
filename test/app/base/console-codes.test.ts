import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createConsoleCodes } from '../../../src/app/base/console-codes.js';
import { readConfig } from '../../../src/config/config.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createUser } from '../../support/users.js';

const request = (remoteAddress: string, headers: Record<string, string>) =>
  ({ socket: { remoteAddress }, rawHeaders: Object.entries(headers).flat() }) as unknown as IncomingMessage;

function create(env: Record<string, string> = {}) {
  const warnings: string[] = [];
  const config = readConfig(env);
  const codes = createConsoleCodes(config, { warn: (_fields, message) => void warnings.push(message) });
  return { ...codes, warnings, config };
}

describe('codes are printed', () => {
  test.each([
    [{}, true],
    [{ PUBLIC_URL: 'http://localhost:8080' }, true],
    [{ PUBLIC_URL: 'http://127.0.0.1:8080/auth' }, true],
    [{ PUBLIC_URL: 'http://[::1]:8080' }, true],
    [{ PUBLIC_URL: 'https://auth.example.com' }, false],
    [{ PUBLIC_URL: 'http://10.0.0.1' }, false],
    [{ PUBLIC_URL: 'https://auth.example.com', ALLOW_CONSOLE_CODES: 'true' }, true],
  ])('with %o: %s', (env: Record<string, string>, isAllowed) => {
    const { refusal, config } = create(env);
    expect(refusal() === undefined).toBe(isAllowed);
    expect(config.warnings.filter((text) => text.includes('prints no codes'))).toHaveLength(isAllowed ? 0 : 1);
  });

  test('and are never again after a proxy on another machine has sent a request, which the log says once', () => {
    for (const header of ['x-forwarded-for', 'X-Forwarded-Proto', 'x-forwarded-host']) {
      const { refusal, watch, warnings } = create();
      watch?.(request('10.0.0.9', {}));
      watch?.(request('127.0.0.1', { [header]: 'x' }));
      watch?.(request('::ffff:127.0.0.1', { [header]: 'x' }));
      expect(refusal()).toBeUndefined();
      watch?.(request('10.0.0.9', { [header]: 'x' }));
      watch?.(request('10.0.0.9', { [header]: 'x' }));
      watch?.(request('127.0.0.1', {}));
      expect(refusal()).toContain('another machine');
      expect(warnings).toEqual([expect.stringContaining('prints no codes')]);
    }
  });

  test('also after that with ALLOW_CONSOLE_CODES, and no request is looked at without a console provider', () => {
    expect(create({ ALLOW_CONSOLE_CODES: 'true' }).watch).toBeUndefined();
    expect(create({ SMS_PROVIDER: 'none', MAIL_PROVIDER: 'none' }).watch).toBeUndefined();
  });
});

test('a service with a public URL prints no code, shows none in the outbox, and the outbox says why', async () => {
  const postern = await startTestApp({ PUBLIC_URL: 'https://auth.example.com' });
  try {
    const user = await createUser(postern, { phone: '+15551234567' });
    const identity = { type: 'phone', value: user.phone };
    await postern.api('POST', '/v1/tokens', { body: { identity, authenticator: 'sms', device: {} } });
    const message = await eventually('the end of the message', async () => {
      const { body } = await postern.api<{ state: string; code: string | null; last_error: string }[]>(
        'GET',
        '/admin/v1/outbox',
        { bearer: postern.adminKey },
      );
      return body.find(({ state }) => state !== 'queued');
    });
    expect(message).toMatchObject({ state: 'failed', code: null, last_error: expect.stringContaining('PUBLIC_URL') });
    expect(postern.printed).toEqual([]);
  } finally {
    await postern.close();
  }
});

test('API_DOCS=off serves neither the page nor the document', async () => {
  const postern = await startTestApp({ API_DOCS: 'off' });
  try {
    for (const path of ['/docs', '/docs/', '/docs/reference.js', '/openapi.json']) {
      expect([path, (await fetch(postern.url + path)).status]).toEqual([path, 404]);
    }
  } finally {
    await postern.close();
  }
});
