import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type {
  Audience,
  ChangeAudienceData,
  CreateAudienceData,
  DeleteAudienceData,
  SavedAudience,
} from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog, FormDialog } from '../../components/dialog/dialog.js';
import { Checkbox, Field, Select } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { useDraft } from '../../lib/drafts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './audiences.module.css';

interface Draft {
  readonly uri: string;
  readonly alg: Audience['alg'];
  /** Seconds, as typed. */
  readonly ttl: string;
  readonly roles: boolean;
  /** Names, separated by commas or spaces. */
  readonly claims: string;
  readonly support: boolean;
}
const emptyDraft: Draft = { uri: '', alg: 'ES256', ttl: '300', roles: false, claims: '', support: false };

/** The body of the request for a draft. A lifetime that is no number stays as it was typed, so that the API says what is wrong. */
function settingsOf({ alg, ttl, roles, claims, support }: Draft) {
  const names = [...new Set(claims.split(/[\s,]+/).filter((name) => name !== ''))];
  return { alg, roles, support, claims: names, ttl: /^\s*\d+\s*$/.test(ttl) ? Number(ttl) : Number.NaN };
}

/** Called with what the service has saved, and its warning. */
type OnSaved = (saved: SavedAudience) => void;

/** Asks for a new audience. */
export function NewAudience({ onClose, onSaved }: { onClose: () => void; onSaved: OnSaved }) {
  const { audiences: text } = useText();
  const [draft, setDraft, forget] = useDraft<Draft>('audience', emptyDraft);
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => {
      const body = { uri: draft.uri.trim(), ...settingsOf(draft) };
      return request<CreateAudienceData, SavedAudience>('POST', '/admin/v1/audiences', { body });
    },
    async onSuccess(saved) {
      forget();
      toast.done(text.createdDone(saved.uri));
      onClose();
      onSaved(saved);
      // The first one of an algorithm creates its keys.
      await Promise.all([['audiences'], ['signing-keys']].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
  const { error } = create;
  const uriError = messageFor(error, 'uri') ?? (isTaken(error) ? text.taken : undefined);
  return (
    <FormDialog
      title={text.createTitle}
      action={text.createAction}
      isReady={draft.uri.trim() !== ''}
      busy={create.isPending}
      onClose={onClose}
      onSubmit={() => create.mutate()}
    >
      <div className={layout.stack16}>
        <Field
          label={text.uri}
          hint={text.uriHint}
          error={uriError}
          value={draft.uri}
          maxLength={255}
          verbatim
          onChange={(event) => setDraft({ ...draft, uri: event.currentTarget.value })}
        />
        <Settings draft={draft} onChange={setDraft} error={error} />
        {error !== null && uriError === undefined && !isOfSettings(error) && (
          <Problem message={text.notCreated} error={error} />
        )}
      </div>
    </FormDialog>
  );
}

/** Changes or deletes an audience. Its address stays, because services compare it. */
export function EditAudience(props: { audience: Audience; onClose: () => void; onSaved: OnSaved }) {
  const { audience, onClose, onSaved } = props;
  const { audiences: text } = useText();
  const [isDeleting, setIsDeleting] = useState(false);
  const [draft, setDraft] = useState<Draft>({
    ...audience,
    ttl: `${audience.ttl}`,
    claims: audience.claims.join(', '),
  });
  const client = useQueryClient();
  const path = { id: audience.id };
  const change = useMutation({
    mutationFn: () =>
      request<ChangeAudienceData, SavedAudience>('PATCH', '/admin/v1/audiences/{id}', {
        path,
        body: settingsOf(draft),
      }),
    async onSuccess(saved) {
      toast.done(text.changedDone);
      onClose();
      onSaved(saved);
      await Promise.all([['audiences'], ['signing-keys']].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
  const remove = useMutation({
    mutationFn: () => request<DeleteAudienceData, void>('DELETE', '/admin/v1/audiences/{id}', { path }),
    async onSuccess() {
      toast.done(text.deletedDone(audience.uri));
      onClose();
      await client.invalidateQueries({ queryKey: ['audiences'] });
    },
  });
  if (isDeleting) {
    return (
      <ConfirmDialog
        title={text.deleteTitle}
        action={text.deleteAction}
        isDestructive
        confirmText={audience.uri}
        busy={remove.isPending}
        error={remove.error !== null && <Problem message={text.notDeleted} error={remove.error} />}
        onConfirm={() => remove.mutate()}
        onClose={onClose}
      >
        <p>{text.deleteWhy}</p>
      </ConfirmDialog>
    );
  }
  const { error } = change;
  return (
    <FormDialog
      title={text.editTitle}
      action={text.save}
      busy={change.isPending}
      onClose={onClose}
      onSubmit={() => change.mutate()}
    >
      <div className={layout.stack16}>
        <p className={styles.uri}>
          <bdi>{audience.uri}</bdi>
        </p>
        <Settings draft={draft} onChange={setDraft} error={error} />
        <div>
          <Button kind="warn" changesData onClick={() => setIsDeleting(true)}>
            {text.delete}
          </Button>
        </div>
        {error !== null && !isOfSettings(error) && <Problem message={text.notChanged} error={error} />}
      </div>
    </FormDialog>
  );
}

interface SettingsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly error: unknown;
}

/** Fields that can be changed later. */
function Settings({ draft, onChange, error }: SettingsProps) {
  const { audiences: text } = useText();
  return (
    <>
      <div className={styles.pair}>
        <Field
          label={text.ttlSeconds}
          hint={text.ttlHint}
          error={messageFor(error, 'ttl')}
          value={draft.ttl}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => onChange({ ...draft, ttl: event.currentTarget.value })}
        />
        <Select
          label={text.alg}
          hint={text.algHint}
          value={draft.alg}
          options={[
            ['ES256', 'ES256'],
            ['RS256', 'RS256'],
          ]}
          onChoose={(alg) => onChange({ ...draft, alg })}
        />
      </div>
      <fieldset className={layout.group}>
        <legend>{text.content}</legend>
        <Checkbox
          label={text.rolesLabel}
          checked={draft.roles}
          onChange={() => onChange({ ...draft, roles: !draft.roles })}
        />
        <Field
          label={text.claims}
          hint={text.claimsHint}
          error={messageFor(error, 'claims')}
          value={draft.claims}
          verbatim
          onChange={(event) => onChange({ ...draft, claims: event.currentTarget.value })}
        />
      </fieldset>
      <Checkbox
        label={text.supportLabel}
        checked={draft.support}
        onChange={() => onChange({ ...draft, support: !draft.support })}
      />
    </>
  );
}

const messageFor = (error: unknown, field: string) =>
  error instanceof ProblemError ? error.messageFor(field) : undefined;
const isOfSettings = (error: unknown) => ['ttl', 'claims'].some((field) => messageFor(error, field) !== undefined);
const isTaken = (error: unknown) => error instanceof ProblemError && error.status === 409;
