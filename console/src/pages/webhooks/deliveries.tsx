import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useList } from '../../api/pages.js';
import type { GetWebhookDeliveryPageResponse, Webhook, WebhookDelivery } from '../../api/schema.js';
import { noUserId, useUsersOfPages } from '../../api/users.js';
import { Button } from '../../components/button/button.js';
import { Segments } from '../../components/field/field.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Icon, type IconName } from '../../components/icon/icon.js';
import { MasterDetail, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import type { Column } from '../../components/table/row.js';
import { CompactHead, Table, type TableProps } from '../../components/table/table.js';
import { Num, nameOf, Time, UserText } from '../../components/text/values.js';
import { useText } from '../../text/text.js';
import { DeliveryPanel } from './delivery.js';
import { eventTypes } from './event-choice.js';
import { outcomeOf } from './health.js';
import { readDeliveries, type View, viewOf, views, webhooksKey } from './queries.js';
import styles from './webhooks.module.css';

const icons: Readonly<Record<ReturnType<typeof outcomeOf>, IconName>> = {
  delivered: 'circleCheck',
  retried: 'clock',
  waits: 'clock',
  failed: 'circleCross',
};

/** The columns of a CSV file. */
const csvColumns = [
  ...(['created_at', 'type', 'state', 'attempts', 'status', 'error', 'duration_ms', 'last_attempt_at'] as const),
  ...(['next_attempt_at', 'user_id', 'sequence', 'event_id', 'id'] as const),
];

/** The deliveries of a webhook that match a filter, and the open one. */
function useDeliveries(webhook: Webhook, filter: string, openId: string | undefined) {
  const list = useList<WebhookDelivery, GetWebhookDeliveryPageResponse>({
    key: [...webhooksKey, 'deliveries', webhook.id, filter],
    read: readDeliveries(webhook.id, filter, 50),
    refreshMs: 5000,
  });
  const users = useUsersOfPages(list.pagesNearView.map((page) => page.map(({ user_id }) => user_id)));
  const listedDelivery = list.data?.rows.find(({ id }) => id === openId);
  // A link may lead to a delivery that is not on the page.
  const single = useQuery({
    queryKey: [...webhooksKey, 'delivery', openId],
    queryFn: ({ signal }) => readDeliveries(webhook.id, `id:${openId ?? ''}`, 1)(undefined, signal),
    enabled: openId !== undefined && list.data !== undefined && listedDelivery === undefined,
  });
  const userOf = ({ user_id }: WebhookDelivery) => {
    if (user_id === noUserId) return '';
    const user = users.get(user_id);
    return user === undefined ? user_id.slice(0, 8) : nameOf(user);
  };
  const openDelivery = openId === undefined ? undefined : (listedDelivery ?? single.data?.data[0]);
  return { list, userOf, openDelivery };
}

interface DeliveryTableProps extends Pick<TableProps<WebhookDelivery>, 'rows' | 'source' | 'openId' | 'onOpen'> {
  readonly userOf: (delivery: WebhookDelivery) => string;
}

function DeliveryTable({ userOf, ...props }: DeliveryTableProps) {
  const { webhooks: text } = useText();
  const result = (delivery: WebhookDelivery) => {
    if (delivery.status !== null) return String(delivery.status);
    return delivery.error ?? (delivery.attempts === 0 ? text.notTried : '');
  };
  const outcome = (delivery: WebhookDelivery) => (
    <span className={styles.outcome}>
      <Icon name={icons[outcomeOf(delivery)]} className={styles[outcomeOf(delivery)]} />
      {text.outcomes[outcomeOf(delivery)]}
    </span>
  );
  const columns: readonly Column<WebhookDelivery>[] = [
    { key: 'state', head: text.state, cell: outcome },
    { key: 'type', head: text.event, size: 'wide', cell: ({ type }) => <UserText strong text={type} /> },
    {
      key: 'user',
      head: text.user,
      isHiddenIfNarrow: true,
      isLate: true,
      cell: (delivery) => <UserText text={userOf(delivery)} />,
    },
    { key: 'result', head: text.answer, cell: (delivery) => <UserText quiet text={result(delivery)} /> },
    {
      key: 'tries',
      head: text.tries,
      isNumber: true,
      isHiddenIfNarrow: true,
      cell: ({ attempts }) => <Num value={attempts} />,
    },
    {
      key: 'at',
      head: text.time,
      cell: (delivery) => <Time value={delivery.last_attempt_at ?? delivery.created_at} />,
    },
  ];
  return (
    <Table
      {...props}
      label={text.deliveries}
      columns={columns}
      idOf={({ id }) => id}
      nameOf={(delivery) => `${delivery.type} ${text.outcomes[outcomeOf(delivery)]}`}
      compact={(delivery) => (
        <>
          <CompactHead name={delivery.type} time={delivery.last_attempt_at ?? delivery.created_at} />
          <div className={styles.compactState}>
            {outcome(delivery)}
            <UserText quiet text={result(delivery)} />
            <UserText text={userOf(delivery)} />
          </div>
        </>
      )}
    />
  );
}

/** The deliveries of a webhook, and the open one with its request and answer. */
export function Deliveries({ webhook, onReplay }: { webhook: Webhook; onReplay: () => void }) {
  const { webhooks: text } = useText();
  const search = useSearch({ from: '/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const view = viewOf(search.state);
  const set = (change: Readonly<Record<string, string | undefined>>) => {
    const next: Readonly<Record<string, string | undefined>> = { open: undefined, ...change };
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  };
  const filter = [
    views[view],
    ...(search.type === undefined ? [] : [`type:${search.type}`]),
    ...(search.user === undefined ? [] : [`user_id:${search.user}`]),
  ]
    .filter((part) => part !== '')
    .join(',');
  const { list, userOf, openDelivery } = useDeliveries(webhook, filter, search.open);
  const isFiltered = filter !== '';
  return (
    <Panel
      title={text.deliveries}
      hasNoPadding
      actions={
        <>
          <Segments<View>
            label={text.show}
            value={view}
            options={(['all', 'waiting', 'failed', 'delivered'] as const).map(
              (name) => [name, text.views[name]] as const,
            )}
            onChoose={(state) => set({ state: state === 'all' ? undefined : state })}
          />
          <Button icon="refresh" onClick={onReplay}>
            {text.replay}
          </Button>
          <ExportMenu name="deliveries" columns={csvColumns} read={readDeliveries(webhook.id, filter, 100)} />
        </>
      }
    >
      <div className={styles.filters}>
        <FilterBar
          urlQuery={search}
          onChange={set}
          fields={[
            { name: 'type', label: text.event, values: eventTypes.map((type) => [type, type] as const) },
            { name: 'user', label: text.userId },
          ]}
        />
      </div>
      <MasterDetail
        hasEqualWidths
        detail={
          openDelivery === undefined ? undefined : (
            <DeliveryPanel
              webhook={webhook}
              delivery={openDelivery}
              user={userOf(openDelivery)}
              onClose={() => set({ open: undefined })}
            />
          )
        }
      >
        <Loaded query={list} what={text.deliveriesFailed} rows={6}>
          {({ rows, first }) =>
            rows.length === 0 ? (
              <Empty title={isFiltered ? text.noneMatch : text.noDelivery}>
                {isFiltered ? undefined : text.noDeliveryWhy}
              </Empty>
            ) : (
              <>
                <DeliveryTable
                  {...{ rows, userOf, source: list.more, openId: search.open }}
                  onOpen={({ id }) => set({ open: id === search.open ? undefined : id })}
                />
                <ListFoot source={list.more} rows={rows.length}>
                  {text.totalDeliveries(first.total, !first.total_is_exact)}
                </ListFoot>
              </>
            )
          }
        </Loaded>
      </MasterDetail>
    </Panel>
  );
}
