import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { request } from '../../api/client.js';
import type { DeleteCategoryData } from '../../api/schema.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { forgetDraft } from '../../lib/drafts.js';
import { useText } from '../../text/text.js';
import { categoriesKey, categoryQuery, putCategory } from './queries.js';

interface RemoveDialogProps {
  readonly name: string;
  /** It belongs to a notification type, which always has a category. */
  readonly isBuiltIn: boolean;
  readonly onClose: () => void;
}

/** Deletes a category, or gives that of a notification type the defaults again. */
export function RemoveDialog({ name, isBuiltIn, onClose }: RemoveDialogProps) {
  const { categories: text } = useText();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    async mutationFn() {
      if (isBuiltIn) await putCategory(name, {});
      else await request<DeleteCategoryData, void>('DELETE', '/admin/v1/categories/{name}', { path: { name } });
    },
    async onSuccess() {
      forgetDraft(`category.${name}`);
      toast.done(isBuiltIn ? text.wasReset(name) : text.removed(name));
      onClose();
      if (!isBuiltIn) {
        await navigate({ to: '/categories', search: {} });
        client.removeQueries({ queryKey: categoryQuery(name).queryKey });
      }
      await client.invalidateQueries({ queryKey: categoriesKey });
    },
  });
  return (
    <ConfirmDialog
      title={isBuiltIn ? text.resetTitle(name) : text.removeTitle(name)}
      action={isBuiltIn ? text.resetAction : text.removeAction}
      isDestructive
      confirmText={name}
      busy={remove.isPending}
      error={
        remove.error !== null && <Problem message={isBuiltIn ? text.notReset : text.notRemoved} error={remove.error} />
      }
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>{isBuiltIn ? text.resetWhat : text.removeWhat}</p>
      {!isBuiltIn && <p>{text.removeKept}</p>}
    </ConfirmDialog>
  );
}
