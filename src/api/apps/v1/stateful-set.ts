import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Label } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateAnnotations, validateLabels } from '../../../apimachinery/validate-meta.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod/defaults.ts';
import { claimSpecWarnings } from '../../core/v1/volume/claim-warnings.ts';
import { isNone, validateAtMostAll, validateIntOrPercent } from '../../int-or-percent.ts';
import { conditionRules } from '../../shared-rules.ts';
import { validateCollisions, validateCounts, validateParts } from '../../status-counts.ts';
import type { StatefulSet } from './types.gen.ts';
import {
  ownTemplateWarnings,
  readyPodsColumn,
  templateColumns,
  validateEndlessPods,
  validateSelection,
  workloadScale,
} from './workload.ts';

export type { StatefulSet } from './types.gen.ts';

type Spec = StatefulSet['spec'];

/** Sets defaults. The fields of a strategy whose type was given are left unchanged. */
function setUpdateDefaults({ updateStrategy }: Spec): void {
  if (updateStrategy.type === undefined) {
    updateStrategy.type = 'RollingUpdate';
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate)
    updateStrategy.rollingUpdate.partition ??= 0;
}

/** Gives claim templates the initial status of claims. */
function setClaimDefaults({ volumeClaimTemplates = [] }: Spec): void {
  for (const claim of volumeClaimTemplates) {
    claim.apiVersion ||= 'v1';
    claim.kind ||= 'PersistentVolumeClaim';
    if (claim.spec) claim.spec.volumeMode ??= 'Filesystem';
    claim.status ??= { phase: 'Pending' };
    claim.status.phase ||= 'Pending';
  }
}

/**
 * Validates the set. Only the metadata of the template is validated: mounts of a claim's volume are complete
 * only in a pod.
 */
function validateStatefulSet({ kind, spec }: StatefulSet): StatusCause[] {
  const { metadata } = spec.template;
  return [
    ...validateUpdateStrategy(spec.updateStrategy, 'spec.updateStrategy.rollingUpdate'),
    ...validateSelection(kind, spec),
    ...validateLabels(metadata.labels ?? {}, 'spec.template.labels'),
    ...validateAnnotations(metadata.annotations ?? {}, 'spec.template.annotations'),
    ...validateEndlessPods(kind, spec.template),
  ];
}

function validateUpdateStrategy({ type, rollingUpdate }: Spec['updateStrategy'], path: string) {
  if (!rollingUpdate) return [];
  if (type === 'OnDelete')
    return [invalidCause(path, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
  const { maxUnavailable } = rollingUpdate;
  if (maxUnavailable === undefined) return [];
  const at = `${path}.maxUnavailable`;
  const causes = [...validateIntOrPercent(maxUnavailable, at), ...validateAtMostAll(maxUnavailable, at)];
  return causes.length === 0 && isNone(maxUnavailable)
    ? [invalidCause(at, maxUnavailable, 'cannot be 0')]
    : causes;
}

const changeable = new Set([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]);

/** Rejects changes of fields from which existing pods and claims were created. */
function validateUnchanged({ spec }: StatefulSet, { spec: old }: StatefulSet): StatusCause[] {
  const fixed = (of: Spec) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !changeable.has(name)));
  if (deepEqual(fixed(spec), fixed(old))) return [];
  const [last = '', ...others] = [...changeable].map((name) => `'${name}'`).reverse();
  const names = `${others.reverse().join(', ')} and ${last}`;
  return [forbiddenCause('spec', `updates to statefulset spec for fields other than ${names} are forbidden`)];
}

function validateStatus(status: NonNullable<StatefulSet['status']>): StatusCause[] {
  return [
    ...validateCounts(status),
    ...validateParts(
      status,
      'replicas',
      ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      'cannot be greater than status.replicas',
    ),
    ...validateParts(
      status,
      'readyReplicas',
      ['availableReplicas'],
      'cannot be greater than status.readyReplicas',
    ),
  ];
}

/** Returns the warnings of the template and of the claim templates. */
const setWarnings = (set: StatefulSet, old: StatefulSet | undefined): string[] => [
  ...ownTemplateWarnings(set, old),
  ...(set.spec.volumeClaimTemplates ?? []).flatMap(({ spec }, index) =>
    // Upstream's wording; an update has a capital letter in the path.
    claimSpecWarnings(spec, `spec.volumeClaimTemplates[${index}]${old ? '.Spec' : ''}`),
  ),
];

export const statefulSetResource: ResourceDefinition<StatefulSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  typeName: 'apps.v1.StatefulSet',
  rules: {
    'apps.v1.StatefulSet': {},
    'apps.v1.StatefulSetSpec': {
      defaults: {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        updateStrategy: {},
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: {},
      },
      limits: { replicas: [0], minReadySeconds: [0], revisionHistoryLimit: [0] },
    },
    'apps.v1.StatefulSetUpdateStrategy': { choices: { type: ['RollingUpdate', 'OnDelete'] } },
    'apps.v1.RollingUpdateStatefulSetStrategy': { limits: { partition: [0] } },
    'apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy': {
      defaults: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      choices: { whenDeleted: ['Retain', 'Delete'], whenScaled: ['Retain', 'Delete'] },
    },
    'apps.v1.StatefulSetOrdinals': { defaults: { start: 0 }, limits: { start: [0] } },
    'apps.v1.StatefulSetStatus': { defaults: { replicas: 0, availableReplicas: 0 } },
    'apps.v1.StatefulSetCondition': conditionRules,
  },
  strategy: {
    checkName: checkDns1123Label,
    setDefaults: ({ spec }) => {
      setPodTemplateDefaults(spec.template);
      setUpdateDefaults(spec);
      setClaimDefaults(spec);
    },
    validate: validateStatefulSet,
    validateUpdate: validateUnchanged,
    validateStatus: ({ status }, old) =>
      status ? [...validateStatus(status), ...validateCollisions(status, old.status)] : [],
    warnings: setWarnings,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [nameColumn, readyPodsColumn, ageColumn, ...templateColumns],
  selectableFields: {},
  scale: workloadScale,
  deleteAnswers: 'status',
};
