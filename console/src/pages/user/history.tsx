import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type {
  AuditEvent,
  GetUserActivityPageResponse,
  GetUserNotificationPageResponse,
  Notification,
  OutboxMessage,
  RetryMessageData,
} from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Button, ButtonLink } from '../../components/button/button.js';
import { Delivery, useDelivery } from '../../components/delivery/delivery.js';
import { isRetryable } from '../../components/delivery/retry.js';
import { eventLook, useDetail, useVerb } from '../../components/event/event.js';
import { Segments } from '../../components/field/field.js';
import { Icon } from '../../components/icon/icon.js';
import { Panel, Rows } from '../../components/panel/panel.js';
import { Loaded, Problem } from '../../components/state/state.js';
import { ScrollList } from '../../components/table/scroll-list.js';
import { Num, Time, UserText } from '../../components/text/values.js';
import { Timeline, type TimelineEntry } from '../../components/timeline/timeline.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { activityList, inboxList, type Kind, kinds, messagesQuery, refresh } from './queries.js';
import styles from './user.module.css';

interface InboxProps {
  readonly id: string;
  /** The open notification. */
  readonly open: string | undefined;
  readonly onOpen: (notification: string | undefined) => void;
}

/** The notifications, newest first, and the delivery of the open one. */
export function Inbox({ id, open, onOpen }: InboxProps) {
  const { inbox } = useText().user;
  const list = useList<Notification, GetUserNotificationPageResponse>(inboxList(id));
  return (
    <Panel anchor="inbox" title={inbox.title} note={list.data && <Num value={list.data.first.total} />} hasNoPadding>
      <Loaded query={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className={styles.empty}>{inbox.none}</p>
          ) : (
            <div className={styles.inbox}>
              <div className={styles.entries}>
                <ScrollList label={inbox.title} rows={rows} idOf={(notification) => notification.id} source={list.more}>
                  {(notification) => (
                    <button
                      type="button"
                      className={styles.entry}
                      aria-expanded={notification.id === open}
                      onClick={() => onOpen(notification.id === open ? undefined : notification.id)}
                    >
                      <UserText text={notification.description} />
                      <Time value={notification.created_at} />
                      <span className={layout.quiet}>{notification.notification_type}</span>
                    </button>
                  )}
                </ScrollList>
                {list.more.error ? <Problem error={list.more.error} onRetry={() => list.more.next?.()} /> : null}
              </div>
              {open === undefined ? (
                <p className={styles.empty}>{inbox.choose}</p>
              ) : (
                <Trace key={open} notification={open} />
              )}
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Trace({ notification }: { notification: string }) {
  const { user, notifications } = useText();
  return (
    <div className={styles.trace}>
      <div className={styles.traceHead}>
        <h3>{user.inbox.delivery}</h3>
        <ButtonLink kind="ghost" small to="/notifications" search={{ view: 'find', id: notification }}>
          {notifications.found.details}
        </ButtonLink>
      </div>
      <Delivery query={useDelivery(notification)} />
    </div>
  );
}

/** The codes and notices that were sent to the user. */
export function Messages({ id, mayChange }: { id: string; mayChange: boolean }) {
  const { messages: text } = useText().user;
  const query = useQuery(messagesQuery(id));
  return (
    <Panel anchor="messages" title={text.title} note={query.data && <Num value={query.data.page.total} />} hasNoPadding>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className={styles.empty}>{text.none}</p>
          ) : (
            <Rows label={text.title}>
              {data.map((message) => (
                <MessageRow key={message.id} user={id} message={message} mayChange={mayChange} />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}

function MessageRow({ user, message, mayChange }: { user: string; message: OutboxMessage; mayChange: boolean }) {
  const { user: text, messages } = useText();
  const client = useQueryClient();
  const { id, channel, kind, recipient, state, last_error, updated_at } = message;
  const hasFailed = ['failed', 'expired', 'undelivered'].includes(state);
  async function retry(): Promise<void> {
    try {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      await request<RetryMessageData, OutboxMessage>('POST', '/admin/v1/outbox/{id}/retry', { path: { id }, headers });
      toast.done(text.messages.retried);
    } catch (error) {
      toast.failed(text.failed(text.messages.retry), error);
    }
    await refresh(client, user);
  }
  return (
    <li className={styles.row}>
      <Icon name={channel === 'email' ? 'mail' : 'message'} />
      <div className={styles.who}>
        <UserText text={messages.kinds[kind] ?? kind} />
        <UserText quiet text={recipient ?? '—'} />
        {last_error !== null && <div className={layout.quiet}>{last_error}</div>}
      </div>
      <span className={styles.end}>
        <Time value={updated_at} />
        {hasFailed ? (
          <Badge kind="bad">{text.messages.states[state]}</Badge>
        ) : (
          <span className={layout.quiet}>{text.messages.states[state]}</span>
        )}
        {isRetryable(message) && mayChange && (
          <Button small changesData onClick={() => void retry()}>
            {text.messages.retry}
          </Button>
        )}
      </span>
    </li>
  );
}

/** The events of the user, newest first. Repeated events are one entry. */
export function Activity({ id, kind, onKind }: { id: string; kind: Kind | undefined; onKind: (kind?: Kind) => void }) {
  const { activity: text } = useText().user;
  const [isLong, setLong] = useState(false);
  // After older pages were read, each refresh would read all pages again.
  const list = useList<AuditEvent, GetUserActivityPageResponse>({
    ...activityList(id, kind),
    refreshMs: isLong ? false : 30_000,
  });
  const { more } = list;
  const readOlder = () => {
    setLong(true);
    more.next?.();
  };
  const entriesOf = useEntries();
  return (
    <Panel
      anchor="activity"
      title={text.title}
      actions={
        <Segments
          label={text.kinds}
          value={kind ?? ''}
          options={[['', text.all], ...(Object.keys(kinds) as Kind[]).map((each) => [each, text[each]] as const)]}
          onChoose={(chosen) => onKind(chosen === '' ? undefined : (chosen as Kind))}
        />
      }
    >
      <Loaded query={list}>
        {({ rows, last }) => (
          <>
            {rows.length === 0 ? <p className={layout.quiet}>{text.none}</p> : <Timeline entries={entriesOf(rows)} />}
            {more.error ? <Problem error={more.error} onRetry={readOlder} /> : null}
            {last.next_cursor !== null && !more.error && (
              <div className={styles.older}>
                <Button kind="ghost" small busy={more.isReading} onClick={readOlder}>
                  {text.older}
                </Button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** Events of one type that follow each other become one entry, with their number and span of time. */
function useEntries(): (events: readonly AuditEvent[]) => TimelineEntry[] {
  const verb = useVerb();
  const detail = useDetail();
  const { activity } = useText().user;
  const { duration } = useFormats();
  return (events) => {
    const eventGroups: AuditEvent[][] = [];
    for (const event of events) {
      // A lock is recorded among the refusals that caused it. The refusals still become one entry.
      const sameGroup = eventGroups.slice(-2).find((group) => group[0]?.type === event.type);
      if (sameGroup === undefined) eventGroups.push([event]);
      else sameGroup.push(event);
    }
    return eventGroups.flatMap((group) => {
      const [newest] = group;
      const oldest = group.at(-1);
      if (newest === undefined || oldest === undefined) return [];
      const span = Date.parse(newest.created_at) - Date.parse(oldest.created_at);
      const details = [...new Set(group.map(detail))].filter((line) => line !== '').slice(0, 3);
      const times = span < 1000 ? activity.times(group.length) : activity.timesIn(group.length, duration(span));
      const repeats = group.length > 1 ? [times] : [];
      return {
        id: newest.id,
        time: newest.created_at,
        ...eventLook(newest.type),
        title: verb(newest.type),
        detail: [...repeats, ...details].join(' · '),
      };
    });
  };
}
