/**
 * Targets for Prometheus' http_sd, where it cannot watch Kubernetes itself: all nodes, annotated pods, and
 * the endpoints of annotated Services and of `kubernetes`, the API servers. RBAC's nonResourceURLs authorize
 * the requests.
 */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { apiService } from '../../api/core/v1/system-objects.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { respondArray } from '../../apiserver/encoding/collection-body.ts';
import type { Document } from '../../apiserver/options.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import type { CachedObject, IndexDeclaration } from '../../storage/cache.ts';
import type { KubeContext } from '../context.ts';
import { slicesByService } from '../slices-by-service.ts';
import {
  isScraped,
  nodeTargets,
  podTargets,
  scrapeAnnotation,
  sliceTargets,
  type Targets,
} from './targets.ts';

const found = 'yes';

const scrapedPods: IndexDeclaration = {
  name: 'pods with metrics',
  prefix: storagePrefix(podResource),
  keysOf: (pod) => (isScraped(pod as Pod) ? [found] : []),
};

const scrapedServices: IndexDeclaration = {
  name: 'services with metrics',
  prefix: storagePrefix(serviceResource),
  keysOf: ({ metadata: { namespace, name, annotations } }) =>
    annotations?.[scrapeAnnotation] !== undefined ||
    (namespace === apiService.namespace && name === apiService.name)
      ? [found]
      : [],
};

/**
 * Maximum number of characters per object. Labels are written once for each port, so a small object could
 * make a large answer.
 */
const maxOfOne = 512 * 1024;
/** Maximum number of objects whose size has been logged. */
const maxReported = 1000;

interface Listed {
  readonly cached: CachedObject;
  targets(object: KubeObject): Targets;
}

export function targetLists(
  server: Pick<KubeContext, 'cache' | 'log' | 'turns'>,
): ReadonlyMap<string, Document> {
  const { cache, log } = server;
  const reported = new BoundedMap<true>(maxReported);
  const podOf = (namespace: string) => (name: string) =>
    cache.get(storageKey(podResource, namespace, name))?.object as Pod | undefined;
  const behind = ({ object }: CachedObject): Listed[] => {
    const { namespace = '', name } = object.metadata;
    return cache
      .index(slicesByService)
      .get(`${namespace}/${name}`)
      .map((cached) => ({
        cached,
        targets: (slice) => sliceTargets(slice as EndpointSlice, object as Service, podOf(namespace)),
      }));
  };
  const lists: Readonly<Record<string, () => Listed[]>> = {
    nodes: () =>
      cache
        .list(storagePrefix(nodeResource))
        .map((cached) => ({ cached, targets: (node) => nodeTargets(node as Node) })),
    pods: () =>
      cache
        .index(scrapedPods)
        .get(found)
        .map((cached) => ({ cached, targets: (pod) => podTargets(pod as Pod) })),
    services: () => cache.index(scrapedServices).get(found).flatMap(behind),
  };
  const render = ({ cached, targets }: Listed): string => {
    const { object, key } = cached;
    const text = groupsOf(targets(object), maxOfOne);
    if (text !== undefined) return text;
    const { uid } = object.metadata;
    if (!reported.get(uid)) {
      const wrong = 'an object is not a target of metrics, because it has too many ports and labels';
      log.warn(wrong, { object: key.replace('/registry/', ''), maxBytes: maxOfOne });
    }
    reported.set(uid, true);
    return none;
  };
  return new Map(
    Object.entries(lists).map(([name, items]) => [
      `/monitoring/http-sd/${name}`,
      ({ signal }) => {
        const headers = { 'cache-control': 'no-cache, private' };
        const weigh = ({ cached }: Listed) => cached.bytes.length;
        return respondArray({ headers, signal, server }, { items: items(), render, weigh });
      },
    ]),
  );
}

const none = '{"targets":[]}';

/**
 * Returns the targets as comma-separated JSON groups, because a group of http_sd has one set of labels.
 * Returns undefined for more than `most` characters.
 */
export function groupsOf({ labels, targets }: Targets, most: number): string | undefined {
  let length = 0;
  const groups: string[] = [];
  for (const { address, labels: own } of targets) {
    const group = JSON.stringify({ targets: [address], labels: { ...labels, ...own } });
    length += group.length;
    if (length > most) return undefined;
    groups.push(group);
  }
  return groups.length === 0 ? none : groups.join(',');
}
