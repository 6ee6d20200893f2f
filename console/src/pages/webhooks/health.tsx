import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Webhook, WebhookDelivery } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Panel } from '../../components/panel/panel.js';
import { Notice } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { None, Num, Time } from '../../components/text/values.js';
import { cx } from '../../lib/cx.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { latestQuery, stateOf } from './queries.js';
import styles from './webhooks.module.css';

const msPerDay = 86_400_000;
/** The number of days without success after which Postern disables a webhook. */
const daysToDisable = 5;

/** A warning about a webhook that fails or is disabled, with buttons. Nothing if the webhook works. */
export function Trouble({
  webhook,
  onReplay,
  onEnable,
}: {
  webhook: Webhook;
  onReplay: () => void;
  onEnable: () => void;
}) {
  const { webhooks: text } = useText();
  const { moment } = useFormats();
  const state = stateOf(webhook);
  const { failing_since: since, disabled_at: disabledAt, disabled_reason: reason, last_error: error } = webhook;
  if (state === 'failing' && since !== null) {
    const end = new Date(Date.parse(since) + daysToDisable * msPerDay).toISOString();
    return (
      <Notice
        kind="bad"
        live
        action={
          <Button kind="main" small onClick={onReplay}>
            {text.replaySince(moment(since))}
          </Button>
        }
      >
        <strong>{text.failingSince(moment(since), error ?? '')}</strong> {text.waitingNow(webhook.pending)}{' '}
        {text.disabledOn(moment(end))}
      </Notice>
    );
  }
  if (webhook.enabled || disabledAt === null) return null;
  return (
    <Notice
      kind={state === 'paused' ? 'info' : 'bad'}
      live
      action={
        <Button kind="main" small onClick={onEnable}>
          {text.enable}
        </Button>
      }
    >
      <strong>{text.disabledBecause[reason ?? 'operator'](moment(disabledAt))}</strong> {text.recordedMeanwhile}
    </Notice>
  );
}

/** Where events go, how the latest deliveries ended, and the settings. */
export function Health({ webhook }: { webhook: Webhook }) {
  const { webhooks: text } = useText();
  const { moment } = useFormats();
  const { url, pending, previous_secret_until: until } = webhook;
  return (
    <Panel hasNoPadding>
      <div className={styles.target}>
        <code>{url}</code>
        <Id hidesValue value={url} name={text.url} />
      </div>
      <Strip id={webhook.id} />
      <dl className={styles.cells}>
        <Cell name={text.waiting} note={pending === 0 ? text.nothingWaits : text.oneDay}>
          <span className={styles.figure}>{pending >= 1000 ? text.manyWaiting : <Num value={pending} />}</span>
        </Cell>
        <Cell name={text.lastSuccess}>
          <Time value={webhook.last_success_at} emptyText={text.never} />
        </Cell>
        <Cell name={text.lastFailure} note={webhook.last_failure_at === null ? undefined : webhook.last_error}>
          <Time value={webhook.last_failure_at} emptyText={text.never} />
        </Cell>
        <Cell name={text.events}>{webhook.events.join(', ')}</Cell>
        <Cell name={text.filter}>{webhook.filter === '' ? <None /> : <code>{webhook.filter}</code>}</Cell>
        <Cell name={text.payload}>{text.payloads[webhook.payload]}</Cell>
        <Cell name={text.secret} note={until === null ? undefined : text.bothSign(moment(until))}>
          {text.hidden}
        </Cell>
        <Cell name={text.created}>
          <Time value={webhook.created_at} />
        </Cell>
      </dl>
    </Panel>
  );
}

function Cell({ name, note, children }: { name: string; note?: string | null | undefined; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
      {note != null && note !== '' && <dd className={layout.quiet}>{note}</dd>}
    </div>
  );
}

type Outcome = 'delivered' | 'retried' | 'waits' | 'failed';
export const outcomeOf = ({ state, attempts }: Pick<WebhookDelivery, 'state' | 'attempts'>): Outcome =>
  state === 'pending' ? (attempts > 0 ? 'retried' : 'waits') : state;
const outcomes = ['delivered', 'retried', 'waits', 'failed'] as const satisfies readonly Outcome[];

/** The places of the strip: it is as wide with few deliveries as with many, so that a bar keeps its size. */
const stripLength = 90;

/** One bar for each of the latest deliveries, the oldest at the left. */
function Strip({ id }: { id: string }) {
  const { webhooks: text } = useText();
  const { data } = useQuery(latestQuery(id));
  const latest = (data?.data ?? []).toReversed();
  const counts = outcomes.map(
    (outcome) => [outcome, latest.filter((delivery) => outcomeOf(delivery) === outcome).length] as const,
  );
  const presentCounts = counts.filter(([, count]) => count > 0);
  const step = 100 / stripLength;
  return (
    <div className={styles.strip}>
      <svg
        height="28"
        role="img"
        aria-label={text.strip(
          latest.length,
          presentCounts.map(([outcome, count]) => `${text.outcomes[outcome]}: ${count}`).join(', '),
        )}
      >
        {Array.from({ length: stripLength }, (_, place) => {
          const delivery = latest[place - (stripLength - latest.length)];
          const outcome = delivery === undefined ? 'none' : outcomeOf(delivery);
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its position
              key={place}
              className={styles[`${outcome}Bar`]}
              x={`${place * step}%`}
              width={`${step * 0.8}%`}
              // Not by colour alone: a shorter bar did not arrive.
              y={outcome === 'delivered' || outcome === 'failed' ? 0 : 14}
              height={outcome === 'delivered' || outcome === 'failed' ? 28 : 14}
            />
          );
        })}
      </svg>
      <div className={styles.legend}>
        <span>{latest.length === 0 && data !== undefined ? text.noDeliveryYet : text.latest(latest.length)}</span>
        <span className={styles.keys}>
          {presentCounts.map(([outcome, count]) => (
            <span key={outcome}>
              <i className={cx(styles.key, styles[`${outcome}Key`])} aria-hidden="true" /> {text.outcomes[outcome]}{' '}
              <Num value={count} />
            </span>
          ))}
        </span>
        <span>{text.newest}</span>
      </div>
    </div>
  );
}
