import { useState } from 'react';
import { request } from '../../../api/client.js';
import type { CreateEnrollmentLinkData, EnrollmentLink, Role } from '../../../api/schema.js';
import { changeUser } from '../../../api/users.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { SecretDialog } from '../../../components/dialog/secret-dialog.js';
import { Select } from '../../../components/field/field.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import layout from '../../../styles/layout.module.css';
import { useFormats, useText } from '../../../text/text.js';
import { confirmTextOf, type UserDialogProps, useDialogAction } from './dialog-action.js';

const roles = ['user', 'support', 'operator'] as const satisfies readonly Role[];

/**
 * A role gives rights over all users, so the operator must type the user's name. A new role needs a link to take effect.
 */
export function ChangeRole(props: UserDialogProps) {
  const { user, onClose, onOpenDialog } = props;
  const { userDialogs, users } = useText();
  const [role, setRole] = useState(user.role);
  const { busy, error, run } = useDialogAction(props);
  const isPromotion = roles.indexOf(role) > roles.indexOf(user.role);
  const save = () =>
    run(async () => {
      const changed = await changeUser(user.id, { role });
      toast.done(userDialogs.role.done(nameOf(user), users.roles[role]));
      if (role === 'user' || changed.role_active) return undefined;
      onOpenDialog('activation');
      return 'stay-open';
    });
  return (
    <ConfirmDialog
      title={userDialogs.role.title(nameOf(user))}
      action={userDialogs.save}
      confirmText={role === user.role ? undefined : confirmTextOf(user)}
      {...{ busy, error, onClose }}
      onConfirm={() => (role === user.role ? onClose() : void save())}
    >
      <div className={layout.stack12}>
        <Select
          label={users.role}
          value={role}
          options={roles.map((each) => [each, users.roles[each]] as const)}
          hint={userDialogs.role.rights[role]}
          onChoose={setRole}
        />
        {isPromotion && <p>{userDialogs.role.needsLink}</p>}
      </div>
    </ConfirmDialog>
  );
}

/** The link with which a role takes effect, shown once. */
export function ActivateRole(props: UserDialogProps) {
  const { user, onClose } = props;
  const { activation: text } = useText().userDialogs;
  const { time } = useFormats();
  const [link, setLink] = useState<EnrollmentLink>();
  const { busy, error, run } = useDialogAction(props);
  const create = () =>
    run(async () => {
      const path = { id: user.id };
      const url = '/admin/v1/users/{id}/enrollment-links';
      setLink(await request<CreateEnrollmentLinkData, EnrollmentLink>('POST', url, { path }));
      return 'stay-open';
    });
  if (link === undefined) {
    return (
      <ConfirmDialog
        title={text.title(nameOf(user))}
        action={text.action}
        {...{ busy, error, onClose }}
        onConfirm={() => void create()}
      >
        <p>{text.what}</p>
      </ConfirmDialog>
    );
  }
  return (
    <SecretDialog
      title={text.title(nameOf(user))}
      action={text.done}
      onClose={onClose}
      label={text.link}
      value={link.url}
      note={<p className={layout.quiet}>{text.until(time(link.expires_at))}</p>}
    />
  );
}
