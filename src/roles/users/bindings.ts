/** The bindings that grant a user a role, in one namespace or in all of them. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isAlreadyExists, isNotFound } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../../cli/connection/cluster.ts';
import { metadataOf, recordsAt, textAt } from '../../cli/objects/objects.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';
const label = 'app.kubernetes.io/managed-by';
/** Manager of the binding, which will delete it. */
const manager = 'minik8s-user';

export interface Grant {
  readonly user: string;
  readonly role: string;
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
}

export interface Binding {
  readonly user: string;
  /** Kind and name, such as `ClusterRole/view`. */
  readonly role: string;
  /** An empty string for all namespaces. */
  readonly namespace: string;
  readonly path: string;
  /** The binding's name in kubectl's form. */
  readonly title: string;
}

const collection = (namespace: string | undefined) =>
  namespace
    ? `${rbac}/namespaces/${encodeURIComponent(namespace)}/rolebindings`
    : `${rbac}/clusterrolebindings`;

/** Resolves to one line about the result. An existing binding is kept. Rejects if the role does not exist. */
export async function grant(cluster: Cluster, { namespace, role, user }: Grant): Promise<string> {
  const roleRef = { apiGroup: group, kind: await roleKind(cluster, role, namespace), name: role };
  const name = `user:${user}:${role}`;
  const kind = namespace ? 'RoleBinding' : 'ClusterRoleBinding';
  const title = `${kind.toLowerCase()}.${group}/${name}`;
  try {
    await cluster.send('POST', collection(namespace), {
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name, labels: { [label]: manager } },
      roleRef,
      subjects: [{ apiGroup: group, kind: 'User', name: user }],
    });
    return `${title} created`;
  } catch (error) {
    if (isAlreadyExists(error)) return `${title} unchanged`;
    throw error;
  }
}

/** Resolves to the kind of the role: a Role of the namespace takes precedence over a ClusterRole. */
async function roleKind(cluster: Cluster, role: string, namespace: string | undefined): Promise<string> {
  const name = encodeURIComponent(role);
  if (
    namespace &&
    (await isThere(cluster, `${rbac}/namespaces/${encodeURIComponent(namespace)}/roles/${name}`))
  )
    return 'Role';
  if (await isThere(cluster, `${rbac}/clusterroles/${name}`)) return 'ClusterRole';
  const where = namespace ? `, and no Role of that name in namespace ${namespace}` : '';
  throw new Error(
    `there is no ClusterRole ${JSON.stringify(role)}${where}; minik8s ctl get clusterroles lists them`,
  );
}

async function isThere(cluster: Cluster, path: string): Promise<boolean> {
  try {
    await cluster.get(path);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Returns the bindings of all users that `grant` has created. */
export async function bindings(cluster: Cluster): Promise<Binding[]> {
  const query = new URLSearchParams({ labelSelector: `${label}=${manager}` });
  const [everywhere, inNamespaces] = await Promise.all(
    ['clusterrolebindings', 'rolebindings'].map((plural) => cluster.get(`${rbac}/${plural}?${query}`)),
  );
  return [...recordsAt(everywhere, 'items'), ...recordsAt(inNamespaces, 'items')].flatMap(readBinding);
}

function readBinding(object: JsonObject): Binding[] {
  const { name, namespace } = metadataOf(object);
  const plural = namespace ? 'rolebinding' : 'clusterrolebinding';
  return recordsAt(object, 'subjects')
    .filter(({ kind }) => kind === 'User')
    .map((subject) => ({
      user: textAt(subject, 'name'),
      role: `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`,
      namespace,
      path: `${collection(namespace)}/${encodeURIComponent(name)}`,
      title: `${plural}.${group}/${name}`,
    }));
}
