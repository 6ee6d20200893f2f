import { useQuery } from '@tanstack/react-query';
import { request } from '../../../api/client.js';
import { ProblemError } from '../../../api/problem.js';
import type {
  ExternalIdentity,
  LinkUserExternalIdentityData,
  UnlinkUserExternalIdentityData,
} from '../../../api/schema.js';
import { ConfirmDialog } from '../../../components/dialog/dialog.js';
import { Field, Select } from '../../../components/field/field.js';
import { nameOf } from '../../../components/text/values.js';
import { toast } from '../../../components/toast/toasts.js';
import { useDraft } from '../../../lib/drafts.js';
import layout from '../../../styles/layout.module.css';
import { useText } from '../../../text/text.js';
import { accountsQuery, useProviders } from '../queries.js';
import { confirmTextOf, type UserDialogProps, useDialogAction, useUndo } from './dialog-action.js';

const url = '/admin/v1/users/{id}/external-identities';
const link = (id: string, body: LinkUserExternalIdentityData['body']) =>
  request<LinkUserExternalIdentityData, ExternalIdentity>('PUT', url, { path: { id }, body });
const unlink = (id: string, external_identity_id: string) =>
  request<UnlinkUserExternalIdentityData, unknown>('DELETE', `${url}/{external_identity_id}`, {
    path: { id, external_identity_id },
  });

/** An account at an OpenID provider, by the id that the provider gives it. */
export function LinkAccount(props: UserDialogProps) {
  const { user, about, onClose } = props;
  const { link: text } = useText().userDialogs;
  const providers = useProviders(user.id);
  const [draft, setDraft, forget] = useDraft(`user.${user.id}.link`, {
    provider: about ?? '',
    subject: '',
    tenant: '',
  });
  const close = () => {
    forget();
    onClose();
  };
  const { busy, error, errorOf, run } = useDialogAction({ user, onClose: close }, ['provider', 'subject', 'tenant']);
  const undo = useUndo(user.id);
  const provider = providers.includes(draft.provider) ? draft.provider : (providers[0] ?? '');
  const save = () =>
    run(async () => {
      const tenant = draft.tenant.trim();
      const body = { provider, subject: draft.subject.trim(), ...(tenant !== '' && { tenant }) };
      const { id } = await link(user.id, body).catch(errorAtSubject);
      toast.done(
        text.done(provider),
        undo(() => unlink(user.id, id)),
      );
      return undefined;
    });
  return (
    <ConfirmDialog
      title={text.title(nameOf(user))}
      action={text.action}
      {...{ busy, error }}
      onConfirm={() => void save()}
      onClose={close}
    >
      <div className={layout.stack12}>
        <p>{text.what}</p>
        <Select
          label={text.provider}
          value={provider}
          options={providers.map((each) => [each, each] as const)}
          error={errorOf('provider')}
          onChoose={(chosen) => setDraft({ ...draft, provider: chosen })}
        />
        <Field
          data-first-focus
          label={text.subject}
          hint={text.subjectHint}
          verbatim
          maxLength={255}
          value={draft.subject}
          error={errorOf('subject')}
          onChange={(event) => setDraft({ ...draft, subject: event.currentTarget.value })}
        />
        {(draft.tenant !== '' || errorOf('tenant') !== undefined) && (
          <Field
            label={text.tenant}
            hint={text.tenantHint}
            verbatim
            maxLength={64}
            value={draft.tenant}
            error={errorOf('tenant')}
            onChange={(event) => setDraft({ ...draft, tenant: event.currentTarget.value })}
          />
        )}
      </div>
    </ConfirmDialog>
  );
}

/** If another user has the account, the problem names no field. This adds the field of the account's id to it. */
function errorAtSubject(error: unknown): never {
  if (!(error instanceof ProblemError) || error.code !== 'external_identity_taken') throw error;
  const errors = [{ code: error.code, message: error.message, field: 'subject' }];
  throw new ProblemError(new Response(null, { status: error.status }), { ...error.body, errors });
}

export function UnlinkAccount(props: UserDialogProps) {
  const { user, about, onClose } = props;
  const { unlink: text } = useText().userDialogs;
  const { data } = useQuery(accountsQuery(user.id));
  const account = data?.find(({ id }) => id === about);
  const { busy, error, run } = useDialogAction(props);
  const undo = useUndo(user.id);
  if (account === undefined) return null;
  const { id, provider, subject, issuer } = account;
  // At Microsoft, the issuer names the tenant.
  const tenant = /\/([\w-]+)\/v2\.0$/.exec(issuer)?.[1];
  const remove = () =>
    run(async () => {
      await unlink(user.id, id);
      toast.done(
        text.done(provider),
        undo(() => link(user.id, { provider, subject, tenant })),
      );
      return undefined;
    });
  return (
    <ConfirmDialog
      title={text.title(provider, nameOf(user))}
      action={text.action}
      isDestructive
      confirmText={confirmTextOf(user)}
      {...{ busy, error, onClose }}
      onConfirm={() => void remove()}
    >
      <p>{text.what}</p>
    </ConfirmDialog>
  );
}
