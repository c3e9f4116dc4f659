/** The objects that were opened last, which the palette offers before anything is typed. */
import { effect, signal } from '@preact/signals';
import { objectHref } from '../shell/plan/addresses.ts';
import { place } from '../shell/router.ts';

interface Recent {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

const storageKey = 'minik8s.recent';
const kept = 8;

export const recent = signal<readonly Recent[]>(stored());

function stored(): Recent[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(value) ? value.filter(isRecent) : [];
  } catch {
    return [];
  }
}

const isRecent = (value: Partial<Recent> | null): value is Recent =>
  ['key', 'namespace', 'name'].every((field) => typeof value?.[field as keyof Recent] === 'string');

export const recentHref = ({ key, namespace, name }: Recent): string => objectHref(key, namespace, name);

/** Notes each object whose page is opened. */
export function keepRecent(): void {
  effect(() => {
    const [path, key, namespace, name] = place.value.segments;
    if (path !== 'k' || key === undefined || namespace === undefined || name === undefined) return;
    const opened = { key, namespace: namespace === '-' ? '' : namespace, name };
    const others = recent.peek().filter((each) => recentHref(each) !== recentHref(opened));
    recent.value = [opened, ...others].slice(0, kept);
    localStorage.setItem(storageKey, JSON.stringify(recent.value));
  });
}
