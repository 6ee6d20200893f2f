import { useState } from 'react';
import { request } from '../../../api/client.js';
import type {
  CreateSupportLoginData,
  EndUserSupportLoginData,
  GetUserSupportLoginData,
  IssuedSupportLogin,
} from '../../../api/schema.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { SecretDialog } from '../../../components/dialog/secret-dialog.js';
import { Checkbox, Field } from '../../../components/field/field.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import { useDraft } from '../../../lib/drafts.js';
import layout from '../../../styles/layout.module.css';
import { useFormats, useText } from '../../../text/text.js';
import { type UserDialogProps, useDialogAction } from './dialog-action.js';

/** The token of a support login, which is shown once, and how to use it. */
function ShownToken({ login, title, onClose }: { login: IssuedSupportLogin; title: string; onClose: () => void }) {
  const { supportLogin: text } = useText().userDialogs;
  const { time } = useFormats();
  return (
    <SecretDialog
      title={title}
      action={text.close}
      onClose={onClose}
      label={text.token}
      value={login.token ?? ''}
      note={
        <>
          <p>{login.write ? text.mayWrite : text.mayRead}</p>
          <p>{text.use}</p>
          <p>{text.until(time(login.expires_at))}</p>
        </>
      }
    />
  );
}

/** Asks for a support login. Without consent of users, it shows the token at once. */
export function LogInAs(props: UserDialogProps) {
  const { user, onClose } = props;
  const { supportLogin: text } = useText().userDialogs;
  const [draft, setDraft, forget] = useDraft(`user.${user.id}.support`, { reason: '', write: false });
  const close = () => {
    forget();
    onClose();
  };
  const { busy, error, errorOf, run } = useDialogAction({ user, onClose: close }, ['reason']);
  const [login, setLogin] = useState<IssuedSupportLogin>();
  const title = text.title(nameOf(user));
  if (login !== undefined) return <ShownToken {...{ login, title }} onClose={close} />;
  const logIn = () =>
    run(async () => {
      const path = { id: user.id };
      const body = { reason: draft.reason.trim(), write: draft.write };
      const made = await request<CreateSupportLoginData, IssuedSupportLogin>(
        'POST',
        '/admin/v1/users/{id}/support-logins',
        { path, body },
      );
      if (made.token === undefined) {
        toast.done(text.asked(nameOf(user)));
        return undefined;
      }
      setLogin(made);
      return 'stay-open';
    });
  return (
    <ConfirmDialog {...{ title, busy, error }} action={text.action} onConfirm={() => void logIn()} onClose={close}>
      <div className={layout.stack12}>
        <p>{text.what}</p>
        <Field
          label={text.reason}
          hint={text.reasonHint}
          required
          maxLength={500}
          value={draft.reason}
          error={errorOf('reason')}
          onChange={(event) => setDraft({ ...draft, reason: event.currentTarget.value })}
        />
        <Checkbox
          label={text.write}
          checked={draft.write}
          onChange={(event) => setDraft({ ...draft, write: event.currentTarget.checked })}
        />
        <p className={layout.quiet}>{text.never}</p>
      </div>
    </ConfirmDialog>
  );
}

/** Gets the token of a support login that the user has allowed. @param about the id of the support login */
export function TakeSupportLogin(props: UserDialogProps) {
  const { user, about = '', onClose } = props;
  const { supportLogin: text } = useText().userDialogs;
  const { busy, error, run } = useDialogAction(props);
  const [login, setLogin] = useState<IssuedSupportLogin>();
  const title = text.title(nameOf(user));
  if (login !== undefined) return <ShownToken {...{ login, title, onClose }} />;
  const take = () =>
    run(async () => {
      const taken = await request<GetUserSupportLoginData, IssuedSupportLogin>(
        'GET',
        '/admin/v1/users/{id}/support-logins/{login_id}',
        { path: { id: user.id, login_id: about } },
      );
      if (taken.token === undefined) {
        toast.done(text.taken);
        return undefined;
      }
      setLogin(taken);
      return 'stay-open';
    });
  return (
    <ConfirmDialog {...{ title, busy, error, onClose }} action={text.take} onConfirm={() => void take()}>
      <p>{text.takeWhat}</p>
    </ConfirmDialog>
  );
}

/** Ends a support login, or withdraws the question. @param about the id of the support login */
export function EndSupportLogin(props: UserDialogProps) {
  const { user, about = '', onClose } = props;
  const { supportLogin: text } = useText().userDialogs;
  const { busy, error, run } = useDialogAction(props);
  const end = () =>
    run(async () => {
      const path = { id: user.id, login_id: about };
      await request<EndUserSupportLoginData, void>('DELETE', '/admin/v1/users/{id}/support-logins/{login_id}', {
        path,
      });
      toast.done(text.ended);
      return undefined;
    });
  return (
    <ConfirmDialog
      title={text.endTitle(nameOf(user))}
      action={text.end}
      {...{ busy, error, onClose }}
      onConfirm={() => void end()}
    >
      <p>{text.endWhat}</p>
    </ConfirmDialog>
  );
}
