import { type ChangeEvent, type ReactNode, useId, useRef, useState } from 'react';
import { send } from '../../api/client.js';
import type { Category, Image } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Field, Segments, Select, TextArea } from '../../components/field/field.js';
import { Icon } from '../../components/icon/icon.js';
import { UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { cx } from '../../lib/cx.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { CategoryField } from './category-field.js';
import type { Form, UploadedImage } from './content.js';
import { DataFields } from './data.js';
import type { DataField } from './data-fields.js';
import styles from './notifications.module.css';

/** The error of each field. */
export type FieldErrors = { readonly [Name in Exclude<keyof Form, 'data'>]?: string | undefined };
/** The errors of the data, by the names of their members. `json`: of the data as JSON. */
export type DataErrors = Readonly<Record<string, string | undefined>>;

interface FieldsProps {
  readonly form: Form;
  /** NOTIFICATION_TYPES of the installation. */
  readonly types: readonly string[];
  /** All categories. Undefined: they are not known, or the operator may not read them. */
  readonly categories: readonly Category[] | undefined;
  /** That of the notification, if it is known. */
  readonly category: Category | undefined;
  /** The members of the data that the category describes. */
  readonly fields: readonly DataField[] | undefined;
  readonly fieldErrors: FieldErrors;
  readonly dataErrors: DataErrors;
  readonly onChange: (change: Partial<Form>) => void;
}

/** The fields that are hidden until somebody asks for them. */
const moreFields = ['text', 'objectId', 'actorId', 'imageUrl', 'link', 'expires', 'json'] as const;

/** The content of a notification, by the names of the interface. Errors are shown at their fields. */
export function ContentFields(props: FieldsProps) {
  const { form, types, categories, category, fields, fieldErrors, dataErrors, onChange } = props;
  const { notifications: text } = useText();
  const hasMore = moreFields.some((name) => form[name] !== '');
  const hasError = moreFields.some((name) => Boolean(fieldErrors[name])) || dataErrors.json !== undefined;
  const [isOpen, setOpen] = useState(hasMore);
  const field = (
    name: 'key' | 'actor' | 'number' | Exclude<(typeof moreFields)[number], 'json'>,
    more: object = {},
  ) => (
    <Field
      label={text[name]}
      autoComplete="off"
      {...more}
      value={form[name]}
      error={fieldErrors[name]}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <>
      <div className={styles.pair}>
        <TypeField type={form.type} types={types} error={fieldErrors.type} onChange={(type) => onChange({ type })} />
        {field('key', { hint: text.keyHint })}
      </div>
      <CategoryField
        {...{ categories, category, types }}
        value={form.category}
        error={fieldErrors.category}
        onChange={(next) => onChange({ category: next })}
      />
      <div className={styles.pair}>
        {field('actor', { dir: 'auto' })}
        {field('number', { inputMode: 'decimal' })}
      </div>
      <TextArea
        label={text.description}
        dir="auto"
        rows={4}
        value={form.description}
        error={fieldErrors.description}
        hint={
          <span className={styles.counted}>
            <span>{text.descriptionHint}</span>
            <span>{text.characters([...form.description].length)}</span>
          </span>
        }
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      {fields !== undefined && (
        <DataFields
          fields={fields}
          typed={form.data}
          errors={dataErrors}
          onChange={(change) => onChange({ data: { ...form.data, ...change } })}
        />
      )}
      <div className={styles.extras}>
        <ImageField image={form.image} error={fieldErrors.image} onChange={(image) => onChange({ image })} />
        {!isOpen && !hasError && (
          <Button kind="ghost" small onClick={() => setOpen(true)}>
            {text.more}
          </Button>
        )}
      </div>
      {(isOpen || hasError) && (
        <div className={styles.pair}>
          {field('text', { dir: 'auto' })}
          {field('objectId', { spellCheck: false })}
          {field('actorId', { spellCheck: false })}
          {field('imageUrl', { type: 'url', hint: text.imageUrlHint })}
          {field('link', { spellCheck: false, hint: text.linkHint })}
          {field('expires', { spellCheck: false, hint: text.expiresHint })}
          {fields === undefined && (
            <TextArea
              label={text.data}
              hint={text.dataHint}
              rows={2}
              spellCheck={false}
              value={form.json}
              error={dataErrors.json}
              onChange={(event) => onChange({ json: event.currentTarget.value })}
            />
          )}
        </div>
      )}
    </>
  );
}

interface TypeProps {
  readonly type: string;
  readonly types: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (type: string) => void;
}

/** Few types with short names are buttons: so many characters fit beside each other on a phone. */
const buttons = { types: 4, characters: 24 };

/** The types of the installation. */
function TypeField({ type, types, error, onChange }: TypeProps) {
  const { notifications: text } = useText();
  const id = useId();
  if (types.length > buttons.types || types.join('').length > buttons.characters) {
    const options = types.map((name) => [name, name] as const);
    return <Select label={text.type} value={type} options={options} error={error} onChoose={onChange} />;
  }
  return (
    <div className={styles.type}>
      <span className={layout.label} id={id}>
        {text.type}
      </span>
      <Segments
        label={text.type}
        value={type}
        options={types.map((name) => [name, name] as const)}
        onChoose={onChange}
      />
      {error !== undefined && <Note wrong>{error}</Note>}
    </div>
  );
}

function Note({ wrong, children }: { wrong: boolean; children: ReactNode }) {
  return (
    <p className={cx(layout.quiet, wrong && styles.error)} role="status">
      {children}
    </p>
  );
}

const maxImageBytes = 5 * 2 ** 20;

interface ImageProps {
  readonly image: UploadedImage | null;
  readonly error: string | undefined;
  readonly onChange: (image: UploadedImage | null) => void;
}

/** Uploads an image, which the notification then shows. */
function ImageField({ image, error, onChange }: ImageProps) {
  const { notifications: text } = useText();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  async function choose({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = currentTarget.files ?? [];
    if (file === undefined) return;
    setRefusal(file.size > maxImageBytes ? text.imageTooLarge : undefined);
    if (file.size <= maxImageBytes) {
      setBusy(true);
      try {
        onChange(await upload(file));
      } catch (reason) {
        toast.failed(text.imageFailed, reason);
      }
      setBusy(false);
    }
    currentTarget.value = '';
  }
  const wrong = refusal ?? error;
  return (
    <div className={styles.image}>
      {image === null ? (
        <Button small icon="plus" busy={busy} changesData onClick={() => input.current?.click()}>
          {text.image}
        </Button>
      ) : (
        <span className={styles.chip}>
          <Icon name="check" />
          <UserText text={image.name} />
          <Button kind="ghost" small icon="cross" label={text.removeImage} onClick={() => onChange(null)} />
        </span>
      )}
      <input ref={input} type="file" hidden accept="image/*" onChange={(event) => void choose(event)} />
      {wrong !== undefined && <Note wrong>{wrong}</Note>}
    </div>
  );
}

async function upload(file: File): Promise<UploadedImage> {
  const body = new FormData();
  body.set('file', file);
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const response = await send('POST', '/admin/v1/images', { body, headers });
  const { id, url } = (await response.json()) as Image;
  return { id, url, name: file.name };
}
