import { type ChangeEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import type { User } from '../../api/schema.js';
import { useUserSearch, useUsersById } from '../../api/users.js';
import { Button } from '../../components/button/button.js';
import { Segments, TextArea } from '../../components/field/field.js';
import { Icon } from '../../components/icon/icon.js';
import { Problem } from '../../components/state/state.js';
import { Avatar, addressOf, nameOf, UserText } from '../../components/text/values.js';
import { cx } from '../../lib/cx.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { maxMatching, type useMatchingUsers } from './matching-users.js';
import styles from './notifications.module.css';
import { useOptions } from './options.js';
import { type ReadIds, readFileText, readList } from './read-ids.js';
import type { ChosenRecipients } from './stored-recipients.js';

/** The recipients of the chosen mode. @param matching the ids of the users who match */
export function readChosen({ mode, people, list, file }: ChosenRecipients, matching: readonly string[]): ReadIds {
  if (mode === 'list') return readList(list);
  if (mode === 'matching') return readIds(matching);
  if (mode === 'file') return readFileText(file?.text ?? '');
  return readIds(people);
}

function readIds(ids: readonly string[]): ReadIds {
  const recipients = ids.map((id, index) => ({ id, line: index + 1 }));
  return { recipients, refused: [], repeated: 0, lines: ids.length, column: undefined };
}

/** The maximum number of people in the picker: one request reads the names of as many. */
const maxPeople = 100;
const maxFileBytes = 20 * 2 ** 20;

interface RecipientsProps {
  readonly to: ChosenRecipients;
  readonly read: ReadIds;
  readonly matching: ReturnType<typeof useMatchingUsers>;
  readonly error: string | undefined;
  readonly onChange: (change: Partial<ChosenRecipients>) => void;
}

/** Chooses people by a search, by a list or a file of ids and addresses, or as the users who match a list of users. */
export function Recipients({ to, read, matching, error, onChange }: RecipientsProps) {
  const { notifications: text } = useText();
  const label = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot have its legend beside another control
    <div className={styles.to} role="group" aria-labelledby={label}>
      <div className={styles.toHead}>
        <span id={label} className={layout.label}>
          {text.to.label}
        </span>
        <Segments
          label={text.to.mode}
          value={to.mode}
          options={modesOf(to).map((mode) => [mode, text.to[mode]])}
          onChoose={(mode) => onChange({ mode })}
        />
      </div>
      {to.mode === 'people' && (
        <People
          ids={to.people}
          error={error}
          onChange={(people) => onChange({ people })}
          onList={(list) => onChange({ mode: 'list', list })}
        />
      )}
      {to.mode === 'list' && (
        <TextArea
          label={text.to.ids}
          className={styles.ids}
          spellCheck={false}
          value={to.list}
          error={error}
          hint={to.list.trim() === '' ? text.to.idsHint : text.to.read(read.recipients.length, read.repeated)}
          onChange={(event) => onChange({ list: event.currentTarget.value })}
        />
      )}
      {to.mode === 'matching' && <Matching {...{ to, matching, error }} />}
      {to.mode === 'file' && <FileOfIds file={to.file} read={read} error={error} onChange={onChange} />}
    </div>
  );
}

/** The users of the list of users can be chosen there only. */
const modesOf = ({ matching }: ChosenRecipients) =>
  (['people', 'list', 'file', 'matching'] as const).filter((mode) => mode !== 'matching' || matching !== null);

/** The users who match, and how to read them again. */
function Matching({ to, matching, error }: Pick<RecipientsProps, 'to' | 'matching' | 'error'>) {
  const { notifications: text } = useText();
  const { data } = matching;
  const note =
    data === undefined
      ? text.to.matchingReads
      : data.hasMore
        ? text.to.matchingMore(maxMatching)
        : text.to.matchingRead(data.ids.length);
  const shown = [to.matching?.search, to.matching?.filter].filter((part) => part !== undefined).join(' · ');
  return (
    <div className={styles.picker}>
      <div className={cx(styles.box, error !== undefined && styles.wrong)}>
        <span className={styles.chip}>
          <Icon name="users" />
          <UserText text={shown === '' ? text.to.matchingAll : shown} />
          <Button kind="ghost" small busy={matching.isFetching} onClick={() => void matching.refetch()}>
            {text.to.matchingAgain}
          </Button>
        </span>
      </div>
      {matching.error !== null && <Problem error={matching.error} />}
      <p className={cx(layout.quiet, (error !== undefined || data?.hasMore === true) && styles.error)} role="status">
        {data?.hasMore === true ? note : (error ?? note)}
      </p>
    </div>
  );
}

interface PeopleProps {
  readonly ids: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (ids: readonly string[]) => void;
  readonly onList: (text: string) => void;
}

