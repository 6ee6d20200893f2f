import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ProblemError } from '../../api/problem.js';
import { entryQuery, useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Notice, Problem } from '../../components/state/state.js';
import { cx } from '../../lib/cx.js';
import { useDraft } from '../../lib/drafts.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import type { Texts } from '../../text/texts.js';
import { categoriesQuery } from '../categories/queries.js';
import { type Content, contentOf, emptyForm, type Form, fieldNames, isExactNumber, withKnownType } from './content.js';
import { Curl } from './curl.js';
import { type DataField, dataFaults, dataOfJson, fieldsOf } from './data-fields.js';
import { messageFor, type Report, runDryRun } from './dry-run.js';
import { DryRunPanel } from './dry-run-panel.js';
import { ContentFields, type DataErrors, type FieldErrors } from './fields.js';
import { useMatchingUsers } from './matching-users.js';
import styles from './notifications.module.css';
import { Preview } from './preview.js';
import { PublicationPanel } from './publication-panel.js';
import { dismiss, publication, publish } from './publish.js';
import type { ReadIds } from './read-ids.js';
import { Recipients, readChosen } from './recipients.js';
import { type ChosenRecipients, noRecipients, recipientsDraft } from './stored-recipients.js';

/** The maximum length of a description in characters. */
const maxLength = 4096;
/** The maximum length of a file in a draft. The operator must choose a larger file again after a reload. */
const maxDraftLength = 1_500_000;

/** Before the service has said which types there are. */
const noTypes: readonly string[] = [];

/** The form of a notification, with its dry run and the button that publishes it. */
export function Compose({ showsCurl, onCurlClose }: { showsCurl: boolean; onCurlClose: () => void }) {
  const { notifications: text } = useText();
  const can = useHasScope();
  const running = useStore(publication);
  const [draft, setForm, forgetForm] = useDraft<Form>('notify', emptyForm);
  const { data: entry } = useQuery(entryQuery);
  const types = entry?.notification_types ?? noTypes;
  const form = useMemo(() => withKnownType(draft, types), [draft, types]);
  const [recipients, setRecipients, forgetRecipients] = useRecipients();
  useUrlRecipient(setRecipients);
  const [hasSubmitted, setHasSubmitted] = useState(false);
  const [showsPreview, setShowsPreview] = useState(false);
  const matching = useMatchingUsers(recipients.matching);
  const read = useMemo(() => readChosen(recipients, matching.data?.ids ?? []), [recipients, matching.data]);
  const categories = useQuery({ ...categoriesQuery, enabled: can('notifications:configure') }).data?.all;
  const category = categories?.find(({ name }) => name === (form.category.trim() || form.type));
  const fields = useMemo(() => fieldsOf(category?.data_schema), [category]);
  const content = useMemo(() => contentOf(form, fields), [form, fields]);
  const dryRun = useDryRun(content, fields, read);
  if (!can('notifications:write')) return <Notice kind="locked">{text.needsRight}</Notice>;
  if (running !== undefined) {
    return (
      <PublicationPanel
        publication={running}
        onAgain={() => {
          forgetForm();
          forgetRecipients();
          setHasSubmitted(false);
          dryRun.forget();
        }}
      />
    );
  }
  const isKnown = categories === undefined || category !== undefined;
  const localErrors = errorsOf(form, isKnown, text);
  const dataFault = dataFaultsOf(form, fields, text);
  const fieldErrors: FieldErrors = { ...(hasSubmitted && localErrors), ...dryRun.fieldErrors };
  const dataErrors: DataErrors = { ...(hasSubmitted && dataFault), ...dryRun.dataErrors };
  const recipientsMessage = hasSubmitted ? recipientError(recipients, read, text) : undefined;
  const isFilled = [...Object.values(localErrors), ...Object.values(dataFault)].every(
    (message) => message === undefined,
  );
  const isReady = isFilled && read.recipients.length > 0;
  return (
    <div className={styles.columns}>
      <form className={styles.form} noValidate onSubmit={(event) => event.preventDefault()}>
        <Recipients
          to={recipients}
          read={read}
          matching={matching}
          error={recipientsMessage}
          onChange={(change) => setRecipients((before) => ({ ...before, ...change }))}
        />
        <ContentFields
          form={form}
          {...{ types, categories, category, fields, fieldErrors, dataErrors }}
          onChange={(change) => setForm((before) => ({ ...before, ...change }))}
        />
      </form>
      <aside className={styles.aside}>
        <div className={styles.toggle}>
          <Button icon="eye" aria-expanded={showsPreview} onClick={() => setShowsPreview(!showsPreview)}>
            {showsPreview ? text.preview.hide : text.preview.show}
          </Button>
        </div>
        <div className={cx(styles.shown, !showsPreview && styles.folded)}>
          <Preview content={{ ...form, image: imageOf(form) }} />
        </div>
      </aside>
      <div className={styles.form}>
        <DryRunPanel
          report={dryRun.report}
          isCurrent={dryRun.isCurrent}
          progress={dryRun.progress}
          all={read.recipients.length}
          refused={read.refused}
          isFile={recipients.mode !== 'people'}
          onStop={dryRun.stop}
          onRun={() => {
            setHasSubmitted(true);
            if (isReady) void dryRun.run();
          }}
        />
        {dryRun.error !== undefined && <Problem message={text.dryRun.failed} error={dryRun.error} />}
        <Publish
          report={dryRun.isCurrent ? dryRun.report : undefined}
          refusedCount={(dryRun.report?.unknown.length ?? 0) + read.refused.length}
          onPublish={(ids) => {
            setHasSubmitted(false);
            void publish(content, ids);
          }}
        />
      </div>
      {showsCurl && <Curl content={content} ids={read.recipients.map(({ id }) => id)} onClose={onCurlClose} />}
    </div>
  );
}

