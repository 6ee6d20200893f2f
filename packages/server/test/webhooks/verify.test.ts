import { generateKeyPairSync, sign } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createReplaySet, createWebhookVerifier } from '../../src/index.js';

const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
const other = `whsec_${Buffer.from('another secret, as long ').toString('base64')}`;
const body = JSON.stringify({ type: 'user.created', data: { name: 'Zoë' } });

/** A message as the reference library signs it. */
function message(id: string, { with: used = secret, at = new Date(), text = body } = {}) {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(used).sign(id, at, text),
  };
  return { headers, body: text };
}
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error) => error.code ?? error.message,
  );

test('a message that the reference library signed is accepted in all forms', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  const { headers } = message('msg_1');
  const requests = [
    { headers, body },
    { headers: new Headers(headers), body: new TextEncoder().encode(body) },
    new Request('http://app/hook', { method: 'POST', headers, body }),
  ];
  for (const request of requests) {
    expect(await verify(request)).toEqual({ id: 'msg_1', timestamp: expect.any(Date), payload: JSON.parse(body) });
  }
});

test('what this package accepts, the reference library accepts too', async () => {
  const { headers } = message('msg_2');
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
});

test('any of several secrets and any of several signatures is accepted', async () => {
  const verify = createWebhookVerifier({ secrets: [other, secret] });
  const { headers } = message('msg_3');
  expect(await code(verify({ headers, body }))).toBe('accepted');
  const both = { ...headers, 'webhook-signature': `v1,AAAA v2,x ${headers['webhook-signature']}` };
  expect(await code(verify({ headers: both, body }))).toBe('accepted');
});

test('a changed body, id, time or secret is refused', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  const { headers } = message('msg_4');
  const now = Number(headers['webhook-timestamp']);
  expect(await code(verify({ headers, body: `${body} ` }))).toBe('wrong_signature');
  for (const change of [
    { 'webhook-id': 'msg_5' },
    { 'webhook-timestamp': `${now + 1}` },
    { 'webhook-timestamp': `0x${now.toString(16)}` },
    { 'webhook-signature': message('msg_4', { with: other }).headers['webhook-signature'] },
    { 'webhook-signature': 'v1,' },
    { 'webhook-signature': 'v1,%%%' },
    { 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') },
  ]) {
    expect(await code(verify({ headers: { ...headers, ...change }, body })), JSON.stringify(change)).toBe(
      'wrong_signature',
    );
  }
});

