/** Rejects new objects in a missing or terminating namespace, and the deletion of system namespaces. */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { newForbidden, newNotFound } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

/** kube-node-lease may be deleted, as upstream, because it is created again (plugin/namespace/lifecycle). */
const immortal = new Set(['default', 'kube-system', 'kube-public']);

type Reader = Pick<ServerContext, 'cache' | 'store'>;

export const namespaceLifecycle = (server: Reader): AdmissionPlugin => ({
  name: 'NamespaceLifecycle',
  mutate: (admission) => checkNamespace(server, admission),
});

async function checkNamespace(server: Reader, admission: Admission): Promise<void> {
  const { definition, operation, name } = admission;
  const isNamespace = definition.group === '' && definition.plural === 'namespaces';
  if (isNamespace && operation === 'delete' && immortal.has(name)) {
    throw newForbidden(definition, name, 'this namespace may not be deleted');
  }
  if (operation === 'create' && definition.namespaced) await requireNamespace(server, admission);
}

/** Throws 404 for a new object in a namespace that does not exist, 403 in a terminating one. */
export async function requireNamespace(
  server: Reader,
  { definition, name, namespace }: Pick<Admission, 'definition' | 'name' | 'namespace'>,
): Promise<void> {
  const found = await findObject(server, namespaceResource, '', namespace);
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
}
