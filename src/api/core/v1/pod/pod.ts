import { keepMeta } from '../../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import { ephemeralContainersPart, withoutEphemeralContainers } from '../container/ephemeral-containers.ts';
import type { Pod } from '../types.gen.ts';
import { validatePodAddresses } from './addresses.ts';
import { applyLabelKeys } from './affinity-validation.ts';
import {
  appArmorConflicts,
  fixedAnnotations,
  takeAppArmorAnnotations,
  validateAppArmorAnnotations,
} from './annotations.ts';
import { podColumns } from './columns.ts';
import { isPodTerminal } from './conditions.ts';
import { setPodDefaults } from './defaults.ts';
import { graceSecondsOf } from './grace.ts';
import { qosClassOf } from './qos.ts';
import { resizePart } from './resize.ts';
import { podRowConditions } from './rows.ts';
import { podRules } from './rules.ts';
import { validatePodSpec } from './template-validation.ts';
import { validatePodUpdate } from './update.ts';
import { newPodWarnings } from './warnings.ts';

export type { Pod } from '../types.gen.ts';

/** Returns the seconds that the node agent gets for stopping the pod; 0 if there is nothing to stop. */
function gracePeriodSeconds(pod: Pod, requested: number | undefined): number {
  if (!pod.spec.nodeName || isPodTerminal(pod)) return 0;
  return graceSecondsOf({
    terminationGracePeriodSeconds: requested ?? pod.spec.terminationGracePeriodSeconds,
  });
}

/** Returns a condition that distinguishes a gated pod from one that the scheduler has not processed yet. */
function gatedStatus({ spec }: Pod): Pick<NonNullable<Pod['status']>, 'conditions'> {
  if (!spec.schedulingGates?.length) return {};
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  return { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }] };
}

/** Applies a binding of the scheduler: the node name, the conditions and the annotations. */
function bind(kept: Pod, wanted: Pod): void {
  kept.spec.nodeName = wanted.spec.nodeName;
  kept.status = { ...kept.status, conditions: wanted.status?.conditions };
  const { annotations } = wanted.metadata;
  if (annotations) kept.metadata.annotations = annotations;
}

export const podResource: ResourceDefinition<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  typeName: 'core.v1.Pod',
  rules: podRules,
  strategy: {
    setDefaults: setPodDefaults,
    prepareForCreate: (pod) => {
      applyLabelKeys(pod.spec, pod.metadata.labels);
      takeAppArmorAnnotations(pod);
      pod.status = { phase: 'Pending', qosClass: qosClassOf(pod.spec), ...gatedStatus(pod) };
    },
    prepareForStatusUpdate: ({ metadata }, old) => keepMeta(metadata, old.metadata, 'ownerReferences'),
    validate: ({ metadata, spec }) => [
      ...validateAppArmorAnnotations(metadata, spec, 'metadata.annotations'),
      ...validatePodSpec(spec, 'spec', { template: false }),
    ],
    validateCreate: (pod) => [...withoutEphemeralContainers(pod), ...appArmorConflicts(pod)],
    validateUpdate: (pod, old) => [...fixedAnnotations(pod, old), ...validatePodUpdate(pod, old)],
    warnings: newPodWarnings,
    validateStatus: ({ status }) => (status ? validatePodAddresses(status) : []),
    resetFields: { status: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'] },
    parts: { binding: { take: bind }, ephemeralcontainers: ephemeralContainersPart, resize: resizePart },
    countsGenerations: true,
    gracePeriodSeconds,
  },
  hasStatus: true,
  columns: podColumns,
  rowConditions: podRowConditions,
  selectableFields: {
    'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => pod.spec.restartPolicy,
    'spec.schedulerName': (pod) => pod.spec.schedulerName,
    'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec.hostNetwork ?? false),
    'status.phase': (pod) => pod.status?.phase ?? '',
    'status.podIP': (pod) => pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '',
    'status.podIPs': (pod) => (pod.status?.podIPs ?? []).map(({ ip }) => ip).join(','),
    'status.nominatedNodeName': (pod) => pod.status?.nominatedNodeName ?? '',
  },
  indexedFields: ['spec.nodeName'],
  deleteAnswers: 'object',
};
