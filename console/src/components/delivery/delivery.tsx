import { useQuery } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type {
  DeliveryTrace,
  GetUserDevicePageData,
  GetUserDevicePageResponse,
  PushAttempt,
  StepAttempt,
  TraceUserNotificationData,
  UserDevice,
} from '../../api/schema.js';
import { useText } from '../../text/text.js';
import type { Texts } from '../../text/texts.js';
import { Badge, type BadgeKind } from '../badge/badge.js';
import { Icon } from '../icon/icon.js';
import { Loaded } from '../state/state.js';
import { Time, UserText } from '../text/values.js';
import styles from './delivery.module.css';

/** The displayed name of a device: its model and system. */
export function deviceName({ make, model, os_name }: UserDevice): string | undefined {
  const name = [make, model].filter(Boolean).join(' ');
  return name === '' ? (os_name ?? undefined) : name;
}

/** The devices of a user, the latest first. */
export const userDevicesOf = (id: string, signal: AbortSignal) =>
  request<GetUserDevicePageData, GetUserDevicePageResponse>('GET', '/admin/v1/users/{id}/devices/page', {
    path: { id },
    query: { limit: 50 },
    signal,
  });

/** The delivery status of a notification, read again while something is on its way. */
export const useDelivery = (notification: string) =>
  useQuery({
    queryKey: ['trace', notification],
    queryFn: ({ signal }) =>
      request<TraceUserNotificationData, DeliveryTrace>('GET', '/admin/v1/notifications/{id}/deliveries', {
        path: { id: notification },
        signal,
      }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isPending(data) ? 2000 : false),
  });

/** Whether a push is prepared, or a message waits for its sender. A step that is due later is not waited for. */
const isPending = ({ push, email, sms }: DeliveryTrace) =>
  [...push, ...email, ...sms].some(
    ({ state, reason }) => state === 'queued' || state === 'held' || reason === 'being_prepared',
  );

/** The badge of each state. A device without a push has none. */
const badges: Readonly<Record<PushAttempt['state'], BadgeKind | undefined>> = {
  sent: 'good',
  queued: 'waiting',
  held: 'waiting',
  muted: 'muted',
  failed: 'bad',
  gone: 'bad',
  expired: 'off',
  dropped: 'off',
  none: undefined,
};

/** The badge of each state of a mail or an SMS. */
const stepBadges: Readonly<Record<StepAttempt['state'], BadgeKind>> = {
  sent: 'good',
  delivered: 'good',
  queued: 'waiting',
  held: 'waiting',
  digesting: 'waiting',
  none: 'until',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  skipped: 'off',
  expired: 'off',
  dropped: 'off',
};

/** The delivery status of a notification: the inbox, the pushes by outcome, each device, the mail and the SMS, and whether it was read. */
export function Delivery({ query }: { query: ReturnType<typeof useDelivery> }) {
  return <Loaded query={query}>{(trace) => <Steps trace={trace} />}</Loaded>;
}

function Steps({ trace }: { trace: DeliveryTrace }) {
  const { delivery: text } = useText();
  const { data: devices } = useQuery({
    queryKey: ['user', trace.user_id, 'devices'],
    queryFn: ({ signal }) => userDevicesOf(trace.user_id, signal),
  });
  const names = new Map(devices?.data.map((device) => [device.id, deviceName(device)]));
  return (
    <>
      <p>{outcomeText(trace, text)}</p>
      <ul className={styles.steps}>
        <li>
          <Icon name="circleCheck" className={styles.good} />
          <div>
            {text.listed}
            <div className={styles.quiet}>{text.streams}</div>
          </div>
          <Time value={trace.listed_at} />
        </li>
        {trace.push.map((push) => (
          <Push key={`${push.device_id} ${push.created_at}`} push={push} name={names.get(push.device_id)} />
        ))}
        {(['email', 'sms'] as const).map((channel) => (
          <Messages key={channel} channel={channel} attempts={trace[channel]} />
        ))}
        <li>
          <Icon name={trace.is_read ? 'eye' : 'circleMinus'} className={trace.is_read ? styles.good : styles.idle} />
          <div>{trace.is_read ? text.read : text.unread}</div>
        </li>
      </ul>
    </>
  );
}

/** The pushes by outcome: "2 accepted · 1 muted". */
function outcomeText({ push }: DeliveryTrace, text: Texts['delivery']): string {
  const pushes = push.filter(({ state }) => state !== 'none');
  if (push.length === 0) return text.noDevice;
  if (pushes.length === 0) return text.noPush;
  const states = [...new Set(pushes.map(({ state }) => state))];
  return states
    .map((state) => text.outcomes[state](pushes.filter((attempt) => attempt.state === state).length))
    .join(' · ');
}

function Push({ push, name }: { push: PushAttempt; name: string | undefined }) {
  const { delivery: text } = useText();
  const badge = badges[push.state];
  return (
    <li>
      <Icon name="phone" />
      <div>
        <div className={styles.device}>
          <UserText strong text={name ?? text.unnamed} />
          {push.channel !== null && <span className={styles.quiet}>{text.channels[push.channel]}</span>}
          {badge === undefined ? (
            <span className={styles.quiet}>{text.states.none}</span>
          ) : (
            <Badge kind={badge}>{text.states[push.state]}</Badge>
          )}
        </div>
        {text.reasons[push.reason]}
        {push.error !== null && <div className={styles.bad}>{push.error}</div>}
        {push.attempts > 0 && <div className={styles.quiet}>{text.attempts(push.attempts)}</div>}
      </div>
      <Time value={push.updated_at} />
    </li>
  );
}

/** The message of a channel, or why there is none. */
function Messages({ channel, attempts }: { channel: StepAttempt['channel']; attempts: readonly StepAttempt[] }) {
  const { delivery: text, categories } = useText();
  const icon = <Icon name={channel === 'email' ? 'mail' : 'message'} />;
  const name = <span className={styles.strong}>{categories.channels[channel]}</span>;
  if (attempts.length === 0)
    return (
      <li>
        {icon}
        <div>
          <div className={styles.device}>
            {name}
            <span className={styles.quiet}>{text.steps.no}</span>
          </div>
          {text.steps.noStep}
        </div>
      </li>
    );
  return attempts.map(({ state, reason, error, attempts: tries, updated_at: at }) => (
    <li key={`${state} ${reason} ${at}`}>
      {icon}
      <div>
        <div className={styles.device}>
          {name}
          <Badge kind={stepBadges[state]}>{text.steps.states[state]}</Badge>
        </div>
        {reason === 'not_due' && (
          <div>
            <Time value={at} isFull />
          </div>
        )}
        {text.steps.reasons[reason]}
        {error !== null && <div className={styles.bad}>{error}</div>}
        {tries > 0 && <div className={styles.quiet}>{text.attempts(tries)}</div>}
      </div>
      {reason !== 'not_due' && <Time value={at} />}
    </li>
  ));
}
