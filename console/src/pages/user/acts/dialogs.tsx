import type { ComponentType } from 'react';
import { LinkAccount, UnlinkAccount } from './accounts.js';
import { EditAddresses, EditProfile } from './profile.js';
import { ActivateRole, ChangeRole } from './roles.js';
import type { Act, ActProps } from './run.js';
import {
  CancelPinRecovery,
  RemoveFactors,
  RemovePassword,
  RemovePin,
  SetPassword,
  SetPin,
  SetPolicy,
} from './secrets.js';
import { DeactivateDialog, EraseDialog, LockDialog, LogOutDialog } from './state.js';

const dialogs: Readonly<Record<Act, ComponentType<ActProps>>> = {
  lock: LockDialog,
  logOut: LogOutDialog,
  deactivate: DeactivateDialog,
  erase: EraseDialog,
  profile: EditProfile,
  addresses: EditAddresses,
  password: SetPassword,
  noPassword: RemovePassword,
  pin: SetPin,
  noPin: RemovePin,
  pinRecovery: CancelPinRecovery,
  factors: RemoveFactors,
  policy: SetPolicy,
  link: LinkAccount,
  unlink: UnlinkAccount,
  role: ChangeRole,
  activation: ActivateRole,
};

/** The dialog of an act: a form or a question. */
export function ActDialog({ act, ...rest }: ActProps & { act: Act }) {
  const Dialog = dialogs[act];
  return <Dialog {...rest} />;
}
