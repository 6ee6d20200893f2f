import { useEffect, useState } from 'react';

/** Whether the page is visible, or was visible less than `grace` milliseconds ago. */
export function useIsVisible(grace: number): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setSeen(false), grace);
      else setSeen(true);
    };
    update();
    document.addEventListener('visibilitychange', update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', update);
    };
  }, [grace]);
  return isSeen;
}
