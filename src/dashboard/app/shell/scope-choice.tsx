import { computed } from '@preact/signals';
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import { watchAll } from '../cluster/watch.ts';
import { namespace } from './scope.ts';

const namespaceKind = computed(() => {
  const kind = kindsByKey.value.get('namespaces');
  return kind && may('list', kind) ? kind : undefined;
});

const names = computed(() => {
  const kind = namespaceKind.value;
  if (!kind) return undefined;
  return watchAll(kind, { metadataOnly: true }).value.items.map(({ metadata }) => metadata.name);
});

/** Chooses the namespace; a user who may not list the namespaces types its name. */
export function ScopeChoice() {
  const list = names.value;
  const change = (event: { readonly currentTarget: { readonly value: string } }) => {
    namespace.value = event.currentTarget.value.trim();
  };
  if (!list) {
    return (
      <label class="scope">
        Namespace
        <input value={namespace} onChange={change} placeholder="all" />
      </label>
    );
  }
  const known = namespace.value === '' || list.includes(namespace.value) ? list : [namespace.value, ...list];
  return (
    <label class="scope">
      <span class="hidden-label">Namespace</span>
      <select value={namespace} onChange={change}>
        <option value="">All namespaces</option>
        {known.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
