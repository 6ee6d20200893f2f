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
import type { Texts } from '../../text/en/index.js';
import { useText } from '../../text/text.js';
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
        ...(q !== undefined && { search: q }),
        ...(filter !== undefined && { filter }),
        ...(sort !== undefined && { sort }),
        ...(cursor !== undefined && { cursor }),
      };
      // The first page arrives soon. Later pages are read before the operator reaches them.
      const call = { body: { ...parameters, limit: cursor === undefined ? 50 : 100 }, signal };
      return request<FindUsersData, FindUsersResponse>('POST', '/admin/v1/users/find', call);
    },
  });
}

const bulkActions = [
  ['lock', 'lock'],
  ['unlock', 'unlock'],
  ['logout', 'logout'],
  ['deactivate', 'ban'],
  ['activate', 'check'],
] as const;

/** The list of users: search, filters, and actions on one or many users. */
export function Users() {
  const { users, imports } = useText();
  const can = useHasScope();
  const { isFetched: isKnown } = useQuery(operatorQuery);
  const query = useSearch({ from: '/users' });
  const navigate = useNavigate({ from: '/users' });
  const found = useUsers(query);
  const [ids, setIds] = useSelection();
  const [isAllMatching, setIsAllMatching] = useState(false);
  const [dialog, setDialog] = useState<{ readonly action: BulkAction; readonly all: boolean }>();
  const [isCreating, setIsCreating] = useState(false);
  const clear = () => {
    setIds(new Set());
    setIsAllMatching(false);
  };
  const change = (next: Readonly<Record<string, string | undefined>>) => {
    clear();
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  };
  const filter = filterOf(query);
  const list = { ...(query.q !== undefined && { search: query.q }), ...(filter !== undefined && { filter }) };
  const isFiltered = query.q !== undefined || filter !== undefined;
  const chosen: Chosen = dialog?.all === true ? list : { ids: [...ids] };
  const shown = found.data?.rows ?? [];
  const isAllSelected = shown.length > 0 && shown.every(({ id }) => ids.has(id));
  return (
    <Page
      title={users.title}
      actions={
        // Before the role is known, the buttons take up their space, so that nothing moves when they appear.
        <div className={cx(styles.actions, !isKnown && styles.awaited)}>
          {(can('users:read') || !isKnown) && (
            <Button icon="download" onClick={() => setDialog({ action: 'export', all: true })}>
              {users.exportAll}
            </Button>
          )}
          {(can('notifications:write') || !isKnown) && (
            <Button
              icon="send"
              onClick={() => {
                storeRecipients(list);
                void navigate({ to: '/notifications', search: {} });
              }}
            >
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
              <Button kind="main" icon="plus" onClick={() => setIsCreating(true)}>
                {users.create}
              </Button>
            </>
          )}
        </div>
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
            <>
              {last.partial !== undefined && (
                <Notice
                  kind="warn"
                  action={
                    last.next_cursor !== null && (
                      <Button small busy={found.more.isReading} onClick={() => found.more.next?.()}>
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
                    <Button small onClick={() => setIsAllMatching(true)}>
                      {users.allThatMatch}
                    </Button>
                  )}
                </div>
              )}
              {rows.length === 0 && last.partial === undefined ? (
                <Nobody search={query.q} isFiltered={isFiltered} onClear={() => void navigate({ search: {} })} />
              ) : (
                <Table
                  label={users.list}
                  columns={columnsOf(users)}
                  rows={rows}
                  source={found.more}
                  idOf={({ id }) => id}
                  nameOf={nameOf}
                  onOpen={({ id }) => void navigate({ to: '/users/$id', params: { id }, search: {} })}
                  {...(can('users:write') && {
                    selection: {
                      ids,
                      onChange: (next: ReadonlySet<string>) => {
                        setIsAllMatching(false);
                        setIds(next);
                      },
                    },
                  })}
                  sort={{ value: query.sort ?? 'created_at:desc', onChange: (sort) => change({ sort }) }}
                  compact={(user) => <CompactUser user={user} />}
                />
              )}
              <ListFoot source={found.more} rows={rows.length} isPaused={last.partial !== undefined} />
            </>
          )}
        </Loaded>
      </Panel>
      <BulkBar count={ids.size} onClear={clear}>
        {bulkActions.map(([action, icon]) => (
          <Button key={action} kind="ghost" small icon={icon} onClick={() => setDialog({ action, all: isAllMatching })}>
            {users.actions[action]}…
          </Button>
        ))}
        {can('notifications:write') && (
          <Button
            kind="ghost"
            small
            icon="send"
            onClick={() => {
              storeRecipients(isAllMatching ? list : { ids: [...ids] });
              void navigate({ to: '/notifications', search: {} });
            }}
          >
            {users.notify}
          </Button>
        )}
        <Button kind="ghost" small icon="download" onClick={() => setDialog({ action: 'export', all: isAllMatching })}>
          {users.actions.export}
        </Button>
        <Button kind="warn" small icon="trash" onClick={() => setDialog({ action: 'delete', all: isAllMatching })}>
          {users.actions.delete}…
        </Button>
      </BulkBar>
      {dialog !== undefined && (
        <BulkDialog
          action={dialog.action}
          chosen={chosen}
          people={shown.filter(({ id }) => ids.has(id))}
          onClose={() => setDialog(undefined)}
          onStarted={() => {
            setDialog(undefined);
            clear();
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

/** The selected users. They stay selected when the operator comes back from the page of one of them. */
function useSelection() {
  const [ids, setIds] = useState<ReadonlySet<string>>(() => readFromEntry('selected') ?? new Set());
  const change = (next: ReadonlySet<string>) => {
    storeInEntry('selected', next);
    setIds(next);
  };
  return [ids, change] as const;
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
function Total({
  page,
  isFiltered,
}: {
  page: Omit<FindUsersResponse['page'], 'number' | 'limit'>;
  isFiltered: boolean;
}) {
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
