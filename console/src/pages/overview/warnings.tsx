import { useQuery } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type { GetOutboxPageData, GetOutboxPageResponse } from '../../api/schema.js';
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
      const filter = `state:in:failed;expired,updated_at:gte:${since}`;
      const call = { query: { filter, limit: 1, sort: 'updated_at:desc' }, signal };
      return request<GetOutboxPageData, GetOutboxPageResponse>('GET', '/admin/v1/outbox/page', call);
    },
    refetchInterval: 30_000,
  });
}

/** What needs a person. Nothing: one green line. */
export function Warnings() {
  const { overview } = useText();
  const query = useFailures();
  const { data, error, refetch, dataUpdatedAt } = query;
  const last = data?.data[0];
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
      {data !== undefined && last === undefined && (
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
