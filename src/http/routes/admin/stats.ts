import { Type } from 'typebox';
import {
  maxBuckets,
  metricNames,
  metrics,
  Statistics,
  StatisticsStep,
  stepNames,
} from '../../../contract/operation/statistics.js';
import { choiceError, type FieldError, throwIfErrors } from '../../../lib/problem.js';
import { type Instant, parseTime, timeFormat } from '../../../lib/times.js';
import type { StatisticsRequest, Statistics as StoredStatistics } from '../../../statistics/statistics.js';
import type { QueryParameters } from '../../requests/parameters.js';
import type { App } from '../../requests/route.js';

const parameters = ['metric', 'from', 'to', 'step'] as const;

const query = Type.Object({
  metric: Type.String({
    description: `One or more metrics, joined by a comma: ${metricNames.join(', ')}.`,
    examples: ['logins.approved,logins.failed'],
  }),
  from: Type.Optional(
    Type.String({
      description:
        'Where the first bucket starts, rounded down to the step: YYYY-MM-DD HH:MM:SS or RFC 3339. The default is a day before `to`.',
      examples: ['2017-10-19 00:00:00'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      description: 'Where the last bucket ends, rounded up to the step. The default is now.',
      examples: ['2017-10-19T17:02:03Z'],
    }),
  ),
  step: Type.Optional(
    Type.Unsafe<string>({
      ...StatisticsStep,
      description: `The length of a bucket. Steps under an hour reach back 2 days, steps under a day 90 days. An answer has at most ${maxBuckets} buckets. The default is the shortest step with at most 300 buckets.`,
    }),
  ),
});

const about = Object.entries(metrics).map(([name, metric]) => {
  const labels = 'labels' in metric ? `. Labels: ${metric.labels}` : '';
  return `- \`${name}\` (${metric.kind}): ${metric.about}${labels}.`;
});

/** A route with the sums of all instances over time. They name no user, so every scope that reads users may see them. */
export function adminStatisticsRoutes(app: App, { statistics }: { statistics: StoredStatistics }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/stats',
    schema: {
      operationId: 'getStatistics',
      summary: 'Get statistics',
      description: `Sums of all instances, in buckets of UTC. Each instance counts in memory and writes its counts every 10 seconds, and when it stops. Metrics:\n\n${about.join('\n')}`,
      querystring: query,
      response: { 200: { ...Statistics, description: 'The values of each metric in each bucket.' } },
    },
    config: { access: { scope: 'users:read' }, checkQuery: readStatisticsQuery },
    handler: (request) => statistics.read(readStatisticsQuery(request.query as QueryParameters)),
  });
}

/** @throws Problem `validation_failed` with an error for each invalid parameter */
function readStatisticsQuery(query: QueryParameters): StatisticsRequest {
  const errors: FieldError[] = [];
  const once = (field: (typeof parameters)[number]): string | undefined => {
    const value = query[field];
    if (value === undefined || typeof value === 'string') return value;
    errors.push({ field, code: 'repeated_parameter' });
    return undefined;
  };
  const time = (field: 'from' | 'to'): Instant | undefined => {
    const text = once(field);
    const read = text === undefined ? undefined : parseTime(text);
    if (text !== undefined && read === undefined) {
      errors.push({ field, code: 'invalid_since', params: { format: timeFormat } });
    }
    return read;
  };
  const names = query.metric === undefined ? undefined : (once('metric') ?? '').split(',');
  if (names === undefined) errors.push({ field: 'metric', code: 'required' });
  const chosen = (names ?? []).flatMap((name) => metricNames.find((metric) => metric === name) ?? []);
  if (typeof query.metric === 'string') {
    if (chosen.length < (names ?? []).length) errors.push(choiceError('metric', metricNames));
    else if (new Set(chosen).size < chosen.length) errors.push({ field: 'metric', code: 'duplicate_items' });
  }
  const [from, to] = [time('from'), time('to')];
  const stepText = once('step');
  const step = stepNames.find((name) => name === stepText);
  if (stepText !== undefined && step === undefined) errors.push(choiceError('step', stepNames));
  throwIfErrors(errors);
  return { metrics: chosen, from, to, step };
}
