import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../../api/client.js';
import type { User } from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { useCan } from '../../app/operator.js';
import { queryOf } from '../../app/search.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Menu, type MenuItem } from '../../components/menu/menu.js';
import { Page } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { Avatar, Cut, nameOf } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { download } from '../../lib/download.js';
import { useFormats, useText } from '../../text/text.js';
import { type Act, ActDialog, setStatus, unlockUser } from './acts.js';
import { Activity, Inbox, Messages } from './history.js';
import { Login } from './login.js';
import { type Kind, kinds, refresh, userQuery } from './queries.js';
import { Devices, Factors, Tokens, Who } from './side.js';
import styles from './user.module.css';

const query = queryOf('device', 'kind', 'notification');

/** Everything about one user, with "Can they log in?" first. */
export function UserPage() {
  const { id } = useParams({ from: '/users/$id' });
  const { user: text } = useText();
  const query = useQuery(userQuery(id));
  if (query.data !== undefined) return <UserView user={query.data} />;
  return (
    <Page title={text.title}>
      <Loaded query={query} what={text.notRead} rows={8}>
        {() => null}
      </Loaded>
    </Page>
  );
}

function UserView({ user }: { user: User }) {
  const { user: text, notifications } = useText();
  const can = useCan();
  const search = useSearch({ from: '/users/$id' });
  const navigate = useNavigate({ from: '/users/$id' });
  const [act, setAct] = useState<Act>();
  const run = useActs(user);
  const mayChange = can('users:write') && (user.role === 'user' || can('admin'));
  const isLocked = user.lock !== null || user.guess_locks.length > 0;
  const choose = (change: { readonly [Name in keyof typeof search]: string | undefined }) =>
    void navigate({ search: (before) => query({ ...before, ...change }), replace: true });
  const unlock = () => void run(text.unlock, text.unlocked, () => unlockUser(user.id));
  const mayNotify = can('notifications:write');
  const notify = () => void navigate({ to: '/notifications', search: { to: user.id } });
  const group = 'thisPage' as const;
  useShortcuts([
    ...(mayChange && isLocked ? [{ keys: 'u', name: text.unlock, group, run: unlock }] : []),
    ...(mayNotify ? [{ keys: 'n', name: notifications.send, group, run: notify }] : []),
  ]);
  const isActive = user.status === 'active';
  const items: MenuItem[] = [
    { name: text.export, icon: 'download', run: () => void exportUser(user, text.failed(text.export)) },
    ...(mayChange
      ? [
          isActive
            ? { name: text.deactivate, icon: 'ban' as const, run: () => setAct('deactivate'), changes: true }
            : {
                name: text.reactivate,
                icon: 'check' as const,
                changes: true,
                run: () => void run(text.reactivate, text.reactivated, () => setStatus(user.id, 'active')),
              },
          { name: text.erase, icon: 'trash' as const, destructive: true, changes: true, run: () => setAct('erase') },
        ]
      : []),
  ];
  const kind = Object.keys(kinds).find((each): each is Kind => each === search.kind);
  return (
    <Page
      title={nameOf(user)}
      actions={
        <>
          {mayNotify && (
            <Button icon="send" onClick={notify}>
              {notifications.notify}
            </Button>
          )}
          {mayChange && (
            <>
              <Button icon="lock" changes onClick={() => setAct('lock')}>
                {text.lock}
              </Button>
              <Button icon="logout" changes onClick={() => setAct('logOut')}>
                {text.logOut}
              </Button>
            </>
          )}
          <Menu label={text.more} items={items} />
        </>
      }
    >
      <Head user={user} />
      {can('users:write') && !mayChange && <p className={styles.quiet}>{text.needsAdmin}</p>}
      <div className={styles.columns}>
        <div className={styles.column}>
          <Login id={user.id} device={search.device} onChoose={(device) => choose({ device })} />
          <Inbox id={user.id} open={search.notification} onOpen={(notification) => choose({ notification })} />
          <Activity id={user.id} kind={kind} onKind={(next) => choose({ kind: next })} />
          <Messages id={user.id} mayChange={mayChange} />
        </div>
        <div className={styles.column}>
          <Devices user={user} mayChange={mayChange} onLogOutAll={() => setAct('logOut')} />
          <Tokens user={user} />
          <Who user={user} />
          <Factors user={user} mayChange={mayChange} />
        </div>
      </div>
      {act !== undefined && (
        <ActDialog key={act} act={act} user={user} onAct={setAct} onClose={() => setAct(undefined)} />
      )}
    </Page>
  );
}

/** Runs an act that needs no question, and says how it went. */
function useActs(user: User) {
  const client = useQueryClient();
  const { user: text } = useText();
  return async (name: string, done: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      toast.done(done);
    } catch (error) {
      toast.failed(text.failed(name), error);
    }
    await refresh(client, user.id);
  };
}

async function exportUser({ id }: User, failed: string): Promise<void> {
  try {
    const response = await send('GET', '/admin/v1/users/{id}/export', { path: { id } });
    download(`user-${id}.json`, await response.text(), 'application/json');
  } catch (error) {
    toast.failed(failed, error);
  }
}

/** The name, the state if it is not normal, and the identities. */
function Head({ user }: { user: User }) {
  const { user: text } = useText();
  const { time } = useFormats();
  const name = nameOf(user);
  const { lock, guess_locks: guesses } = user;
  const identities = [user.username, user.phone, user.email].filter((value) => value !== null && value !== name);
  return (
    <div className={styles.head}>
      <Avatar name={name} large />
      <div className={styles.who}>
        <div className={styles.name}>
          <Cut of={name} />
          {lock !== null && (
            <Badge kind={lock.until === null ? 'forGood' : 'until'}>
              {lock.until === null ? text.lockedForGood : text.lockedUntil(time(lock.until))}
            </Badge>
          )}
          {guesses.length > 0 && (
            <Badge kind={guesses.some(({ permanent }) => permanent) ? 'forGood' : 'until'}>
              {text.lockedByGuesses}
            </Badge>
          )}
          {user.status === 'deactivated' && <Badge kind="off">{text.deactivated}</Badge>}
          <Badge kind="label">{user.role}</Badge>
        </div>
        <div className={styles.identities}>
          {identities.map((value) => (
            <Cut key={value} of={value ?? ''} />
          ))}
          <Id of={user.id} />
        </div>
      </div>
    </div>
  );
}
