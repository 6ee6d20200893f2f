import { useQuery } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type { GetOutboxPageData, GetOutboxPageResponse, GetSystemData, GetSystemResponse } from '../../api/schema.js';
import { useCan } from '../../app/operator.js';
import { Icon } from '../../components/icon/icon.js';
import { Problem } from '../../components/state/state.js';
import { Time } from '../../components/text/values.js';
import { useText } from '../../text/text.js';
import styles from './overview.module.css';

const day = 86_400_000;

/** Messages that failed in the last day. */
export function useFailures() {
  return useQuery({
    queryKey: ['outbox', 'failed'],
    queryFn: async ({ signal }) => {
      // By the minute, so that the address is the same for all reads of a minute.
      const since = new Date(Math.floor((Date.now() - day) / 60_000) * 60_000).toISOString();
      const filter = `state:in:failed;expired;undelivered,updated_at:gte:${since}`;
      const call = { query: { filter, limit: 1, sort: 'updated_at:desc' }, signal };
      return request<GetOutboxPageData, GetOutboxPageResponse>('GET', '/admin/v1/outbox/page', call);
    },
    refetchInterval: 30_000,
  });
}

/** The providers of SMS that fail now. */
function useFailingProviders() {
  const query = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => request<GetSystemData, GetSystemResponse>('GET', '/admin/v1/system', { signal }),
    refetchInterval: 30_000,
    enabled: useCan()('admin'),
  });
  return (query.data?.providers ?? []).flatMap(({ name, failing_since, last_error }) =>
    failing_since === null ? [] : [{ name, since: failing_since, error: last_error ?? '' }],
  );
}

/** What needs a person. Nothing: one green line. */
export function Warnings() {
  const { overview } = useText();
  const query = useFailures();
  const { data, error, refetch, dataUpdatedAt } = query;
  const last = data?.data[0];
  const failing = useFailingProviders();
  return (
    <section aria-label={overview.warnings} className={styles.warnings}>
      {error !== null && data === undefined && (
        <Problem what={overview.messagesFailed} error={error} onRetry={() => void refetch()} />
      )}
      {last !== undefined && data !== undefined && (
        <div className={styles.warning} role="status">
          <Icon name="circleCross" className={styles.bad} />
          <p>
            <strong>{overview.failedMessages(data.page.total, !data.page.total_is_exact)}</strong>{' '}
            {overview.lastFailure(last.kind, last.last_error ?? last.state)} <Time at={last.updated_at} />
          </p>
        </div>
      )}
      {failing.map(({ name, since, error: reason }) => (
        <div key={name} className={styles.warning} role="status">
          <Icon name="circleCross" className={styles.bad} />
          <p>
            <strong>{overview.failingProvider(name)}</strong> {reason} <Time at={since} />
          </p>
        </div>
      ))}
      {data !== undefined && last === undefined && failing.length === 0 && (
        <div className={styles.warning}>
          <Icon name="circleCheck" className={styles.good} />
          <p>
            <strong>{overview.allWell}</strong>{' '}
            <span className={styles.quiet}>
              {overview.checked} <Time at={new Date(dataUpdatedAt).toISOString()} />
            </span>
          </p>
        </div>
      )}
    </section>
  );
}
