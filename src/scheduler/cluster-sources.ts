/** Reads objects other than pods and nodes for the scheduler, from the informers. */
import { replicaSetResource } from '../api/apps/v1/replica-set.ts';
import { statefulSetResource } from '../api/apps/v1/stateful-set.ts';
import { namespaceResource } from '../api/core/v1/namespace.ts';
import type { Pod } from '../api/core/v1/pod/pod.ts';
import { replicationControllerResource } from '../api/core/v1/replication-controller.ts';
import { serviceResource } from '../api/core/v1/service/service.ts';
import { persistentVolumeResource } from '../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../api/core/v1/volume/persistent-volume-claim.ts';
import { podDisruptionBudgetResource } from '../api/policy/v1/pod-disruption-budget.ts';
import { storageClassResource } from '../api/storage/v1/storage-class.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import {
  matches,
  type Selector,
  selectorFromLabelSelector,
  selectorFromMap,
} from '../apimachinery/labels.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import type { InformerFactory } from '../client/informer.ts';
import { indexVolumes } from '../controller-runtime/volume-index.ts';
import type { Budget } from './framework.ts';
import type { Snapshot, Sources } from './snapshot.ts';

export interface ClusterSources extends Sources {
  budgets(): readonly Budget[];
  /** Reports changes of these objects to the snapshot. */
  follow(snapshot: Snapshot): void;
}

const keyOf = (namespace: string, name: string) => `${namespace}/${name}` as ObjectKey;

export function clusterSources(informers: InformerFactory): ClusterSources {
  const namespaces = informers.informerFor(namespaceResource);
  const services = informers.informerFor(serviceResource).lister;
  const replicaSets = informers.informerFor(replicaSetResource).lister;
  const statefulSets = informers.informerFor(statefulSetResource).lister;
  const replicationControllers = informers.informerFor(replicationControllerResource).lister;
  const claims = informers.informerFor(persistentVolumeClaimResource);
  const volumes = informers.informerFor(persistentVolumeResource);
  const classes = informers.informerFor(storageClassResource);
  const index = indexVolumes(volumes);
  const budgets = informers.informerFor(podDisruptionBudgetResource).lister;

  function ownerSelector({ metadata }: Pod): Selector | undefined {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (!owner) return undefined;
    const key = keyOf(metadata.namespace ?? '', owner.name);
    switch (`${owner.apiVersion} ${owner.kind}`) {
      case 'apps/v1 ReplicaSet':
        return selectorFromLabelSelector(replicaSets.get(key)?.spec.selector);
      case 'apps/v1 StatefulSet':
        return selectorFromLabelSelector(statefulSets.get(key)?.spec.selector);
      case 'v1 ReplicationController':
        return selectorFromMap(replicationControllers.get(key)?.spec.selector);
      default:
        return undefined;
    }
  }

  return {
    namespaceLabels: (name) => namespaces.lister.get(name as ObjectKey)?.metadata.labels,
    siblingsOf(pod) {
      const { namespace = '', labels } = pod.metadata;
      const own = services
        .list(namespace)
        .map(({ spec }) => selectorFromMap(spec.selector))
        .filter((selector) => matches(selector, labels));
      const requirements = [...own, ownerSelector(pod)].flatMap((selector) => selector?.requirements ?? []);
      return requirements.length === 0 ? undefined : { requirements };
    },
    volumes: {
      claim: (namespace, name) => claims.lister.get(keyOf(namespace, name)),
      volumesFor: (claim) => index.candidates(claim),
      volume: (name) => volumes.lister.get(name as ObjectKey),
      storageClass: (name) => classes.lister.get(name as ObjectKey),
    },
    budgets: () =>
      budgets.list().map(({ metadata, spec, status }) => ({
        namespace: metadata.namespace ?? '',
        selector: selectorFromLabelSelector(spec.selector),
        allowed: status?.disruptionsAllowed ?? 0,
        disrupted: new Set(Object.keys(status?.disruptedPods ?? {})),
      })),
    follow(snapshot) {
      const changed = () => snapshot.storageChanged();
      for (const informer of [claims, volumes, classes])
        informer.addEventHandler({ onAdd: changed, onUpdate: changed, onDelete: changed });
      namespaces.addEventHandler({
        onAdd: ({ metadata }) => snapshot.namespaceChanged(metadata.name),
        onUpdate({ metadata }, old) {
          if (!deepEqual(metadata.labels, old.metadata.labels)) snapshot.namespaceChanged(metadata.name);
        },
      });
    },
  };
}
