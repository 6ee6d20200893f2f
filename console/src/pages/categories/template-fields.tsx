import { Button } from '../../components/button/button.js';
import { Field, Select, TextArea } from '../../components/field/field.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './categories.module.css';
import { type DraftTemplate, partsOf, templateName } from './draft.js';
import { type FieldsProps, replaced, without } from './fields.js';
import { channels } from './queries.js';

/** The texts of the channels, each with its language. */
export function TemplateFields({ draft: { templates }, faults, onChange }: FieldsProps) {
  const { categories: text } = useText();
  const names = templates.map(templateName);
  const free = channels.find((channel) => !names.includes(`${channel}.en`));
  const empty = { locale: free === undefined ? '' : 'en', subject: '', title: '', text: '', html: '' };
  return (
    <div className={layout.stack16}>
      <p className={layout.quiet}>{text.templatesHint}</p>
      {templates.map((template, index) => (
        <TemplateItem
          // biome-ignore lint/suspicious/noArrayIndexKey: the name changes while it is typed
          key={index}
          template={template}
          faultOfName={faults.at(`templates.${index}`)}
          faultAt={(...parts) => faults.at(...parts.map((part) => `templates.${names[index]}${part}`))}
          onChange={(change) => onChange({ templates: replaced(templates, index, change) })}
          onRemove={() => onChange({ templates: without(templates, index) })}
        />
      ))}
      <div>
        <Button
          icon="plus"
          onClick={() => onChange({ templates: [...templates, { channel: free ?? 'push', ...empty }] })}
        >
          {text.addTemplate}
        </Button>
      </div>
    </div>
  );
}

interface TemplateItemProps {
  readonly template: DraftTemplate;
  readonly faultOfName: string | undefined;
  /** @param parts such as `.text`; empty: the text as a whole */
  readonly faultAt: (...parts: readonly string[]) => string | undefined;
  readonly onChange: (change: Partial<DraftTemplate>) => void;
  readonly onRemove: () => void;
}

function TemplateItem({ template, faultOfName, faultAt, onChange, onRemove }: TemplateItemProps) {
  const { categories: text } = useText();
  const name = templateName(template);
  const labels = { subject: text.subject, title: text.pushTitle, html: text.html };
  const ownParts = partsOf[template.channel];
  return (
    <fieldset className={styles.item}>
      <legend className="hidden-text">{name}</legend>
      <div className={styles.itemHead}>
        <Select
          label={text.channel}
          value={template.channel}
          options={channels.map((channel) => [channel, text.channels[channel]] as const)}
          onChoose={(channel) => onChange({ channel })}
        />
        <Field
          label={text.language}
          error={faultOfName}
          value={template.locale}
          maxLength={35}
          verbatim
          onChange={(event) => onChange({ locale: event.currentTarget.value })}
        />
        <Button kind="ghost" icon="trash" label={text.removeTemplate(name)} onClick={onRemove} />
      </div>
      {ownParts
        .filter((part) => part !== 'html')
        .map((part) => (
          <Field
            key={part}
            label={labels[part]}
            error={faultAt(`.${part}`)}
            value={template[part]}
            autoComplete="off"
            onChange={(event) => onChange({ [part]: event.currentTarget.value })}
          />
        ))}
      <TextArea
        label={text.text}
        error={faultAt('.text', '')}
        rows={4}
        value={template.text}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
      />
      {ownParts.some((part) => part === 'html') && (
        <div className={styles.code}>
          <TextArea
            label={labels.html}
            error={faultAt('.html')}
            rows={4}
            value={template.html}
            spellCheck={false}
            onChange={(event) => onChange({ html: event.currentTarget.value })}
          />
        </div>
      )}
    </fieldset>
  );
}
