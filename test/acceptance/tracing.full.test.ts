import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp/receiver.js';
import { BUILD_TIMEOUT, buildService, startTestService } from '../support/process.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** Runs a service, sends requests to it, and stops it. @returns the files of OpenTelemetry that it has loaded */
async function filesOfTelemetry(env: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-coverage-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const service = await startTestService({ NODE_V8_COVERAGE: folder, ...env });
  await Promise.all(Array.from({ length: 20 }, () => fetch(`${service.url}/livez`)));
  expect(await service.stop()).toBe(0);
  const reports = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  const urls = reports.flatMap((text) =>
    (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
  );
  expect(urls.filter((url) => url.includes('/fastify/')).length).toBeGreaterThan(0);
  return urls.filter((url) => url.includes('/@opentelemetry/') || url.includes('/open-telemetry.js'));
}

async function startReceiver(): Promise<OtlpReceiver> {
  const receiver = await startOtlpReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

test('without a receiver, a process loads nothing of OpenTelemetry', async () => {
  expect(await filesOfTelemetry({})).toEqual([]);
});

test('with a receiver, workers export the last spans when they stop, and say which worker they are', async () => {
  const receiver = await startReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '60000', WORKERS: '2' };
  expect((await filesOfTelemetry(env)).length).toBeGreaterThan(0);
  expect(receiver.errors).toEqual([]);
  const requests = receiver.spans.filter(({ name }) => name === 'GET /livez');
  expect(requests.length).toBe(20);
  for (const { resource } of requests) expect([1, 2]).toContain(resource['postern.worker']);
});
