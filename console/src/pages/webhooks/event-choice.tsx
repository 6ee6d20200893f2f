import { type WebhookTestRequest, webhookEventTypes } from '../../api/schema.js';
import { Checkbox } from '../../components/field/field.js';
import { cx } from '../../lib/cx.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './webhooks.module.css';

export type EventType = NonNullable<WebhookTestRequest['type']>;

/** All types of events, by group, in the order of the catalogue. */
export const eventTypes: readonly EventType[] = webhookEventTypes;

const groupOf = (type: string) => type.slice(0, type.indexOf('.'));
const groups = [...new Set(eventTypes.map(groupOf))];
const typesOf = (group: string) => eventTypes.filter((type) => groupOf(type) === group);

/** Whether the patterns include a type. */
const includes = (patterns: readonly string[], type: string) =>
  patterns.some((pattern) => pattern === '*' || pattern === type || pattern === `${groupOf(type)}.*`);

/** The fewest patterns for some types: a whole group is `group.*`, so that it includes types of later versions. */
function patternsOf(types: ReadonlySet<string>): string[] {
  return groups.flatMap((group) => {
    const all: readonly string[] = typesOf(group);
    return all.length > 1 && all.every((type) => types.has(type))
      ? [`${group}.*`]
      : all.filter((type) => types.has(type));
  });
}

interface EventChoiceProps {
  readonly value: readonly string[];
  readonly onChange: (patterns: string[]) => void;
  readonly error?: string | undefined;
}

/** The events that a webhook gets: all, groups, or single types. */
export function EventChoice({ value, onChange, error }: EventChoiceProps) {
  const { webhooks: text } = useText();
  const isAll = value.includes('*');
  const chosen = new Set<string>(eventTypes.filter((type) => includes(value, type)));
  const set = (types: readonly string[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const type of types)
      if (isOn) next.add(type);
      else next.delete(type);
    onChange(patternsOf(next));
  };
  return (
    <fieldset
      className={cx(layout.group, styles.events)}
      aria-describedby={error === undefined ? undefined : 'events-error'}
    >
      <legend>{text.events}</legend>
      <Checkbox
        label={
          <>
            {text.allEvents} <code className={layout.quiet}>*</code>
          </>
        }
        checked={isAll}
        onChange={() => onChange(isAll ? [] : ['*'])}
      />
      {!isAll &&
        groups.map((group) => {
          const types = typesOf(group);
          const count = types.filter((type) => chosen.has(type)).length;
          const isWhole = count === types.length;
          return (
            <div key={group} className={layout.stack4}>
              {types.length > 1 && (
                <Checkbox
                  label={text.groups[group] ?? group}
                  checked={isWhole}
                  isPartial={count > 0 && !isWhole}
                  onChange={() => set(types, !isWhole)}
                />
              )}
              <div className={types.length > 1 ? styles.types : undefined}>
                {types.map((type) => (
                  <Checkbox
                    key={type}
                    label={<code>{type}</code>}
                    checked={chosen.has(type)}
                    onChange={() => set([type], !chosen.has(type))}
                  />
                ))}
              </div>
            </div>
          );
        })}
      {error !== undefined && (
        <p id="events-error" className={styles.bad}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
