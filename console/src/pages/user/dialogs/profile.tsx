import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { User, UserChange } from '../../../api/schema.js';
import { changeUser, userQuery } from '../../../api/users.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { Field, TextArea } from '../../../components/field/field.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import { useDraft } from '../../../lib/drafts.js';
import layout from '../../../styles/layout.module.css';
import { useText } from '../../../text/text.js';
import { confirmTextOf, type UserDialogProps, useDialogAction, useUndo } from './dialog-action.js';

const profile = ['name', 'locale', 'external_id', 'roles', 'claims', 'metadata'] as const;
/** The members whose text is JSON. */
const objects = ['claims', 'metadata'] as const;
const addresses = ['username', 'email', 'phone'] as const;
type Member = (typeof profile)[number] | (typeof addresses)[number];
type Form = Readonly<Record<Member, string>>;

const formOf = (user: User): Form => ({
  name: user.name,
  locale: user.locale ?? '',
  external_id: user.external_id ?? '',
  roles: user.roles.join(', '),
  claims: JSON.stringify(user.claims, null, 2),
  metadata: JSON.stringify(user.metadata, null, 2),
  username: user.username ?? '',
  email: user.email ?? '',
  phone: user.phone ?? '',
});

/** The body of a request that sets these members to their values in the form. An empty value removes the member. */
function changeTo(form: Form, members: readonly Member[]): UserChange {
  const entries = members.map((member) => {
    const value = form[member].trim();
    if (isJson(member)) return [member, value === '' ? {} : JSON.parse(value)];
    if (member === 'roles') return [member, [...new Set(value.split(/[\s,]+/).filter((role) => role !== ''))]];
    return [member, member === 'name' || value !== '' ? value : null];
  });
  return Object.fromEntries(entries) as UserChange;
}

const isJson = (member: Member) => objects.some((object) => object === member);

function isObject(text: string): boolean {
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * The state of a form for some members of a user. A draft of the form survives a reload. Only the changed members are
 * sent, so that two operators who change different members do not overwrite each other's changes. If somebody else has
 * changed a member in the meantime, the form shows this, and the operator must save again.
 */
function useMemberForm(props: UserDialogProps, name: string, members: readonly Member[]) {
  const { user, onClose } = props;
  const { userDialogs: text } = useText();
  const client = useQueryClient();
  // `base`: the values that the operator began with.
  const initial = { base: formOf(user), form: formOf(user) };
  const [{ base, form }, setDraft, forget] = useDraft(`user.${user.id}.${name}`, initial);
  /** The members that somebody else has changed too, with their new values. */
  const [changedByOthers, setChangedByOthers] = useState<Partial<Form>>({});
  const [badJson, setBadJson] = useState<readonly Member[]>([]);
  const close = () => {
    forget();
    onClose();
  };
  const action = useDialogAction({ user, onClose: close }, members);
  const undo = useUndo(user.id);
  const changed = members.filter((member) => form[member].trim() !== base[member].trim());

  /** @returns `stay-open` if the dialog must stay open */
  async function saveChanges(): Promise<'stay-open' | undefined> {
    if (changed.length === 0) return undefined;
    const current = formOf(await client.fetchQuery({ ...userQuery(user.id), staleTime: 0 }));
    const conflicting = changed.filter(
      (member) => current[member] !== base[member] && current[member] !== form[member].trim(),
    );
    setChangedByOthers(Object.fromEntries(conflicting.map((member) => [member, current[member]])));
    if (conflicting.length > 0) {
      const changedValues = Object.fromEntries(changed.map((member) => [member, form[member]]));
      setDraft({ base: current, form: { ...current, ...changedValues } });
      return 'stay-open';
    }
    await changeUser(user.id, changeTo(form, changed));
    toast.done(
      text.saved,
      undo(() => changeUser(user.id, changeTo(base, changed))),
    );
    return undefined;
  }
  const errorOf = (member: Member): string | undefined => {
    if (badJson.includes(member)) return text.notJson;
    const newValue = changedByOthers[member];
    return action.errorOf(member) ?? (newValue === undefined ? undefined : text.changedByOthers(newValue));
  };
  return {
    busy: action.busy,
    error: action.error,
    /** The members whose value will be removed when the operator saves. */
    removed: changed.filter((member) => base[member] !== '' && form[member].trim() === ''),
    close,
    save() {
      const bad = members.filter((member) => isJson(member) && !isObject(form[member]));
      setBadJson(bad);
      if (bad.length === 0) void action.run(saveChanges);
    },
    field: (member: Member) => ({
      value: form[member],
      error: errorOf(member),
      autoComplete: 'off',
      ...(props.about === member && { 'data-first-focus': true }),
      onChange(event: { readonly currentTarget: { readonly value: string } }) {
        const { value } = event.currentTarget;
        setDraft((before) => ({ ...before, form: { ...before.form, [member]: value } }));
      },
    }),
  };
}

/** The dialog that changes the name, the language, the external id, the roles of the app, the claims and the metadata. */
export function EditProfile(props: UserDialogProps) {
  const { userDialogs: text, user } = useText();
  const { busy, error, close, save, field } = useMemberForm(props, 'profile', profile);
  return (
    <ConfirmDialog
      title={text.profile.title(nameOf(props.user))}
      action={text.save}
      {...{ busy, error }}
      onConfirm={save}
      onClose={close}
    >
      <div className={layout.stack12}>
        <Field label={text.profile.name} maxLength={255} {...field('name')} />
        <Field label={user.who.locale} hint={text.profile.localeHint} {...field('locale')} />
        <Field
          label={user.who.externalId}
          hint={text.profile.externalIdHint}
          maxLength={255}
          autoCapitalize="off"
          spellCheck={false}
          {...field('external_id')}
        />
        <Field
          label={user.who.roles}
          hint={text.profile.rolesHint}
          autoCapitalize="off"
          spellCheck={false}
          {...field('roles')}
        />
        <TextArea label={user.who.claims} hint={text.profile.claimsHint} spellCheck={false} {...field('claims')} />
        <TextArea
          label={user.who.metadata}
          hint={text.profile.metadataHint}
          spellCheck={false}
          {...field('metadata')}
        />
      </div>
    </ConfirmDialog>
  );
}

/**
 * The dialog that changes the identities: the user signs in with them, and codes go to them. To remove one, the
 * operator clears its field and confirms this by typing.
 */
export function EditAddresses(props: UserDialogProps) {
  const { userDialogs: text, user } = useText();
  const { busy, error, removed, close, save, field } = useMemberForm(props, 'addresses', addresses);
  const plain = { autoCapitalize: 'off', spellCheck: false };
  return (
    <ConfirmDialog
      title={text.addresses.title(nameOf(props.user))}
      action={text.save}
      isDestructive={removed.length > 0}
      confirmText={removed.length > 0 ? confirmTextOf(props.user) : undefined}
      {...{ busy, error }}
      onConfirm={save}
      onClose={close}
    >
      <div className={layout.stack12}>
        <p>{text.addresses.what}</p>
        <Field label={user.who.username} {...plain} {...field('username')} />
        <Field label={user.who.email} type="email" {...plain} {...field('email')} />
        <Field label={user.who.phone} type="tel" hint={text.addresses.phoneHint} {...field('phone')} />
        {removed.length > 0 && <p>{text.addresses.removes(removed.map((member) => user.who[nameOfMember(member)]))}</p>}
      </div>
    </ConfirmDialog>
  );
}

const nameOfMember = (member: Member) => addresses.find((each) => each === member) ?? 'username';
