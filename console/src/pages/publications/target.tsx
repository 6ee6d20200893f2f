import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { Topic } from '../../api/schema.js';
import { useHasScope } from '../../app/operator.js';
import { Field, Segments, TextArea } from '../../components/field/field.js';
import { Notice } from '../../components/state/state.js';
import { UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { OptionsField, useTypedPart } from '../notifications/options-field.js';
import { readList, referencesOf } from '../notifications/read-ids.js';
import { People } from '../notifications/recipients.js';
import { readTopics, topicsKey } from '../topics/queries.js';
import type { PublicationForm, TargetMode } from './form.js';
import styles from './publications.module.css';

interface TargetProps {
  readonly form: PublicationForm;
  /** The target that a publication has now, as words. Undefined: it is a new one. */
  readonly kept?: string | undefined;
  readonly error: string | undefined;
  readonly onChange: (change: Partial<PublicationForm>) => void;
}

/** To whom it goes. Filters and everyone are only for who may publish to them. */
export function Target({ form, kept, error, onChange }: TargetProps) {
  const { publications: text, notifications } = useText();
  const can = useHasScope();
  const label = useId();
  const mayBroadcast = can('notifications:broadcast');
  const modes: readonly TargetMode[] = [
    ...(kept === undefined ? [] : (['kept'] as const)),
    ...(['people', 'list', 'topic'] as const),
    ...(mayBroadcast && can('users:read') ? (['filter'] as const) : []),
    ...(mayBroadcast ? (['everyone'] as const) : []),
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot have its legend beside another control
    <div className={styles.target} role="group" aria-labelledby={label}>
      <div className={styles.head}>
        <span id={label} className={layout.label}>
          {notifications.to.label}
        </span>
        <Segments
          label={text.mode}
          value={form.mode}
          options={modes.map((mode) => [mode, text.modes[mode]] as const)}
          onChoose={(mode) => onChange({ mode })}
        />
      </div>
      {form.mode === 'kept' && <p>{kept}</p>}
      {form.mode === 'people' && (
        <People
          ids={form.people}
          error={error}
          onChange={(people) => onChange({ people })}
          onList={(list) => onChange({ mode: 'list', list })}
        />
      )}
      {form.mode === 'list' && (
        <TextArea
          label={notifications.to.ids}
          spellCheck={false}
          value={form.list}
          error={error}
          hint={form.list.trim() === '' ? text.listHint : listHintOf(form.list)}
          onChange={(event) => onChange({ list: event.currentTarget.value })}
        />
      )}
      {form.mode === 'topic' && (
        <TopicField value={form.topic} error={error} onChange={(topic) => onChange({ topic })} />
      )}
      {form.mode === 'filter' && (
        <Field
          label={text.filter}
          hint={text.filterHint}
          error={error}
          verbatim
          value={form.filter}
          onChange={(event) => onChange({ filter: event.currentTarget.value })}
        />
      )}
      {form.mode === 'everyone' && <Notice kind="warn">{text.everyoneHint}</Notice>}
    </div>
  );

  function listHintOf(list: string): string {
    const read = readList(list);
    const { found, refused } = referencesOf(read);
    const ids = notifications.to.read(found.length, read.repeated);
    return refused.length === 0 ? ids : `${ids} ${text.listRefused(refused.length)}`;
  }
}

interface TopicFieldProps {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (key: string) => void;
}

/** Finds a topic by its title. An operator who may not list topics types the key. */
function TopicField({ value, error, onChange }: TopicFieldProps) {
  const { publications: text, topics } = useText();
  const mayList = useHasScope()('notifications:configure');
  const typed = useTypedPart(value);
  const { data } = useQuery({
    queryKey: [...topicsKey, 'picker', typed.part],
    queryFn: ({ signal }) => readTopics(typed.part, { limit: 8 })(undefined, signal),
    enabled: mayList && typed.isOpen,
    placeholderData: keepPreviousData,
  });
  return (
    <OptionsField<Topic>
      {...{ value, typed, error, onChange }}
      label={text.topic}
      listLabel={topics.title}
      options={data?.data ?? []}
      valueOf={({ key }) => key}
      hint={text.topicHint}
    >
      {({ key, title }) => (
        <>
          <UserText text={title} />
          <UserText quiet text={key} />
        </>
      )}
    </OptionsField>
  );
}
