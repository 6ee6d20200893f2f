import type { StepCondition } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Checkbox, Field, Select, TextArea } from '../../components/field/field.js';
import { Notice } from '../../components/state/state.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './categories.module.css';
import type { Draft, DraftStep, DraftText } from './draft.js';
import type { Faults } from './faults.js';
import { channels } from './queries.js';

export interface FieldsProps {
  readonly draft: Draft;
  readonly faults: Faults;
  readonly onChange: (change: Partial<Draft>) => void;
}

/** A copy of a list with another item at an index. */
export const replaced = <T,>(items: readonly T[], index: number, change: Partial<T>): readonly T[] =>
  items.map((item, position) => (position === index ? { ...item, ...change } : item));
export const without = <T,>(items: readonly T[], index: number): readonly T[] =>
  items.filter((_item, position) => position !== index);

const plain = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

/** The titles and descriptions, one language below the other. */
export function TextFields({ draft: { texts }, faults, onChange }: FieldsProps) {
  const { categories: text } = useText();
  const set = (index: number, change: Partial<DraftText>) => onChange({ texts: replaced(texts, index, change) });
  const next = ['en', 'es'].find((locale) => !texts.some((each) => each.locale === locale)) ?? '';
  return (
    <div className={layout.stack16}>
      <p className={layout.quiet}>{text.textsHint}</p>
      {texts.map(({ locale, title, description }, index) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: the language changes while it is typed
          key={index}
          className={styles.item}
        >
          <legend className="hidden-text">{locale}</legend>
          <div className={styles.itemHead}>
            <Field
              {...plain}
              label={text.language}
              error={faults.at(
                `texts.${index}`,
                `title.${locale.trim()} locale`,
                `description.${locale.trim()} locale`,
              )}
              value={locale}
              maxLength={35}
              onChange={(event) => set(index, { locale: event.currentTarget.value })}
            />
            <Button
              kind="ghost"
              icon="trash"
              label={text.removeLanguage(locale)}
              onClick={() => onChange({ texts: without(texts, index) })}
            />
          </div>
          <Field
            label={text.titleLabel}
            error={faults.at(`title.${locale.trim()}`)}
            value={title}
            autoComplete="off"
            onChange={(event) => set(index, { title: event.currentTarget.value })}
          />
          <Field
            label={text.descriptionLabel}
            error={faults.at(`description.${locale.trim()}`)}
            value={description}
            autoComplete="off"
            onChange={(event) => set(index, { description: event.currentTarget.value })}
          />
        </fieldset>
      ))}
      <div>
        <Button
          icon="plus"
          onClick={() => onChange({ texts: [...texts, { locale: next, title: '', description: '' }] })}
        >
          {text.addLanguage}
        </Button>
      </div>
    </div>
  );
}

const conditions = ['always', 'unread', 'undelivered'] as const satisfies readonly StepCondition[];

/** Whether it is critical, the steps, the defaults and the time that a step may be late. */
export function ReachFields(props: FieldsProps) {
  const { draft, faults, onChange } = props;
  const { categories: text } = useText();
  return (
    <div className={layout.stack16}>
      <div>
        <Checkbox
          label={text.isCritical}
          checked={draft.isCritical}
          onChange={(event) => onChange({ isCritical: event.currentTarget.checked })}
        />
        <p className={layout.quiet}>{text.isCriticalHint}</p>
      </div>
      <StepFields {...props} />
      <DefaultFields {...props} />
      <Field
        {...plain}
        label={text.ttl}
        hint={text.ttlHint}
        error={faults.at('ttl')}
        value={draft.ttl}
        maxLength={10}
        onChange={(event) => onChange({ ttl: event.currentTarget.value })}
      />
    </div>
  );
}

/** By which channels it goes out, when, and on which condition. */
function StepFields({ draft: { steps }, faults, onChange }: FieldsProps) {
  const { categories: text } = useText();
  const set = (index: number, change: Partial<DraftStep>) => onChange({ steps: replaced(steps, index, change) });
  const free = channels.find((channel) => !steps.some((step) => step.channel === channel));
  const stepsFault = faults.at('steps');
  return (
    <>
      <div>
        <p className={styles.strong}>{text.steps}</p>
        <p className={layout.quiet}>{text.stepsHint}</p>
        {stepsFault !== undefined && <p role="alert">{stepsFault}</p>}
      </div>
      {steps.map(({ channel, after, if: condition }, index) => (
        <fieldset key={channel} className={styles.item}>
          <legend className="hidden-text">{text.step(index + 1)}</legend>
          <div className={styles.itemHead}>
            <Select
              label={text.channel}
              error={faults.at(`steps.${index}.channel`)}
              value={channel}
              options={channels
                .filter((each) => each === channel || !steps.some((step) => step.channel === each))
                .map((each) => [each, text.channels[each]] as const)}
              onChoose={(next) => set(index, { channel: next })}
            />
            <Field
              {...plain}
              label={text.after}
              error={faults.at(`steps.${index}.after`)}
              placeholder="0s"
              title={text.afterHint}
              value={after}
              maxLength={10}
              onChange={(event) => set(index, { after: event.currentTarget.value })}
            />
            <Select
              label={text.condition}
              error={faults.at(`steps.${index}.if`)}
              value={condition}
              options={conditions.map((each) => [each, text.conditions[each]] as const)}
              onChoose={(next) => set(index, { if: next })}
            />
            <Button
              kind="ghost"
              icon="trash"
              label={text.removeStep(index + 1)}
              onClick={() => onChange({ steps: without(steps, index) })}
            />
          </div>
        </fieldset>
      ))}
      {free !== undefined && (
        <div>
          <Button
            icon="plus"
            onClick={() => onChange({ steps: [...steps, { channel: free, after: '0s', if: 'always' }] })}
          >
            {text.addStep}
          </Button>
        </div>
      )}
    </>
  );
}

/** What counts for users who have chosen nothing. */
function DefaultFields({ draft: { steps, defaults, digest }, faults, onChange }: FieldsProps) {
  const { categories: text } = useText();
  return (
    <>
      <p className={styles.strong}>{text.defaults}</p>
      <div className={styles.choices}>
        {(['inbox', ...channels] as const).map((channel) => (
          <Select
            key={channel}
            label={text.channels[channel]}
            error={faults.at(`defaults.${channel}`)}
            value={defaults[channel]}
            options={[
              ['on', text.on],
              ['off', text.off],
              ...(channel === 'email' && digest !== null ? ([['digest', text.digest]] as const) : []),
            ]}
            onChoose={(next) => onChange({ defaults: { ...defaults, [channel]: next } })}
          />
        ))}
      </div>
      {defaults.inbox === 'off' && steps.some((step) => step.if === 'unread') && (
        <Notice kind="warn" live>
          {text.inboxOffUnread}
        </Notice>
      )}
    </>
  );
}

export function SchemaField({ draft, faults, onChange }: FieldsProps) {
  const { categories: text } = useText();
  return (
    <div className={styles.code}>
      <TextArea
        label={text.schema}
        hint={text.schemaHint}
        error={faults.within('data_schema')}
        rows={6}
        value={draft.schema}
        spellCheck={false}
        onChange={(event) => onChange({ schema: event.currentTarget.value })}
      />
    </div>
  );
}
