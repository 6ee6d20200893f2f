import { useEffect, useState } from 'react';

/** Whether the page is visible, or was visible less than `graceMs` milliseconds ago. */
export function useIsVisible(graceMs: number): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setSeen(false), graceMs);
      else setSeen(true);
    };
    update();
    document.addEventListener('visibilitychange', update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', update);
    };
  }, [graceMs]);
  return isSeen;
}
