import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { type More, useList } from '../../api/pages.js';
import type { ApiKey, GetKeyPageData, GetKeyPageResponse } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import type { Column } from '../../components/table/row.js';
import { Table } from '../../components/table/table.js';
import { Cut, Time } from '../../components/text/values.js';
import { useText } from '../../text/text.js';
import { Expiry, KeyDetails } from './key-details.js';
import styles from './keys.module.css';
import { NewKey } from './new-key.js';

/** The columns of a CSV file. */
const exported = ['name', 'scopes', 'last_used_at', 'expires_at', 'created_at', 'id'] as const;

/** The filter for a part of a name. Separators of the grammar are escaped. */
const nameFilter = (part: string) => `name:like:${part.replace(/[\\:,|;[\]]/g, '\\$&')}`;

/** The API keys: who may call the API, with which rights, and when they last did. */
export function Keys() {
  const { keys: text } = useText();
  const query = useSearch({ from: '/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const [opened, setOpened] = useState<ApiKey | 'new'>();
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const read = (limit: number) => (cursor: string | undefined, signal: AbortSignal) =>
    request<GetKeyPageData, GetKeyPageResponse>('GET', '/admin/v1/keys/page', {
      query: {
        limit,
        ...(cursor !== undefined && { cursor }),
        ...(query.q !== undefined && { filter: nameFilter(query.q) }),
      },
      signal,
    });
  const list = useList<ApiKey, GetKeyPageResponse>({
    key: ['keys', query.q ?? ''],
    read: read(50),
    // Another operator may create or revoke one.
    every: 15_000,
  });
  const actions = (
    <>
      <ExportMenu name="keys" columns={exported} read={read(100)} />
      <Button kind="main" icon="plus" onClick={() => setOpened('new')}>
        {text.create}
      </Button>
    </>
  );
  return (
    <Page title={text.title} actions={actions}>
      <FilterBar query={query} onChange={change} fields={[]} search={{ name: 'q', label: text.search }} />
      <Panel flush>
        <Loaded query={list} what={text.failed} rows={4}>
          {({ rows, first }) => (
            <>
              {rows.length === 0 && query.q === undefined && <Empty title={text.none}>{text.noneWhy}</Empty>}
              {rows.length === 0 && query.q !== undefined && <Empty title={text.noMatch} />}
              {rows.length > 0 && <KeyTable rows={rows} more={list.more} onOpen={setOpened} />}
              <ListFoot more={list.more} rows={rows.length}>
                {text.total(first.total)}
              </ListFoot>
            </>
          )}
        </Loaded>
      </Panel>
      {opened === 'new' && <NewKey onClose={() => setOpened(undefined)} />}
      {opened !== undefined && opened !== 'new' && <KeyDetails of={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}

interface KeyTableProps {
  readonly rows: readonly ApiKey[];
  readonly more: More;
  readonly onOpen: (key: ApiKey) => void;
}

function KeyTable({ rows, more, onOpen }: KeyTableProps) {
  const { keys: text } = useText();
  const scopesOf = ({ scopes }: ApiKey) => scopes.map((scope) => text.scopeNames[scope]).join(' · ');
  const columns: readonly Column<ApiKey>[] = [
    { key: 'name', head: text.name, size: 'wide', cell: ({ name }) => <Cut strong of={name} /> },
    { key: 'scopes', head: text.scopes, size: 'wide', cell: (key) => <Cut quiet of={scopesOf(key)} /> },
    {
      key: 'used',
      head: text.lastUsed,
      cell: ({ last_used_at }) => <Time at={last_used_at} never={text.never} />,
    },
    { key: 'expires', head: text.expires, cell: (key) => <Expiry of={key} /> },
    { key: 'created', head: text.created, size: 'low', cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  return (
    <Table
      label={text.list}
      columns={columns}
      rows={rows}
      more={more}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      onOpen={onOpen}
      compact={(key) => (
        <div className={styles.compact}>
          <Cut strong of={key.name} />
          <Cut quiet of={scopesOf(key)} />
          <span className={styles.quiet}>
            {text.lastUsed}: <Time at={key.last_used_at} never={text.never} />
          </span>
        </div>
      )}
    />
  );
}
