import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type { CreateKeyData, IssuedApiKey, Scope } from '../../api/schema.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { SecretDialog } from '../../components/dialog/secret-dialog.js';
import { Checkbox, Field, Select } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { useDraft } from '../../lib/drafts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';

const scopes = [
  'notifications:write',
  'notifications:configure',
  'notifications:broadcast',
  'sessions:verify',
  'webhooks:write',
  'clients:forward',
  'users:read',
  'users:write',
  'admin',
] as const satisfies readonly Scope[];

const days = { never: undefined, d30: 30, d90: 90, d365: 365 } as const;
type Expiry = keyof typeof days;
const msPerDay = 86_400_000;

interface Draft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiry: Expiry;
}
const emptyDraft: Draft = { name: '', scopes: [], expiry: 'never' };

/** The form for a key, and then the key itself, once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const { keys: text } = useText();
  const [issued, setIssued] = useState<IssuedApiKey>();
  if (issued === undefined) return <KeyForm onClose={onClose} onIssued={setIssued} />;
  return (
    <SecretDialog
      title={issued.name}
      action={text.done}
      onClose={onClose}
      label={text.shownOnce}
      value={issued.token}
      note={<p className={layout.faint}>{text.keepIt}</p>}
    />
  );
}

function KeyForm({ onClose, onIssued }: { onClose: () => void; onIssued: (key: IssuedApiKey) => void }) {
  const { keys: text } = useText();
  const [draft, setDraft, forget] = useDraft<Draft>('key', emptyDraft);
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => {
      const lifetimeDays = days[draft.expiry];
      const expires_at =
        lifetimeDays === undefined ? undefined : new Date(Date.now() + lifetimeDays * msPerDay).toISOString();
      const body = {
        name: draft.name.trim(),
        scopes: [...draft.scopes],
        expires_at,
      };
      return request<CreateKeyData, IssuedApiKey>('POST', '/admin/v1/keys', { body });
    },
    async onSuccess(key) {
      forget();
      onIssued(key);
      await client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  const isReady = draft.name.trim() !== '' && draft.scopes.length > 0;
  const { error } = create;
  const nameError = error instanceof ProblemError ? error.messageFor('name') : undefined;
  const toggle = (scope: Scope) =>
    setDraft({
      ...draft,
      scopes: draft.scopes.includes(scope) ? draft.scopes.filter((other) => other !== scope) : [...draft.scopes, scope],
    });
  return (
    <FormDialog
      title={text.createTitle}
      action={text.createAction}
      isReady={isReady}
      busy={create.isPending}
      onClose={onClose}
      onSubmit={() => create.mutate()}
    >
      <div className={layout.stack16}>
        <Field
          label={text.name}
          hint={text.nameHint}
          error={nameError}
          value={draft.name}
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
        />
        <fieldset className={layout.group}>
          <legend>{text.scopes}</legend>
          {scopes.map((scope) => (
            <Checkbox
              key={scope}
              label={
                <>
                  {text.scopeNames[scope]} <code className={layout.faint}>{scope}</code>
                </>
              }
              checked={draft.scopes.includes(scope)}
              onChange={() => toggle(scope)}
            />
          ))}
          {draft.name.trim() !== '' && draft.scopes.length === 0 && (
            <span className={layout.faint}>{text.chooseScope}</span>
          )}
        </fieldset>
        <Select
          label={text.expiry}
          value={draft.expiry}
          options={(['never', 'd30', 'd90', 'd365'] as const).map((name) => [name, text.expiries[name]] as const)}
          onChoose={(expiry) => setDraft({ ...draft, expiry })}
        />
        {error !== null && nameError === undefined && <Problem message={text.notCreated} error={error} />}
      </div>
    </FormDialog>
  );
}
