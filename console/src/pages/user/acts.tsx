import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type {
  ChangeUserData,
  DeleteUserData,
  LockUserData,
  LogoutUserData,
  LogoutUserResponse,
  UnlockUserData,
  User,
} from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Field, Select } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { nameOf } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { useText } from '../../text/text.js';
import { devicesQuery, inboxQuery, refresh } from './queries.js';
import styles from './user.module.css';

/** The acts that ask first. */
export type Act = 'lock' | 'logOut' | 'deactivate' | 'erase';

interface ActProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** The question of an act. */
export function ActDialog({ act, onAct, ...rest }: ActProps & { act: Act; onAct: (act: Act) => void }) {
  if (act === 'lock') return <LockDialog {...rest} />;
  if (act === 'logOut') return <LogOutDialog {...rest} />;
  if (act === 'deactivate') return <DeactivateDialog {...rest} />;
  return <EraseDialog {...rest} onDeactivate={() => onAct('deactivate')} />;
}

export const unlockUser = (id: string) =>
  request<UnlockUserData, User>('POST', '/admin/v1/users/{id}/unlock', { path: { id } });
export const setStatus = (id: string, status: User['status']) =>
  request<ChangeUserData, User>('PATCH', '/admin/v1/users/{id}', { path: { id }, body: { status } });

/** Runs an act once, shows its error in the dialog, and reads the user again. */
function useAct({ user, onClose }: ActProps) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  return {
    busy,
    error: error !== undefined && <Problem error={error} />,
    async run(work: () => Promise<void>) {
      setBusy(true);
      try {
        await work();
        onClose();
        await refresh(client, user.id);
      } catch (reason) {
        setError(reason);
        setBusy(false);
      }
    },
    refresh: () => refresh(client, user.id),
  };
}

/** Takes an act back, from its toast. */
function useUndo(id: string) {
  const { common, user } = useText();
  const client = useQueryClient();
  return (work: () => Promise<unknown>) => ({
    name: common.undo,
    run: () =>
      void work().then(
        () => refresh(client, id),
        (error: unknown) => toast.failed(user.failed(common.undo), error),
      ),
  });
}

function LockDialog(props: ActProps) {
  const { user, onClose } = props;
  const { locking } = useText().user;
  const { busy, error, run } = useAct(props);
  const undo = useUndo(user.id);
  const [hours, setHours] = useState('24');
  const [reason, setReason] = useState('');
  const name = nameOf(user);
  const lock = () =>
    run(async () => {
      const until = new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
      const body = { ...(hours === '' ? { permanent: true } : { until }), ...(reason !== '' && { reason }) };
      await request<LockUserData, User>('POST', '/admin/v1/users/{id}/lock', { path: { id: user.id }, body });
      toast.done(
        locking.done(name),
        undo(() => unlockUser(user.id)),
      );
    });
  return (
    <ConfirmDialog
      title={locking.title(name)}
      action={locking.action}
      {...{ busy, error, onClose }}
      onConfirm={() => void lock()}
    >
      <div className={styles.form}>
        <p>{locking.what}</p>
        <Select label={locking.how} value={hours} options={locking.lengths} onChoose={setHours} />
        <Field label={locking.reason} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
      </div>
    </ConfirmDialog>
  );
}

function LogOutDialog(props: ActProps) {
  const { user, onClose } = props;
  const { loggingOut } = useText().user;
  const { busy, error, run } = useAct(props);
  const logOut = () =>
    run(async () => {
      const path = { id: user.id };
      const { ended } = await request<LogoutUserData, LogoutUserResponse>('POST', '/admin/v1/users/{id}/logout', {
        path,
      });
      toast.done(loggingOut.done(ended));
    });
  return (
    <ConfirmDialog
      title={loggingOut.title(nameOf(user))}
      action={loggingOut.action}
      {...{ busy, error, onClose }}
      onConfirm={() => void logOut()}
    >
      <p>{loggingOut.what}</p>
    </ConfirmDialog>
  );
}

function DeactivateDialog(props: ActProps) {
  const { user, onClose } = props;
  const { deactivating } = useText().user;
  const { busy, error, run } = useAct(props);
  const undo = useUndo(user.id);
  const name = nameOf(user);
  const deactivate = () =>
    run(async () => {
      await setStatus(user.id, 'deactivated');
      toast.done(
        deactivating.done(name),
        undo(() => setStatus(user.id, 'active')),
      );
    });
  return (
    <ConfirmDialog
      title={deactivating.title(name)}
      action={deactivating.action}
      destructive
      {...{ busy, error, onClose }}
      onConfirm={() => void deactivate()}
    >
      <p>{deactivating.what}</p>
    </ConfirmDialog>
  );
}

function EraseDialog(props: ActProps & { onDeactivate: () => void }) {
  const { user, onClose, onDeactivate } = props;
  const { erasing } = useText().user;
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { data: devices } = useQuery(devicesQuery(user.id));
  const { data: inbox } = useQuery(inboxQuery(user.id));
  const name = nameOf(user);
  async function erase(): Promise<void> {
    setBusy(true);
    try {
      await request<DeleteUserData, void>('DELETE', '/admin/v1/users/{id}', { path: { id: user.id } });
      toast.done(erasing.done(name));
      onClose();
      await navigate({ to: '/' });
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  }
  return (
    <ConfirmDialog
      title={erasing.title(name)}
      action={erasing.action}
      destructive
      typed={user.username ?? user.id.slice(0, 8)}
      milder={
        user.status === 'active' && (
          <Button kind="ghost" small onClick={onDeactivate}>
            {erasing.milder}
          </Button>
        )
      }
      busy={busy}
      error={error !== undefined && <Problem error={error} />}
      onConfirm={() => void erase()}
      onClose={onClose}
    >
      <ul>
        <li>{erasing.devices(devices?.page.total ?? 0)}</li>
        <li>{erasing.inbox(inbox?.page.total ?? 0)}</li>
        <li>{erasing.events}</li>
      </ul>
    </ConfirmDialog>
  );
}