describe('a stranger causes little work', () => {
  const { subtle } = globalThis.crypto;
  afterEach(() => vi.restoreAllMocks());

  /** Runs a check, and counts how often it signs or verifies. */
  async function work(check: () => Promise<unknown>) {
    const [signed, verified] = [vi.spyOn(subtle, 'sign').mockClear(), vi.spyOn(subtle, 'verify').mockClear()];
    const result = await code(check());
    return { result, operations: signed.mock.calls.length + verified.mock.calls.length };
  }
  const wrongMac = (n: number) => `v1,${Buffer.alloc(32, n).toString('base64')}`;
  const wrongKey = (n: number) => `v1a,${Buffer.alloc(64, n).toString('base64')}`;
  /** @param at the time of the message, which a right signature contains */
  const withSignatures = (id: string, signatures: readonly string[], at = new Date()) => {
    const { headers } = message(id, { at });
    return { headers: { ...headers, 'webhook-signature': signatures.join(' ') }, body };
  };
  const many = Array.from({ length: 300 }, (_, index) => index);

  test('any number of claimed signatures costs one HMAC for each secret', async () => {
    const verify = createWebhookVerifier({ secrets: [other, secret] });
    const claimed = await work(() => verify(withSignatures('msg_20', many.map(wrongMac))));
    expect(claimed).toEqual({ result: 'wrong_signature', operations: 2 });
    // Those that cannot be signatures of this kind cost nothing.
    const text = Buffer.from('short').toString('base64');
    for (const entry of ['v1,', `v1,${text}`, `v1a,${text}`, `v2,${text}`, wrongKey(1), ' ', ',', 'v1']) {
      const useless = await work(() => verify(withSignatures('msg_21', Array(300).fill(entry))));
      expect([entry, useless]).toEqual([entry, { result: 'wrong_signature', operations: 0 }]);
    }
  });

  test('at most ten signatures are read, of any kind', async () => {
    const at = new Date();
    const right = message('msg_22', { at }).headers['webhook-signature'];
    const verify = createWebhookVerifier({ secrets: [secret] });
    for (const filler of [wrongMac, wrongKey, () => 'v2,x', () => '']) {
      const before = (count: number) => [...many.slice(0, count).map(filler), right];
      expect(await code(verify(withSignatures('msg_22', before(9), at)))).toBe('accepted');
      expect(await code(verify(withSignatures('msg_22', before(10), at)))).toBe('wrong_signature');
    }
    const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) as { kty: string };
    const byKeys = createWebhookVerifier({ jwks: { keys: [jwk] } });
    const claimed = await work(() => byKeys(withSignatures('msg_23', many.map(wrongKey))));
    expect(claimed).toEqual({ result: 'wrong_signature', operations: 10 });
  });

  test('a body is not read without a signature that can be right', async () => {
    const verify = createWebhookVerifier({ secrets: [secret] });
    const { headers } = message('msg_24');
    const changes = [
      { 'webhook-signature': 'v1,x' },
      { 'webhook-timestamp': 'x' },
      { 'webhook-signature': wrongKey(1) },
    ];
    for (const change of changes) {
      const request = new Request('http://app/hook', { method: 'POST', headers: { ...headers, ...change }, body });
      expect(await code(verify(request))).toBe('wrong_signature');
      expect(request.bodyUsed).toBe(false);
    }
  });

  test('the package can be imported where there is no crypto, as in Jest with jsdom', async () => {
    vi.stubGlobal('crypto', undefined);
    vi.resetModules();
    try {
      await expect(import('../../src/index.js')).resolves.toHaveProperty('createWebhookVerifier');
    } finally {
      vi.unstubAllGlobals();
      vi.resetModules();
    }
  });
});

test('repeated headers and other spellings of a time are refused', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  const { headers } = message('msg_30');
  const time = headers['webhook-timestamp'];
  const arabic = time.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)));
  for (const other of [
    arabic,
    `+${time}`,
    ` ${time}`,
    `${time}\n`,
    `${time}.0`,
    `${time}e0`,
    '9'.repeat(13),
    `-${time}`,
  ])
    expect([other, await code(verify({ headers: { ...headers, 'webhook-timestamp': other }, body }))]).toEqual([
      other,
      'wrong_signature',
    ]);
  for (const name of ['webhook-id', 'webhook-timestamp'] as const) {
    const twice = { ...headers, [name]: [headers[name], headers[name]] };
    expect([name, await code(verify({ headers: twice, body }))]).toEqual([name, 'wrong_signature']);
    const appended = new Headers(headers);
    appended.append(name, headers[name]);
    expect([name, await code(verify({ headers: appended, body }))]).toEqual([name, 'wrong_signature']);
  }
  // A far time with a right signature: no overflow makes it near.
  for (const far of [0, 999_999_999_999])
    expect(await code(verify(message('msg_31', { at: new Date(far * 1000) })))).toBe('too_old');
});

test('missing headers are named', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { headers } = message('msg_6');
    expect(await code(verify({ headers: { ...headers, [name]: undefined }, body }))).toBe('missing_header');
  }
});

test('a message from long ago or from the future is refused', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  const hour = 3_600_000;
  for (const [by, expected] of [
    [-hour, 'too_old'],
    [hour, 'too_old'],
    [0, 'accepted'],
  ] as const) {
    expect(await code(verify(message('msg_7', { at: new Date(Date.now() + by) })))).toBe(expected);
  }
  const patient = createWebhookVerifier({ secrets: [secret], tolerance: 7200 });
  expect(await code(patient(message('msg_7', { at: new Date(Date.now() - hour) })))).toBe('accepted');
});

