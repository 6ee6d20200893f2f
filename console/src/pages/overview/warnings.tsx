import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { request } from '../../api/client.js';
import { connection, isWell } from '../../api/connection.js';
import { NetworkError } from '../../api/problem.js';
import type { GetOutboxPageData, GetOutboxPageResponse, GetSystemResponse } from '../../api/schema.js';
import { operatorQuery, useHasScope } from '../../app/operator.js';
import { Icon } from '../../components/icon/icon.js';
import { Problem } from '../../components/state/state.js';
import { Sentence, Time, useSentenceText } from '../../components/text/values.js';
import { useStore } from '../../lib/store.js';
import { useFormats, useText } from '../../text/text.js';
import { systemQuery } from '../system/queries.js';
import styles from './overview.module.css';
import { channelsOf, type Figures } from './statistics.js';

const day = 86_400_000;

/** Messages that failed in the last day. */
export function useFailures() {
  return useQuery({
    queryKey: ['outbox', 'failed'],
    queryFn: async ({ signal }) => {
      // Rounded to the minute, so that all reads within a minute request the same URL.
      const since = new Date(Math.floor((Date.now() - day) / 60_000) * 60_000).toISOString();
      const filter = `state:in:failed;expired;undelivered,updated_at:gte:${since}`;
      const call = { query: { filter, limit: 1, sort: 'updated_at:desc' }, signal };
      return request<GetOutboxPageData, GetOutboxPageResponse>('GET', '/admin/v1/outbox/page', call);
    },
    refetchInterval: 30_000,
  });
}

type Provider = GetSystemResponse['providers'][number];

/**
 * The configured providers, with the names that people know. Undefined until the answer has arrived. Only operators may
 * read them.
 */
export function useProviders() {
  const { overview } = useText();
  const nameOf = ({ channel, name }: Provider) =>
    channel === 'push' ? (overview.channelNames[name] ?? name) : overview.providerOf[channel](name);
  const query = useQuery({ ...systemQuery, enabled: useHasScope()('admin') });
  return query.data?.providers.map((provider) => ({ ...provider, name: nameOf(provider) }));
}

/** The prefixes to which most codes go by SMS, the paused ones first. Only operators may read them. */
export function useSmsCodes() {
  const query = useQuery({ ...systemQuery, enabled: useHasScope()('admin') });
  return (query.data?.sms_codes ?? []).slice(0, 5);
}

/** The providers that fail now. */
function useFailingProviders() {
  return (useProviders() ?? []).flatMap(({ name, failing_since, last_error }) =>
    failing_since === null ? [] : [{ name, since: failing_since, error: last_error ?? '' }],
  );
}

/** The findings of the doctor. Only operators may read them. */
function useFindings(isAllowed: boolean) {
  return useQuery({
    ...systemQuery,
    select: ({ findings }) => {
      const found = findings.filter(({ level }) => level !== 'ok');
      const webhooks = found.filter(({ what }) => what === 'webhooks');
      // A disk that could not be read is another finding.
      const disks = found.filter(({ what, level }) => what === 'disk' && level === 'warn');
      const others = found.filter((finding) => !webhooks.includes(finding) && !disks.includes(finding));
      return { webhooks, disks, others };
    },
    enabled: isAllowed,
  });
}

/** The warnings of the overview, or one green line if there are none. */
export function Warnings() {
  const { overview, messages } = useText();
  const inWords = useSentenceText();
  const can = useHasScope();
  const { data, error, refetch, dataUpdatedAt } = useFailures();
  const last = data?.data[0];
  const failing = useFailingProviders();
  const { webhooks = [], disks = [] } = useFindings(can('admin')).data ?? {};
  // A network error with earlier data is not shown here: the bar at the top shows it.
  const hasError = error !== null && !(error instanceof NetworkError && data !== undefined);
  return (
    <section aria-label={overview.warnings} className={styles.warnings}>
      {hasError && <Problem message={overview.messagesFailed} error={error} onRetry={() => void refetch()} />}
      {last !== undefined && data !== undefined && (
        <div className={styles.warning} role="status">
          <Icon name="circleCross" className={styles.bad} />
          <p>
            <Link to="/messages">
              <strong>{overview.failedMessages(data.page.total, !data.page.total_is_exact)}</strong>
            </Link>{' '}
            <Sentence
              text={overview.lastFailure(
                messages.kinds[last.kind] ?? last.kind,
                last.last_error ?? (messages.states[last.state] ?? last.state).toLocaleLowerCase(),
              )}
            />{' '}
            <Time value={last.updated_at} />
          </p>
        </div>
      )}
      {failing.map(({ name, since, error: reason }) => (
        <div key={name} className={styles.warning} role="status">
          <Icon name="circleCross" className={styles.bad} />
          <p>
            <strong>{overview.failingProvider(name)}</strong> <Sentence text={reason} /> <Time value={since} />
          </p>
        </div>
      ))}
      {webhooks[0] !== undefined && (
        <div className={styles.warning} role="status">
          <Icon name="circleCross" className={styles.bad} />
          <p className={styles.line}>
            <Link to="/webhooks">
              <strong>{overview.failingWebhooks(webhooks.length)}</strong>
            </Link>{' '}
            <bdi title={inWords(webhooks[0].detail)}>
              <Sentence text={webhooks[0].detail} />
            </bdi>
          </p>
        </div>
      )}
      {disks.map(({ detail }) => (
        <div key={detail} className={styles.warning} role="status">
          <Icon name="circleCross" className={styles.bad} />
          <p className={styles.line}>
            <Link to="/system">
              <strong>{overview.diskNearlyFull}</strong>
            </Link>{' '}
            <bdi title={inWords(detail)}>
              <Sentence text={detail} />
            </bdi>
          </p>
        </div>
      ))}
      {data !== undefined && !hasError && (can('admin') || last === undefined) && (
        <Findings
          isAllowed={can('admin')}
          hasFailures={last !== undefined || failing.length > 0 || webhooks.length > 0 || disks.length > 0}
          checkedAt={dataUpdatedAt}
        />
      )}
    </section>
  );
}

