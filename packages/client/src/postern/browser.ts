import { isHidden, onPageEvent, type Unsubscribe } from '../platform.js';

/** Calls `wake` when the page is visible or online again. */
export function onResumeOfPage(wake: () => void): Unsubscribe {
  const listener = () => isHidden() || wake();
  const ends = ['visibilitychange', 'pageshow', 'online'].map((type) => onPageEvent(type, listener));
  return () => {
    for (const end of ends) end();
  };
}
