import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type { ApiKey, GetKeyPageData, GetKeyPageResponse } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page } from '../../components/panel/panel.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Time, UserText } from '../../components/text/values.js';
import { filterValue } from '../../lib/filter-value.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { Expiry, KeyDetails } from './key-details.js';
import { NewKey } from './new-key.js';

/** The columns of a CSV file. */
const csvColumns = ['name', 'scopes', 'last_used_at', 'expires_at', 'created_at', 'id'] as const;

/** The API keys: who may call the API, with which rights, and when they last did. */
export function Keys() {
  const { keys: text } = useText();
  const query = useSearch({ from: '/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const [openKey, setOpenKey] = useState<ApiKey | 'new'>();
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const read = (limit: number) => (cursor: string | undefined, signal: AbortSignal) =>
    request<GetKeyPageData, GetKeyPageResponse>('GET', '/admin/v1/keys/page', {
      query: { limit, cursor, filter: query.q && `name:like:${filterValue(query.q)}` },
      signal,
    });
  const list = useList<ApiKey, GetKeyPageResponse>({
    key: ['keys', query.q ?? ''],
    read: read(50),
    // Another operator may create or revoke one.
    refreshMs: 15_000,
  });
  const scopesOf = ({ scopes }: ApiKey) => scopes.map((scope) => text.scopeNames[scope]).join(' · ');
  const columns: readonly Column<ApiKey>[] = [
    { key: 'name', head: text.name, size: 'wide', cell: ({ name }) => <UserText strong text={name} /> },
    { key: 'scopes', head: text.scopes, size: 'wide', cell: (key) => <UserText quiet text={scopesOf(key)} /> },
    {
      key: 'used',
      head: text.lastUsed,
      cell: ({ last_used_at }) => <Time value={last_used_at} emptyText={text.never} />,
    },
    { key: 'expires', head: text.expires, cell: (key) => <Expiry apiKey={key} /> },
    {
      key: 'created',
      head: text.created,
      isHiddenIfNarrow: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
  const actions = (
    <>
      <ExportMenu name="keys" columns={csvColumns} read={read(100)} />
      <Button kind="main" icon="plus" onClick={() => setOpenKey('new')}>
        {text.create}
      </Button>
    </>
  );
  return (
    <Page title={text.title} actions={actions}>
      <FilterBar urlQuery={query} onChange={change} fields={[]} searchBox={{ name: 'q', label: text.search }} />
      <ListPanel
        list={list}
        text={text}
        isFiltered={query.q !== undefined}
        onOpen={setOpenKey}
        label={text.list}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        compact={(key) => (
          <div className={layout.stack2}>
            <UserText strong text={key.name} />
            <UserText quiet text={scopesOf(key)} />
            <span className={layout.faint}>
              {text.lastUsed}: <Time value={key.last_used_at} emptyText={text.never} />
            </span>
          </div>
        )}
      />
      {openKey === 'new' && <NewKey onClose={() => setOpenKey(undefined)} />}
      {openKey !== undefined && openKey !== 'new' && (
        <KeyDetails apiKey={openKey} onClose={() => setOpenKey(undefined)} />
      )}
    </Page>
  );
}
