import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Panel } from '../../components/panel/panel.js';
import { Empty } from '../../components/state/state.js';
import { BulkBar, ListFoot } from '../../components/table/bars.js';
import type { Column } from '../../components/table/row.js';
import { Table } from '../../components/table/table.js';
import { None, Num, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { useText } from '../../text/text.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly state: 'active' | 'locked';
  readonly devices: number;
}

const rows: readonly Row[] = [
  { id: '1', name: 'ليلى عبد الرحمن المنصوري', state: 'active', devices: 1 },
  { id: '2', name: '<b>Bobby</b> Tables', state: 'active', devices: 4 },
  { id: '3', name: `Maximiliana ${'Wolfeschlegelsteinhausenbergerdorff '.repeat(4)}`, state: 'locked', devices: 1204 },
  { id: '4', name: 'zero\u200bwidth \u202eright to left', state: 'active', devices: 0 },
];

const columns: readonly Column<Row>[] = [
  { key: 'name', head: 'User', size: 'wide', cell: ({ name }) => <UserText strong text={name} /> },
  {
    key: 'state',
    head: 'State',
    cell: ({ state }) => (state === 'active' ? 'Active' : <Badge kind="until">Locked until 15:48</Badge>),
  },
  { key: 'phone', head: 'Phone', isHiddenIfNarrow: true, cell: () => <None /> },
  { key: 'devices', head: 'Devices', isNumber: true, sort: 'devices', cell: ({ devices }) => <Num value={devices} /> },
];

/** A list with its filters in the URL, a selection, and hostile names. */
export function List() {
  const { parts } = useText();
  const query = useSearch({ from: '/parts' });
  const navigate = useNavigate({ from: '/parts' });
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [sort, setSort] = useState('devices:desc');
  const shown = rows.filter(
    ({ name, state }) => name.toLowerCase().includes((query.q ?? '').toLowerCase()) && (query.state ?? state) === state,
  );
  return (
    <>
      <FilterBar
        urlQuery={query}
        onChange={(change) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true })}
        fields={[
          {
            name: 'state',
            label: 'State',
            values: [
              ['active', 'Active'],
              ['locked', 'Locked'],
            ],
          },
        ]}
        searchBox={{ name: 'q', label: 'Name' }}
      />
      <Panel title={parts.list} hasNoPadding>
        {shown.length === 0 ? (
          <Empty title="Nobody matches" />
        ) : (
          <Table
            label={parts.list}
            columns={columns}
            rows={sort === 'devices:desc' ? shown : [...shown].reverse()}
            idOf={({ id }) => id}
            nameOf={({ name }) => name}
            onOpen={({ name }) => toast.done(name)}
            selection={{ ids, onChange: setIds }}
            sort={{ value: sort, onChange: setSort }}
            compact={({ name }) => <UserText strong text={name} />}
          />
        )}
        <ListFoot rows={shown.length}>4 of 4</ListFoot>
      </Panel>
      <BulkBar count={ids.size} onClear={() => setIds(new Set())}>
        <Button kind="ghost" small icon="lock">
          Lock…
        </Button>
      </BulkBar>
    </>
  );
}
