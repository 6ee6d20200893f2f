import { createHistogram, type Histogram, type HistogramValues } from './histogram.js';

/** A request that was answered, for the metrics and the access log. It holds no token and no value of the URL. */
export interface AnsweredRequest {
  readonly requestId: string;
  /** `unknown` if Node could not read the request. */
  readonly method: string;
  /** The template of the route, such as `/v1/devices/:id`; `unmatched` if there is no such route. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds from the arrival of its headers to the end of its answer; undefined if it was refused unread. */
  readonly duration: number | undefined;
  /** Whether the answer was an event stream. */
  readonly isStream: boolean;
  /** The user of the request's session, if it has one. An operator who calls the admin API too. */
  readonly userId: string | undefined;
  /** The id of the API key, or `environment` for ADMIN_API_KEY. */
  readonly keyId: string | undefined;
  /** The address of the client. Undefined if no request was read. */
  readonly address: string | undefined;
}

/** Called for every answered request. It must be fast and must not throw. */
export type RequestObserver = (answered: AnsweredRequest) => void;

/** What a process measures for its metrics in the Prometheus format, in addition to its counters (decision 34). */
export interface Meters {
  /** Counts the request, and its duration unless it is a stream, whose length says nothing about the service. */
  readonly requestAnswered: RequestObserver;
  sessionChecked(result: SessionCheckResult): void;
  readonly passwordHash: Histogram;
  /** How long after they were due providers have accepted notifications. */
  readonly deliveryLag: Histogram;
}

/** `unavailable`: the database did not answer. */
export type SessionCheckResult = 'valid' | 'invalid' | 'unavailable';

/** Meters that can be read. */
export interface MeterStore extends Meters {
  /** The requests of each method and route, with their number by status. */
  requests(): RequestValues[];
  sessionChecks(): Readonly<Record<SessionCheckResult, number>>;
}

export interface RequestValues {
  readonly method: string;
  readonly route: string;
  readonly statuses: ReadonlyMap<number, number>;
  readonly durations: HistogramValues;
}

/** Upper bounds in seconds: requests take from under 1 ms to the limit of 15 s. */
const requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
/** Up to the hours of a provider that is down. */
const lagBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200];
const hashBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface RequestSeries {
  readonly statuses: Map<number, number>;
  readonly durations: Histogram;
}

/** Creates meters at zero. */
export function createMeters(): MeterStore {
  const routes = new Map<string, Map<string, RequestSeries>>();
  const sessionChecks = { valid: 0, invalid: 0, unavailable: 0 };

  function seriesOf(method: string, route: string): RequestSeries {
    let methods = routes.get(route);
    if (methods === undefined) {
      methods = new Map();
      routes.set(route, methods);
    }
    let series = methods.get(method);
    if (series === undefined) {
      series = { statuses: new Map(), durations: createHistogram(requestBounds) };
      methods.set(method, series);
    }
    return series;
  }

  return {
    requestAnswered({ method, route, status, duration, isStream }) {
      const { statuses, durations } = seriesOf(method, route);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (!isStream && duration !== undefined) durations.observe(duration / 1000);
    },
    sessionChecked(result) {
      sessionChecks[result] += 1;
    },
    passwordHash: createHistogram(hashBounds),
    deliveryLag: createHistogram(lagBounds),
    requests: () =>
      [...routes].flatMap(([route, methods]) =>
        [...methods].map(([method, { statuses, durations }]) => ({
          method,
          route,
          statuses,
          durations: durations.read(),
        })),
      ),
    sessionChecks: () => ({ ...sessionChecks }),
  };
}
