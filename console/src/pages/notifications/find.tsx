import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type {
  DeleteNotificationData,
  DeliveryTrace,
  GetUserNotificationPageData,
  GetUserNotificationPageResponse,
  Notification,
} from '../../api/schema.js';
import { useUsersById } from '../../api/users.js';
import { useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { Delivery, useDelivery } from '../../components/delivery/delivery.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Field } from '../../components/field/field.js';
import { Facts, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded, Problem } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { None, Num, nameOf, Time } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { useText } from '../../text/text.js';
import styles from './notifications.module.css';
import { PreviewImage } from './preview.js';

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds one notification by its id, and shows its delivery. */
export function Find() {
  const { found: text } = useText().notifications;
  const { id = '' } = useSearch({ from: '/notifications' });
  const navigate = useNavigate({ from: '/notifications' });
  const [inputText, setInputText] = useState(id);
  const [isRefused, setRefused] = useState(false);
  useEffect(() => setInputText(id), [id]);
  const find = () => {
    const trimmedId = inputText.trim().toLowerCase();
    setRefused(!idPattern.test(trimmedId));
    if (idPattern.test(trimmedId)) void navigate({ search: (before) => ({ ...before, id: trimmedId }) });
  };
  return (
    <>
      <form
        className={styles.find}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          find();
        }}
      >
        <Field
          label={text.id}
          hint={text.hint}
          error={isRefused ? text.badId : undefined}
          value={inputText}
          verbatim
          data-search
          onChange={(event) => setInputText(event.currentTarget.value)}
        />
        <Button type="submit" icon="search">
          {text.find}
        </Button>
      </form>
      {idPattern.test(id) && <Found key={id} id={id} />}
    </>
  );
}

function Found({ id }: { id: string }) {
  const { found: text } = useText().notifications;
  const query = useDelivery(id);
  if (query.error instanceof ProblemError && query.error.status === 404) {
    return <Empty title={text.none}>{text.noneWhy}</Empty>;
  }
  return (
    <div className={styles.columns}>
      <div className={styles.form}>
        {query.data === undefined ? (
          <Panel title={text.title}>
            <Loaded query={query} rows={6}>
              {() => null}
            </Loaded>
          </Panel>
        ) : (
          <NotificationPanel trace={query.data} />
        )}
      </div>
      <Panel title={text.delivery}>
        <Delivery query={query} />
      </Panel>
    </div>
  );
}

function NotificationPanel({ trace }: { trace: DeliveryTrace }) {
  const { notifications } = useText();
  const { found: text } = notifications;
  const can = useHasScope();
  const [isAsked, setAsked] = useState(false);
  const user = useUsersById([trace.user_id]).get(trace.user_id);
  const name = user === undefined ? trace.user_id.slice(0, 8) : nameOf(user);
  const query = useQuery({
    queryKey: ['notification', trace.notification_id],
    async queryFn({ signal }) {
      const path = '/admin/v1/users/{id}/notifications/page';
      const page = await request<GetUserNotificationPageData, GetUserNotificationPageResponse>('GET', path, {
        path: { id: trace.user_id },
        query: { filter: `id:${trace.notification_id}`, limit: 1, include: 'extra' },
        signal,
      });
      return page.data[0] ?? null;
    },
  });
  return (
    <Panel
      title={text.title}
      actions={
        can('notifications:write') && (
          <Button kind="warn" small icon="trash" changesData onClick={() => setAsked(true)}>
            {text.remove}
          </Button>
        )
      }
    >
      <Loaded query={query} rows={6}>
        {(notification) => (
          <>
            {notification !== null && <Content notification={notification} />}
            <Facts
              facts={[
                [
                  text.user,
                  <Link key="user" to="/users/$id" params={{ id: trace.user_id }} search={{}}>
                    <bdi>{name}</bdi>
                  </Link>,
                ],
                ...(notification === null ? [] : factsOf(notification)),
              ]}
            />
          </>
        )}
      </Loaded>
      {isAsked && <Remove id={trace.notification_id} name={name} onClose={() => setAsked(false)} />}
    </Panel>
  );

  function factsOf(notification: Notification): [string, ReactNode][] {
    return [
      [notifications.type, notification.notification_type],
      [notifications.category, <Value key="category" value={notification.extra?.category ?? null} />],
      [notifications.key, <Value key="key" value={notification.notification_key} />],
      [text.actor, <Value key="actor" value={notification.actor} />],
      [notifications.number, <Num key="number" value={notification.object_data_number} />],
      [text.text, <Value key="text" value={notification.object_data_string} />],
      [text.object, <Value key="object" value={notification.object_id} isId />],
      [text.created, <Time key="created" value={notification.created_at} focusable />],
      [text.changed, <Time key="changed" value={notification.updated_at} focusable />],
    ];
  }
}

/** Text of an app: any direction, any length. */
function Value({ value, isId = false }: { value: string | null; isId?: boolean }) {
  if (value === null || value === '') return <None />;
  return isId ? <Id value={value} short /> : <bdi>{value}</bdi>;
}

function Content({ notification: { description, image } }: { notification: Notification }) {
  return (
    <div className={styles.content}>
      {image !== null && (
        <div className={styles.card}>
          <PreviewImage url={image.url} />
        </div>
      )}
      <p className={styles.description} dir="auto">
        {description}
      </p>
    </div>
  );
}

function Remove({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const { found: text } = useText().notifications;
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  async function remove(): Promise<void> {
    setBusy(true);
    try {
      await request<DeleteNotificationData, void>('DELETE', '/admin/v1/notifications/{id}', { path: { id } });
      toast.done(text.removed);
      onClose();
      await client.invalidateQueries({ queryKey: ['trace', id] });
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  }
  return (
    <ConfirmDialog
      title={text.removeTitle}
      action={text.removeAction}
      isDestructive
      busy={busy}
      error={error !== undefined && <Problem error={error} />}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{text.removeWhat(name)}</p>
    </ConfirmDialog>
  );
}
