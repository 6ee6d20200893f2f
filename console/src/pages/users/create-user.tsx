import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type { CreateUserData, CreateUserResponse } from '../../api/schema.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { SecretDialog } from '../../components/dialog/secret-dialog.js';
import { Checkbox, Field } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { nameOf } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { useDraft } from '../../lib/drafts.js';
import { randomPassword } from '../../lib/passwords.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './users.module.css';

const emptyDraft = { name: '', username: '', email: '', phone: '', external_id: '' };
type Form = typeof emptyDraft;
/** The values for the form that are known before it opens, by field name. Other names have no effect on the form. */
export type NewMembers = Readonly<Record<string, unknown>>;

const formOf = (start: NewMembers): typeof emptyDraft => {
  const known = Object.keys(emptyDraft).map((name) => [name, typeof start[name] === 'string' ? start[name] : '']);
  return { ...emptyDraft, ...Object.fromEntries(known) };
};

/** The form for a new user. Errors are shown at their fields. */
export function CreateUser({ start = {}, onClose }: { start?: NewMembers; onClose: () => void }) {
  const { users, userDialogs } = useText();
  const queries = useQueryClient();
  // A form with known values has its own draft.
  const [form, setForm, forget] = useDraft(`user ${JSON.stringify(start)}`, formOf(start));
  const [needsPassword, setNeedsPassword] = useState(false);
  // A repeat after a lost answer must not make a second user.
  const key = useRef(crypto.randomUUID());
  const create = useMutation({
    mutationFn: (body: CreateUserData['body']) =>
      request<CreateUserData, CreateUserResponse>('POST', '/admin/v1/users', {
        body,
        headers: { 'Idempotency-Key': key.current },
      }),
    onSuccess(user, body) {
      toast.done(users.madeUser(nameOf(user)));
      void queries.invalidateQueries({ queryKey: ['users'] });
      forget();
      if (body.password === undefined) onClose();
    },
  });
  const error = create.error instanceof ProblemError ? create.error : undefined;
  const field = (name: keyof Form, label: string, more: { type?: string; hint?: string } = {}) => (
    <Field
      label={label}
      autoComplete="off"
      {...more}
      value={form[name]}
      error={error?.messageFor(name)}
      onChange={(event) => {
        const { value } = event.currentTarget;
        setForm((before) => ({ ...before, [name]: value }));
        key.current = crypto.randomUUID();
      }}
    />
  );
  if (create.isSuccess && create.variables.password !== undefined) {
    return (
      <SecretDialog
        title={users.create}
        action={userDialogs.password.close}
        onClose={onClose}
        label={userDialogs.password.label}
        value={create.variables.password}
        note={<p className={styles.why}>{userDialogs.password.tell}</p>}
      />
    );
  }
  const isAtFields = error?.errors.every(({ field }) => field !== undefined && field in emptyDraft) === true;
  return (
    <FormDialog
      title={users.create}
      action={users.create}
      busy={create.isPending}
      onClose={onClose}
      onSubmit={() => {
        const given = Object.entries(form).filter(([, value]) => value.trim() !== '');
        const password = needsPassword && { password: randomPassword() };
        create.mutate({ ...Object.fromEntries(given), ...password } as CreateUserData['body']);
      }}
    >
      <div className={layout.stack12}>
        {field('name', users.displayName)}
        {field('username', users.username, { hint: users.oneNeeded })}
        {field('email', users.email, { type: 'email' })}
        {field('phone', users.phone, { type: 'tel' })}
        {field('external_id', users.externalId, { hint: users.externalIdHint })}
        <Checkbox
          label={users.passwordForOnce}
          checked={needsPassword}
          onChange={() => {
            setNeedsPassword(!needsPassword);
            key.current = crypto.randomUUID();
          }}
        />
        <p className={styles.why}>{users.passwordHint}</p>
        {create.error !== null && !isAtFields && <Problem error={create.error} />}
      </div>
    </FormDialog>
  );
}
