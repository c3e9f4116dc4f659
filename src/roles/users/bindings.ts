/** The bindings that give a user his role: in one namespace, or everywhere. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isAlreadyExists, isNotFound } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../../cli/cluster.ts';
import { metadataOf, recordsAt, textAt } from '../../cli/objects.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';
const label = 'app.kubernetes.io/managed-by';
/** Who made the binding, and will delete it. */
const manager = 'minik8s-user';

export interface Grant {
  readonly user: string;
  readonly role: string;
  /** Undefined: everywhere. */
  readonly namespace: string | undefined;
}

export interface Binding {
  readonly user: string;
  /** Such as `ClusterRole/view`. */
  readonly role: string;
  /** '' for everywhere. */
  readonly namespace: string;
  readonly path: string;
  /** As kubectl names it. */
  readonly title: string;
}

const collection = (namespace: string | undefined) =>
  namespace
    ? `${rbac}/namespaces/${encodeURIComponent(namespace)}/rolebindings`
    : `${rbac}/clusterrolebindings`;

/** Resolves to what was done, in one line. A binding that is there stays. Rejects where there is no such role. */
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

/** A Role of the namespace goes before a ClusterRole of the same name. */
async function roleKind(cluster: Cluster, role: string, namespace: string | undefined): Promise<string> {
  const name = encodeURIComponent(role);
  if (
    namespace &&
    (await isThere(cluster, `${rbac}/namespaces/${encodeURIComponent(namespace)}/roles/${name}`))
  )
    return 'Role';
  if (await isThere(cluster, `${rbac}/clusterroles/${name}`)) return 'ClusterRole';
  const where = namespace ? `, and no Role of that name in namespace ${namespace}` : '';
  throw new Error(`there is no ClusterRole ${JSON.stringify(role)}${where}`);
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

/** Those that `grant` has made, of all users. */
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
