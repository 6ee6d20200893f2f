import type { Config } from '../../config/config.js';
import type { Logger } from '../base/log.js';
import type { RunningTracing } from './open-telemetry.js';

/** Starts tracing if it is configured. Only then are the packages of OpenTelemetry loaded: they take 17 MB. */
export async function startTracing(
  config: Config,
  log: Logger,
  instance: { readonly version: string; readonly worker: number | undefined },
): Promise<RunningTracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import('./open-telemetry.js');
  return createTracing({
    endpoint,
    protocol: config.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS?.revealPairs() ?? {},
    resource: {
      ...config.OTEL_RESOURCE_ATTRIBUTES,
      'service.name': config.OTEL_SERVICE_NAME ?? config.OTEL_RESOURCE_ATTRIBUTES?.['service.name'] ?? 'postern',
      'service.version': instance.version,
      'process.pid': process.pid,
      ...(instance.worker !== undefined && { 'postern.worker': instance.worker }),
    },
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio,
    delay: config.OTEL_BSP_SCHEDULE_DELAY,
    onError: (error) => log.warn({ err: error }, 'spans could not be exported and are lost; requests continue'),
  });
}
