import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { NotConfirmedError, ProblemError } from '../../../api/problem.js';
import type { User } from '../../../api/schema.js';
import { Problem } from '../../../components/state/state.js';
import { toast } from '../../../components/toast/toasts.js';
import { useText } from '../../../text/text.js';
import { refresh } from '../queries.js';

/** The dialogs that change a user. The name of the open one is in the URL of the page, so that it survives a reload. */
export const dialogNames = [
  ...(['lock', 'logOut', 'deactivate', 'erase', 'profile', 'addresses', 'password', 'noPassword'] as const),
  ...(['noPin', 'pinRecovery', 'factors', 'policy', 'link', 'unlink', 'role', 'activation'] as const),
  ...(['supportLogin', 'takeSupportLogin', 'endSupportLogin'] as const),
] as const;
export type DialogName = (typeof dialogNames)[number];

/** The dialogs that only the role operator may open. */
export const adminDialogs: readonly DialogName[] = [
  ...(['role', 'activation', 'supportLogin', 'takeSupportLogin', 'endSupportLogin'] as const),
];

/** Opens a dialog. `about`: the field, the provider, the linked account or the support login that it concerns. */
export type OpenDialog = (dialog: DialogName, about?: string) => void;

export interface UserDialogProps {
  readonly user: User;
  readonly about: string | undefined;
  readonly onClose: () => void;
  readonly onOpenDialog: OpenDialog;
}

/** The text that the operator must type before a destructive action. */
export const confirmTextOf = ({ username, id }: User): string => username ?? id.slice(0, 8);

/** Runs the action of a dialog once, shows its error in the dialog or at the fields, and reads the user again. */
export function useDialogAction(
  { user, onClose }: Pick<UserDialogProps, 'user' | 'onClose'>,
  fields: readonly string[] = [],
) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [reason, setReason] = useState<unknown>();
  const problem = reason instanceof ProblemError ? reason : undefined;
  const errors = problem?.errors ?? [];
  // A part of a field, such as `roles.1`, is shown at the field.
  const isAtFields =
    errors.length > 0 &&
    errors.every(({ field = '' }) => fields.includes(field.replace(/^\//, '').split('.')[0] ?? ''));
  return {
    busy,
    error: reason !== undefined && !isAtFields && <Problem error={reason} />,
    errorOf: (field: string) => problem?.messageFor(field),
    /** @param work returns `stay-open` if the dialog must stay open */
    async run(work: () => Promise<'stay-open' | undefined>): Promise<void> {
      setBusy(true);
      setReason(undefined);
      try {
        if ((await work()) === undefined) onClose();
        await refresh(client, user.id);
      } catch (failure) {
        if (!(failure instanceof NotConfirmedError)) setReason(failure);
      }
      setBusy(false);
    },
  };
}

/** Undoes an action, from its toast. */
export function useUndo(id: string) {
  const { common, user } = useText();
  const client = useQueryClient();
  return (work: () => Promise<unknown>) => ({
    name: common.undo,
    run: () =>
      void work().then(
        () => refresh(client, id),
        (error: unknown) => toast.failed(user.failed(common.undo), error),
      ),
  });
}
