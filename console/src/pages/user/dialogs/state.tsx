import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../../api/client.js';
import type { DeleteUserData, LockUserData, LogoutUserData, LogoutUserResponse, User } from '../../../api/schema.js';
import { changeUser, unlockUser } from '../../../api/users.js';
import { Button } from '../../../components/button/button.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { Field, Select } from '../../../components/field/field.js';
import { Problem } from '../../../components/state/state.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import { useDraft } from '../../../lib/drafts.js';
import layout from '../../../styles/layout.module.css';
import { useText } from '../../../text/text.js';
import { devicesQuery, inboxQuery } from '../queries.js';
import { confirmTextOf, type UserDialogProps, useDialogAction, useUndo } from './dialog-action.js';

/**
 * Whether a choice is a number of hours. The other choices are: until somebody unlocks the user (empty), and until a time
 * that the operator enters.
 */
const isNumberOfHours = (hours: string) => hours !== '' && hours !== 'time';

export function LockDialog(props: UserDialogProps) {
  const { user, onClose } = props;
  const { user: text, userDialogs } = useText();
  const { locking } = text;
  const [draft, setDraft, forget] = useDraft(`user.${user.id}.lock`, { hours: '24', until: '', reason: '' });
  const close = () => {
    forget();
    onClose();
  };
  const { busy, error, errorOf, run } = useDialogAction({ user, onClose: close }, ['until', 'reason']);
  const undo = useUndo(user.id);
  const { hours, until, reason } = draft;
  const name = nameOf(user);
  const lock = () =>
    run(async () => {
      const end = isNumberOfHours(hours) ? new Date(Date.now() + Number(hours) * 3_600_000) : new Date(until);
      const time = Number.isNaN(end.getTime()) ? until : end.toISOString();
      const body = {
        ...(hours === '' ? { permanent: true } : { until: time }),
        ...(reason.trim() !== '' && { reason: reason.trim() }),
      };
      await request<LockUserData, User>('POST', '/admin/v1/users/{id}/lock', { path: { id: user.id }, body });
      toast.done(
        locking.done(name),
        undo(() => unlockUser(user.id)),
      );
      return undefined;
    });
  return (
    <ConfirmDialog
      title={locking.title(name)}
      action={locking.action}
      {...{ busy, error }}
      onConfirm={() => void lock()}
      onClose={close}
    >
      <div className={layout.stack12}>
        <p>{locking.what}</p>
        <Select
          label={locking.how}
          value={hours}
          options={[...locking.lengths, ['time', userDialogs.untilTime] as const]}
          onChoose={(chosen) => setDraft({ ...draft, hours: chosen })}
        />
        {hours === 'time' && (
          <Field
            label={userDialogs.until}
            hint={userDialogs.yourTime}
            type="datetime-local"
            value={until}
            error={errorOf('until')}
            onChange={(event) => setDraft({ ...draft, until: event.currentTarget.value })}
          />
        )}
        <Field
          label={locking.reason}
          maxLength={1024}
          value={reason}
          error={errorOf('reason')}
          onChange={(event) => setDraft({ ...draft, reason: event.currentTarget.value })}
        />
      </div>
    </ConfirmDialog>
  );
}

export function LogOutDialog(props: UserDialogProps) {
  const { user, onClose } = props;
  const { loggingOut } = useText().user;
  const { busy, error, run } = useDialogAction(props);
  const logOut = () =>
    run(async () => {
      const path = { id: user.id };
      const { ended } = await request<LogoutUserData, LogoutUserResponse>('POST', '/admin/v1/users/{id}/logout', {
        path,
      });
      toast.done(loggingOut.done(ended));
      return undefined;
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

export function DeactivateDialog(props: UserDialogProps) {
  const { user, onClose, onOpenDialog } = props;
  const { user: text, userDialogs } = useText();
  const { deactivating } = text;
  const { busy, error, run } = useDialogAction(props);
  const undo = useUndo(user.id);
  const name = nameOf(user);
  const deactivate = () =>
    run(async () => {
      await changeUser(user.id, { status: 'deactivated' });
      toast.done(
        deactivating.done(name),
        undo(() => changeUser(user.id, { status: 'active' })),
      );
      return undefined;
    });
  return (
    <ConfirmDialog
      title={deactivating.title(name)}
      action={deactivating.action}
      isDestructive
      confirmText={confirmTextOf(user)}
      alternative={
        <Button kind="ghost" small onClick={() => onOpenDialog('lock')}>
          {userDialogs.lockInstead}
        </Button>
      }
      {...{ busy, error, onClose }}
      onConfirm={() => void deactivate()}
    >
      <p>{deactivating.what}</p>
    </ConfirmDialog>
  );
}

export function EraseDialog(props: UserDialogProps) {
  const { user, onClose, onOpenDialog } = props;
  const { erasing } = useText().user;
  const navigate = useNavigate();
  const { data: devices } = useQuery(devicesQuery(user.id));
  const { data: inbox } = useQuery(inboxQuery(user.id));
  const { busy, error, run } = useErasure();
  const name = nameOf(user);
  const erase = () =>
    run(async () => {
      await request<DeleteUserData, void>('DELETE', '/admin/v1/users/{id}', { path: { id: user.id } });
      toast.done(erasing.done(name));
      await navigate({ to: '/users' });
    });
  return (
    <ConfirmDialog
      title={erasing.title(name)}
      action={erasing.action}
      isDestructive
      confirmText={confirmTextOf(user)}
      alternative={
        user.status === 'active' && (
          <Button kind="ghost" small onClick={() => onOpenDialog('deactivate')}>
            {erasing.milder}
          </Button>
        )
      }
      {...{ busy, error, onClose }}
      onConfirm={() => void erase()}
    >
      <ul>
        <li>{erasing.devices(devices?.page.total ?? 0)}</li>
        <li>{erasing.inbox(inbox?.page.total ?? 0)}</li>
        <li>{erasing.events}</li>
      </ul>
    </ConfirmDialog>
  );
}

/** Unlike the other dialogs, this one opens another page at the end, because the erased user cannot be read again. */
function useErasure() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [reason, setReason] = useState<unknown>();
  return {
    busy,
    error: reason !== undefined && <Problem error={reason} />,
    async run(work: () => Promise<void>): Promise<void> {
      setBusy(true);
      setReason(undefined);
      try {
        await work();
        await client.invalidateQueries({ queryKey: ['users'] });
      } catch (failure) {
        setReason(failure);
        setBusy(false);
      }
    },
  };
}
