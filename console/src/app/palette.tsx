import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import type { User } from '../api/schema.js';
import { Icon } from '../components/icon/icon.js';
import { nameOf, UserText } from '../components/text/values.js';
import { toast } from '../components/toast/toasts.js';
import { cx } from '../lib/cx.js';
import { language, languages, theme, themes } from '../lib/preferences.js';
import { useText } from '../text/text.js';
import type { NavigationEntry } from './navigation.js';
import { useHasScope } from './operator.js';
import styles from './palette.module.css';
import { useOpenUser, useUserActions } from './palette-actions.js';
import { type PaletteEntry, useUserEntries } from './palette-users.js';
import { signOut, signOutElsewhere } from './sign-out.js';

interface PaletteProps {
  readonly pages: readonly NavigationEntry[];
  readonly onHelp: () => void;
  readonly onClose: () => void;
}

/** A dialog that finds users, pages and actions by a part of their name. Tab goes from a user to the actions for this user. */
export function Palette({ pages, onHelp, onClose }: PaletteProps) {
  const text = useText();
  const [query, setQuery] = useState('');
  const [chosenIndex, setChosenIndex] = useState(0);
  const id = useId();
  const dialog = useModal();
  const [chosenUser, setChosenUser] = useState<User>();
  const users = useUserEntries(chosenUser === undefined ? query : '');
  const actionsOn = useUserActions();
  const openUser = useOpenUser();
  const generalEntries = useGeneralEntries(pages, onHelp);
  const allEntries = [...(openUser === undefined ? [] : actionsOn(openUser)), ...generalEntries];
  const matchingEntries = (chosenUser === undefined ? allEntries : actionsOn(chosenUser)).filter(({ name }) =>
    matches(name, query),
  );
  const entries = chosenUser === undefined ? [...matchingEntries, ...users] : matchingEntries;
  const chosenEntry = entries[Math.min(chosenIndex, entries.length - 1)];
  function runEntry(entry: PaletteEntry | undefined): void {
    if (entry === undefined) return;
    onClose();
    entry.run();
  }

  function showUserActions(user: User | undefined): void {
    setChosenUser(user);
    setQuery('');
    setChosenIndex(0);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosenIndex((chosenIndex + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') runEntry(chosenEntry);
    else if (event.key === 'Tab' && !event.shiftKey && chosenEntry?.user !== undefined)
      showUserActions(chosenEntry.user);
    else if (event.key === 'Backspace' && query === '' && chosenUser !== undefined) showUserActions(undefined);
    else return;
    event.preventDefault();
  }

  const placeholder =
    chosenUser === undefined ? text.shell.palette.placeholder : text.shell.palette.actionOn(nameOf(chosenUser));
  return (
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label={text.shell.palette.title}
      onCancel={(event) => {
        event.preventDefault();
        if (chosenUser === undefined) onClose();
        else showUserActions(undefined);
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className={styles.box}>
        <Icon name={chosenUser === undefined ? 'search' : 'user'} />
        {chosenUser !== undefined && (
          <span className={styles.subject}>
            <UserText strong text={nameOf(chosenUser)} />
          </span>
        )}
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={chosenEntry === undefined ? undefined : `${id}-${chosenEntry.id}`}
          aria-autocomplete="list"
          aria-label={placeholder}
          placeholder={placeholder}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setChosenIndex(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <Results
        {...{ id, entries, chosenEntry }}
        onRun={runEntry}
        onPoint={(entry) => setChosenIndex(entries.indexOf(entry))}
      />
      {entries.length === 0 && (
        <p className={styles.nothing} role="status">
          {text.shell.palette.nothing(query)}
        </p>
      )}
      <Keys hasUserActions={chosenEntry?.user !== undefined} canGoBack={chosenUser !== undefined} />
    </dialog>
  );
}

/** Opens the dialog. When it ends, the focus goes back to where it was. */
function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const focused = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus();
    };
  }, []);
  return dialog;
}

interface ResultsProps {
  /** The id of the list. The ids of the options begin with it. */
  readonly id: string;
  readonly entries: readonly PaletteEntry[];
  readonly chosenEntry: PaletteEntry | undefined;
  readonly onRun: (entry: PaletteEntry) => void;
  readonly onPoint: (entry: PaletteEntry) => void;
}

function Results({ id, entries, chosenEntry, onRun, onPoint }: ResultsProps) {
  const { shell } = useText();
  useEffect(() => {
    document.querySelector(`[id="${CSS.escape(`${id}-${chosenEntry?.id}`)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [id, chosenEntry?.id]);
  return (
    <div id={id} role="listbox" aria-label={shell.palette.results} className={styles.results}>
      {groupEntries(entries).map(([group, list]) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options in a list box
        <div key={group} role="group" aria-label={group}>
          <div className={styles.group} aria-hidden="true">
            {group}
          </div>
          {list.map((entry) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys act in the field above, which keeps the focus
            <div
              key={entry.id}
              id={`${id}-${entry.id}`}
              role="option"
              tabIndex={-1}
              aria-selected={entry === chosenEntry}
              className={cx(styles.entry, entry === chosenEntry && styles.chosen)}
              onClick={() => onRun(entry)}
              onPointerMove={() => onPoint(entry)}
            >
              <Icon name={entry.icon} />
              <bdi className={styles.name}>{entry.name}</bdi>
              {entry.end}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

function Keys({ hasUserActions, canGoBack }: { hasUserActions: boolean; canGoBack: boolean }) {
  const { shell } = useText();
  return (
    <footer className={styles.foot} aria-hidden="true">
      <span>
        <kbd>↑</kbd> <kbd>↓</kbd> {shell.palette.choose}
      </span>
      <span>
        <kbd>↵</kbd> {shell.palette.open}
      </span>
      {hasUserActions && (
        <span>
          <kbd>⇥</kbd> {shell.palette.userActions}
        </span>
      )}
      {canGoBack && (
        <span>
          <kbd>⌫</kbd> {shell.palette.back}
        </span>
      )}
    </footer>
  );
}

function useGeneralEntries(pages: readonly NavigationEntry[], onHelp: () => void): PaletteEntry[] {
  const text = useText();
  const navigate = useNavigate();
  const { shell } = text;
  const can = useHasScope();
  const actions = { group: shell.palette.actions };
  return [
    ...pages.map(({ to, name, icon, key }) => ({
      id: `page-${key}`,
      group: shell.palette.pages,
      name: name(text),
      icon,
      end: (
        <span className={styles.keys}>
          <kbd>G</kbd> <kbd>{key.toUpperCase()}</kbd>
        </span>
      ),
      run: () => void navigate({ to }),
    })),
    ...(can('notifications:write')
      ? [
          {
            ...actions,
            id: 'notify',
            name: text.notifications.send,
            icon: 'send' as const,
            run: () => void navigate({ to: '/notifications', search: {} }),
          },
        ]
      : []),
    ...(can('users:read')
      ? [
          {
            ...actions,
            id: 'login-check',
            name: text.check.title,
            icon: 'key' as const,
            run: () => void navigate({ to: '/users/login-check', search: {} }),
          },
        ]
      : []),
    ...(can('admin')
      ? [
          {
            ...actions,
            id: 'invite',
            name: text.users.invite.title,
            icon: 'plus' as const,
            run: () => void navigate({ to: '/users', search: { act: 'invite' } }),
          },
        ]
      : []),
    ...themes.map((name) => ({
      ...actions,
      id: `theme-${name}`,
      name: `${shell.theme}: ${shell.themes[name]}`,
      icon: 'sun' as const,
      run: () => theme.set(name),
    })),
    ...languages.map((name) => ({
      ...actions,
      id: `language-${name}`,
      name: `${shell.language}: ${shell.languages[name]}`,
      icon: 'globe' as const,
      run: () => language.set(name),
    })),
    { ...actions, id: 'keys', name: shell.shortcuts, icon: 'keyboard', run: onHelp },
    // Before the other, so that its name alone finds it.
    {
      ...actions,
      id: 'sign-out',
      name: shell.signOut,
      icon: 'logout',
      run: () => void signOut().catch((error) => toast.failed(shell.signOutFailed, error)),
    },
    {
      ...actions,
      id: 'sign-out-elsewhere',
      name: shell.signOutElsewhere,
      icon: 'logout',
      run: () =>
        void signOutElsewhere().then(
          (ended) => toast.done(shell.signedOutElsewhere(ended)),
          (error) => toast.failed(shell.signOutFailed, error),
        ),
    },
  ];
}

/** Whether the name contains each word of the query. Ignores case and accents. */
function matches(name: string, query: string): boolean {
  const normalize = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const words = normalize(query).split(/\s+/).filter(Boolean);
  return words.every((word) => normalize(name).includes(word));
}

function groupEntries(entries: readonly PaletteEntry[]): [string, PaletteEntry[]][] {
  const groups = new Map<string, PaletteEntry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups];
}
