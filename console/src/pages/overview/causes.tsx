import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { request } from '../../api/client.js';
import type { GetSuppressionPageData, GetSuppressionPageResponse } from '../../api/schema.js';
import { useHasScope } from '../../app/operator.js';
import { Dot } from '../../components/badge/badge.js';
import { Panel } from '../../components/panel/panel.js';
import { Bar } from '../../components/plot/bar.js';
import { Plot } from '../../components/plot/plot.js';
import { Empty } from '../../components/state/state.js';
import { Num, useSentenceText } from '../../components/text/values.js';
import { useFormats, useText } from '../../text/text.js';
import styles from './overview.module.css';
import { channelsOf, type Figures, type Span, spans } from './statistics.js';
import { useProviders, useSmsCodes } from './warnings.js';

/** The type of event that a cause is recorded as. Causes that are not recorded open no list. */
const eventTypes: Readonly<Record<string, string>> = {
  wrong_secret: 'login.rejected',
  wrong_second_factor: 'login.rejected',
  locked_by_guesses: 'login.refused_locked',
  locked_by_operator: 'login.refused_locked',
};

/** The begin of a span, to the minute, so that it is the same in each render. */
const startOf = (span: Span) => new Date(Math.floor((Date.now() - spans[span].length) / 60_000) * 60_000).toISOString();

/** Why logins were refused, the most frequent cause first. A cause opens its events. */
export function Causes({ figures: { metric }, span }: { figures: Figures; span: Span }) {
  const { overview } = useText();
  const { number } = useFormats();
  const can = useHasScope();
  const failed = metric('logins.failed');
  const causes = [...failed.labels].sort((one, other) => other.total - one.total);
  const from = startOf(span);
  return (
    <Panel title={overview.causes} note={number(failed.total)}>
      {causes.length === 0 ? (
        <Empty title={overview.noRefusals}>{overview.noRefusalsWhy}</Empty>
      ) : (
        <ul className={styles.causes}>
          {causes.map(({ label, total }) => {
            const name = overview.causeNames[label] ?? label;
            const type = eventTypes[label];
            return (
              <li key={label}>
                <div className={styles.cause}>
                  {type !== undefined && can('admin') ? (
                    <Link to="/audit" search={{ type, from }}>
                      {name}
                    </Link>
                  ) : (
                    <span>{name}</span>
                  )}
                  <Num value={total} />
                </div>
                <Bar parts={[{ tone: 'bad', value: total }]} total={causes[0]?.total ?? 1} />
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** The outcomes of messages and pushes, by channel. */
export function Channels({ figures, span }: { figures: Figures; span: Span }) {
  const { overview } = useText();
  const can = useHasScope();
  const rows = channelsOf(figures);
  return (
    <Panel
      hasNoPadding
      title={overview.channels}
      footer={can('admin') ? <Providers {...{ figures, span }} /> : undefined}
    >
      <table className={styles.channels}>
        <caption className="hidden-text">{overview.channels}</caption>
        <thead>
          <tr>
            <th scope="col">{overview.by}</th>
            <th scope="col">{overview.outcome}</th>
            <th scope="col">{overview.sent}</th>
            <th scope="col">{overview.notSent}</th>
            <th scope="col">{overview.failed}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ channel, isMessage, sent, failed, others }) => (
            <tr key={channel}>
              <th scope="row">
                {isMessage ? (
                  <Link to="/messages" search={{ state: 'all', channel }}>
                    {overview.channelNames[channel]}
                  </Link>
                ) : (
                  overview.channelNames[channel]
                )}
              </th>
              <td className={styles.outcome}>
                <Bar
                  parts={[
                    { tone: 'accent', value: sent },
                    { tone: 'idle', value: others },
                    { tone: 'bad', value: failed },
                  ]}
                />
              </td>
              <td>
                <Num value={sent} />
              </td>
              <td>
                <Num value={others} />
              </td>
              <td className={failed > 0 ? styles.bad : undefined}>
                <Num value={failed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/**
 * Whether each provider works, and how many messages have arrived. It is one line also before the answer of the
 * service, so that nothing moves when the answer arrives.
 */
function Providers({ figures: { metric }, span }: { figures: Figures; span: Span }) {
  const { overview } = useText();
  const { time, percent, number } = useFormats();
  const inWords = useSentenceText();
  const providers = useProviders();
  const smsCodes = useSmsCodes();
  const [arrived, lost] = [metric('messages.delivered').total, metric('messages.undelivered').total];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.providers} aria-label={overview.providers} tabIndex={0}>
      {/* They come first, because the line may be longer than its place. */}
      <Suppressed span={span} reason="bounces" filter="reason:in:hard_bounce;soft_bounces" />
      <Suppressed span={span} reason="complaints" filter="reason:complaint" />
      <span>{overview.providers}</span>
      {providers === undefined && <span>…</span>}
      {providers?.length === 0 && <span>{overview.noProvider}</span>}
      {providers?.map(({ name, failing_since: since, last_error: error }) => (
        <span
          key={name}
          title={error === null ? undefined : inWords(error)}
          className={since === null ? undefined : styles.bad}
        >
          <Dot tone={since === null ? 'good' : 'bad'} />{' '}
          {since === null ? overview.worksNow(name) : overview.failsSince(name, time(since))}
        </span>
      ))}
      {smsCodes.map(({ prefix, country, sent, used, paused_until: until }) => (
        <span key={prefix} className={until === null ? undefined : styles.bad}>
          {overview.smsCodes(`${country ?? ''} ${prefix}…`.trim(), number(used), number(sent))}
          {until !== null && ` ${overview.pausedUntil(time(until))}`}
        </span>
      ))}
      {arrived + lost > 0 && <span>{overview.arrived(percent(arrived / (arrived + lost)))}</span>}
    </section>
  );
}

interface SuppressedProps {
  readonly span: Span;
  readonly reason: 'bounces' | 'complaints';
  /** In the grammar of the API. */
  readonly filter: string;
}

/** How many mail addresses were suppressed in the span. Nothing if there are none. */
function Suppressed({ span, reason, filter }: SuppressedProps) {
  const { overview } = useText();
  const { number } = useFormats();
  const { data } = useQuery({
    queryKey: ['suppressions', 'since', span, reason],
    queryFn: ({ signal }) =>
      request<GetSuppressionPageData, GetSuppressionPageResponse>('GET', '/admin/v1/suppressions/page', {
        query: { limit: 1, since: startOf(span), filter },
        signal,
      }),
    refetchInterval: 60_000,
  });
  const total = data?.page.total ?? 0;
  if (total === 0) return null;
  return (
    <Link to="/suppressions" className={styles.bad}>
      {overview.suppressed[reason](number(total))}
    </Link>
  );
}

/** How long the oldest job of the queue has waited. */
export function Queue({ figures: { metric, times, step } }: { figures: Figures }) {
  const { overview } = useText();
  const { number } = useFormats();
  const { values, total } = metric('queue.age');
  return (
    <Panel title={overview.queue}>
      <Plot
        label={overview.queueLabel(number(total))}
        times={times}
        step={step}
        series={[
          {
            key: 'age',
            name: overview.oldestJob,
            note: overview.longest(number(total)),
            unit: 's',
            values,
            look: 'line',
            tone: 'accent',
            height: 190,
            ...(total > 5 && { limit: { value: 5, name: overview.tooLong } }),
          },
        ]}
      />
    </Panel>
  );
}
