/** Applies config/monitoring/access.yaml to an API server as it is shipped. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { monitoringDirectory } from '../../../config/monitoring/generated.ts';

const collections: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/monitoring/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
};

export async function applyAccess(create: (path: string, body: object) => Promise<unknown>): Promise<void> {
  const text = await readFile(join(monitoringDirectory, 'access.yaml'), 'utf8');
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as { readonly kind: string };
    const path = collections[object.kind];
    if (path === undefined) throw new Error(`a test that creates ${object.kind} is missing`);
    await create(path, object);
  }
}
