import { expect, test } from 'vitest';
import { createAccessLog } from '../../../src/app/base/access-log.js';
import { createLogAddress } from '../../../src/lib/log-address.js';

const answered = {
  requestId: '5f0d7a52-0000-4000-8000-0000007f1f3e',
  method: 'GET',
  route: '/admin/v1/users/:id',
  status: 404,
  duration: 1.23456,
  isStream: false,
  userId: undefined,
  keyId: undefined,
  address: undefined,
};

function linesOf(worker: number | undefined, ...requests: object[]): unknown[] {
  return linesWith('full', worker, ...requests);
}

function linesWith(mode: 'full' | 'masked' | 'off', worker: number | undefined, ...requests: object[]): unknown[] {
  const lines: string[] = [];
  const log = createAccessLog({
    worker,
    logAddress: createLogAddress(mode),
    destination: { write: (line) => void lines.push(line) },
  });
  for (const request of requests) log.onAnswered({ ...answered, ...request });
  expect(lines.every((line) => line.endsWith('\n'))).toBe(true);
  return lines.map((line) => JSON.parse(line) as unknown);
}

test('a line has the request, its answer and the user, and no other member', () => {
  const line = {
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    request_id: answered.requestId,
    method: 'GET',
    route: '/admin/v1/users/:id',
    status: 404,
    ms: 1.235,
    msg: 'request',
  };
  const userId = '4e81a07e-7633-43b7-a438-28956ce86d68';
  expect(linesOf(undefined, {})).toEqual([line]);
  expect(linesOf(2, { userId, duration: 0 })).toEqual([{ ...line, worker: 2, user_id: userId, ms: 0 }]);
});

test('a line has the address as LOG_ADDRESSES says, and the id of the key', () => {
  const of = (mode: 'full' | 'masked' | 'off', address: string) =>
    (linesWith(mode, undefined, { address, keyId: 'environment' }) as { address?: string; key_id: string }[])[0];
  expect(of('full', '192.0.2.77')).toMatchObject({ address: '192.0.2.77', key_id: 'environment' });
  expect(of('masked', '192.0.2.77')?.address).toBe('192.0.2.0');
  expect(of('masked', '::ffff:192.0.2.77')?.address).toBe('192.0.2.0');
  expect(of('masked', '2001:db8:1:2::77')?.address).toBe('2001:db8:1::');
  expect(of('masked', 'fe80::1%eth0')?.address).toBe('fe80::');
  expect(of('off', '192.0.2.77')).not.toHaveProperty('address');
});

test('each line has the time at which it was written', () => {
  const before = Date.now();
  const lines = linesOf(undefined, ...Array.from({ length: 1000 }, () => ({})));
  const after = Date.now();
  const times = lines.map((line) => Date.parse((line as { time: string }).time));
  expect(times.filter((time) => time < before || time > after)).toEqual([]);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});
