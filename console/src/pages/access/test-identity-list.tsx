import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type { DeleteTestIdentityData, GetTestIdentityPageResponse, TestIdentity, User } from '../../api/schema.js';
import { userKey, useUsersOfPages } from '../../api/users.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog, Dialog } from '../../components/dialog/dialog.js';
import { Facts } from '../../components/panel/panel.js';
import { Problem } from '../../components/state/state.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Id } from '../../components/text/id.js';
import { None, nameOf, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { End } from './end.js';

interface TestIdentityListProps {
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<GetTestIdentityPageResponse>;
}

/** The addresses that take a fixed code, newest first. */
export function TestIdentityList({ read }: TestIdentityListProps) {
  const { access } = useText();
  const text = access.tests;
  const [openTest, setOpenTest] = useState<TestIdentity>();
  const list = useList<TestIdentity, GetTestIdentityPageResponse>({
    key: ['test-identities'],
    read,
    refreshMs: 15_000,
  });
  const users = useUsersOfPages(list.pagesNearView.map((page) => page.flatMap(({ user_id }) => user_id ?? [])));
  const userOf = ({ user_id }: TestIdentity) => (user_id === null ? undefined : users.get(user_id));
  const columns: readonly Column<TestIdentity>[] = [
    {
      key: 'address',
      head: access.address,
      size: 'wide',
      cell: ({ identity }) => <UserText strong text={identity.value} />,
    },
    { key: 'user', head: text.user, size: 'wide', cell: (row) => <UserName test={row} user={userOf(row)} /> },
    { key: 'ends', head: access.ends, cell: ({ expires_at }) => <End time={expires_at} /> },
    {
      key: 'created',
      head: access.created,
      isHiddenIfNarrow: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
  return (
    <>
      <ListPanel
        list={list}
        text={text}
        label={text.title}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ identity }) => identity.value}
        onOpen={setOpenTest}
        compact={(row) => (
          <div className={layout.stack2}>
            <UserText strong text={row.identity.value} />
            <UserName test={row} user={userOf(row)} />
            <span className={layout.faint}>
              {access.ends}: <End time={row.expires_at} />
            </span>
          </div>
        )}
      />
      {openTest !== undefined && (
        <TestIdentityDetails test={openTest} user={userOf(openTest)} onClose={() => setOpenTest(undefined)} />
      )}
    </>
  );
}

interface Named {
  readonly test: TestIdentity;
  readonly user: User | undefined;
}

function UserName({ test: { user_id: id }, user }: Named) {
  const { access: text } = useText();
  if (id === null) return <None word={text.tests.nobody} />;
  return <UserText text={user === undefined ? id.slice(0, 8) : nameOf(user)} />;
}

function TestIdentityDetails({ test, user, onClose }: Named & { readonly onClose: () => void }) {
  const { access, common } = useText();
  const text = access.tests;
  const [isAsking, setIsAsking] = useState(false);
  const client = useQueryClient();
  const { value } = test.identity;
  const remove = useMutation({
    mutationFn: () =>
      request<DeleteTestIdentityData, void>('DELETE', '/admin/v1/test-identities/{id}', { path: { id: test.id } }),
    async onSuccess() {
      toast.done(text.removed(value));
      onClose();
      await client.invalidateQueries({ queryKey: ['test-identities'] });
      if (test.user_id !== null) await client.invalidateQueries({ queryKey: userKey(test.user_id) });
    },
  });
  if (isAsking) {
    return (
      <ConfirmDialog
        title={text.removeTitle(value)}
        action={text.removeAction}
        isDestructive
        busy={remove.isPending}
        error={remove.error !== null && <Problem message={text.notRemoved} error={remove.error} />}
        onConfirm={() => remove.mutate()}
        onClose={onClose}
      >
        <p>{text.removeWhy}</p>
      </ConfirmDialog>
    );
  }
  return (
    <Dialog
      title={value}
      onClose={onClose}
      actions={
        <Button kind="warn" changesData onClick={() => setIsAsking(true)}>
          {text.remove}
        </Button>
      }
    >
      <Facts
        facts={[
          [
            text.user,
            test.user_id === null ? (
              <None key="user" word={text.nobody} />
            ) : (
              <Link key="user" to="/users/$id" params={{ id: test.user_id }}>
                <UserName test={test} user={user} />
              </Link>
            ),
          ],
          [access.ends, <End key="ends" time={test.expires_at} />],
          [access.createdBy, <Id key="by" value={test.created_by} />],
          [access.created, <Time key="created" value={test.created_at} />],
          [common.id, <Id key="id" value={test.id} />],
        ]}
      />
    </Dialog>
  );
}
