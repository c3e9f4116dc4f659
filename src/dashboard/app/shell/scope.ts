/** The namespace whose objects the pages show; empty for all namespaces. */
import { effect, signal } from '@preact/signals';
import { may, rulesIn } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import { session } from '../cluster/session.ts';

const storageKey = 'minik8s.namespace';

export const namespace = signal(localStorage.getItem(storageKey) ?? '');

/** Stores the choice, and chooses for a service account that may see only its own namespace. */
export function keepScope(): void {
  effect(() => localStorage.setItem(storageKey, namespace.value));
  effect(() => {
    const home = homeNamespace();
    const pods = kindsByKey.value.get('pods');
    if (home === undefined || !pods || namespace.value !== '' || rulesIn('').value === undefined) return;
    if (!may('list', pods)) namespace.value = home;
  });
}

/** Returns the namespace of the service account that is signed in; undefined for other users. */
function homeNamespace(): string | undefined {
  const current = session.value;
  if (current.state !== 'signed in') return undefined;
  return /^system:serviceaccount:([^:]+):/.exec(current.identity.user)?.[1];
}
