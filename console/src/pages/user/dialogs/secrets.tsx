import { type ReactNode, useState } from 'react';
import { request } from '../../../api/client.js';
import type { CancelUserPinRecoveryData, DeleteUserSecondFactorsData, User } from '../../../api/schema.js';
import { changeUser } from '../../../api/users.js';
import { Button } from '../../../components/button/button.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { Checkbox, Field, Select } from '../../../components/field/field.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import { westernDigits } from '../../../lib/digits.js';
import { useText } from '../../../text/text.js';
import styles from '../user.module.css';
import { confirmTextOf, type UserDialogProps, useDialogAction, useUndo } from './dialog-action.js';

const passwordAlphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Random characters without those that look alike, in groups: easy to say on the phone. 20 characters have 99 bits. */
function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(64)).filter((byte) => byte < passwordAlphabet.length * 8);
  const text = [...bytes.slice(0, 20)].map((byte) => passwordAlphabet[byte % passwordAlphabet.length]).join('');
  return text.replaceAll(/.{5}(?=.)/g, '$&-');
}

interface SecretProps extends UserDialogProps {
  readonly member: 'password' | 'pin';
  readonly texts: { readonly [Name in 'title' | 'what' | 'label' | 'done']: string };
  readonly children: (set: (value: string) => void) => ReactNode;
  readonly hint?: string;
}

/** The dialog that sets a new secret. The secret is not kept in a draft, so it is gone after a reload. */
function SetSecret(props: SecretProps) {
  const { member, texts, hint, user, onClose } = props;
  const { userDialogs: text } = useText();
  const { busy, error, errorOf, run } = useDialogAction(props, [member]);
  const [value, setValue] = useState('');
  const [isShown, setShown] = useState(false);
  const save = () =>
    run(async () => {
      await changeUser(user.id, { [member]: value });
      toast.done(texts.done);
      return undefined;
    });
  return (
    <ConfirmDialog
      title={texts.title}
      action={text.save}
      {...{ busy, error, onClose }}
      onConfirm={() => value !== '' && void save()}
    >
      <div className={styles.form}>
        <p>{texts.what}</p>
        <Field
          label={texts.label}
          type={isShown ? 'text' : 'password'}
          autoComplete="new-password"
          spellCheck={false}
          autoCapitalize="off"
          {...(member === 'pin' && { inputMode: 'numeric' as const, maxLength: 12 })}
          hint={hint}
          error={errorOf(member)}
          value={value}
          onChange={({ currentTarget: { value: typed } }) => setValue(member === 'pin' ? westernDigits(typed) : typed)}
        />
        <div className={styles.beside}>
          <Checkbox label={text.show} checked={isShown} onChange={() => setShown(!isShown)} />
          {props.children((next) => {
            setValue(next);
            setShown(true);
          })}
        </div>
      </div>
    </ConfirmDialog>
  );
}

export function SetPassword(props: UserDialogProps) {
  const { password, generate } = useText().userDialogs;
  return (
    <SetSecret {...props} member="password" texts={{ ...password, title: password.title(nameOf(props.user)) }}>
      {(set) => (
        <Button small icon="refresh" onClick={() => set(randomPassword())}>
          {generate}
        </Button>
      )}
    </SetSecret>
  );
}

export function SetPin(props: UserDialogProps) {
  const { pin } = useText().userDialogs;
  return (
    <SetSecret {...props} member="pin" texts={{ ...pin, title: pin.title(nameOf(props.user)) }} hint={pin.hint}>
      {() => null}
    </SetSecret>
  );
}

interface RemovalProps extends UserDialogProps {
  readonly texts: { readonly [Name in 'title' | 'what' | 'action' | 'done']: string };
  readonly work: () => Promise<unknown>;
  /** Nothing of the user is lost, so the operator need not type the user's name. */
  readonly isHarmless?: boolean;
}

/** Asks before something is removed that cannot be restored. */
function Removal(props: RemovalProps) {
  const { texts, work, isHarmless = false, user, onClose } = props;
  const { busy, error, run } = useDialogAction(props);
  const remove = () =>
    run(async () => {
      await work();
      toast.done(texts.done);
      return undefined;
    });
  return (
    <ConfirmDialog
      title={texts.title}
      action={texts.action}
      isDestructive={!isHarmless}
      confirmText={isHarmless ? undefined : confirmTextOf(user)}
      {...{ busy, error, onClose }}
      onConfirm={() => void remove()}
    >
      <p>{texts.what}</p>
    </ConfirmDialog>
  );
}

export function RemovePassword(props: UserDialogProps) {
  const { noPassword: text } = useText().userDialogs;
  const { user } = props;
  const texts = { ...text, title: text.title(nameOf(user)) };
  return <Removal {...props} texts={texts} work={() => changeUser(user.id, { password: null })} />;
}

export function RemovePin(props: UserDialogProps) {
  const { noPin: text } = useText().userDialogs;
  const { user } = props;
  const texts = { ...text, title: text.title(nameOf(user)) };
  return <Removal {...props} texts={texts} work={() => changeUser(user.id, { pin: null })} />;
}

export function CancelPinRecovery(props: UserDialogProps) {
  const { pinRecovery: text } = useText().userDialogs;
  const path = { id: props.user.id };
  const texts = { ...text, title: text.title(nameOf(props.user)) };
  const cancel = () =>
    request<CancelUserPinRecoveryData, User>('DELETE', '/admin/v1/users/{id}/pin-recovery', { path });
  return <Removal {...props} texts={texts} work={cancel} isHarmless />;
}

export function RemoveFactors(props: UserDialogProps) {
  const { noFactors: text } = useText().userDialogs;
  const path = { id: props.user.id };
  const texts = { ...text, title: text.title(nameOf(props.user)) };
  const remove = () =>
    request<DeleteUserSecondFactorsData, User>('DELETE', '/admin/v1/users/{id}/second-factors', { path });
  return <Removal {...props} texts={texts} work={remove} />;
}

const policies = ['byDefault', 'off', 'own', 'required'] as const;
type Policy = (typeof policies)[number];

/** When logins of this user ask for a second factor. */
export function SetPolicy(props: UserDialogProps) {
  const { user, onClose } = props;
  const { userDialogs: text } = useText();
  const { busy, error, run } = useDialogAction(props);
  const undo = useUndo(user.id);
  const [policy, setPolicy] = useState<Policy>(user.second_factor ?? 'byDefault');
  const set = (value: Policy) => changeUser(user.id, { second_factor: value === 'byDefault' ? null : value });
  const save = () =>
    run(async () => {
      await set(policy);
      toast.done(
        text.saved,
        undo(() => set(user.second_factor ?? 'byDefault')),
      );
      return undefined;
    });
  return (
    <ConfirmDialog
      title={text.policy.title(nameOf(user))}
      action={text.save}
      {...{ busy, error, onClose }}
      onConfirm={() => void save()}
    >
      <Select
        label={text.policy.label}
        value={policy}
        options={policies.map((each) => [each, text.policy.values[each]] as const)}
        onChoose={setPolicy}
      />
    </ConfirmDialog>
  );
}
