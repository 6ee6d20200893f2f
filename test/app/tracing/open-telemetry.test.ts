import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../src/app/base/log.js';
import { startTracing } from '../../../src/app/tracing/tracing.js';
import { readConfig } from '../../../src/config/config.js';
import { inSpan } from '../../../src/lib/tracing.js';
import { eventually } from '../../support/eventually.js';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp/receiver.js';

const sampled = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const unsampled = sampled.replace(/01$/, '00');

async function start(endpoint: string, env: Readonly<Record<string, string>> = {}) {
  const logged: string[] = [];
  const log = createLog('info', { write: (line) => void logged.push(line) });
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '10', ...env });
  const running = await startTracing(config, log, { version: '1', worker: 2 });
  if (running === undefined) throw new Error('tracing is off');
  return { ...running, logged };
}

async function startReceiver(): Promise<OtlpReceiver> {
  const receiver = await startOtlpReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

test('without an endpoint there is no tracing', async () => {
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
  expect(await startTracing(config, createLog('silent'), { version: '1', worker: undefined })).toBeUndefined();
});

test.each([
  { sampler: 'always_on', recorded: ['none', 'sampled', 'unsampled'] },
  { sampler: 'always_off', recorded: [] },
  { sampler: 'traceidratio', ratio: '0', recorded: [] },
  { sampler: 'traceidratio', ratio: '1.0', recorded: ['none', 'sampled', 'unsampled'] },
  { sampler: 'parentbased_always_on', recorded: ['none', 'sampled'] },
  { sampler: 'parentbased_always_off', recorded: ['sampled'] },
  { sampler: 'parentbased_traceidratio', ratio: '0', recorded: ['sampled'] },
])('$sampler $ratio records requests of clients with the decisions $recorded', async ({ sampler, ratio, recorded }) => {
  const receiver = await startReceiver();
  const share = ratio === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: ratio };
  const protocol = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const { tracing, close } = await start(receiver.url, { OTEL_TRACES_SAMPLER: sampler, ...share, ...protocol });
  for (const [name, traceparent] of Object.entries({ none: undefined, sampled, unsampled })) {
    const span = tracing.startRequest('GET', { traceparent });
    span.rename(name);
    tracing.runIn(span, () => {
      expect(tracing.cause() !== undefined).toBe(recorded.includes(name));
      tracing.startChild('statement', 'client', {})?.end();
    });
    span.end();
  }
  await close();
  expect(receiver.errors).toEqual([]);
  expect(receiver.spans.map(({ name }) => name).toSorted()).toEqual(
    recorded.flatMap((name) => [name, 'statement']).toSorted(),
  );
});

test('a trace that is not recorded is passed on with the decision of the client', async () => {
  const receiver = await startReceiver();
  const { tracing, close } = await start(receiver.url);
  const headers = { traceparent: unsampled, tracestate: 'vendor=value' };
  const passedOn = tracing.runIn(tracing.startRequest('GET', headers), () => tracing.headers());
  await close();
  expect(passedOn).toEqual({
    traceparent: expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/),
    tracestate: 'vendor=value',
  });
});

test.each([
  ['an invalid header', 'x'.repeat(5000)],
  ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['two headers', `${sampled}, ${sampled}`],
])('%s begins a new trace', async (_, traceparent) => {
  const receiver = await startReceiver();
  const { tracing, close } = await start(receiver.url);
  tracing.startRequest('GET', { traceparent }).end();
  tracing.startRequest('BREW', {}).end();
  await close();
  expect(receiver.spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ['GET', undefined],
    ['HTTP', undefined],
  ]);
});

test('work that fails shows the code or the class of its error, and never its message', async () => {
  const receiver = await startReceiver();
  const { tracing, close } = await start(receiver.url);
  for (const error of [
    Object.assign(new Error('in the message'), { code: '22012' }),
    new TypeError('in the message'),
  ]) {
    const span = tracing.startJob('job', undefined, {});
    await expect(inSpan(tracing, span, () => Promise.reject(error))).rejects.toBe(error);
  }
  await close();
  expect(receiver.spans.map(({ hasFailed, attributes }) => [hasFailed, attributes['error.type']])).toEqual([
    [true, '22012'],
    [true, 'TypeError'],
  ]);
  expect(receiver.spans[0]?.resource).toMatchObject({ 'service.name': 'postern', 'postern.worker': 2 });
  expect(Buffer.concat(receiver.requests.map(({ body }) => body)).includes('in the message')).toBe(false);
});

test('an unavailable receiver is logged once, and delays neither requests nor the stop', async () => {
  const closed = await startOtlpReceiver();
  await closed.close();
  const { tracing, close, logged } = await start(closed.url);
  for (let sent = 0; sent < 5000; sent += 1) tracing.startRequest('GET', {}).end();
  await close();
  await eventually('the warning', async () => logged.find((line) => line.includes('spans could not be exported')));
  expect(logged).toHaveLength(1);
});

test('a receiver that never answers does not delay the stop', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { tracing, close } = await start(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  tracing.startRequest('GET', {}).end();
  await close();
});
