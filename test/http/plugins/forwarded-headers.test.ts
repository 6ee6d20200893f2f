import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';

async function start(env: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const postern = await startTestApp(env);
  onTestFinished(() => postern.close());
  return postern;
}
const send = (postern: TestApp, headers: Readonly<Record<string, string>>) => postern.api('GET', '/livez', { headers });
const warningsOf = ({ logged }: TestApp) =>
  logged.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 'warn' && msg.includes('TRUST_PROXY'));

describe('forwarded headers of a peer that TRUST_PROXY does not name', () => {
  test.each([
    ['X-Forwarded-For', { 'x-forwarded-for': '192.0.2.1' }],
    ['Forwarded', { forwarded: 'for=192.0.2.1' }],
  ])('are reported once: %s', async (header, headers) => {
    const postern = await start();
    await send(postern, headers);
    await send(postern, headers);
    expect(warningsOf(postern)).toEqual([
      expect.objectContaining({ peer: '127.0.0.1', header, msg: expect.stringContaining('add it to TRUST_PROXY') }),
    ]);
  });

  test('are reported although TRUST_PROXY names other peers', async () => {
    const postern = await start({ TRUST_PROXY: '10.0.0.0/8' });
    await send(postern, { 'x-forwarded-for': '192.0.2.1' });
    expect(warningsOf(postern)).toHaveLength(1);
  });

  test('are not reported with the address that a client claims, which could be personal data', async () => {
    const postern = await start();
    await send(postern, { 'x-forwarded-for': '192.0.2.77' });
    expect(JSON.stringify(warningsOf(postern))).not.toContain('192.0.2.77');
  });
});

test.each([
  ['of a peer that TRUST_PROXY names', { TRUST_PROXY: '127.0.0.1' }, { 'x-forwarded-for': '192.0.2.1' }],
  ['within the number of trusted hops', { TRUST_PROXY: '1' }, { 'x-forwarded-for': '192.0.2.1' }],
  ['that are absent', {}, {}],
])('forwarded headers %s cause no warning', async (_name, env, headers) => {
  const postern = await start(env);
  await send(postern, headers);
  expect(warningsOf(postern)).toEqual([]);
});
