import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { NotConfirmedError, ProblemError } from '../../../api/problem.js';
import type { User } from '../../../api/schema.js';
import { Problem } from '../../../components/state/state.js';
import { toast } from '../../../components/toast/toasts.js';
import { useText } from '../../../text/text.js';
import { refresh } from '../queries.js';

/** The acts that open a dialog. The open one is in the URL of the page, so that it survives a reload. */
export const acts = [
  ...(['lock', 'logOut', 'deactivate', 'erase', 'profile', 'addresses', 'password', 'noPassword', 'pin'] as const),
  ...(['noPin', 'pinRecovery', 'factors', 'policy', 'link', 'unlink', 'role', 'activation'] as const),
] as const;
export type Act = (typeof acts)[number];

/** Those that only the role operator may do. */
export const adminActs: readonly Act[] = ['role', 'activation'];

/** Opens the dialog of an act. `about`: the field, the provider or the linked account that it concerns. */
export type OpenAct = (act: Act, about?: string) => void;

export interface ActProps {
  readonly user: User;
  readonly about: string | undefined;
  readonly onClose: () => void;
  readonly onAct: OpenAct;
}

/** The text that the operator must type before a destructive act. */
export const confirmTextOf = ({ username, id }: User): string => username ?? id.slice(0, 8);

/** Runs an act once, shows its error in the dialog or at the fields, and reads the user again. */
export function useAct({ user, onClose }: Pick<ActProps, 'user' | 'onClose'>, fields: readonly string[] = []) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [reason, setReason] = useState<unknown>();
  const problem = reason instanceof ProblemError ? reason : undefined;
  const errors = problem?.errors ?? [];
  const isAtFields = errors.length > 0 && errors.every(({ field }) => fields.includes(field?.replace(/^\//, '') ?? ''));
  return {
    busy,
    error: reason !== undefined && !isAtFields && <Problem error={reason} />,
    errorOf: (field: string) => problem?.messageFor(field),
    /** @param work returns `open` if the dialog stays open */
    async run(work: () => Promise<'open' | undefined>): Promise<void> {
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

/** Undoes an act, from its toast. */
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
