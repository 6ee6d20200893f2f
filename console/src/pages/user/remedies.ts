import { request, send } from '../../api/client.js';
import type { LoginRemedy, RetryMessageData } from '../../api/schema.js';
import { useHasScope } from '../../app/operator.js';
import type { RemedyAction } from '../../components/diagnosis/diagnosis.js';
import { toast } from '../../components/toast/toasts.js';
import { useText } from '../../text/text.js';
import type { DialogName, OpenDialog } from './dialogs/dialog-action.js';

/** The remedies that a dialog of the user's page carries out, and the field of the dialog. */
const dialogs: Readonly<Record<string, readonly [DialogName, about?: string]>> = {
  set_password: ['password'],
  remove_pin: ['noPin'],
  set_phone: ['addresses', 'phone'],
  set_email: ['addresses', 'email'],
  link_external_identity: ['link'],
  remove_second_factors: ['factors'],
  create_enrollment_link: ['activation'],
};

interface Handlers {
  readonly onOpenDialog: OpenDialog;
  /** Creates a user with these members. */
  readonly onCreate?: (members: Readonly<Record<string, unknown>>) => void;
  /** After a remedy that needs no dialog. */
  readonly onDone: () => Promise<void>;
}

/** The action of a remedy's button: a request, or a dialog. */
export function useRemedies({ onOpenDialog, onCreate, onDone }: Handlers): RemedyAction {
  const { user } = useText();
  const can = useHasScope();
  return (remedy) => {
    const { action, scope, body } = remedy;
    if (scope === null || !can(scope)) return undefined;
    if (action === 'create_user') return onCreate === undefined ? undefined : () => onCreate(body ?? {});
    const [dialog, about] = dialogs[action] ?? [];
    if (dialog !== undefined) return () => onOpenDialog(dialog, about ?? textOf(body?.provider));
    return async () => {
      try {
        await run(remedy);
        toast.done(user.login.done);
      } catch (error) {
        toast.failed(user.failed(user.login.remedies[action] ?? action), error);
      }
      await onDone();
    };
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Makes the request that the diagnosis names. */
async function run({ action, method, path, body }: LoginRemedy): Promise<void> {
  if (method === null || path === null) return;
  if (action === 'retry_message') {
    const [message = ''] = /[\w-]{36}/.exec(path) ?? [];
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    await request<RetryMessageData, unknown>('POST', '/admin/v1/outbox/{id}/retry', { path: { id: message }, headers });
    return;
  }
  await send(method as 'POST' | 'PATCH' | 'DELETE', path, body === null ? {} : { body });
}
