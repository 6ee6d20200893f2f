import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { NewPublication, PublicationChange } from '../../api/schema.js';
import { entryQuery, useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Notice, Problem } from '../../components/state/state.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { categoriesQuery } from '../categories/queries.js';
import { withKnownType } from '../notifications/content.js';
import { fieldsOf } from '../notifications/data-fields.js';
import { ContentFields } from '../notifications/fields.js';
import { Preview } from '../notifications/preview.js';
import { faultsOf } from './faults.js';
import { notificationOf, type PublicationForm, rateOf, sendAtOf, type TargetMode, targetOf } from './form.js';
import styles from './publications.module.css';
import { estimate } from './queries.js';
import { Target } from './target.js';
import { Timing } from './timing.js';

interface ComposeProps {
  readonly form: PublicationForm;
  readonly onChange: (change: Partial<PublicationForm>) => void;
  /** What is changed. Undefined: a new publication. */
  readonly stored?: { readonly target: string; readonly notification: Readonly<Record<string, unknown>> } | undefined;
  readonly onSave: (body: NewPublication | PublicationChange) => void;
  readonly isSaving: boolean;
  readonly error: unknown;
  /** The text that the page shows instead of the error. */
  readonly errorText?: string | undefined;
  readonly onDiscard?: (() => void) | undefined;
}

/** The form of a publication: to whom, what, when and how fast. It can be saved after an estimate of its present state. */
export function Compose(props: ComposeProps) {
  const { form, onChange, stored, onSave, isSaving, error, errorText, onDiscard } = props;
  const { publications: text, notifications } = useText();
  const can = useHasScope();
  const { data: entry } = useQuery(entryQuery);
  const types = entry?.notification_types ?? [];
  const content = withKnownType(form.content, types);
  const categories = useQuery({ ...categoriesQuery, enabled: can('notifications:configure') }).data?.all;
  const category = categories?.find(({ name }) => name === (content.category.trim() || content.type));
  const fields = useMemo(() => fieldsOf(category?.data_schema), [category]);
  const [wasTried, setWasTried] = useState(false);
  const [isAsked, setIsAsked] = useState(false);

  const to = targetOf(form);
  const sendAt = sendAtOf(form);
  const rate = rateOf(form);
  const isKept = form.mode === 'kept';
  const isComplete = (to !== undefined || isKept) && sendAt !== undefined && rate !== undefined;
  const notification = notificationOf({ ...form, content }, fields, stored?.notification);
  const body = { to, notification, send_at: sendAt ?? null, rate: rate ?? null };
  const check = useEstimate(to === undefined ? undefined : { ...body, to });
  const { recipients } = check;
  // A stored value was checked when it was created.
  const isReady = isComplete && (isKept || recipients !== undefined);
  const faults = faultsOf(check.error ?? error);
  const missing = wasTried
    ? {
        to: to === undefined && !isKept ? text.missing[form.mode as Exclude<TargetMode, 'kept'>] : undefined,
        sendAt: sendAt === undefined ? text.timeMissing : undefined,
        rate: rate === undefined ? text.rateWrong : undefined,
      }
    : {};
  const run = () => {
    setWasTried(true);
    if (isComplete) check.run();
  };
  return (
    <div className={styles.columns}>
      <form className={layout.stack16} noValidate onSubmit={(event) => event.preventDefault()}>
        <Target form={form} kept={stored?.target} error={missing.to ?? faults.to} onChange={onChange} />
        <ContentFields
          form={content}
          {...{ types, categories, category, fields }}
          fieldErrors={faults.fields}
          dataErrors={faults.data}
          onChange={(change) => onChange({ content: { ...content, ...change } })}
        />
        <Timing form={form} {...{ missing, faults }} onChange={onChange} />
        <div className={styles.bar}>
          {!isKept && (
            <Button icon="refresh" busy={check.isRunning} onClick={run}>
              {text.estimate}
            </Button>
          )}
          <span role="status">
            {recipients !== undefined && text.estimated(recipients)}
            {check.isStale && !isKept && notifications.dryRun.stale}
          </span>
        </div>
        {check.error !== null && !faults.areShown && <Problem message={text.notEstimated} error={check.error} />}
        {check.error === null &&
          error !== null &&
          (errorText !== undefined ? (
            <Notice kind="warn" live>
              {errorText}
            </Notice>
          ) : (
            <Problem message={stored === undefined ? text.notCreated : text.notSaved} error={error} />
          ))}
        <div className={styles.bar}>
          <Button
            kind="main"
            icon="send"
            changesData
            busy={isSaving}
            disabled={!isReady || recipients === 0}
            reason={isReady ? (recipients === 0 ? notifications.publish.nobody : undefined) : text.needsEstimate}
            onClick={() => (stored === undefined ? setIsAsked(true) : onSave(body))}
          >
            {stored !== undefined ? text.save : form.isLater ? text.schedule : text.publish(recipients)}
          </Button>
          {onDiscard !== undefined && <Button onClick={onDiscard}>{text.discard}</Button>}
        </div>
      </form>
      <aside className={styles.aside}>
        <Preview content={{ ...content, image: content.image?.url || content.imageUrl.trim() || undefined }} />
      </aside>
      {isAsked && recipients !== undefined && to !== undefined && (
        <StartQuestion
          {...{ form, recipients, sendAt, rate }}
          onClose={() => setIsAsked(false)}
          onConfirm={() => {
            setIsAsked(false);
            onSave({ ...body, to });
          }}
        />
      )}
    </div>
  );
}

/** The estimate of how many users a publication reaches. It is only shown for the form that it was made for. */
function useEstimate(body: NewPublication | undefined) {
  const text = JSON.stringify(body);
  const { data, variables, error, isPending, mutate } = useMutation({
    async mutationFn(asked: { readonly text: string; readonly body: NewPublication }) {
      return { text: asked.text, ...(await estimate(asked.body)) };
    },
  });
  const recipients = data?.text === text ? data?.recipients : undefined;
  return {
    /** Undefined: not known for the present state. */
    recipients,
    isStale: recipients === undefined && data !== undefined,
    error: variables?.text === text ? error : null,
    isRunning: isPending,
    run: () => body !== undefined && mutate({ text, body }),
  };
}

interface StartQuestionProps {
  readonly form: PublicationForm;
  readonly recipients: number;
  readonly sendAt: string | null | undefined;
  readonly rate: number | null | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks for confirmation before it creates a publication. */
function StartQuestion({ form, recipients, sendAt, rate, onConfirm, onClose }: StartQuestionProps) {
  const { publications: text } = useText();
  const { moment } = useFormats();
  return (
    <ConfirmDialog
      title={text.question(recipients)}
      action={form.isLater ? text.schedule : text.publishAction}
      {...{ onClose, onConfirm }}
    >
      <ul>
        <li>{typeof sendAt === 'string' ? text.startsAt(moment(sendAt)) : text.startsNow}</li>
        <li>{rate == null ? text.asFast : text.takes(recipients, rate)}</li>
        <li>{text.canStop}</li>
      </ul>
    </ConfirmDialog>
  );
}