/** The uploaded image, or the external one. */
const imageOf = ({ image, imageUrl }: Form): string | undefined =>
  image?.url ?? (imageUrl.trim() === '' ? undefined : imageUrl.trim());

/** The recipients as a draft. Only the name of a large file survives a reload. */
function useRecipients() {
  const [draft, setDraft, forget] = useDraft<ChosenRecipients>(recipientsDraft, noRecipients);
  const [largeFile, setLargeFile] = useState<ChosenRecipients['file']>(null);
  const to = useMemo(
    () =>
      largeFile !== null && draft.file?.name === largeFile.name && draft.file.text === ''
        ? { ...draft, file: largeFile }
        : draft,
    [draft, largeFile],
  );
  const set = (change: (before: ChosenRecipients) => ChosenRecipients) => {
    const next = change(to);
    const isLarge = next.file !== null && next.file.text.length > maxDraftLength;
    setLargeFile(isLarge ? next.file : null);
    setDraft(isLarge && next.file !== null ? { ...next, file: { name: next.file.name, text: '' } } : next);
  };
  return [to, set, forget] as const;
}

/** Adds the user whom the URL names. */
function useUrlRecipient(setTo: (change: (before: ChosenRecipients) => ChosenRecipients) => void): void {
  const { to: asked } = useSearch({ from: '/notifications' });
  const navigate = useNavigate({ from: '/notifications' });
  const set = useRef(setTo);
  set.current = setTo;
  useEffect(() => {
    if (asked === undefined) return;
    if (publication.get()?.state === 'done') dismiss();
    set.current((before) => ({ ...before, mode: 'people', people: [asked] }));
    void navigate({ search: {}, replace: true });
  }, [asked, navigate]);
}

