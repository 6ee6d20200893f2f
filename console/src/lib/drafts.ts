import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react';
import { readStored, removeStored, writeStored } from './storage.js';

/**
 * State of a form that survives a reload and a sign-in, until the tab is closed or the operator signs out. Do not keep
 * secrets in it. The third element is a function that forgets the draft, to call after the form was sent.
 */
export function useDraft<T>(key: string, initial: T): [T, Dispatch<SetStateAction<T>>, () => void] {
  const name = `draft.${key}`;
  const [value, setValue] = useState<T>(() => parse<T>(readStored('sessionStorage', name)) ?? initial);
  const isUntouched = useRef(true);
  useEffect(() => {
    if (isUntouched.current) isUntouched.current = false;
    else writeStored('sessionStorage', name, JSON.stringify(value));
  }, [name, value]);
  const forget = () => {
    isUntouched.current = true;
    setValue(initial);
    writeStored('sessionStorage', name, undefined);
  };
  return [value, setValue, forget];
}

/** Replaces the draft of a form that is not open. */
export const storeDraft = (key: string, value: unknown): void =>
  writeStored('sessionStorage', `draft.${key}`, JSON.stringify(value));

/** Forgets the draft of a form that is not open. */
export const forgetDraft = (key: string): void => writeStored('sessionStorage', `draft.${key}`, undefined);

function parse<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

const forgetListeners = new Set<() => void>();

/** Calls the function when the drafts are deleted: for data that cannot be stored in a draft, such as a file. */
export const onForget = (forget: () => void): unknown => forgetListeners.add(forget);

/** Forgets all drafts: the operator signs out, or another one signs in. */
export function forgetDrafts(): void {
  removeStored('sessionStorage', 'draft.');
  for (const forget of forgetListeners) forget();
}
