/** The live objects of a kind by its key, as far as the user may see them. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { may } from './access.ts';
import { kindsByKey } from './kinds.ts';
import { type WatchOptions, watchAll } from './watch.ts';

export interface Seen {
  readonly items: readonly JsonObject[];
  readonly synced: boolean;
  /** True if the server does not serve the kind, or the user may not list it there. */
  readonly refused: boolean;
}

const refused: Seen = { items: [], synced: true, refused: true };

/**
 * Returns the objects of a kind such as `deployments.apps`; a namespace in the options is ignored for kinds
 * of the cluster. It reads signals: call it while a component renders, or in a computed signal.
 */
export function seen(key: string, { namespace = '', ...options }: WatchOptions = {}): Seen {
  const kind = kindsByKey.value.get(key);
  if (!kind || !may('list', kind, namespace)) return refused;
  const scope = kind.namespaced ? { ...options, namespace } : options;
  return watchAll<KubeObject & JsonObject>(kind, scope).value;
}