interface FindingsProps {
  readonly isAllowed: boolean;
  /** Another line says that messages, providers or webhooks have failed, or a disk is nearly full. */
  readonly hasFailures: boolean;
  /** When the messages were read. */
  readonly checkedAt: number;
}

/** One line, also while the doctor has not answered: the overview does not wait for it, and nothing moves when it answers. */
function Findings({ isAllowed, hasFailures, checkedAt }: FindingsProps) {
  const { overview } = useText();
  const inWords = useSentenceText();
  const state = useStore(connection);
  const { data, error } = useFindings(isAllowed);
  const { isPending: awaitsRole } = useQuery(operatorQuery);
  const worstFinding = data?.others.find(({ level }) => level === 'fail') ?? data?.others[0];
  if (worstFinding !== undefined && data !== undefined) {
    return (
      <div key="findings" className={styles.warning} role="status">
        <Icon
          name={worstFinding.level === 'fail' ? 'circleCross' : 'warning'}
          className={worstFinding.level === 'fail' ? styles.bad : styles.warn}
        />
        <p className={styles.line}>
          <Link to="/system">
            <strong>{overview.findings(data.others.length)}</strong>
          </Link>{' '}
          <bdi title={inWords(worstFinding.detail)}>
            {worstFinding.what}: <Sentence text={worstFinding.detail} />
          </bdi>
        </p>
      </div>
    );
  }
  // An earlier good result may be out of date.
  const isLost = error !== null || !isWell(state);
  const isUnknown = awaitsRole || isLost || (isAllowed && data === undefined);
  const textOf = () => {
    if (isUnknown) return isLost ? overview.checksFailed : overview.checking;
    return hasFailures ? overview.systemWell : overview.allWell;
  };
  // A new key replaces the whole element. So the browser does not count it as a layout shift.
  return (
    <div key={textOf()} className={styles.warning}>
      <Icon name={isUnknown ? 'clock' : 'circleCheck'} className={isUnknown ? styles.quiet : styles.good} />
      <p className={styles.line}>
        <strong>{textOf()}</strong>{' '}
        {!isUnknown && (
          <span className={styles.quiet}>
            {overview.checked} <Time value={new Date(checkedAt).toISOString()} />
          </span>
        )}
      </p>
    </div>
  );
}

/** Fewer failures, or a smaller part of all, are usual: wrong numbers, and phones that are off. */
const failureLimit = { count: 3, part: 0.1 };

/** The channels whose provider fails often. */
export function FailingChannels({ figures }: { figures: Figures }) {
  const { overview } = useText();
  const { number } = useFormats();
  const failing = channelsOf(figures).filter(
    ({ sent, failed }) => failed >= failureLimit.count && failed / (sent + failed) >= failureLimit.part,
  );
  if (failing.length === 0) return null;
  return (
    <section aria-label={overview.channels} className={styles.warnings}>
      {failing.map(({ channel, isMessage, sent, failed }) => (
        <div key={channel} className={styles.warning} role="status">
          <Icon name="warning" className={styles.warn} />
          <p>
            <strong>
              {isMessage ? (
                <Link to="/messages" search={{ state: 'failed', channel }}>
                  {overview.channelNames[channel]}
                </Link>
              ) : (
                overview.channelNames[channel]
              )}
            </strong>{' '}
            {overview.failing(number(failed), number(sent + failed))}
          </p>
        </div>
      ))}
    </section>
  );
}
