import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createLog, logConsole, watchDescriptors } from '../../../src/app/base/log.js';
import { Problem } from '../../../src/lib/problem.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines, messages: () => lines.map(({ msg }) => msg) };
}

const failure = (code = '53100') =>
  new Problem('storage_unavailable', { cause: Object.assign(new Error('no space left on device'), { code }) });

test('an outage says each thing once, counts once a minute, and says its end', async () => {
  const { log, messages, lines } = openLog();
  for (let second = 0; second < 125; second += 1) {
    log.warn({ err: failure() }, 'messages could not be queued');
    log
      .child({ worker: 2 })
      .warn({ err: new Error('connect ECONNREFUSED'), outage: 'database' }, 'the queue could not run');
    await vi.advanceTimersByTimeAsync(1000);
  }
  const during = [
    'messages could not be queued',
    'the queue could not run',
    'the database is still away after 60 s, 120 attempts failed',
    'the database is still away after 120 s, 240 attempts failed',
  ];
  expect(messages()).toEqual(during);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(messages()).toEqual([...during, 'the database answers again: 250 attempts failed in 124 s']);
  expect(lines.at(-1)).toMatchObject({ level: 'info', failures: 250 });
  log.warn({ err: failure() }, 'messages could not be queued');
  expect(messages().at(-1)).toBe('messages could not be queued');
});

test('one connection that breaks is one line', async () => {
  const { log, messages } = openLog();
  log.warn({ err: new Error('terminated'), outage: 'database' }, 'a database connection broke');
  await vi.advanceTimersByTimeAsync(120_000);
  expect(messages()).toEqual(['a database connection broke']);
});

test('requests that a full disk or a wrong password refuses are one line a second, with their number', async () => {
  const { log, lines } = openLog();
  const refuse = (code: string) =>
    log.warn({ err: failure(code), code: 'storage_unavailable', request_id: 'r' }, 'request failed');
  for (let step = 0; step < 30; step += 1) {
    refuse('53100');
    refuse('28P01');
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(lines.map((line) => line.similar_requests)).toEqual([undefined, 19, 19]);
});

test('other failures of requests and other lines are all written', () => {
  const { log, messages } = openLog();
  for (let count = 0; count < 3; count += 1) {
    log.error({ err: new Error('a bug'), code: 'internal_error', request_id: 'r' }, 'request failed');
    log.warn({ err: new Error('connect ECONNREFUSED') }, 'a push could not be sent');
  }
  expect(messages()).toHaveLength(6);
});

test.each(['trace', 'error', 'warn', 'log', 'info', 'debug'] as const)(
  'console.%s of a library is a line of JSON',
  (method) => {
    const { log, lines } = openLog();
    onTestFinished(logConsole(log));
    console[method](new Error('the pool is gone\nwith values of a statement'));
    console[method]('Retried 12 times, and still failed:', new Error('secret'));
    expect(lines).toEqual([
      expect.objectContaining({ level: 'warn', from: `console.${method}`, msg: 'Error: the pool is gone' }),
      expect.objectContaining({ msg: 'Retried 12 times, and still failed:' }),
    ]);
  },
);

test('an outage that the queue prints again and again, with other figures, is one line', () => {
  const { log, messages } = openLog();
  onTestFinished(logConsole(log));
  for (let attempt = 0; attempt < 30; attempt += 1) {
    console.trace(new Error(`connect ECONNREFUSED 127.0.0.1:${5000 + attempt}`));
    log.warn({ outage: 'database' }, `Error with notify listener (trying again in ${attempt}ms)`);
  }
  expect(messages()).toEqual([
    'Error: connect ECONNREFUSED 127.0.0.1:5000',
    'Error with notify listener (trying again in 0ms)',
  ]);
});

test.each([
  ['EMFILE', 'this process has no free file descriptor, so new connections are closed. Raise ulimit -n'],
  ['ENFILE', 'the whole machine has no free file descriptor'],
])('%s leaves a line, at most once a second', async (code, message) => {
  const { log, lines } = openLog();
  let isFull = true;
  onTestFinished(
    watchDescriptors(log, () =>
      isFull
        ? Promise.reject(Object.assign(new Error(code), { code }))
        : Promise.resolve({ close: async () => undefined }),
    ),
  );
  await vi.advanceTimersByTimeAsync(3000);
  isFull = false;
  await vi.advanceTimersByTimeAsync(5000);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatchObject({ level: 'error', code, msg: expect.stringContaining(message) });
});
