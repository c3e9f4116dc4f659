/** What a support bundle has of the cluster: objects, conditions, metrics. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { formatYaml } from '../../apimachinery/yaml.ts';
import type { Cluster } from '../../cli/cluster.ts';
import { findResource } from '../../cli/discovery.ts';
import { metadataOf, recordsAt, textAt } from '../../cli/objects.ts';
import { pages } from '../../cli/pages.ts';
import type { BundlePart } from './bundle.ts';
import { type SecretFilter, valuesOf } from './without-secrets.ts';

/** Whose objects are there, of all namespaces. Of Secrets and ConfigMaps the values are left out. */
const kinds = [
  'nodes',
  'namespaces',
  'pods',
  'events',
  'services',
  'endpointslices.discovery.k8s.io',
  'deployments.apps',
  'replicasets.apps',
  'daemonsets.apps',
  'statefulsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'persistentvolumes',
  'persistentvolumeclaims',
  'storageclasses.storage.k8s.io',
  'leases.coordination.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
  'secrets',
  'configmaps',
  'functions.minik8s.io',
  'workflows.minik8s.io',
  'workflowruns.minik8s.io',
  'triggers.minik8s.io',
  'slurmjobs.minik8s.io',
];

/** Of one kind; a cluster may have very many. */
const mostObjects = 5_000;

/** Every value of every Secret, so that none of them is anywhere in the bundle. Rejects when they cannot be read. */
export async function secretsOf(cluster: Cluster): Promise<string[]> {
  const values: string[] = [];
  for await (const secret of objectsOf(cluster, 'secrets', Number.POSITIVE_INFINITY))
    values.push(...valuesOf(secret));
  return values;
}

export function clusterParts(cluster: Cluster, filter: SecretFilter): BundlePart[] {
  const text = async (path: string, signal: AbortSignal) => {
    const { body } = await cluster.open({ method: 'GET', path, signal, headers: { accept: '*/*' } });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const page = (name: string, path: string): BundlePart => ({ name, read: (signal) => text(path, signal) });
  return [
    page('cluster/version.json', '/version'),
    page('cluster/readyz.txt', '/readyz?verbose'),
    ...kinds.map(
      (kind): BundlePart => ({
        name: `cluster/${kind.split('.')[0]}.yaml`,
        isClean: true,
        read: () => yamlOf(cluster, kind, filter),
      }),
    ),
    { name: 'cluster/conditions.txt', read: () => conditionsOf(cluster) },
    ...['', '/controllers', '/scheduler', '/objects'].map((path) =>
      page(`metrics/master${path.replace('/', '-')}.txt`, `/metrics${path}`),
    ),
    { name: 'metrics/nodes.txt', read: (signal) => nodeMetrics(cluster, text, signal) },
  ];
}

async function* objectsOf(cluster: Cluster, kind: string, most = mostObjects): AsyncGenerator<JsonObject> {
  const resource = findResource(await cluster.resources(), kind);
  const all = { resource, namespace: '', labelSelector: undefined, fieldSelector: undefined };
  let left = most;
  for await (const list of pages(cluster, all, { limit: 500 }))
    for (const object of recordsAt(list, 'items')) {
      if (left-- <= 0) return;
      yield { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
    }
}

async function yamlOf(cluster: Cluster, kind: string, filter: SecretFilter): Promise<string> {
  const documents: string[] = [];
  for await (const object of objectsOf(cluster, kind))
    documents.push(formatYaml(filter.object(object) as JsonObject));
  if (documents.length === mostObjects) documents.push(`# no more than ${mostObjects} are here\n`);
  return documents.join('---\n');
}

/** One line for each condition, so that a reader sees at a glance which ones report trouble. */
async function conditionsOf(cluster: Cluster): Promise<string> {
  const lines: string[] = [];
  for (const kind of ['nodes', 'pods', 'deployments.apps'])
    for await (const object of objectsOf(cluster, kind)) {
      const { namespace, name } = metadataOf(object);
      for (const condition of recordsAt(object, 'status', 'conditions')) {
        const said = ['type', 'status', 'reason', 'message'].map((field) => textAt(condition, field));
        lines.push(
          `${textAt(object, 'kind')} ${namespace ? `${namespace}/` : ''}${name}: ${said.join(' ').trim()}`,
        );
      }
    }
  return `${lines.join('\n')}\n`;
}

const agentPages = ['metrics', 'metrics/cadvisor', 'metrics/resource', 'metrics/probes'];

async function nodeMetrics(
  cluster: Cluster,
  text: (path: string, signal: AbortSignal) => Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  const found: string[] = [];
  for await (const node of objectsOf(cluster, 'nodes')) {
    const { name } = metadataOf(node);
    for (const path of agentPages) {
      const body = await text(`/api/v1/nodes/${name}/proxy/${path}`, signal).catch((error) => `# ${error}\n`);
      found.push(`# ${name}: /${path}\n${body}`);
    }
  }
  return found.join('\n');
}
