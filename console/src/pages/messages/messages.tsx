import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type {
  GetOutboxPageData,
  GetOutboxPageResponse,
  OutboxMessage,
  RetryMessageData,
  RetryMessageResponse,
} from '../../api/schema.js';
import { useUsersOfPages } from '../../api/users.js';
import { useHasScope } from '../../app/operator.js';
import { Badge, type BadgeKind } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { isRetryable } from '../../components/delivery/retry.js';
import { Segments } from '../../components/field/field.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Facts, MasterDetail, Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import type { Column } from '../../components/table/row.js';
import { CompactHead, Table } from '../../components/table/table.js';
import { Id } from '../../components/text/id.js';
import { None, Num, nameOf, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { useText } from '../../text/text.js';
import styles from './messages.module.css';

const badges: Readonly<Record<OutboxMessage['state'], BadgeKind | undefined>> = {
  queued: 'waiting',
  sent: undefined,
  failed: 'bad',
  expired: 'off',
  dropped: 'off',
  delivered: 'good',
  undelivered: 'bad',
};

/** The columns of a CSV file. */
const csvColumns = [
  ...(['updated_at', 'state', 'channel', 'kind', 'recipient', 'provider', 'last_error', 'attempts'] as const),
  ...(['user_id', 'id', 'created_at', 'expires_at'] as const),
];

/** The views. Failed messages are the first view, because an operator may have to act. */
const views = {
  failed: 'state:in:failed;expired;undelivered',
  queued: 'state:queued',
  sent: 'state:in:sent;delivered',
  all: '',
} as const;
type View = keyof typeof views;
const viewOf = (text: string | undefined): View =>
  Object.keys(views).includes(text ?? '') ? (text as View) : 'failed';

interface MessageSearch {
  readonly state?: string | undefined;
  readonly channel?: string | undefined;
  readonly user?: string | undefined;
  readonly recipient?: string | undefined;
}

/** The messages of a view that match the search, page by page. */
function useMessages(search: MessageSearch) {
  const filter = [
    views[viewOf(search.state)],
    ...(search.channel === undefined ? [] : [`channel:${search.channel}`]),
    ...(search.user === undefined ? [] : [`user_id:${search.user}`]),
    ...(search.recipient === undefined ? [] : [`recipient:${search.recipient}`]),
  ]
    .filter((part) => part !== '')
    .join(',');
  const read = (limit: number) => (cursor: string | undefined, signal: AbortSignal) => {
    const query = { sort: 'updated_at:desc', limit, filter, cursor };
    return request<GetOutboxPageData, GetOutboxPageResponse>('GET', '/admin/v1/outbox/page', { query, signal });
  };
  const found = useList<OutboxMessage, GetOutboxPageResponse>({
    key: ['outbox', 'page', filter],
    read: read(50),
    refreshMs: 10_000,
  });
  return { found, read };
}

/** What the page says about messages: the user, the state, the reason. */
function useMessageTexts(users: ReturnType<typeof useUsersOfPages>) {
  const { messages } = useText();
  const userOf = ({ user_id }: OutboxMessage) => {
    const user = users.get(user_id);
    return user === undefined ? messages.nobody : nameOf(user);
  };
  const stateOf = ({ state }: OutboxMessage) => {
    const kind = badges[state];
    const name = messages.states[state] ?? state;
    return kind === undefined ? name : <Badge kind={kind}>{name}</Badge>;
  };
  const why = ({ last_error, state }: OutboxMessage) => last_error ?? messages.whys[state] ?? '';
  return { userOf, stateOf, why };
}
type MessageTexts = ReturnType<typeof useMessageTexts>;

/** The columns of the table. */
function useColumns({ userOf, stateOf, why }: MessageTexts): readonly Column<OutboxMessage>[] {
  const { messages } = useText();
  const can = useHasScope();
  return [
    { key: 'state', head: messages.state, cell: stateOf },
    {
      key: 'recipient',
      head: messages.recipient,
      cell: (message) => (message.recipient === null ? <None /> : <UserText strong text={message.recipient} />),
    },
    {
      key: 'user',
      head: messages.user,
      isHiddenIfNarrow: true,
      cell: (message) => <UserText text={userOf(message)} />,
    },
    { key: 'kind', head: messages.kind, isHiddenIfNarrow: true, cell: ({ kind }) => messages.kinds[kind] ?? kind },
    { key: 'why', head: messages.why, size: 'wide', cell: (message) => <UserText quiet text={why(message)} /> },
    { key: 'at', head: messages.changed, cell: ({ updated_at }) => <Time value={updated_at} /> },
    {
      key: 'retry',
      head: messages.action,
      cell: (message) => (isRetryable(message) && can('users:write') ? <Retry message={message} /> : null),
    },
  ];
}

/** All facts about one message. */
function Detail({
  message,
  isUserKnown,
  texts: { userOf, stateOf, why },
}: {
  readonly message: OutboxMessage;
  readonly isUserKnown: boolean;
  readonly texts: MessageTexts;
}) {
  const text = useText();
  const { messages } = text;
  return (
    <Panel title={messages.detail}>
      <Facts
        facts={[
          [messages.state, stateOf(message)],
          [messages.why, why(message) === '' ? <None key="why" /> : why(message)],
          [messages.recipient, message.recipient ?? <None key="to" />],
          [
            messages.user,
            isUserKnown ? (
              <Link key="who" to="/users/$id" params={{ id: message.user_id }}>
                <bdi>{userOf(message)}</bdi>
              </Link>
            ) : (
              userOf(message)
            ),
          ],
          [messages.userId, <Id key="user" value={message.user_id} name={messages.userId} />],
          [messages.kind, messages.kinds[message.kind] ?? message.kind],
          [messages.provider, message.provider ?? <None key="provider" />],
          [messages.attempts, <Num key="attempts" value={message.attempts} />],
          [messages.created, <Time key="created" value={message.created_at} focusable />],
          [messages.expires, <Time key="expires" value={message.expires_at} focusable />],
          [text.common.id, <Id key="id" value={message.id} name={messages.detail} />],
        ]}
      />
    </Panel>
  );
}

/** The codes and notices that are sent, waiting or failed, with the reason and a retry. */
export function Messages() {
  const { messages } = useText();
  const can = useHasScope();
  const search = useSearch({ from: '/messages' });
  const navigate = useNavigate({ from: '/messages' });
  const view = viewOf(search.state);
  const set = (change: Readonly<Record<string, string | undefined>>) => {
    const next: Readonly<Record<string, string | undefined>> = { open: undefined, ...change };
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  };
  const { found: query, read } = useMessages(search);
  const users = useUsersOfPages(query.pagesNearView.map((page) => page.map(({ user_id }) => user_id)));
  const texts = useMessageTexts(users);
  const { userOf, stateOf, why } = texts;
  const columns = useColumns(texts);
  const openMessage = query.data?.rows.find(({ id }) => id === search.open);
  const detail = openMessage && (
    <Detail message={openMessage} isUserKnown={users.has(openMessage.user_id)} texts={texts} />
  );
  return (
    <Page
      title={messages.title}
      actions={
        <>
          <Segments<View>
            label={messages.show}
            value={view}
            options={[
              ['failed', messages.views.failed],
              ['queued', messages.views.queued],
              ['sent', messages.views.sent],
              ['all', messages.views.all],
            ]}
            onChoose={(state) => set({ state })}
          />
          <ExportMenu name="messages" columns={csvColumns} read={read(100)} />
        </>
      }
    >
      <FilterBar
        urlQuery={search}
        onChange={set}
        searchBox={{ name: 'recipient', label: messages.search }}
        fields={[
          {
            name: 'channel',
            label: messages.channel,
            values: [
              ['sms', 'SMS'],
              ['email', messages.mail],
            ],
          },
          { name: 'user', label: messages.userId },
        ]}
      />
      <MasterDetail detail={detail}>
        <Panel hasNoPadding>
          <Loaded query={query} what={messages.failedToRead} rows={8}>
            {({ rows, first }) =>
              rows.length === 0 ? (
                <Empty title={messages.empty[view]}>{messages.emptyWhy[view]}</Empty>
              ) : (
                <>
                  <Table
                    label={messages.title}
                    columns={columns}
                    rows={rows}
                    source={query.more}
                    idOf={({ id }) => id}
                    nameOf={(message) =>
                      `${message.recipient ?? ''} ${messages.states[message.state] ?? message.state}`
                    }
                    onOpen={({ id }) => set({ open: id === search.open ? undefined : id })}
                    openId={search.open}
                    compact={(message) => (
                      <>
                        <CompactHead name={message.recipient ?? userOf(message)} time={message.updated_at} />
                        <UserText quiet text={why(message)} />
                        <div className={styles.act}>
                          {stateOf(message)}
                          {isRetryable(message) && can('users:write') && <Retry message={message} />}
                        </div>
                      </>
                    )}
                  />
                  <ListFoot source={query.more} rows={rows.length}>
                    {messages.count(first.total, !first.total_is_exact)}
                  </ListFoot>
                </>
              )
            }
          </Loaded>
        </Panel>
      </MasterDetail>
    </Page>
  );
}

/** Queues a failed message again. */
function Retry({ message: { id } }: { message: OutboxMessage }) {
  const text = useText();
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => {
      const call = { path: { id }, headers: { 'Idempotency-Key': crypto.randomUUID() } };
      return request<RetryMessageData, RetryMessageResponse>('POST', '/admin/v1/outbox/{id}/retry', call);
    },
    onSuccess: () => toast.done(text.messages.retried),
    onError: (error) => toast.failed(text.messages.retryFailed, error),
    onSettled: () => queries.invalidateQueries({ queryKey: ['outbox'] }),
  });
  return (
    <Button small changesData icon="refresh" busy={retry.isPending} onClick={() => retry.mutate()}>
      {text.messages.retry}
    </Button>
  );
}
