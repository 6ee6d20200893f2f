import { type RefObject, useEffect, useRef } from 'react';

/** Pixels below the screen at which something counts as near. */
const nearPixels = 600;

/**
 * Calls the function when the element comes near the screen, and once more after each change of `again` while it is there.
 */
export function useSight(run: (() => void) | undefined, dependency: unknown): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new observer says again whether the element is near
  useEffect(() => {
    if (element.current === null || run === undefined) return;
    const observer = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && run(), {
      rootMargin: `${nearPixels}px 0px`,
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [run, dependency]);
  return element;
}
