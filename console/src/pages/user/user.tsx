import { useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { User } from '../../api/schema.js';
import { changeUser, isLocked, readUserExport, unlockUser, userKey, userQuery } from '../../api/users.js';
import { useShortcuts } from '../../app/keyboard.js';
import { useHasScope, useMayChange } from '../../app/operator.js';
import { queryWith } from '../../app/search.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Menu, type MenuItem } from '../../components/menu/menu.js';
import { Page } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { Avatar, nameOf, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { download } from '../../lib/download.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { adminDialogs, dialogNames, type OpenDialog } from './dialogs/dialog-action.js';
import { UserDialog } from './dialogs/user-dialog.js';
import { Activity, Inbox, Messages } from './history.js';
import { Login } from './login.js';
import { Preferences } from './preferences.js';
import { diagnosisQuery, type Kind, kinds, refresh } from './queries.js';
import { type Member, members } from './query.js';
import { useRemedies } from './remedies.js';
import { Devices, Tokens } from './side.js';
import { SupportLogins } from './support-logins.js';
import styles from './user.module.css';
import { Accounts, Factors, Who } from './who.js';

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
  const { user: text, userDialogs: dialogTexts, notifications } = useText();
  const can = useHasScope();
  const search = useSearch({ from: '/users/$id' });
  const navigate = useNavigate({ from: '/users/$id' });
  const client = useQueryClient();
  const run = useActions(user);
  useAnchor(user.id);
  const mayChange = useMayChange()(user);
  const choose = (change: { readonly [Name in Member]?: string | undefined }) =>
    void navigate({
      search: (before) => queryWith(...members)({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    });
  const openDialog: OpenDialog = (dialog, about) => choose({ act: dialog, about });
  const onRemedy = useRemedies({ onOpenDialog: openDialog, onDone: () => refresh(client, user.id) });
  const unlock = () => void run(text.unlock, text.unlocked, () => unlockUser(user.id));
  const mayNotify = can('notifications:write');
  const notify = () => void navigate({ to: '/notifications', search: { to: user.id } });
  const group = 'thisPage' as const;
  useShortcuts([
    ...(mayChange && isLocked(user) ? [{ keys: 'u', name: text.unlock, group, run: unlock }] : []),
    ...(mayChange
      ? [
          { keys: 'l', name: text.lock, group, run: () => openDialog('lock') },
          { keys: 'e', name: dialogTexts.edit, group, run: () => openDialog('profile') },
        ]
      : []),
    ...(mayNotify ? [{ keys: 'n', name: notifications.send, group, run: notify }] : []),
  ]);
  const isAdmin = can('admin');
  const dialog = dialogNames.find((each) => each === search.act);
  const isDialogAllowed = dialog !== undefined && mayChange && (isAdmin || !adminDialogs.includes(dialog));
  const items = useMenuItems(user, openDialog, run);
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
              <Button icon="lock" changesData onClick={() => openDialog('lock')}>
                {text.lock}
              </Button>
              <Button icon="logout" changesData onClick={() => openDialog('logOut')}>
                {text.logOut}
              </Button>
            </>
          )}
          <Menu label={text.more} items={items} />
        </>
      }
    >
      <Head user={user} />
      {can('users:write') && !mayChange && <p className={layout.quiet}>{text.needsAdmin}</p>}
      <div className={styles.columns}>
        <div className={layout.stack20}>
          <Login id={user.id} device={search.device} onChoose={(device) => choose({ device })} onRemedy={onRemedy} />
          <Inbox id={user.id} open={search.notification} onOpen={(notification) => choose({ notification })} />
          <Preferences user={user} mayChange={mayChange} />
          <Activity id={user.id} kind={kind} onKind={(next) => choose({ kind: next })} />
          <Messages id={user.id} mayChange={mayChange} />
        </div>
        <div className={layout.stack20}>
          <Devices user={user} mayChange={mayChange} onLogOutAll={() => openDialog('logOut')} />
          <Tokens user={user} />
          <SupportLogins user={user} onOpenDialog={openDialog} />
          <Who user={user} mayChange={mayChange} onOpenDialog={openDialog} />
          <Factors user={user} mayChange={mayChange} onOpenDialog={openDialog} />
          <Accounts user={user} mayChange={mayChange} onOpenDialog={openDialog} />
        </div>
      </div>
      {isDialogAllowed && (
        <UserDialog
          key={`${dialog} ${search.about ?? ''}`}
          {...{ dialog, user, about: search.about, onOpenDialog: openDialog }}
          onClose={() => choose({ act: undefined, about: undefined })}
        />
      )}
    </Page>
  );
}

