import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { NotConfirmedError } from '../../api/problem.js';
import type { CreateSetUpLinkData, IssuedSetUpLink, SetUpRole } from '../../api/schema.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { SecretDialog } from '../../components/dialog/secret-dialog.js';
import { Select } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import styles from './users.module.css';

const roles = ['support', 'operator'] as const satisfies readonly SetUpRole[];

/** Creates a link with which a new person becomes an operator or a member of the support staff, and shows it once. */
export function Invite({ onClose }: { onClose: () => void }) {
  const { users, userDialogs } = useText();
  const { invite: text } = users;
  const { time } = useFormats();
  const [role, setRole] = useState<SetUpRole>('support');
  const create = useMutation({
    mutationFn: () =>
      request<CreateSetUpLinkData, IssuedSetUpLink>('POST', '/admin/v1/set-up-links', { body: { role } }),
  });
  if (create.data !== undefined) {
    return (
      <SecretDialog
        title={text.title}
        action={text.done}
        onClose={onClose}
        label={text.link}
        value={create.data.url}
        note={<p className={styles.why}>{text.until(time(create.data.expires_at))}</p>}
      />
    );
  }
  const failure = create.error instanceof NotConfirmedError ? null : create.error;
  return (
    <ConfirmDialog
      title={text.title}
      action={text.create}
      busy={create.isPending}
      error={failure !== null && <Problem error={failure} />}
      onClose={onClose}
      onConfirm={() => create.mutate()}
    >
      <div className={layout.stack12}>
        <p>{text.what}</p>
        <Select
          label={users.role}
          value={role}
          options={roles.map((each) => [each, users.roles[each]] as const)}
          hint={userDialogs.role.rights[role]}
          onChoose={setRole}
        />
      </div>
    </ConfirmDialog>
  );
}
