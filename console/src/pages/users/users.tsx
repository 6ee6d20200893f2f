import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type { BulkAction, FindUsersData, FindUsersResponse, User } from '../../api/schema.js';
import { operatorQuery, useHasScope } from '../../app/operator.js';
import { Button, ButtonLink } from '../../components/button/button.js';
import { FilterBar, type FilterField } from '../../components/filter/filter-bar.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded, Notice } from '../../components/state/state.js';
import { BulkBar, ListFoot } from '../../components/table/bars.js';
import { Table } from '../../components/table/table.js';
import { nameOf } from '../../components/text/values.js';
import { cx } from '../../lib/cx.js';
import { readFromEntry, storeInEntry } from '../../lib/history-state.js';
import { useText } from '../../text/text.js';
import type { Texts } from '../../text/texts.js';
import { typeOf } from '../login-check/query.js';
import { storeRecipients } from '../notifications/stored-recipients.js';
import { BulkDialog } from './bulk-dialog.js';
import { CreateUser } from './create-user.js';
import { Invite } from './invite.js';
import { filterOf, type UsersQuery } from './query.js';
import { CompactUser, columnsOf } from './rows.js';
import type { Chosen } from './run-bulk.js';
import styles from './users.module.css';

/** The users that match, page by page. */
function useUsers(query: UsersQuery) {
  const { q, sort } = query;
  const filter = filterOf(query);
  return useList<User, FindUsersResponse>({
    key: ['users', 'page', q, filter, sort],
    read: (cursor, signal) => {
      const parameters = {
        search: q,
        filter,
        sort,
        cursor,
      };
      // The first page arrives soon. Later pages are read before the operator reaches them.
      const call = { body: { ...parameters, limit: cursor === undefined ? 50 : 100 }, signal };
      return request<FindUsersData, FindUsersResponse>('POST', '/admin/v1/users/find', call);
    },
  });
}

/** A page of a list that is read by cursor. */
type CursorPage = Omit<FindUsersResponse['page'], 'number' | 'limit'>;

const bulkActions = [
  ['lock', 'lock'],
  ['unlock', 'unlock'],
  ['logout', 'logout'],
  ['deactivate', 'ban'],
  ['activate', 'check'],
] as const;

/** The search and the filters of the list, as requests name them. */
function listOf(query: UsersQuery) {
  const filter = filterOf(query);
  return { ...(query.q !== undefined && { search: query.q }), ...(filter !== undefined && { filter }) };
}