/** The menu "…" with the less frequent dialogs. */
function useMenuItems(user: User, openDialog: OpenDialog, run: ReturnType<typeof useActions>): MenuItem[] {
  const { user: text, userDialogs: dialogTexts } = useText();
  const isAdmin = useHasScope()('admin');
  const mayChange = useMayChange()(user);
  const isActive = user.status === 'active';
  return [
    { name: text.export, icon: 'download', run: () => void exportUser(user, text.failed(text.export)) },
    ...(mayChange
      ? [
          isActive
            ? { name: text.deactivate, icon: 'ban' as const, run: () => openDialog('deactivate'), changesData: true }
            : {
                name: text.reactivate,
                icon: 'check' as const,
                changesData: true,
                run: () => void run(text.reactivate, text.reactivated, () => changeUser(user.id, { status: 'active' })),
              },
          ...(isAdmin
            ? [
                {
                  name: dialogTexts.role.open,
                  icon: 'shield' as const,
                  changesData: true,
                  run: () => openDialog('role'),
                },
              ]
            : []),
          ...(isAdmin && user.role !== 'user' && !user.role_active
            ? [
                {
                  name: dialogTexts.activation.open,
                  icon: 'link' as const,
                  changesData: true,
                  run: () => openDialog('activation'),
                },
              ]
            : []),
          {
            name: text.erase,
            icon: 'trash' as const,
            destructive: true,
            changesData: true,
            run: () => openDialog('erase'),
          },
        ]
      : []),
  ];
}

/** Scrolls to the panel that the hash of the URL names, also after the panels above it have their data. */
function useAnchor(id: string): void {
  const hash = useLocation({ select: (location) => location.hash });
  const isArriving = useIsFetching({ queryKey: userKey(id), predicate: ({ state }) => state.data === undefined }) > 0;
  const reached = useRef('');
  useEffect(() => {
    if (hash === '' || reached.current === hash) return;
    document.getElementById(hash)?.scrollIntoView({ block: 'start' });
    if (!isArriving) reached.current = hash;
  }, [hash, isArriving]);
}

/** Runs an action that needs no dialog, and shows its result. */
function useActions(user: User) {
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
    download(`user-${id}.json`, await readUserExport(id), 'application/json');
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
          <UserText text={name} />
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
          <TestIdentityBadge id={user.id} />
          {user.status === 'deactivated' && <Badge kind="off">{text.deactivated}</Badge>}
          <Badge kind="label">{user.role}</Badge>
        </div>
        <div className={styles.identities}>
          {identities.map((value) => (
            <UserText key={value} text={value ?? ''} />
          ))}
          <Id value={user.id} />
        </div>
      </div>
    </div>
  );
}

/** Whether an address of the user takes a fixed code, as the diagnosis of the logins says. */
function TestIdentityBadge({ id }: { id: string }) {
  const { user: text } = useText();
  const { time } = useFormats();
  const { data } = useQuery(diagnosisQuery(id, undefined));
  const reasons = (data?.ways ?? []).flatMap((way) => way.reasons);
  const test = reasons.find(({ code }) => code === 'test_identity');
  return test?.until == null ? null : <Badge kind="until">{text.testIdentity(time(test.until))}</Badge>;
}
