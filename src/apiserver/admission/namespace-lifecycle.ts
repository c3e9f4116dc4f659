/** Nothing is created in a missing or terminating namespace, and system namespaces cannot be deleted. */
import type { Namespace } from '../../api/core/v1/namespace.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newNotFound } from '../../apimachinery/status-error.ts';
import { decodeObject } from '../../storage/codec.ts';
import type { ServerContext } from '../server-context.ts';
import type { AdmissionPlugin } from './plugin.ts';

/** kube-node-lease may be deleted, as upstream, because it is created again (plugin/namespace/lifecycle). */
const immortal = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceLifecycle: AdmissionPlugin = async (server, admission) => {
  const { definition, operation, namespace, name } = admission;
  const isNamespace = definition.group === '' && definition.plural === 'namespaces';
  if (isNamespace && operation === 'delete' && immortal.has(name)) {
    throw newForbidden(definition, name, 'this namespace may not be deleted');
  }
  if (operation !== 'create' || !definition.namespaced) return;
  const found = await readNamespace(server, namespace);
  if (!found) throw newNotFound(namespaceResource, namespace);
  if (!found.metadata.deletionTimestamp) return;
  throw newForbidden(
    definition,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
};

/** The cache answers first; a namespace it does not know yet may have been made a moment ago. */
async function readNamespace(server: ServerContext, name: string): Promise<Namespace | undefined> {
  const key = storageKey(namespaceResource, '', name);
  const cached = server.cache.get(key);
  if (cached) return cached.object as Namespace;
  const stored = await server.store.get(key);
  return stored && (decodeObject(stored.value, stored.revision) as Namespace);
}
