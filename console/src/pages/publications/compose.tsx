import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ProblemError } from '../../api/problem.js';
import type { NewPublication, PublicationChange } from '../../api/schema.js';
import { entryQuery, useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Field, Segments, Select } from '../../components/field/field.js';
import { Notice, Problem } from '../../components/state/state.js';
import { useFormats, useText } from '../../text/text.js';
import { categoriesQuery } from '../categories/queries.js';
import { fieldNames, withKnownType } from '../notifications/content.js';
import { fieldsOf } from '../notifications/data-fields.js';
import { ContentFields, type DataErrors, type FieldErrors } from '../notifications/fields.js';
import { Preview } from '../notifications/preview.js';
import { notificationOf, type PublicationForm, rateOf, sendAtOf, type TargetMode, targetOf } from './form.js';
import styles from './publications.module.css';
import { estimate } from './queries.js';
import { Target } from './target.js';
import { zones } from './zoned-time.js';

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
  const { moment } = useFormats();
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
  const body = { ...(to !== undefined && { to }), notification, send_at: sendAt ?? null, rate: rate ?? null };
  const bodyText = JSON.stringify(body);
  const check = useMutation({
    async mutationFn(checked: { readonly text: string; readonly body: NewPublication }) {
      return { text: checked.text, ...(await estimate(checked.body)) };
    },
  });
  const isCurrent = check.data?.text === bodyText;
  const recipients = isCurrent ? check.data?.recipients : undefined;
  // A stored value was checked when it was created.
  const isReady = isComplete && (isKept || recipients !== undefined);
  const checkError = check.variables?.text === bodyText ? check.error : null;
  const faults = faultsOf(checkError ?? error);
  const missing = wasTried
    ? {
        to: to === undefined && !isKept ? text.missing[form.mode as Exclude<TargetMode, 'kept'>] : undefined,
        sendAt: sendAt === undefined ? text.timeMissing : undefined,
        rate: rate === undefined ? text.rateWrong : undefined,
      }
    : {};
  const run = () => {
    setWasTried(true);
    if (isComplete && to !== undefined) check.mutate({ text: bodyText, body: { ...body, to } });
  };
  return (
    <div className={styles.columns}>
      <form className={styles.stack} noValidate onSubmit={(event) => event.preventDefault()}>
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
            <Button icon="refresh" busy={check.isPending} onClick={run}>
              {text.estimate}
            </Button>
          )}
          <span role="status">
            {recipients !== undefined && text.estimated(recipients)}
            {recipients === undefined && check.data !== undefined && !isKept && notifications.dryRun.stale}
          </span>
        </div>
        {checkError !== null && !faults.areShown && <Problem message={text.notEstimated} error={checkError} />}
        {checkError === null &&
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
        <ConfirmDialog
          title={text.question(recipients)}
          action={form.isLater ? text.schedule : text.publishAction}
          onClose={() => setIsAsked(false)}
          onConfirm={() => {
            setIsAsked(false);
            onSave({ ...body, to });
          }}
        >
          <ul>
            <li>{typeof sendAt === 'string' ? text.startsAt(moment(sendAt)) : text.startsNow}</li>
            <li>{rate == null ? text.asFast : text.takes(recipients, rate)}</li>
            <li>{text.canStop}</li>
          </ul>
        </ConfirmDialog>
      )}
    </div>
  );
}

interface TimingProps {
  readonly form: PublicationForm;
  readonly missing: { readonly sendAt?: string | undefined; readonly rate?: string | undefined };
  readonly faults: Faults;
  readonly onChange: (change: Partial<PublicationForm>) => void;
}

/** When it starts, and how fast it goes. */
function Timing({ form, missing, faults, onChange }: TimingProps) {
  const { publications: text } = useText();
  const { moment } = useFormats();
  const sendAt = sendAtOf(form);
  const timeError = missing.sendAt ?? faults.sendAt;
  return (
    <div className={styles.target}>
      <div className={styles.head}>
        <span className={styles.label}>{text.when}</span>
        <Segments
          label={text.when}
          value={form.isLater ? 'later' : 'now'}
          options={[
            ['now', text.now],
            ['later', text.later],
          ]}
          onChoose={(chosen) => onChange({ isLater: chosen === 'later' })}
        />
      </div>
      <div className={styles.when}>
        {form.isLater && (
          <>
            <Field
              type="datetime-local"
              label={text.time}
              value={form.wallTime}
              error={timeError}
              hint={typeof sendAt === 'string' ? text.yourTime(moment(sendAt)) : undefined}
              onChange={(event) => onChange({ wallTime: event.currentTarget.value })}
            />
            <Select
              label={text.zone}
              value={form.zone}
              options={zones().map((zone) => [zone, zone.replaceAll('_', ' ')] as const)}
              onChoose={(zone) => onChange({ zone })}
            />
          </>
        )}
        <Field
          label={text.rate}
          hint={text.rateHint}
          inputMode="numeric"
          autoComplete="off"
          value={form.rate}
          error={missing.rate ?? faults.rate}
          onChange={(event) => onChange({ rate: event.currentTarget.value })}
        />
      </div>
    </div>
  );
}

interface Faults {
  readonly to: string | undefined;
  readonly sendAt: string | undefined;
  readonly rate: string | undefined;
  readonly fields: FieldErrors;
  readonly data: DataErrors;
  /** Whether each fault is at its field. */
  readonly areShown: boolean;
}

/** The faults of the service, each for the field that shows it. */
function faultsOf(error: unknown): Faults {
  const errors = error instanceof ProblemError && error.status === 422 ? error.errors : [];
  const at = (pattern: RegExp) => errors.find(({ field = '' }) => pattern.test(field))?.message;
  const fields = Object.entries(fieldNames).flatMap(([name, field]) => {
    const message = at(new RegExp(`^notification\\.${name}$`));
    return message === undefined ? [] : [[field, message] as const];
  });
  const data = errors.flatMap(({ field = '', message }) => {
    const [, name] = /^notification\.data(?:\.(\w+))?/.exec(field) ?? [];
    return /^notification\.data/.test(field) ? [[name ?? 'json', message] as const] : [];
  });
  const known = new RegExp(`^(to|send_at$|rate$|notification\\.(data|${Object.keys(fieldNames).join('|')})(\\.|$))`);
  return {
    ...{ to: at(/^to(\.|$)/), sendAt: at(/^send_at$/), rate: at(/^rate$/) },
    fields: Object.fromEntries(fields),
    data: Object.fromEntries(data),
    areShown: errors.length > 0 && errors.every(({ field = '' }) => known.test(field)),
  };
}
