import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '../../api/pages.js';
import { ProblemError } from '../../api/problem.js';
import type { FindUsersResponse, Topic, User } from '../../api/schema.js';
import { useHasScope } from '../../app/operator.js';
import { Button, ButtonLink } from '../../components/button/button.js';
import { ConfirmDialog, FormDialog } from '../../components/dialog/dialog.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Facts, Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded, Notice, Problem } from '../../components/state/state.js';
import { BulkBar, ListFoot } from '../../components/table/bars.js';
import type { Column } from '../../components/table/row.js';
import { Table } from '../../components/table/table.js';
import { Id } from '../../components/text/id.js';
import { addressOf, None, nameOf, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { People } from '../notifications/recipients.js';
import { LinesDialog } from './lines-dialog.js';
import {
  changeSubscriptions,
  deleteTopic,
  readSubscribers,
  subscribe,
  topicQuery,
  topicsKey,
  unsubscribe,
} from './queries.js';
import { TopicDialog } from './topics.js';
import styles from './topics.module.css';

type OpenDialog = 'edit' | 'delete' | 'add' | 'lines';

/** One topic, and who is subscribed. */
export function TopicPage() {
  const { key } = useParams({ from: '/topics/$key' });
  const { topics: text, publications } = useText();
  const can = useHasScope();
  const query = useQuery(topicQuery(key));
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const topic = query.data;
  return (
    <Page
      title={topic?.title ?? key}
      breadcrumbs={<Link to="/topics">{text.title}</Link>}
      actions={
        topic !== undefined && (
          <>
            {can('notifications:write') && (
              <ButtonLink icon="send" to="/publications/new" search={{ topic: key }}>
                {publications.create}
              </ButtonLink>
            )}
            <Button icon="pencil" onClick={() => setDialog('edit')}>
              {text.edit}
            </Button>
            <Button kind="warn" changesData onClick={() => setDialog('delete')}>
              {text.remove}
            </Button>
          </>
        )
      }
    >
      <Loaded query={query} what={text.oneFailed} rows={3}>
        {(shown) => (
          <>
            <Panel title={text.about}>
              <Facts
                facts={[
                  [text.key, <Id key="key" value={shown.key} />],
                  [text.joining, shown.is_open ? text.open : text.closed],
                  [text.created, <Time key="created" value={shown.created_at} />],
                ]}
              />
            </Panel>
            {can('users:read') ? (
              <Subscribers topicKey={key} onAdd={() => setDialog('add')} onLines={() => setDialog('lines')} />
            ) : (
              <Notice kind="locked">{text.needsUsers}</Notice>
            )}
            {dialog === 'edit' && <TopicDialog topic={shown} onSaved={() => undefined} onClose={close} />}
            {dialog === 'delete' && <RemoveDialog topic={shown} onClose={close} />}
          </>
        )}
      </Loaded>
      {dialog === 'add' && <AddDialog topicKey={key} onClose={close} />}
      {dialog === 'lines' && <LinesDialog topicKey={key} onClose={close} />}
    </Page>
  );
}

interface SubscribersProps {
  readonly topicKey: string;
  readonly onAdd: () => void;
  readonly onLines: () => void;
}

function Subscribers({ topicKey, onAdd, onLines }: SubscribersProps) {
  const { topics: text } = useText();
  const { q } = useSearch({ from: '/topics/$key' });
  const navigate = useNavigate({ from: '/topics/$key' });
  const search = (q ?? '').trim();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const list = useList<User, FindUsersResponse>({
    key: [...topicsKey, 'subscribers', topicKey, search],
    read: readSubscribers(topicKey, search),
    refreshMs: 15_000,
  });
  const remove = useRemoval(topicKey, () => setIds(new Set()));
  const columns: readonly Column<User>[] = [
    { key: 'name', head: text.person, size: 'wide', cell: (user) => <Person user={user} /> },
    {
      key: 'id',
      head: text.id,
      isHiddenIfNarrow: true,
      cell: ({ id }) => <Id value={id} short />,
    },
  ];
  return (
    <Panel
      title={text.subscribers}
      hasNoPadding
      actions={
        <>
          <Button small onClick={onLines}>
            {text.lines}
          </Button>
          <Button small icon="plus" onClick={onAdd}>
            {text.add}
          </Button>
        </>
      }
    >
      <div className={styles.search}>
        <FilterBar
          urlQuery={{ q }}
          onChange={(next) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
          fields={[]}
          searchBox={{ name: 'q', label: text.searchPeople }}
        />
      </div>
      <Loaded query={list} what={text.subscribersFailed} rows={4}>
        {({ rows, first }) => (
          <>
            {rows.length === 0 && search !== '' && <Empty title={text.noPerson} />}
            {rows.length === 0 && search === '' && <Empty title={text.nobody}>{text.nobodyWhy}</Empty>}
            {rows.length > 0 && (
              <Table
                label={text.subscribers}
                columns={columns}
                rows={rows}
                source={list.more}
                idOf={({ id }) => id}
                nameOf={nameOf}
                onOpen={({ id }) => void navigate({ to: '/users/$id', params: { id } })}
                selection={{ ids, onChange: setIds }}
                compact={(user) => <Person user={user} />}
              />
            )}
            <ListFoot source={list.more} rows={rows.length}>
              {text.people(first.total, first.total_is_exact)}
            </ListFoot>
          </>
        )}
      </Loaded>
      <BulkBar count={ids.size} onClear={() => setIds(new Set())}>
        <Button kind="warn" changesData busy={remove.isPending} onClick={() => remove.mutate([...ids])}>
          {text.removePeople}
        </Button>
      </BulkBar>
    </Panel>
  );
}

/** Removes subscribers. The user can undo it. */
function useRemoval(topicKey: string, onRemoved: () => void) {
  const { topics: text } = useText();
  const client = useQueryClient();
  const remove = useMutation({
    async mutationFn(users: readonly string[]) {
      const [only] = users;
      if (users.length === 1 && only !== undefined) await unsubscribe(topicKey, only);
      else
        await changeSubscriptions(
          topicKey,
          users.map((user_id) => ({ user_id, remove: true })),
        );
      return users;
    },
    async onSuccess(users) {
      onRemoved();
      toast.done(text.removedPeople(users.length), { name: text.undo, run: () => restore.mutate(users) });
      await client.invalidateQueries({ queryKey: topicsKey });
    },
    onError: (error) => toast.failed(text.notRemovedPeople, error),
  });
  const restore = useMutation({
    mutationFn: (users: readonly string[]) =>
      changeSubscriptions(
        topicKey,
        users.map((user_id) => ({ user_id })),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: topicsKey }),
    onError: (error) => toast.failed(text.notAdded, error),
  });
  return remove;
}

function Person({ user }: { user: User }) {
  const name = nameOf(user);
  const address = addressOf(user);
  return (
    <div className={layout.identity}>
      <UserText strong text={name} />
      {address === '' ? <None /> : <UserText quiet text={address} />}
    </div>
  );
}

function AddDialog({ topicKey, onClose }: { topicKey: string; onClose: () => void }) {
  const { topics: text } = useText();
  const client = useQueryClient();
  const [people, setPeople] = useState<readonly string[]>([]);
  const add = useMutation({
    async mutationFn() {
      for (const user of people) await subscribe(topicKey, user);
    },
    async onSuccess() {
      toast.done(text.added(people.length));
      onClose();
      await client.invalidateQueries({ queryKey: topicsKey });
    },
  });
  return (
    <FormDialog
      title={text.addTitle}
      action={text.addAction}
      isReady={people.length > 0}
      busy={add.isPending}
      onClose={onClose}
      onSubmit={() => add.mutate()}
    >
      <div className={layout.stack16}>
        <People ids={people} error={undefined} onChange={setPeople} onList={() => undefined} />
        {add.error !== null && <Problem message={text.notAdded} error={add.error} />}
      </div>
    </FormDialog>
  );
}

function RemoveDialog({ topic: { key, title }, onClose }: { topic: Topic; onClose: () => void }) {
  const { topics: text } = useText();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteTopic(key),
    async onSuccess() {
      toast.done(text.removed(title));
      onClose();
      await navigate({ to: '/topics' });
      client.removeQueries({ queryKey: topicQuery(key).queryKey });
      await client.invalidateQueries({ queryKey: topicsKey });
    },
  });
  const { error } = remove;
  const isInUse = error instanceof ProblemError && error.code === 'topic_in_use';
  return (
    <ConfirmDialog
      title={text.removeTitle(title)}
      action={text.removeAction}
      isDestructive
      confirmText={key}
      busy={remove.isPending}
      error={
        isInUse ? (
          <Notice kind="warn" live>
            {text.inUse} <Link to="/publications">{text.seePublications}</Link>
          </Notice>
        ) : (
          error !== null && <Problem message={text.notRemoved} error={error} />
        )
      }
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <ul>
        <li>{text.removeEnds}</li>
        <li>{text.removeKeeps}</li>
      </ul>
    </ConfirmDialog>
  );
}
