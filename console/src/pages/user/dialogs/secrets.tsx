import { useState } from 'react';
import { request } from '../../../api/client.js';
import type {
  CancelUserPinRecoveryData,
  DeleteUserSecondFactorsData,
  SendPasswordCodeData,
  SentPasswordCode,
  User,
} from '../../../api/schema.js';
import { changeUser } from '../../../api/users.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { SecretDialog } from '../../../components/dialog/secret-dialog.js';
import { Select } from '../../../components/field/field.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import { randomPassword } from '../../../lib/passwords.js';
import layout from '../../../styles/layout.module.css';
import { useText } from '../../../text/text.js';
import { confirmTextOf, type UserDialogProps, useDialogAction, useUndo } from './dialog-action.js';

type PasswordDelivery = 'email' | 'sms' | 'shown';

/**
 * Sends the user a code to set a password. For a user without an address, it shows a random password for one login. The operator
 * types no password, so no operator knows a lasting one.
 */
export function SetPassword(props: UserDialogProps) {
  const { user, onClose } = props;
  const { userDialogs } = useText();
  const { password: text } = userDialogs;
  const { busy, error, errorOf, run } = useDialogAction(props, ['channel']);
  const deliveries: (readonly [PasswordDelivery, string])[] = [
    ...(user.email !== null && user.email_verified ? [['email', text.byMail(user.email)] as const] : []),
    ...(user.phone !== null && user.phone_verified ? [['sms', text.bySms(user.phone)] as const] : []),
    ['shown', text.show],
  ];
  const [delivery, setDelivery] = useState<PasswordDelivery>(deliveries[0]?.[0] ?? 'shown');
  const [shown, setShown] = useState<string>();
  const title = text.title(nameOf(user));
  if (shown !== undefined) {
    return (
      <SecretDialog
        title={title}
        action={text.close}
        onClose={onClose}
        label={text.label}
        value={shown}
        note={<p>{text.tell}</p>}
      />
    );
  }
  const set = () =>
    run(async () => {
      if (delivery === 'shown') {
        const value = randomPassword();
        await changeUser(user.id, { password: value });
        setShown(value);
        return 'stay-open';
      }
      const sent = await request<SendPasswordCodeData, SentPasswordCode>(
        'POST',
        '/admin/v1/users/{id}/password-codes',
        { path: { id: user.id }, body: { channel: delivery } },
      );
      toast.done(text.sent(sent.destination));
      return undefined;
    });
  return (
    <ConfirmDialog
      title={title}
      action={delivery === 'shown' ? text.create : text.send}
      {...{ busy, error, onClose }}
      onConfirm={() => void set()}
    >
      <div className={layout.stack12}>
        <p>{text.what}</p>
        <Select
          label={text.how}
          value={delivery}
          options={deliveries}
          onChoose={setDelivery}
          error={errorOf('channel')}
        />
      </div>
    </ConfirmDialog>
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
