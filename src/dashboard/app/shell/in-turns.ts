/** Hooks that keep a page quick with thousands of objects. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { eachInTurns } from '../cluster/turns.ts';

/**
 * Returns the newest items of which `prepare` has computed what a page needs of each. It must remember its
 * results: after a change only new items take time.
 */
export function usePrepared<T>(items: readonly T[], prepare: (item: T) => unknown): readonly T[] {
  const [prepared, setPrepared] = useState<readonly T[]>([]);
  useEffect(() => {
    let isWanted = true;
    void eachInTurns(items, prepare, () => isWanted).then((isDone) => {
      if (isDone) setPrepared(items);
    });
    return () => {
      isWanted = false;
    };
  }, [items]);
  return prepared;
}

/** Returns whether an element has come near the visible part of the page; it stays true then. */
export function useSeen(element: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '300px' },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return isSeen;
}
