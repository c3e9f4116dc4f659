/** The namespace whose objects the pages show; empty for all namespaces. */
import { effect, signal } from '@preact/signals';

const storageKey = 'minik8s.namespace';

export const namespace = signal(localStorage.getItem(storageKey) ?? '');

export function keepScope(): void {
  effect(() => localStorage.setItem(storageKey, namespace.value));
}
