import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Webhook } from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import type { Column } from '../../components/table/row.js';
import { Table } from '../../components/table/table.js';
import { Num, Time, UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { NewWebhook } from './new-webhook.js';
import { readWebhooks, stateOf, webhookName, webhooksQuery } from './queries.js';
import { State } from './state.js';
import styles from './webhooks.module.css';

/** The columns of a CSV file. */
const csvColumns = [
  ...(['description', 'url', 'events', 'filter', 'payload', 'enabled', 'disabled_reason', 'pending'] as const),
  ...(['failing_since', 'last_error', 'last_success_at', 'last_failure_at', 'created_at', 'id'] as const),
];

/** The webhooks: where events are sent, and whether they arrive. */
export function Webhooks() {
  const { webhooks: text } = useText();
  const can = useHasScope();
  const query = useSearch({ from: '/webhooks' });
  const navigate = useNavigate({ from: '/webhooks' });
  const [isCreating, setIsCreating] = useState(false);
  const list = useQuery(webhooksQuery);
  const mayChange = can('webhooks:write');
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const create = () => setIsCreating(true);
  useShortcuts(mayChange ? [{ keys: 'c', name: text.create, group: 'thisPage', run: create }] : []);
  const newButton = (
    <Button kind="main" icon="plus" onClick={create}>
      {text.create}
    </Button>
  );
  return (
    <Page
      title={text.title}
      actions={
        mayChange && (
          <>
            <ExportMenu name="webhooks" columns={csvColumns} read={readWebhooks} />
            {newButton}
          </>
        )
      }
    >
      <FilterBar urlQuery={query} onChange={change} fields={[]} searchBox={{ name: 'q', label: text.search }} />
      <Panel hasNoPadding>
        <Loaded query={list} what={text.failed} rows={4}>
          {({ data }) => {
            const rows = data.filter(matching(query.q)).sort((one, other) => urgency(one) - urgency(other));
            if (data.length === 0) return <Lesson />;
            if (rows.length === 0) return <Empty title={text.noMatch} />;
            return (
              <>
                <WebhookTable
                  rows={rows}
                  onOpen={({ id }) => void navigate({ to: '/webhooks/$id', params: { id }, search: {} })}
                />
                <ListFoot rows={rows.length}>{text.total(rows.length)}</ListFoot>
              </>
            );
          }}
        </Loaded>
      </Panel>
      {isCreating && <NewWebhook onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

/** Whether the name or the URL contains a text. There are at most 50 webhooks, so the page has all of them. */
function matching(part = '') {
  const searchText = part.toLocaleLowerCase();
  return ({ description, url }: Webhook) => `${description} ${url}`.toLocaleLowerCase().includes(searchText);
}

/** Webhooks with problems are first. The sort keeps the order of the others. */
const urgency = (webhook: Webhook) =>
  ({ disabled: 0, failing: 1, paused: 3, delivering: 2, unused: 2 })[stateOf(webhook)];

/** Is shown when there is no webhook yet: what webhooks are for, and how to create one. */
function Lesson() {
  const { webhooks: text } = useText();
  return (
    <Empty title={text.none}>
      <p>{text.noneWhy}</p>
      <ol className={styles.lesson}>
        {text.lesson.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </Empty>
  );
}

function WebhookTable({ rows, onOpen }: { rows: readonly Webhook[]; onOpen: (webhook: Webhook) => void }) {
  const { webhooks: text } = useText();
  const waiting = ({ pending }: Webhook) => (pending >= 1000 ? text.manyWaiting : <Num value={pending} />);
  const columns: readonly Column<Webhook>[] = [
    {
      key: 'name',
      head: text.name,
      size: 'wide',
      cell: (webhook) => (
        <div className={layout.identity}>
          <UserText strong text={webhookName(webhook)} />
          <UserText quiet text={webhook.url} />
        </div>
      ),
    },
    { key: 'state', head: text.state, cell: (webhook) => <State webhook={webhook} /> },
    {
      key: 'events',
      head: text.events,
      isHiddenIfNarrow: true,
      cell: ({ events }) => <UserText quiet text={events.join(', ')} />,
    },
    { key: 'pending', head: text.waiting, isNumber: true, cell: waiting },
    {
      key: 'success',
      head: text.lastSuccess,
      cell: ({ last_success_at }) => <Time value={last_success_at} emptyText={text.never} />,
    },
  ];
  return (
    <Table
      label={text.title}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      nameOf={webhookName}
      onOpen={onOpen}
      compact={(webhook) => (
        <div className={layout.identity}>
          <UserText strong text={webhookName(webhook)} />
          <UserText quiet text={webhook.url} />
          <div className={styles.compactState}>
            <State webhook={webhook} />
            <span className={layout.quiet}>
              {text.waiting}: {waiting(webhook)}
            </span>
          </div>
        </div>
      )}
    />
  );
}
