import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { request } from '../../api/client.js';
import type {
  Category,
  MessagePreview,
  Notification,
  PreviewCategoryData,
  PublishNotificationData,
  StepChannel,
} from '../../api/schema.js';
import { entryQuery, operatorQuery, useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { Field, Select, TextArea } from '../../components/field/field.js';
import { Panel } from '../../components/panel/panel.js';
import { Loaded, Notice } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { cx } from '../../lib/cx.js';
import { useDebounced } from '../../lib/debounced.js';
import { language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { DataFields } from '../notifications/data.js';
import {
  type DataField,
  dataFaults,
  dataOf,
  dataOfJson,
  exampleOf,
  fieldsOf,
  type TypedData,
} from '../notifications/data-fields.js';
import styles from './categories.module.css';
import { categoriesKey, channels } from './queries.js';

const previewDelayMs = 300;

/** What a publisher would send. */
interface Sample {
  readonly actor: string;
  readonly description: string;
  readonly url: string;
  /** JSON, or empty. */
  readonly json: string;
  /** The members of the data that the schema describes. */
  readonly data: TypedData;
}

/** The body of a notification. Undefined while the data are not valid. @param fields undefined: the data are JSON */
function contentOf({ actor, description, url, json, data }: Sample, fields: readonly DataField[] | undefined) {
  const isFaulty =
    fields === undefined
      ? json.trim() !== '' && dataOfJson(json) === undefined
      : Object.keys(dataFaults(fields, data)).length > 0;
  if (isFaulty || description.trim() === '') return undefined;
  const parsed = fields === undefined ? dataOfJson(json) : dataOf(fields, data);
  return {
    description,
    ...(actor.trim() !== '' && { actor }),
    ...(url.trim() !== '' && { url: url.trim() }),
    data: parsed,
  };
}

/** The messages of a category as a phone, a mail program and a phone's messages show them, and a test to oneself. */
export function Preview({ category, isUnsaved }: { category: Category; isUnsaved: boolean }) {
  const { categories: text, notifications } = useText();
  const chosen = useStore(language);
  const names = Object.keys(category.templates).map((name) => name.replace(/^\w+\./, ''));
  const locales = [...new Set([...names, ...Object.keys(category.title), 'en', 'es'])].sort();
  const [locale, setLocale] = useState<string>(names.includes(chosen) ? chosen : (names[0] ?? chosen));
  const fields = useMemo(() => fieldsOf(category.data_schema), [category]);
  const [chosenSample, setSample] = useState<Sample>({
    actor: text.sampleActor,
    description: text.sampleDescription,
    url: '',
    json: '',
    data: {},
  });
  const sample = { ...chosenSample, data: { ...exampleOf(fields ?? []), ...chosenSample.data } };
  const typed = contentOf(sample, fields);
  // Not a request for each letter.
  const content = contentOf(JSON.parse(useDebounced(JSON.stringify(sample), previewDelayMs)) as Sample, fields);
  const faults = Object.entries(dataFaults(fields ?? [], sample.data));
  const errors = Object.fromEntries(faults.map(([name, fault]) => [name, notifications.dataFaults[fault]]));
  const set = (change: Partial<Sample>) => setSample({ ...chosenSample, ...change });
  return (
    <>
      <Panel title={text.preview}>
        <div className={layout.stack16}>
          {isUnsaved ? (
            <Notice kind="info">{text.unsavedPreview}</Notice>
          ) : (
            <p className={layout.quiet}>{text.previewHint}</p>
          )}
          <Select
            label={text.language}
            value={locale}
            options={locales.map((each) => [each, each] as const)}
            onChoose={setLocale}
          />
          <div className={layout.stack16}>
            {channels.map((channel) => (
              <PreviewCard key={channel} {...{ category, channel, locale, content }} />
            ))}
          </div>
        </div>
      </Panel>
      <Panel title={text.sample}>
        <div className={layout.stack16}>
          <Field
            label={text.actor}
            value={sample.actor}
            maxLength={255}
            autoComplete="off"
            onChange={(event) => set({ actor: event.currentTarget.value })}
          />
          <TextArea
            label={text.description}
            rows={2}
            value={sample.description}
            maxLength={4096}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <Field
            label={text.url}
            type="url"
            value={sample.url}
            maxLength={2048}
            autoComplete="off"
            onChange={(event) => set({ url: event.currentTarget.value })}
          />
          {fields === undefined ? (
            <div className={styles.code}>
              <TextArea
                label={text.data}
                hint={text.dataHint}
                error={typed === undefined && sample.description.trim() !== '' ? text.notJson : undefined}
                rows={2}
                value={sample.json}
                spellCheck={false}
                onChange={(event) => set({ json: event.currentTarget.value })}
              />
            </div>
          ) : (
            <DataFields
              {...{ fields, errors }}
              typed={sample.data}
              onChange={(change) => set({ data: { ...chosenSample.data, ...change } })}
            />
          )}
          <TestButton category={category} content={typed} />
        </div>
      </Panel>
    </>
  );
}

type Content = NonNullable<ReturnType<typeof contentOf>>;

function PreviewCard(props: {
  category: Category;
  channel: StepChannel;
  locale: string;
  content: Content | undefined;
}) {
  const { category, channel, locale, content } = props;
  const { categories: text } = useText();
  const query = useQuery({
    queryKey: [...categoriesKey, 'preview', category, channel, locale, content],
    queryFn: ({ signal }) => {
      const body = { channel, locale, notification: content as Content };
      const path = { name: category.name };
      return request<PreviewCategoryData, MessagePreview>('POST', '/admin/v1/categories/{name}/preview', {
        path,
        body,
        signal,
      });
    },
    enabled: content !== undefined,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return (
    <section className={styles.card} aria-label={text.channels[channel]}>
      <span className={styles.strong}>{text.channels[channel]}</span>
      <Loaded query={query} what={text.previewFailed} rows={2}>
        {(message) => (
          <>
            <Message channel={channel} message={message} />
            <span className={layout.quiet}>
              {message.template === null ? text.noTemplate : text.template(message.template)}
            </span>
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The text of a message. It may be of any language, so its direction is its own. */
function Message({
  channel,
  message: { subject, title, text: body, html },
}: {
  channel: StepChannel;
  message: MessagePreview;
}) {
  const { categories: text } = useText();
  const { data: entry } = useQuery(entryQuery);
  if (channel === 'push')
    return (
      <Bubble look={styles.push}>
        <bdi className={styles.strong}>{title ?? entry?.app_name}</bdi>
        <bdi>{body}</bdi>
      </Bubble>
    );
  if (channel === 'sms')
    return (
      <Bubble look={styles.sms}>
        <bdi>{body}</bdi>
      </Bubble>
    );
  return (
    <Bubble>
      <span className={layout.quiet}>
        <bdi>{entry?.app_name}</bdi>
      </span>
      <bdi className={cx(styles.strong, styles.subject)}>{subject}</bdi>
      <bdi>{body}</bdi>
      {html !== null && (
        <details>
          <summary className={layout.quiet}>{text.htmlSource}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
          <pre className={styles.source} tabIndex={0}>
            {html}
          </pre>
        </details>
      )}
    </Bubble>
  );
}

function Bubble({ look, children }: { look?: string | undefined; children: ReactNode }) {
  return <div className={cx(styles.message, look)}>{children}</div>;
}

/** Publishes the notification to the operator, who is a user too. */
function TestButton({ category, content }: { category: Category; content: Content | undefined }) {
  const { categories: text } = useText();
  const can = useHasScope();
  const navigate = useNavigate();
  const { data: operator } = useQuery(operatorQuery);
  const { data: entry } = useQuery(entryQuery);
  const types = entry?.notification_types ?? [];
  const type = types.find((each) => each === category.name) ?? types[0];
  const test = useMutation({
    mutationFn: () => {
      const recipient = { user_id: operator?.id ?? '', notification_type: type ?? '', category: category.name };
      const body = { ...recipient, ...(content as Content) };
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      return request<PublishNotificationData, Notification>('POST', '/admin/v1/notifications', { body, headers });
    },
    onSuccess: ({ id }) =>
      toast.done(text.tested, {
        name: text.see,
        run: () => void navigate({ to: '/notifications', search: { view: 'find', id } }),
      }),
    onError: (error) => toast.failed(text.notTested, error),
  });
  if (!can('notifications:write') || type === undefined || operator === undefined) return null;
  return (
    <div>
      <Button
        icon="send"
        disabled={content === undefined}
        busy={test.isPending}
        changesData
        onClick={() => test.mutate()}
      >
        {text.test}
      </Button>
      <p className={layout.quiet}>{text.testHint}</p>
    </div>
  );
}
