import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type Span as ApiSpan,
  type Context,
  createContextKey,
  defaultTextMapGetter,
  defaultTextMapSetter,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent, W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { waitAtMost } from '../../lib/time-limit.js';
import type { Span, SpanAttributes, Tracing } from '../../lib/tracing.js';
import { createSampler, type SamplerName } from './sampler.js';

/** Tracing that runs. */
export interface RunningTracing {
  readonly tracing: Tracing;
  /** Exports the last spans. It takes at most three seconds. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** The base URL of an OTLP receiver: spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly headers: Readonly<Record<string, string>>;
  /** Describes this process. */
  readonly resource: SpanAttributes;
  readonly sampler: SamplerName;
  /** From 0 to 1: the share of traces that a sampler with a ratio records. */
  readonly ratio: number;
  /** The maximum time in milliseconds between the end of a span and its export. Until then, more spans join its batch. */
  readonly delay: number;
  /** Called for the first failed export, and for the first one after a success. */
  readonly onError: (error: Error) => void;
}

/** Milliseconds. An export that fails is repeated within its limit. `close` is part of the 30 s of a shutdown. */
const timeouts = { export: 10_000, close: 3000 };

/**
 * Creates tracing with OpenTelemetry. It registers nothing globally: each service of a process has its own. Spans wait
 * in a queue of limited length, so an unavailable receiver loses spans, but never delays a request.
 */
export async function createTracing(options: TracingOptions): Promise<RunningTracing> {
  const resource = defaultResource().merge(
    resourceFromAttributes({ 'service.instance.id': randomUUID(), ...options.resource }),
  );
  const exporter = reportFailures(await createExporter(options), options.onError);
  const provider = new TracerProvider({
    resource,
    sampler: createSampler(options.sampler, options.ratio),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, exportTimeoutMillis: timeouts.export, scheduledDelayMillis: options.delay }),
    ],
  });
  return {
    tracing: tracingOf(provider),
    close: () => waitAtMost(timeouts.close, provider.shutdown()),
  };
}

async function createExporter({ endpoint, protocol, headers }: TracingOptions): Promise<SpanExporter> {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: timeouts.export });
}

/** Logs once when the receiver becomes unavailable, and not for each failed export. */
function reportFailures(exporter: SpanExporter, onError: (error: Error) => void): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing) onError(result.error ?? new Error('the export failed'));
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

const kinds = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
/** The HTTP methods that spans are named after. Another method is `_OTHER`, because a client may send any word. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function tracingOf(provider: TracerProvider): Tracing {
  const tracer = provider.getTracer('postern');
  const contexts = new AsyncLocalStorage<Context>();
  const propagator = new W3CTraceContextPropagator();
  const current = () => contexts.getStore() ?? ROOT_CONTEXT;
  const isRecorded = (span: ApiSpan | undefined): span is ApiSpan => span?.isRecording() === true;

  return {
    startRequest(requestMethod, headers) {
      const method = methods.includes(requestMethod) ? requestMethod : '_OTHER';
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const attributes = { 'http.request.method': method };
      const name = method === '_OTHER' ? 'HTTP' : method;
      return new StartedSpan(tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent), parent);
    },
    startJob(name, cause, attributes) {
      const causeContext = cause == null ? null : parseTraceParent(cause);
      const links = isLinkable(causeContext) ? [{ context: causeContext }] : [];
      return new StartedSpan(tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes, links }, ROOT_CONTEXT));
    },
    startChild(name, kind, attributes) {
      const context = current();
      if (!isRecorded(trace.getSpan(context))) return undefined;
      return new StartedSpan(tracer.startSpan(name, { kind: kinds[kind], attributes }, context), context);
    },
    runIn: (span, work) => (span instanceof StartedSpan ? contexts.run(span.context, work) : work()),
    cause() {
      const origin = current().getValue(originKey);
      return origin instanceof StartedSpan ? origin.traceparent() : undefined;
    },
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(current(), headers, defaultTextMapSetter);
      return headers;
    },
  };
}

const isLinkable = (context: SpanContext | null): context is SpanContext =>
  context !== null && isSpanContextValid(context);

/** The key under which a context has the span of its request or job. */
const originKey = createContextKey('the request or job');

class StartedSpan implements Span {
  readonly context: Context;

  constructor(
    private readonly span: ApiSpan,
    parent: Context = ROOT_CONTEXT,
  ) {
    const context = trace.setSpan(parent, span);
    this.context = context.getValue(originKey) === undefined ? context.setValue(originKey, this) : context;
  }
  /** W3C Trace Context, 3.2. Undefined if the span is not recorded. */
  traceparent(): string | undefined {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`;
  }
  rename(name: string): void {
    this.span.updateName(name);
  }
  set(attributes: SpanAttributes): void {
    this.span.setAttributes(attributes);
  }
  fail(type: string): void {
    this.span.setAttribute('error.type', type);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }
  end(): void {
    this.span.end();
  }
}
