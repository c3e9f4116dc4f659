/** Namespaces from which routes may attach to a listener. Pure. */
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { Listener } from './kinds.ts';

export interface NamespaceOfRoute {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns true if routes of the namespace may attach. A selector that cannot be read allows none. */
export function allowsNamespace(
  { allowedRoutes }: Listener,
  ownNamespace: string,
  { name, labels }: NamespaceOfRoute,
): boolean {
  const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
  if (from === 'All') return true;
  if (from === 'Same') return name === ownNamespace;
  if (from !== 'Selector' || !selector) return false;
  try {
    return matches(selectorFromLabelSelector(selector), labels);
  } catch {
    return false;
  }
}