/** The list of users: search, filters, and actions on one or many users. */
export function Users() {
  const { users } = useText();
  const can = useHasScope();
  const { isFetched: isKnown } = useQuery(operatorQuery);
  const query = useSearch({ from: '/users' });
  const navigate = useNavigate({ from: '/users' });
  const found = useUsers(query);
  const selection = useSelection();
  const [dialog, setDialog] = useState<{ readonly action: BulkAction; readonly chosen: Chosen }>();
  const [isCreating, setIsCreating] = useState(false);
  const change = (next: Readonly<Record<string, string | undefined>>) => {
    selection.clear();
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  };
  const list = listOf(query);
  const isFiltered = Object.keys(list).length > 0;
  const chosen: Chosen = selection.isAllMatching ? list : { ids: [...selection.ids] };
  return (
    <Page
      title={users.title}
      actions={
        <PageActions
          list={list}
          onExport={() => setDialog({ action: 'export', chosen: list })}
          onCreate={() => setIsCreating(true)}
        />
      }
    >
      <FilterBar
        urlQuery={query}
        onChange={change}
        fields={fieldsOf(users)}
        searchBox={{ name: 'q', label: users.search, hasInitialFocus: true }}
      >
        {found.data !== undefined && <Total page={found.data.first} isFiltered={isFiltered} />}
      </FilterBar>
      <Panel hasNoPadding>
        {/* The role decides whether rows have a box to select them, so the list waits for it. */}
        <Loaded query={isKnown ? found : { ...found, data: undefined, error: null }} rows={12}>
          {({ rows, last }) => (
            <FoundUsers
              {...{ rows, last, selection, isFiltered }}
              source={found.more}
              onSort={(sort) => change({ sort })}
            />
          )}
        </Loaded>
      </Panel>
      <SelectionBar {...{ chosen, selection }} onAction={(action) => setDialog({ action, chosen })} />
      {dialog !== undefined && (
        <BulkDialog
          {...dialog}
          people={(found.data?.rows ?? []).filter(({ id }) => selection.ids.has(id))}
          onClose={() => setDialog(undefined)}
          onStarted={() => {
            setDialog(undefined);
            selection.clear();
          }}
        />
      )}
      {query.act === 'invite' && can('admin') && (
        <Invite onClose={() => void navigate({ search: ({ act: _, ...before }) => before, replace: true })} />
      )}
      {isCreating && <CreateUser onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

/** @returns a function that opens the page on which the operator writes to these users */
function useNotify() {
  const navigate = useNavigate();
  return (chosen: Chosen) => {
    storeRecipients(chosen);
    void navigate({ to: '/notifications', search: {} });
  };
}

interface PageActionsProps {
  readonly list: Chosen;
  readonly onExport: () => void;
  readonly onCreate: () => void;
}

/** The actions that need no selection. Before the role is known, they take up their space, so that nothing moves when they appear. */
function PageActions({ list, onExport, onCreate }: PageActionsProps) {
  const { users, imports } = useText();
  const can = useHasScope();
  const { isFetched: isKnown } = useQuery(operatorQuery);
  const navigate = useNavigate({ from: '/users' });
  const notify = useNotify();
  return (
    <div className={cx(styles.actions, !isKnown && styles.awaited)}>
      {(can('users:read') || !isKnown) && (
        <Button icon="download" onClick={onExport}>
          {users.exportAll}
        </Button>
      )}
      {(can('notifications:write') || !isKnown) && (
        <Button icon="send" onClick={() => notify(list)}>
          {users.notifyAll}
        </Button>
      )}
      {(can('admin') || !isKnown) && (
        <Button icon="key" onClick={() => void navigate({ search: (before) => ({ ...before, act: 'invite' }) })}>
          {users.invite.action}
        </Button>
      )}
      {(can('users:write') || !isKnown) && (
        <>
          <ButtonLink icon="upload" to="/users/import">
            {imports.open}
          </ButtonLink>
          <Button kind="main" icon="plus" onClick={onCreate}>
            {users.create}
          </Button>
        </>
      )}
    </div>
  );
}

interface FoundUsersProps {
  readonly rows: readonly User[];
  /** The page that was read last. */
  readonly last: CursorPage;
  readonly source: ReturnType<typeof useUsers>['more'];
  readonly selection: Selection;
  readonly isFiltered: boolean;
  readonly onSort: (sort: string) => void;
}

/** The users that were read, or why there are none. */
function FoundUsers({ rows, last, source, selection, isFiltered, onSort }: FoundUsersProps) {
  const { users } = useText();
  const can = useHasScope();
  const { q, sort = 'created_at:desc' } = useSearch({ from: '/users' });
  const navigate = useNavigate({ from: '/users' });
  const { ids, isAllMatching } = selection;
  const isAllSelected = rows.length > 0 && rows.every(({ id }) => ids.has(id));
  return (
    <>
      {last.partial !== undefined && (
        <Notice
          kind="warn"
          action={
            last.next_cursor !== null && (
              <Button small busy={source.isReading} onClick={() => source.next?.()}>
                {users.goOn}
              </Button>
            )
          }
        >
          {last.partial === 'index' ? users.noIndex : users.partial}
        </Notice>
      )}
      {isAllSelected && last.next_cursor !== null && (
        <div className={styles.note}>
          {isAllMatching ? (
            users.allSelected
          ) : (
            <Button small onClick={selection.selectAllMatching}>
              {users.allThatMatch}
            </Button>
          )}
        </div>
      )}
      {rows.length === 0 && last.partial === undefined ? (
        <Nobody search={q} isFiltered={isFiltered} onClear={() => void navigate({ search: {} })} />
      ) : (
        <Table
          label={users.list}
          columns={columnsOf(users)}
          {...{ rows, source }}
          idOf={({ id }) => id}
          nameOf={nameOf}
          onOpen={({ id }) => void navigate({ to: '/users/$id', params: { id }, search: {} })}
          {...(can('users:write') && { selection: { ids, onChange: selection.select } })}
          sort={{ value: sort, onChange: onSort }}
          compact={(user) => <CompactUser user={user} />}
        />
      )}
      <ListFoot source={source} rows={rows.length} isPaused={last.partial !== undefined} />
    </>
  );
}

interface SelectionBarProps {
  readonly chosen: Chosen;
  readonly selection: Selection;
  readonly onAction: (action: BulkAction) => void;
}

/** The actions on the selected users, or on all that match. */
function SelectionBar({ chosen, selection, onAction }: SelectionBarProps) {
  const { users } = useText();
  const can = useHasScope();
  const notify = useNotify();
  return (
    <BulkBar count={selection.ids.size} onClear={selection.clear}>
      {bulkActions.map(([action, icon]) => (
        <Button key={action} kind="ghost" small icon={icon} onClick={() => onAction(action)}>
          {users.actions[action]}…
        </Button>
      ))}
      {can('notifications:write') && (
        <Button kind="ghost" small icon="send" onClick={() => notify(chosen)}>
          {users.notify}
        </Button>
      )}
      <Button kind="ghost" small icon="download" onClick={() => onAction('export')}>
        {users.actions.export}
      </Button>
      <Button kind="warn" small icon="trash" onClick={() => onAction('delete')}>
        {users.actions.delete}…
      </Button>
    </BulkBar>
  );
}

type Selection = ReturnType<typeof useSelection>;

/** The selected users. They stay selected when the operator comes back from the page of one of them. */
function useSelection() {
  const [ids, setIds] = useState<ReadonlySet<string>>(() => readFromEntry('selected') ?? new Set());
  /** Whether also the users who match and were not read are selected. */
  const [isAllMatching, setIsAllMatching] = useState(false);
  const select = (next: ReadonlySet<string>) => {
    setIsAllMatching(false);
    storeInEntry('selected', next);
    setIds(next);
  };
  return {
    ids,
    isAllMatching,
    select,
    selectAllMatching: () => setIsAllMatching(true),
    clear: () => select(new Set()),
  };
}

function fieldsOf(users: Texts['users']): readonly FilterField[] {
  return [
    {
      name: 'status',
      label: users.state,
      values: [
        ['active', users.active],
        ['deactivated', users.deactivated],
      ],
    },
    {
      name: 'lock',
      label: users.lock,
      values: [
        ['operator', users.locks.operator],
        ['guesses', users.locks.guesses],
        ['none', users.locks.none],
      ],
    },
    {
      name: 'role',
      label: users.role,
      values: [
        ['user', users.roles.user],
        ['support', users.roles.support],
        ['operator', users.roles.operator],
      ],
    },
    { name: 'appRole', label: users.appRole, placeholder: 'editor' },
    {
      name: 'factor',
      label: users.factor,
      values: [
        ['totp', users.kinds.totp],
        ['passkey', users.kinds.passkey],
        ['none', users.kinds.none],
      ],
    },
    { name: 'from', label: users.createdFrom, type: 'date' },
    { name: 'until', label: users.createdUntil, type: 'date' },
    { name: 'since', label: users.signedInSince, type: 'date' },
    { name: 'notSince', label: users.notSince, type: 'date' },
  ];
}

/** How many match. They are counted to a thousand. */
function Total({ page, isFiltered }: { page: CursorPage; isFiltered: boolean }) {
  const { users } = useText();
  if (page.total_is_exact) return <span>{users.total(page.total)}</span>;
  if (page.partial === undefined && page.total >= 1000) return <span>{users.moreThan(page.total)}</span>;
  return isFiltered ? <span>{users.atLeast(page.total)}</span> : null;
}

interface NobodyProps {
  readonly search: string | undefined;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** Why the list is empty, and the next step. */
function Nobody({ search, isFiltered, onClear }: NobodyProps) {
  const { users, check } = useText();
  if (!isFiltered) return <Empty title={users.nobodyYet}>{users.nobodyYetWhy}</Empty>;
  return (
    <Empty
      title={users.nobody}
      action={
        <div className={styles.next}>
          {search !== undefined && (
            <ButtonLink icon="key" to="/users/login-check" search={{ type: typeOf(search), value: search }}>
              <bdi className={styles.why}>{check.why(search)}</bdi>
            </ButtonLink>
          )}
          <Button onClick={onClear}>{users.clear}</Button>
        </div>
      }
    >
      {users.nobodyWhy}
    </Empty>
  );
}