/** The dry run of a form. It is current until the form or the recipients change. */
function useDryRun(content: Content, fields: readonly DataField[] | undefined, read: ReadIds) {
  const [lastRun, setLastRun] = useState<{ content: Content; read: ReadIds; report?: Report; error?: unknown }>();
  const [progress, setProgress] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const isCurrent = lastRun?.content === content && lastRun.read === read;
  const error = isCurrent ? lastRun.error : undefined;
  const fieldErrors: FieldErrors = Object.fromEntries(
    Object.entries(fieldNames).flatMap(([name, field]) => {
      const message = messageFor(error, name);
      return message === undefined ? [] : [[field, message]];
    }),
  );
  const problems = error instanceof ProblemError ? error.errors : [];
  /** The member of the data that an error is about. Without a description of the data, all are at the field with JSON. */
  const memberOf = (field: string | undefined) => {
    const [first, name] = nameOfField(field).split('.');
    if (first !== 'data') return undefined;
    return fields === undefined ? 'json' : fields.find((each) => each.name === name)?.name;
  };
  const dataErrors: DataErrors = Object.fromEntries(
    problems.flatMap(({ field, message }) => {
      const member = memberOf(field);
      return member === undefined ? [] : [[member, message]];
    }),
  );
  const isAtFields =
    problems.length > 0 &&
    problems.every(({ field }) => nameOfField(field) in fieldNames || memberOf(field) !== undefined);
  return {
    isCurrent,
    fieldErrors,
    dataErrors,
    progress,
    report: lastRun?.report,
    error: isAtFields ? undefined : error,
    stop: () => running.current?.abort(),
    forget: () => setLastRun(undefined),
    async run() {
      const stopped = new AbortController();
      running.current = stopped;
      setProgress(0);
      try {
        const report = await runDryRun(content, read.recipients, stopped.signal, setProgress);
        setLastRun({ content, read, report });
      } catch (reason) {
        if (!stopped.signal.aborted) setLastRun({ content, read, error: reason });
      }
      setProgress(undefined);
    },
  };
}

const nameOfField = (field: string | undefined) => (field ?? '').replace(/^0\./, '');

/** What the form finds wrong with the data before it sends anything, by the names of their fields. */
function dataFaultsOf(
  { data, json }: Form,
  fields: readonly DataField[] | undefined,
  text: Texts['notifications'],
): DataErrors {
  if (fields === undefined)
    return json.trim() === '' || dataOfJson(json) !== undefined ? {} : { json: text.dataFaults.notJson };
  const faults = Object.entries(dataFaults(fields, data));
  return Object.fromEntries(faults.map(([name, fault]) => [name, text.dataFaults[fault]]));
}

/** The errors that the form finds before it sends anything. */
function errorsOf(
  { type, category, number, description }: Form,
  isKnown: boolean,
  text: Texts['notifications'],
): FieldErrors {
  const characters = [...description].length;
  return {
    type: type.trim() === '' ? text.typeMissing : undefined,
    category: isKnown || category.trim() === '' ? undefined : text.categoryUnknown,
    number: isExactNumber(number) ? undefined : text.numberError,
    description:
      characters === 0
        ? text.descriptionMissing
        : characters > maxLength
          ? text.descriptionLong(characters, maxLength)
          : undefined,
  };
}

function recipientError(
  { mode, file }: ChosenRecipients,
  { recipients }: ReadIds,
  text: Texts['notifications'],
): string | undefined {
  if (recipients.length > 0) return undefined;
  return mode === 'file' && file !== null && file.text !== '' ? text.to.noIds : text.to.none;
}

interface PublishProps {
  /** A dry run of the form as it is. */
  readonly report: Report | undefined;
  readonly refusedCount: number;
  readonly onPublish: (ids: readonly string[]) => void;
}

/** The button with the number of people, and its question. */
function Publish({ report, refusedCount, onPublish }: PublishProps) {
  const { publish: text } = useText().notifications;
  const [isAsked, setAsked] = useState(false);
  const people = report?.people.length ?? 0;
  const { muted = 0, ...channels } = report?.push ?? {};
  const pushed = Object.values(channels).reduce((sum, count) => sum + count, 0);
  return (
    <div className={styles.publish}>
      <Button
        kind="main"
        icon="send"
        changesData
        disabled={people === 0}
        reason={report === undefined ? text.needsCheck : people === 0 ? text.nobody : undefined}
        onClick={() => setAsked(true)}
      >
        {report === undefined ? text.action : text.to(people)}
      </Button>
      {report !== undefined && people > 0 && refusedCount > 0 && <span>{text.leftOut(refusedCount)}</span>}
      <p className={layout.quiet}>{text.final}</p>
      {isAsked && report !== undefined && (
        <ConfirmDialog
          title={text.question(people)}
          action={text.action}
          onClose={() => setAsked(false)}
          onConfirm={() => {
            setAsked(false);
            onPublish(report.people.map(({ id }) => id));
          }}
        >
          <ul>
            <li>{text.inboxes(people)}</li>
            <li>{text.pushes(pushed, muted)}</li>
            <li>{text.final}</li>
          </ul>
        </ConfirmDialog>
      )}
    </div>
  );
}
