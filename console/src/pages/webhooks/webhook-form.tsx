import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ProblemError } from '../../api/problem.js';
import type { WebhookPayload } from '../../api/schema.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { Field, Select } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { useDraft } from '../../lib/drafts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { EventChoice } from './event-choice.js';
import { webhooksKey } from './queries.js';

/** The settings of a webhook. */
export interface WebhookFields {
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly filter: string;
  readonly payload: WebhookPayload;
}

interface WebhookFormProps<Result> {
  readonly title: string;
  readonly action: string;
  /** What did not happen, after a failure. */
  readonly failed: string;
  /** The name of the draft. */
  readonly draft: string;
  readonly initial: WebhookFields;
  readonly save: (fields: WebhookFields) => Promise<Result>;
  readonly onSaved: (result: Result) => void;
  readonly onClose: () => void;
}

/** The form for a new webhook, or for a change of one. */
export function WebhookForm<Result>(props: WebhookFormProps<Result>) {
  const { title, action, failed, initial, save, onSaved, onClose } = props;
  const { webhooks: text } = useText();
  const [draft, setDraft, forget] = useDraft<WebhookFields>(props.draft, initial);
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: () =>
      save({ ...draft, url: draft.url.trim(), description: draft.description.trim(), filter: draft.filter.trim() }),
    async onSuccess(result) {
      forget();
      onSaved(result);
      await client.invalidateQueries({ queryKey: webhooksKey });
    },
  });
  const { error } = saving;
  const messageFor = (field: string) => (error instanceof ProblemError ? error.messageFor(field) : undefined);
  const eventsError =
    error instanceof ProblemError ? error.errors.find(({ field }) => field?.startsWith('events'))?.message : undefined;
  const isAtField = eventsError !== undefined || ['url', 'filter', 'description'].some((field) => messageFor(field));
  const isReady = draft.url.trim() !== '' && draft.events.length > 0;
  const set = (change: Partial<WebhookFields>) => setDraft({ ...draft, ...change });
  return (
    <FormDialog
      {...{ title, action, isReady, onClose }}
      isWide
      busy={saving.isPending}
      onSubmit={() => saving.mutate()}
    >
      <div className={layout.stack16}>
        <Field
          label={text.url}
          hint={text.urlHint}
          error={messageFor('url')}
          type="url"
          inputMode="url"
          value={draft.url}
          placeholder="https://example.com/postern"
          maxLength={2048}
          verbatim
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
        <Field
          label={text.name}
          hint={text.nameHint}
          error={messageFor('description')}
          value={draft.description}
          maxLength={255}
          autoComplete="off"
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
        <EventChoice value={draft.events} error={eventsError} onChange={(events) => set({ events })} />
        <Field
          label={text.filter}
          hint={text.filterHint}
          error={messageFor('filter')}
          value={draft.filter}
          maxLength={2000}
          verbatim
          onChange={(event) => set({ filter: event.currentTarget.value })}
        />
        <Select
          label={text.payload}
          hint={text.payloadHints[draft.payload]}
          value={draft.payload}
          options={(['thin', 'full'] as const).map((payload) => [payload, text.payloads[payload]] as const)}
          onChoose={(payload) => set({ payload })}
        />
        {error !== null && !isAtField && <Problem message={failed} error={error} />}
      </div>
    </FormDialog>
  );
}
