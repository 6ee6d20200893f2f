import { expect, onTestFinished, test } from 'vitest';
import type { PluginContext } from '../../../src/login/authenticators/plugin.js';
import { type SupervisionOptions, supervisePlugin } from '../../../src/login/authenticators/plugin-supervision.js';
import { PluginFailure } from '../../../src/login/authenticators/plugin-thread.js';
import { eventually } from '../../support/eventually.js';

/** What the supervision reports to its callbacks. */
interface Reports {
  readonly lost: string[];
  readonly unhandled: PluginFailure[];
  readonly logged: string[];
}

const moduleUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
/** The code of a plug-in whose function `verify` has this body. */
const verifying = (code: string) =>
  `export default (context) => ({ name: 'tried', steps: 1, verify(user, secret) { ${code} } })`;

async function start(code: string, more: Partial<SupervisionOptions & PluginContext> = {}) {
  const reports: Reports = { lost: [], unhandled: [], logged: [] };
  const plugin = await supervisePlugin({
    url: moduleUrl(code),
    context: {
      env: { AUTHENTICATOR_A: 'a' },
      log: (level, message) => void reports.logged.push(`${level} ${message}`),
      fetch: more.fetch ?? (async () => ({ status: 200, headers: {}, body: 'body' })),
    },
    onUnhandled: (failure) => void reports.unhandled.push(failure),
    onLost: (reason) => void reports.lost.push(reason),
    pauses: { first: 1, max: 2 },
    ...more,
  });
  onTestFinished(() => plugin.close());
  return { ...plugin, reports, verify: (secret: string) => plugin.call('verify', [undefined, secret, 'an id']) };
}

