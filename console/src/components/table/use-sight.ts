import { type RefObject, useEffect, useRef } from 'react';

/** An element that begins at most this many pixels below the screen counts as near. */
const nearPixels = 600;

/**
 * Calls the function when the element comes near the screen, and once more after each change of `dependency` while it
 * is there.
 */
export function useSight(run: (() => void) | undefined, dependency: unknown): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new observer says again whether the element is near
  useEffect(() => {
    if (element.current === null || run === undefined) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && run(),
      {
        rootMargin: `${nearPixels}px 0px`,
      },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [run, dependency]);
  return element;
}
