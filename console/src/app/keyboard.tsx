import { useLayoutEffect, useRef } from 'react';
import { focusFirstRow } from '../components/table/focus.js';
import { letterShortcuts } from '../lib/preferences.js';
import { createStore } from '../lib/store.js';

/** A shortcut: keys in order, such as `g o`, `?`, `Escape`, or `mod+k` for Ctrl or ⌘. */
export interface Shortcut {
  readonly keys: string;
  readonly name: string;
  readonly group: 'everywhere' | 'pages' | 'thisPage';
  readonly run: () => void;
}

/** The shortcuts of the shell and of the open page, for the help. */
export const shortcuts = createStore<readonly Shortcut[]>([]);

/** Adds shortcuts while the component is shown. */
export function useShortcuts(added: readonly Shortcut[]): void {
  const latest = useRef(added);
  latest.current = added;
  const names = added.map(({ keys, name }) => `${keys} ${name}`).join('\n');
  // The keys must work as soon as the page is visible. `useEffect` may run later on a busy machine.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names say when the list has changed
  useLayoutEffect(() => {
    const entries = latest.current.map((shortcut, index) => ({ ...shortcut, run: () => latest.current[index]?.run() }));
    shortcuts.set([...shortcuts.get(), ...entries]);
    return () => shortcuts.set(shortcuts.get().filter((entry) => !entries.includes(entry)));
  }, [names]);
}

/** The longest time in milliseconds between two keys of one shortcut. */
const maxSequenceMs = 1500;

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches('textarea, select')) return true;
  return target.matches('input:not([type=checkbox], [type=radio], [type=button])');
}

/** Listens to the keys of the page. Single characters never act in a field, in a dialog, or when they are turned off. */
export function useKeyboard(): void {
  useLayoutEffect(() => {
    let before = { key: '', at: 0 };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return;
      const isOpen = document.querySelector('dialog[open], [popover]:popover-open') !== null;
      if (event.ctrlKey || event.metaKey) {
        if (event.key.toLowerCase() === 'k') runShortcut('mod+k', event);
        return;
      }
      if (isOpen) return;
      if (isField(event.target)) {
        if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
        return;
      }
      if (event.key.length === 1 && letterShortcuts.get() === 'off') return;
      const isSequence = before.key !== '' && event.timeStamp - before.at < maxSequenceMs;
      const { key, at } = before;
      before = { key: '', at };
      if (isSequence && runShortcut(`${key} ${event.key}`, event)) return;
      if (runShortcut(event.key, event)) return;
      if (shortcuts.get().some(({ keys }) => keys.startsWith(`${event.key} `))) {
        before = { key: event.key, at: event.timeStamp };
      } else if (event.key === '/') focusSearch(event);
      else if (event.key === 'j' || event.key === 'k') focusFirstRow();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/**
 * Runs the shortcut with these keys that was added last: that of the page, before that of the shell.
 *
 * @returns whether there is one
 */
function runShortcut(keys: string, event: KeyboardEvent): boolean {
  const found = shortcuts.get().findLast((shortcut) => shortcut.keys === keys);
  if (found === undefined) return false;
  event.preventDefault();
  found.run();
  return true;
}

function focusSearch(event: KeyboardEvent): void {
  const box = document.querySelector<HTMLInputElement>('[data-search]');
  if (box === null) return;
  event.preventDefault();
  box.focus();
  box.select();
}