test('with a replay set, a message is handled once, also if it is sent twice at once', async () => {
  const verify = createWebhookVerifier({ secrets: [secret], replays: createReplaySet() });
  const codes = await Promise.all([code(verify(message('msg_8'))), code(verify(message('msg_8')))]);
  expect(codes.sort()).toEqual(['accepted', 'replayed']);
  expect(await code(verify(message('msg_9')))).toBe('accepted');
  // A forged message must not use up an id.
  expect(await code(verify({ ...message('msg_10'), body: '{}' }))).toBe('wrong_signature');
  expect(await code(verify(message('msg_10')))).toBe('accepted');
});

test('a replay set removes messages that are too old to be accepted', () => {
  const replays = createReplaySet();
  expect(replays.add('a', -1)).toBe(true);
  expect(replays.add('a', 60)).toBe(true);
  expect(replays.add('a', 60)).toBe(false);
});

test('a signed body that is not JSON is refused', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  expect(await code(verify(message('msg_11', { text: 'hello' })))).toBe('malformed_body');
});

describe('Ed25519', () => {
  const pair = generateKeyPairSync('ed25519');
  const jwk = pair.publicKey.export({ format: 'jwk' }) as { kty: string; crv: string; x: string };
  const foreign = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) as { kty: string };

  function signed(id: string) {
    const time = `${Math.floor(Date.now() / 1000)}`;
    const signature = sign(null, Buffer.from(`${id}.${time}.${body}`), pair.privateKey).toString('base64');
    return {
      headers: { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1a,${signature}` },
      body,
    };
  }

  test('a signature is checked with the keys of a set', async () => {
    const rsa = { kty: 'RSA', n: 'x', e: 'AQAB' };
    const verify = createWebhookVerifier({ jwks: { keys: [rsa, foreign, jwk] } });
    expect(await code(verify(signed('msg_1')))).toBe('accepted');
    expect(await code(verify({ ...signed('msg_1'), body: '{}' }))).toBe('wrong_signature');
    const strangers = createWebhookVerifier({ jwks: { keys: [foreign] } });
    expect(await code(strangers(signed('msg_1')))).toBe('wrong_signature');
    expect(await code(createWebhookVerifier({ secrets: [secret] })(signed('msg_1')))).toBe('wrong_signature');
  });

  test('keys are fetched once, also if strangers send wrong signatures', async () => {
    let fetched = 0;
    const verify = createWebhookVerifier({
      jwks: async () => {
        fetched += 1;
        return { keys: [jwk] };
      },
    });
    expect(await code(verify(signed('msg_1')))).toBe('accepted');
    for (let count = 0; count < 10; count += 1) await code(verify({ ...signed('msg_2'), body: '{}' }));
    expect(fetched).toBe(1);
  });

  test('keys that could not be fetched are fetched again for the next message', async () => {
    const answers = [Promise.reject(new Error('no network')), Promise.resolve({ keys: [jwk] })];
    answers[0]?.catch(() => undefined);
    const verify = createWebhookVerifier({ jwks: () => answers.shift() ?? Promise.resolve({ keys: [] }) });
    expect(await code(verify(signed('msg_1')))).toBe('no network');
    expect(await code(verify(signed('msg_1')))).toBe('accepted');
  });
});

test.each<[string, () => unknown]>([
  // @ts-expect-error JavaScript has no types that refuse it
  ['an empty list of secrets', () => createWebhookVerifier({ secrets: [] })],
  ['neither secrets nor keys', () => createWebhookVerifier({})],
  ['an empty secret', () => createWebhookVerifier({ secrets: ['whsec_'] })],
  ['a secret that is no base64', () => createWebhookVerifier({ secrets: ['whsec_%%'] })],
  ['a tolerance of 0', () => createWebhookVerifier({ secrets: [secret], tolerance: 0 })],
])('a verifier with %s is a usage error', (_, make) => {
  expect(make).toThrow(expect.objectContaining({ kind: 'usage' }));
});

test('a parsed body is a usage error', async () => {
  const verify = createWebhookVerifier({ secrets: [secret] });
  const parsed = { ...message('msg_12'), body: JSON.parse(body) as string };
  await expect(verify(parsed)).rejects.toMatchObject({ kind: 'usage' });
});
