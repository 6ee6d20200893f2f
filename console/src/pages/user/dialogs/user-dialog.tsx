import type { ComponentType } from 'react';
import { LinkAccount, UnlinkAccount } from './accounts.js';
import type { DialogName, UserDialogProps } from './dialog-action.js';
import { EditAddresses, EditProfile } from './profile.js';
import { ActivateRole, ChangeRole } from './roles.js';
import { CancelPinRecovery, RemoveFactors, RemovePassword, RemovePin, SetPassword, SetPolicy } from './secrets.js';
import { DeactivateDialog, EraseDialog, LockDialog, LogOutDialog } from './state.js';
import { EndSupportLogin, LogInAs, TakeSupportLogin } from './support-login.js';

const dialogs: Readonly<Record<DialogName, ComponentType<UserDialogProps>>> = {
  lock: LockDialog,
  logOut: LogOutDialog,
  deactivate: DeactivateDialog,
  erase: EraseDialog,
  profile: EditProfile,
  addresses: EditAddresses,
  password: SetPassword,
  noPassword: RemovePassword,
  noPin: RemovePin,
  pinRecovery: CancelPinRecovery,
  factors: RemoveFactors,
  policy: SetPolicy,
  link: LinkAccount,
  unlink: UnlinkAccount,
  role: ChangeRole,
  activation: ActivateRole,
  supportLogin: LogInAs,
  takeSupportLogin: TakeSupportLogin,
  endSupportLogin: EndSupportLogin,
};

/** A dialog that changes a user: a form or a question. */
export function UserDialog({ dialog, ...rest }: UserDialogProps & { dialog: DialogName }) {
  const Dialog = dialogs[dialog];
  return <Dialog {...rest} />;
}
