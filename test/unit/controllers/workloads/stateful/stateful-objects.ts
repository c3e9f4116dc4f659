/** A StatefulSet, its pods and its claims as the server would hold them. */
import type { StatefulSet } from '../../../../../src/api/apps/v1/stateful-set.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim } from '../../../../../src/api/core/v1/types.gen.ts';
import type { OwnerReference } from '../../../../../src/apimachinery/meta.ts';
import type { Members } from '../../../../../src/controllers/workloads/stateful/stateful-members-plan.ts';
import type { Steps } from '../../../../../src/controllers/workloads/stateful/stateful-set-plan.ts';
import { meta, ownedBy, type PodOptions, pod, replicaSet, start } from '../../objects.ts';

type Spec = StatefulSet['spec'];
type Policy = Spec['persistentVolumeClaimRetentionPolicy'];

export function statefulSet(replicas: number, over: Partial<Spec> = {}): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: meta('web', { generation: 1 }),
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: replicaSet('web', 1).spec.template,
      serviceName: 'www',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      ...over,
    },
  };
}

export const parallel = { podManagementPolicy: 'Parallel' } as const;

/** Specification with a claim `data` for each pod. */
export const withData = (policy: Partial<Policy> = {}): Partial<Spec> => ({
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain', ...policy },
  volumeClaimTemplates: [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...meta('data'), namespace: undefined },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    } as unknown as PersistentVolumeClaim,
  ],
});

export const claim = (
  name: string,
  ownerReferences: OwnerReference[] = [],
  over = {},
): PersistentVolumeClaim =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: meta(name, { ownerReferences, ...over }),
    spec: { accessModes: ['ReadWriteOnce'], resources: {} },
  }) as PersistentVolumeClaim;

/** Pod of the StatefulSet; ready from the start, unless `options` differ. */
export const member = (ordinal: number, revision = 'new', options: PodOptions = {}): Pod => {
  const name = `web-${ordinal}`;
  return pod(name, {
    readyAt: 0,
    ...options,
    spec: {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }],
      ...options.spec,
    },
    metadata: {
      labels: {
        app: 'web',
        'controller-revision-hash': revision,
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
      },
      ownerReferences: [ownedBy('StatefulSet', 'web')],
      ...options.metadata,
    },
  });
};

/** Pods and claims of the StatefulSet for a decision one minute after the start. */
export function members(set: StatefulSet, pods: readonly Pod[], ...claims: PersistentVolumeClaim[]): Members {
  const currentTemplate = replicaSet('web', 1).spec.template;
  return {
    set,
    revisions: { current: 'old', update: 'new' },
    currentTemplate: {
      ...currentTemplate,
      metadata: { ...currentTemplate.metadata, labels: { app: 'web', was: 'old' } },
    },
    pods,
    claim: (name) => claims.find(({ metadata }) => metadata.name === name),
    now: start + 60_000,
  };
}

/** Returns the steps as text, one list for each group that is not empty. */
export const told = (steps: Steps): string[][] =>
  steps
    .filter((group) => group.length > 0)
    .map((group) =>
      group.map((step) => {
        switch (step.type) {
          case 'createClaims':
            return `claims ${step.claims.map(({ metadata }) => metadata.name).join()}`;
          case 'setOwners': {
            const owners = step.claim.metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`);
            return `owners ${step.claim.metadata.name}: ${owners?.join()}${step.conflict ? ' conflict' : ''}`;
          }
          case 'wait':
            return `wait ${step.pod}: ${step.why}`;
          default:
            return `${step.type} ${step.pod.metadata.name}`;
        }
      }),
    );
