import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type { ApiKey, GetKeyPageData, GetKeyPageResponse } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { type Column, Pager, Table } from '../../components/table/table.js';
import { Cut, Time } from '../../components/text/values.js';
import { useText } from '../../text/text.js';
import { Expiry, KeyDetails } from './key-details.js';
import styles from './keys.module.css';
import { NewKey } from './new-key.js';

const limit = 50;

/** The filter for a part of a name. Separators of the grammar are escaped. */
const nameFilter = (part: string) => `name:like:${part.replace(/[\\:,|;[\]]/g, '\\$&')}`;

/** The API keys: who may call the API, with which rights, and when they last did. */
export function Keys() {
  const { keys: text } = useText();
  const query = useSearch({ from: '/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const [opened, setOpened] = useState<ApiKey | 'new'>();
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      search: ({ cursor: _, ...before }) => ({ ...before, ...next }),
      replace: next.cursor === undefined,
    });
  const list = useQuery({
    queryKey: ['keys', query.q ?? '', query.cursor ?? ''],
    queryFn: ({ signal }) =>
      request<GetKeyPageData, GetKeyPageResponse>('GET', '/admin/v1/keys/page', {
        query: {
          limit,
          ...(query.cursor !== undefined && { cursor: query.cursor }),
          ...(query.q !== undefined && { filter: nameFilter(query.q) }),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    // Another operator may create or revoke one.
    refetchInterval: 15_000,
  });
  const newKey = (
    <Button kind="main" icon="plus" onClick={() => setOpened('new')}>
      {text.create}
    </Button>
  );
  return (
    <Page title={text.title} actions={newKey}>
      <FilterBar query={query} onChange={change} fields={[]} search={{ name: 'q', label: text.search }} />
      <Panel flush>
        <Loaded query={list} what={text.failed} rows={4}>
          {({ data, page }) => (
            <>
              {data.length === 0 && query.q === undefined && <Empty title={text.none}>{text.noneWhy}</Empty>}
              {data.length === 0 && query.q !== undefined && <Empty title={text.noMatch} />}
              {data.length > 0 && <KeyTable rows={data} onOpen={setOpened} />}
              <Pager
                onNewer={query.cursor === undefined ? undefined : () => change({ cursor: undefined })}
                onOlder={
                  page.next_cursor === null ? undefined : () => change({ cursor: page.next_cursor ?? undefined })
                }
              >
                {text.total(page.total)}
              </Pager>
            </>
          )}
        </Loaded>
      </Panel>
      {opened === 'new' && <NewKey onClose={() => setOpened(undefined)} />}
      {opened !== undefined && opened !== 'new' && <KeyDetails of={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}

function KeyTable({ rows, onOpen }: { rows: readonly ApiKey[]; onOpen: (key: ApiKey) => void }) {
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