async function failureOf(work: Promise<unknown>): Promise<PluginFailure> {
  const error = await work.then(
    () => expect.unreachable('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PluginFailure)) throw error;
  return error;
}

test.each([
  ['throws', 'throw new Error("AUTHENTICATOR_KEY is missing")', 'AUTHENTICATOR_KEY is missing'],
  ['throws a value without a message', 'throw { toString() { throw new Error() } }', 'it failed to load'],
  ['is not JavaScript', 'export default {', 'Unexpected end of input'],
  ['ends its thread', 'process.exit(3)', 'the plug-in did not start: it has ended with code 3'],
  ['throws a getter', 'export default { get name() { throw new Error("no name") } }', 'no name'],
])('a module that %s does not start, and the reason is reported', async (_what, code, message) => {
  await expect(start(code)).rejects.toThrow(message);
});

test.each([
  ['loops forever', 'for (;;);'],
  ['never returns', 'export default () => new Promise(() => undefined)'],
])('a module that %s does not start, and the reason is that it took too long', async (_what, code) => {
  await expect(start(code, { startTimeoutMs: 1000 })).rejects.toThrow('the plug-in did not start within 1 s');
});

test('a plug-in is described by its name, steps and functions, and wrong types do no harm', async () => {
  const described = async (code: string) => (await start(`export default ${code}`)).description;
  expect(await described('{ name: "n", steps: 2, namesUser: true, begin() {}, identify() {}, verify: 1 }')).toEqual({
    ...{ name: 'n', steps: 2, namesUser: true, functions: ['begin', 'identify'] },
  });
  expect(await described('{ name: () => 1, steps: {}, namesUser: Symbol() }')).toMatchObject({
    ...{ name: null, steps: null, namesUser: null, functions: [] },
  });
  for (const code of ['1', 'null', '() => undefined']) expect(await described(code)).toBeUndefined();
});

test('a plug-in keeps its own `this` and gets its variables', async () => {
  const code =
    'export default ({ env }) => ({ right: env.AUTHENTICATOR_A, verify(_u, s) { return s === this.right } })';
  const { verify } = await start(code);
  expect([await verify('a'), await verify('b')]).toEqual([true, false]);
});

test('a failure reports its class and place, and nothing else', async () => {
  const { verify } = await start(verifying('throw new class BadBadge extends Error {}(secret)'));
  const { message, stack } = await failureOf(verify('a secret'));
  expect(message).toBe('BadBadge');
  expect(stack).toMatch(/^BadBadge\n {4}at data:text\/javascript,\S+:1:\d+/);
  expect(stack).not.toContain('a secret');
});

test('an unhandled error is reported, and the thread continues', async () => {
  const { verify, reports } = await start(verifying('Promise.reject(new TypeError(secret)); return true'));
  expect(await verify('a secret')).toBe(true);
  await eventually('the error to be reported', async () => reports.unhandled[0]);
  expect(reports.unhandled.map(({ message }) => message)).toEqual(['TypeError']);
  expect(reports.lost).toEqual([]);
});

test('a lost thread fails its running calls, and another thread replaces it', async () => {
  const { verify, reports } = await start(
    verifying('if (secret === "exit") process.exit(1); return secret === "right" || new Promise(() => undefined)'),
  );
  const waiting = failureOf(verify('never'));
  const exiting = failureOf(verify('exit'));
  expect((await exiting).message).toBe('lost its thread: it has ended with code 1');
  expect((await waiting).message).toBe('lost its thread: it has ended with code 1');
  expect(await eventually('another thread', () => verify('right').catch(() => undefined))).toBe(true);
  expect(reports.lost).toEqual(['it has ended with code 1']);
});

test('a thread that is lost repeatedly restarts after pauses, in which calls fail at once', async () => {
  const pauses = { first: 600_000, max: 600_000 };
  const { verify, reports } = await start(verifying('process.exit(1)'), { pauses });
  await failureOf(verify('once'));
  await eventually('the next loss', () => failureOf(verify('again')).then(() => reports.lost[1]));
  expect((await failureOf(verify('in the pause'))).message).toBe('ThreadRestarting');
  expect(reports.lost).toHaveLength(2);
});

test('an endless loop ends its thread after the timeout', async () => {
  const { verify, reports } = await start(verifying('for (; secret === "loop";); return true'), { timeoutMs: 3000 });
  const [loop, behind] = [failureOf(verify('loop')), failureOf(verify('right'))];
  expect((await loop).message).toBe('TimeoutError');
  expect((await behind).message).toBe('TimeoutError');
  expect(await eventually('another thread', () => verify('right').catch(() => undefined))).toBe(true);
  expect(reports.lost).toEqual(['it is in an endless loop']);
});

test('a call that never returns does not end its thread', async () => {
  const { verify, reports } = await start(verifying('return secret === "right" || new Promise(() => undefined)'), {
    timeoutMs: 3000,
  });
  expect((await failureOf(verify('never'))).message).toBe('TimeoutError');
  expect(await verify('right')).toBe(true);
  expect(reports.lost).toEqual([]);
});

test('a module that restarts as another authenticator is refused', async () => {
  const code = `export default { name: 'n' + process.hrtime.bigint(), steps: 1, verify() { process.exit(0) } }`;
  const { verify, reports } = await start(code);
  await failureOf(verify('x'));
  const reason = await eventually('the other authenticator to be refused', async () => reports.lost[1]);
  expect(reason).toBe('it has restarted as another authenticator');
});

test('a plug-in sends requests through `fetch`, and gets the error of a failed one', async () => {
  const code = `return context.fetch('https://a.test', { method: 'POST', headers: { a: 'b' }, body: secret })
    .then(({ status, body }) => status === 200 && body === 'body', (error) => error.code === 'timeout')`;
  const requests: unknown[] = [];
  const { verify } = await start(verifying(code), {
    async fetch(url, request) {
      requests.push([url, request]);
      if (request?.body === 'late') throw Object.assign(new Error('a.test did not answer'), { code: 'timeout' });
      return { status: 200, headers: {}, body: 'body' };
    },
  });
  expect([await verify('soon'), await verify('late')]).toEqual([true, true]);
  expect(requests[0]).toEqual(['https://a.test', { method: 'POST', headers: { a: 'b' }, body: 'soon' }]);
});

test('requests of a plug-in beyond 100 are refused', async () => {
  const code = `for (let i = 0; i < 10_000; i += 1) context.log('warn', 'x'.repeat(10_000));
    return context.fetch('https://a.test').then(() => false, ({ message }) => message.startsWith('more than 100'))`;
  const { verify, reports } = await start(verifying(code));
  expect(await verify('x')).toBe(true);
  expect(reports.logged).toHaveLength(100);
  expect(reports.logged[0]).toBe(`warn ${'x'.repeat(4096)}`);
});

test('a result has only the known members, and a limited size', async () => {
  const code = `export default { begin: (more) => ({ lifetime: 5, more, shown: { type: 'x', more }, kept: { a: 'b' } }) }`;
  const plugin = await start(code);
  expect(await plugin.call('begin', ['y'])).toEqual({ lifetime: 5, shown: { type: 'x', more: 'y' }, kept: { a: 'b' } });
  expect((await failureOf(plugin.call('begin', ['y'.repeat(70_000)]))).message).toBe('RangeError');
});

test('a closed plug-in is not called, also during a start or a pause', async () => {
  const { close, verify, reports } = await start(verifying('process.exit(1)'), { pauses: { first: 600_000, max: 1 } });
  await failureOf(verify('x'));
  await close();
  await failureOf(verify('x'));
  expect(reports.lost.length).toBeLessThanOrEqual(1);
});