/** Finds people by a search, and shows those that are chosen. */
export function People({ ids, error, onChange, onList }: PeopleProps) {
  const { notifications: text } = useText();
  const [search, setSearch] = useState('');
  const id = useId();
  const users = useUsersById(ids);
  const { found, search: settled } = useUserSearch(search);
  const options = search.trim() === '' ? [] : (found ?? []).filter((user) => !ids.includes(user.id));
  const { field, list, onKeyDown, restart } = useOptions<User>({
    label: text.to.found,
    options,
    idOf: (user) => user.id,
    onChoose: add,
    children: (user) => (
      <>
        <Avatar name={nameOf(user)} />
        <UserText text={nameOf(user)} />
        <UserText quiet text={addressOf(user)} />
      </>
    ),
  });
  const nameById = (userId: string) => {
    const user = users.get(userId);
    return user === undefined ? userId.slice(0, 8) : nameOf(user);
  };

  function add(user: User): void {
    if (ids.length >= maxPeople) return;
    onChange([...ids, user.id]);
    setSearch('');
  }

  function onKey(event: KeyboardEvent): void {
    if (onKeyDown(event)) return;
    if (event.key === 'Backspace' && search === '' && ids.length > 0) onChange(ids.slice(0, -1));
    else if (event.key !== 'Enter') return;
    event.preventDefault();
  }

  return (
    <div className={styles.picker}>
      <div className={cx(styles.box, error !== undefined && styles.wrong)}>
        {ids.map((userId) => (
          <span key={userId} className={styles.chip}>
            <UserText text={nameById(userId)} />
            <Button
              kind="ghost"
              small
              icon="cross"
              label={text.to.remove(nameById(userId))}
              onClick={() => onChange(ids.filter((other) => other !== userId))}
            />
          </span>
        ))}
        <input
          {...field}
          type="text"
          className={styles.search}
          aria-label={text.to.search}
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby={`${id}-note`}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
            restart();
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text');
            if (readList(pasted).recipients.length < 2) return;
            event.preventDefault();
            onList(pasted);
          }}
          onKeyDown={onKey}
        />
      </div>
      {list}
      <p id={`${id}-note`} className={cx(layout.quiet, error !== undefined && styles.error)} role="status">
        {error ?? noteOf()}
      </p>
    </div>
  );

  function noteOf(): string {
    if (ids.length >= maxPeople) return text.to.full(maxPeople);
    const isAnswered = settled === search.trim() && found !== undefined;
    return isAnswered && found.length === 0 ? text.to.nobody(settled) : text.to.searchHint;
  }
}

interface FileProps {
  readonly file: ChosenRecipients['file'];
  readonly read: ReadIds;
  readonly error: string | undefined;
  readonly onChange: (change: Partial<ChosenRecipients>) => void;
}

function FileOfIds({ file, read, error, onChange }: FileProps) {
  const { notifications: text } = useText();
  const input = useRef<HTMLInputElement>(null);
  const [refusal, setRefusal] = useState<string>();
  const id = useId();
  async function choose({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [chosen] = currentTarget.files ?? [];
    if (chosen === undefined) return;
    const isTooLarge = chosen.size > maxFileBytes;
    setRefusal(isTooLarge ? text.to.tooLarge : undefined);
    if (!isTooLarge) onChange({ file: { name: chosen.name, text: await chosen.text() } });
    // The same file can be chosen again, after a change.
    currentTarget.value = '';
  }
  const wrong = refusal ?? error;
  const isEmpty = file === null || file.text === '';
  return (
    <div className={styles.picker}>
      <div className={cx(styles.box, wrong !== undefined && styles.wrong)}>
        {file !== null && (
          <span className={styles.chip}>
            <Icon name="list" />
            <UserText text={file.name} />
            {!isEmpty && <span className={layout.quiet}>{text.to.lines(read.lines)}</span>}
            <Button
              kind="ghost"
              small
              icon="cross"
              label={text.to.remove(file.name)}
              onClick={() => onChange({ file: null })}
            />
          </span>
        )}
        {isEmpty && (
          <Button
            kind="ghost"
            small
            icon="upload"
            aria-describedby={`${id}-note`}
            onClick={() => input.current?.click()}
          >
            {text.to.choose}
          </Button>
        )}
        <input
          ref={input}
          type="file"
          hidden
          accept=".csv,.ndjson,.jsonl,.json,.txt,text/*"
          onChange={(event) => void choose(event)}
        />
      </div>
      <p id={`${id}-note`} className={cx(layout.quiet, wrong !== undefined && styles.error)} role="status">
        {wrong ?? noteOf()}
      </p>
    </div>
  );

  function noteOf(): string {
    if (file === null) return text.to.chooseHint;
    if (file.text === '') return text.to.chooseAgain(file.name);
    const ids = text.to.read(read.recipients.length, read.repeated);
    return read.column === undefined ? ids : `${text.to.column(read.column)} ${ids}`;
  }
}
