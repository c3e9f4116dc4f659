/** Parts of a support bundle about the cluster: objects, conditions, metrics. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { formatYaml } from '../../apimachinery/yaml-output/format-yaml.ts';
import { unlessAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cli/connection/cluster.ts';
import { findResource } from '../../cli/objects/discovery.ts';
import { metadataOf, recordsAt, textAt } from '../../cli/objects/objects.ts';
import { pages } from '../../cli/objects/pages.ts';
import { type BundlePart, maxOfPart } from './bundle.ts';
import { type SecretFilter, valuesOf } from './without-secrets.ts';

/**
 * Kinds whose objects are included, from all namespaces. The values of Secrets and ConfigMaps are left out.
 */
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

/** Maximum number of objects of one kind. */
const maxObjects = 5_000;

/**
 * Returns every value of every Secret, so that they can be removed from the bundle. Rejects if the Secrets
 * cannot be read.
 */
export async function secretsOf(cluster: Cluster): Promise<string[]> {
  const values: string[] = [];
  for await (const secret of objectsOf(cluster, 'secrets', Number.POSITIVE_INFINITY))
    values.push(...valuesOf(secret));
  return values;
}

export function clusterParts(cluster: Cluster, filter: SecretFilter, clock: Clock): BundlePart[] {
  const text = async (path: string, signal: AbortSignal) => {
    const { body } = await cluster.open({ method: 'GET', path, signal, headers: { accept: '*/*' } });
    return beginningOf(body, maxOfPart);
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
    { name: 'metrics/nodes.txt', read: (signal) => nodeMetrics(cluster, clock, signal) },
  ];
}

async function* objectsOf(cluster: Cluster, kind: string, most = maxObjects): AsyncGenerator<JsonObject> {
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
  let [count, length, left] = [0, 0, 0];
  for await (const object of objectsOf(cluster, kind)) {
    const document = formatYaml(filter.object(object) as JsonObject);
    documents.push(document);
    count++;
    length += document.length;
    // The beginning of a part is cut later, so earlier documents are dropped while objects are read: objects
    // may be large.
    for (; length > 2 * maxOfPart && left < documents.length - 1; left++) {
      length -= documents[left]?.length ?? 0;
      documents[left] = '';
    }
  }
  if (count === maxObjects) documents.push(`# only the first ${maxObjects} objects are here\n`);
  return documents.slice(left).join('---\n');
}

/** Resolves to one line for each condition, so that a reader finds those that report trouble. */
async function conditionsOf(cluster: Cluster): Promise<string> {
  const lines: string[] = [];
  for (const kind of ['nodes', 'pods', 'deployments.apps'])
    for await (const object of objectsOf(cluster, kind)) {
      const { namespace, name } = metadataOf(object);
      for (const condition of recordsAt(object, 'status', 'conditions')) {
        const fields = ['type', 'status', 'reason', 'message'].map((field) => textAt(condition, field));
        lines.push(
          `${textAt(object, 'kind')} ${namespace ? `${namespace}/` : ''}${name}: ${fields.join(' ').trim()}`,
        );
      }
    }
  return `${lines.join('\n')}\n`;
}

const agentPages = ['metrics', 'metrics/cadvisor', 'metrics/resource', 'metrics/probes'];

/**
 * Timeout of one page of an agent, in milliseconds. Hanging agents must not use up the time of the others.
 */
const pageMs = 5_000;
/** Number of agents that are queried at a time. */
const agentsAtOnce = 8;
/** Maximum size of one page in bytes, since an agent could send without end. */
const maxOfPage = 2 * 2 ** 20;

async function nodeMetrics(cluster: Cluster, clock: Clock, signal: AbortSignal): Promise<string> {
  const names: string[] = [];
  for await (const node of objectsOf(cluster, 'nodes')) names.push(metadataOf(node).name);
  const found: string[] = [];
  const left = names.entries();
  const askSome = async () => {
    for (const [index, name] of left) found[index] = await agentMetrics(cluster, name, clock, signal);
  };
  await Promise.all(Array.from({ length: agentsAtOnce }, askSome));
  return found.join('\n');
}

/** Reads all pages of one agent; after a page that times out, the others are skipped. */
async function agentMetrics(
  cluster: Cluster,
  node: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const found: string[] = [];
  for (const path of agentPages) {
    const late = new AbortController();
    const timer = clock.after(pageMs, () => late.abort(new Error(`no answer within ${pageMs / 1000} s`)));
    const either = AbortSignal.any([signal, late.signal]);
    const url = `/api/v1/nodes/${node}/proxy/${path}`;
    const request = { method: 'GET', path: url, signal: either, headers: { accept: '*/*' } } as const;
    const page = cluster.open(request).then(({ body }) => beginningOf(body, maxOfPage));
    const body = await unlessAborted(either, page).catch((error) => `# ${error}\n`);
    timer.cancel();
    found.push(`# ${node}: /${path}\n${body}`);
    if (either.aborted) break;
  }
  return found.join('\n');
}

/** Returns the beginning of a body; a longer body ends with a line that says that it was cut. */
async function beginningOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let left = maxBytes;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left < 0) return `${Buffer.concat(chunks)}\n# only the first ${maxBytes} bytes are here\n`;
  }
  return Buffer.concat(chunks).toString();
}
