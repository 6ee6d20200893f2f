import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type { GetStatisticsData, GetStatisticsResponse } from '../../api/schema.js';

/**
 * The time spans of the overview: the length of each and of a step, in milliseconds, and the name of the step in the
 * API. `back`: how much earlier the span began that is shown for comparison.
 */
export const spans = {
  '1h': { length: 3_600_000, step: 60_000, name: '1m', back: 86_400_000 },
  '24h': { length: 86_400_000, step: 900_000, name: '15m', back: 86_400_000 },
  '7d': { length: 604_800_000, step: 3_600_000, name: '1h', back: 604_800_000 },
  '30d': { length: 2_592_000_000, step: 21_600_000, name: '6h', back: 2_592_000_000 },
} as const;
export type Span = keyof typeof spans;

export const spanOf = (text: string | undefined): Span =>
  Object.keys(spans).includes(text ?? '') ? (text as Span) : '24h';

const metricNames = [
  'logins.approved',
  'logins.failed',
  'locks',
  'devices.new',
  'sessions.verified',
  'streams.open',
  'queue.age',
  'messages.sent',
  'messages.failed',
  'messages.expired',
  'messages.delivered',
  'messages.undelivered',
  'pushes.sent',
  'pushes.failed',
  'pushes.gone',
  'pushes.expired',
  'pushes.dropped',
];

type Metric = GetStatisticsResponse['metrics'][number];

/** The statistics of a span. A metric without events is 0 and never missing. */
export interface Figures {
  readonly times: readonly string[];
  readonly step: number;
  metric(name: string): Metric;
  /** Approved logins of the span before. */
  readonly before: Metric | undefined;
}

const empty: Metric = { metric: 'locks', kind: 'counter', total: 0, values: [], labels: [] };

function read(
  metrics: readonly string[],
  span: Span,
  shift: number,
  signal: AbortSignal,
): Promise<GetStatisticsResponse> {
  const { length, step, name } = spans[span];
  // The running step is the last one. Whole steps keep the URL the same for all reads of a step.
  const end = Math.ceil(Date.now() / step) * step - shift;
  const query = {
    metric: metrics.join(','),
    from: new Date(end - length + step).toISOString(),
    to: new Date(end).toISOString(),
    step: name,
  };
  return request<GetStatisticsData, GetStatisticsResponse>('GET', '/admin/v1/stats', { query, signal });
}

/** The statistics of a span, read again every 10 seconds: as often as the service writes them. */
export function useFigures(span: Span) {
  return useQuery({
    queryKey: ['statistics', span],
    queryFn: async ({ signal }): Promise<Figures> => {
      const [now, before] = await Promise.all([
        read(metricNames, span, 0, signal),
        read(['logins.approved'], span, spans[span].back, signal),
      ]);
      return {
        times: now.buckets,
        step: spans[span].step,
        metric: (name) => now.metrics.find(({ metric }) => metric === name) ?? empty,
        before: before.metrics[0],
      };
    },
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });
}

/** The outcomes of messages and pushes in the span, by channel. */
export function channelsOf({ metric }: Figures) {
  const totalOf = (metrics: readonly string[], channel: string) =>
    metrics.reduce((sum, name) => sum + (metric(name).labels.find(({ label }) => label === channel)?.total ?? 0), 0);
  const messages = { sent: ['messages.sent'], failed: ['messages.failed', 'messages.expired'], others: [] };
  const pushes = {
    sent: ['pushes.sent'],
    failed: ['pushes.failed', 'pushes.expired'],
    others: ['pushes.gone', 'pushes.dropped'],
  };
  return [
    ...['sms', 'email'].map((channel) => ({ channel, ...messages })),
    ...['apns', 'fcm', 'web_push'].map((channel) => ({ channel, ...pushes })),
  ].map(({ channel, sent, failed, others }) => ({
    channel,
    isMessage: sent === messages.sent,
    sent: totalOf(sent, channel),
    failed: totalOf(failed, channel),
    others: totalOf(others, channel),
  }));
}
