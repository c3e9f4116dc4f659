import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { kindFields, registry, storedKinds } from '../../../src/api/registry.ts';
import { sharedRules } from '../../../src/api/shared-rules.ts';
import type { FieldType, ObjectType } from '../../../src/apimachinery/field-types.ts';
import type { RulesByType } from '../../../src/apimachinery/type-rules.ts';

test('no two kinds share a name of any sort', () => {
  const names = registry
    .filter(({ conversion }) => !conversion)
    .flatMap(({ plural, singular, shortNames, group }) =>
      // Endpoints are called the same, one or many.
      [...new Set([plural, singular, ...shortNames])].map((name) => `${name}.${group}`),
    );
  assert.equal(new Set(names).size, names.length);
  const kinds = storedKinds.map(({ group, kind }) => `${kind}.${group}`);
  assert.equal(new Set(kinds).size, kinds.length);
});

const rules: RulesByType = Object.assign({}, sharedRules, ...registry.map((kind) => kind.rules));
const words = (text = '') => text.split(' ').filter((word) => word !== '');

test('every rule is of a type and of fields that Kubernetes has', () => {
  const wrong = Object.entries(rules).flatMap(
    ([name, { acts, requires, mayLack, defaults, choices, limits, quiet }]) => {
      const fields = kubernetesFields.typeOf(name)?.fields;
      if (!fields) return [name];
      const named = [acts, requires, mayLack].flatMap(words);
      const keys = [defaults, choices, limits, quiet].flatMap((table) => Object.keys(table ?? {}));
      return [...named, ...keys].filter((field) => !fields.has(field)).map((field) => `${name}.${field}`);
    },
  );
  assert.deepEqual(wrong, []);
});

test('a type has its rules from one place', () => {
  const named = [sharedRules, ...registry.map((kind) => kind.rules ?? {})].flatMap(Object.keys);
  assert.deepEqual(
    named.filter((name, index) => named.indexOf(name) !== index),
    [],
  );
});

/** The types that an object of the type is made of, as far as minik8s acts on them. */
function typesIn(type: ObjectType, seen = new Set<string>()): Set<string> {
  if (seen.has(type.name)) return seen;
  seen.add(type.name);
  for (const { type: inner, rule } of type.fields.values()) {
    const object = objectIn(inner);
    if (object && rule?.acts) typesIn(object, seen);
  }
  return seen;
}

function objectIn(type: FieldType): ObjectType | undefined {
  if (type.kind === 'list') return objectIn(type.items);
  if (type.kind === 'map') return objectIn(type.values);
  return type.kind === 'object' ? type.object : undefined;
}

/** Parts of statuses that nothing here writes, and what a pod is refused for; all kept as they came. */
const withoutRules = [
  'core.v1.AttachedVolume',
  'core.v1.ContainerUser',
  'core.v1.EphemeralContainer',
  'core.v1.NodeAllocatableResourceClaimStatus',
  'core.v1.NodeConfigStatus',
  'core.v1.NodeFeatures',
  'core.v1.NodeRuntimeHandler',
  'core.v1.PodAffinityTerm',
  'core.v1.PodExtendedResourceClaimStatus',
  'core.v1.PodResourceClaimStatus',
  'core.v1.PodVolumeHealth',
  'core.v1.ResourceStatus',
  'core.v1.VolumeMountStatus',
  'meta.v1.ManagedFieldsEntry',
];

test('what minik8s acts on has rules: without them nothing in a type is checked', () => {
  const served = registry.flatMap(({ typeName }) => kindFields.typeOf(typeName) ?? []);
  const found = new Set(served.flatMap((type) => [...typesIn(type)]).filter((name) => !rules[name]));
  assert.deepEqual([...found].sort(), withoutRules);
});

test('kinds that Kubernetes answers a delete with the object of', () => {
  const answered = registry.filter(({ deleteAnswers }) => deleteAnswers === 'object').map(({ kind }) => kind);
  assert.deepEqual(answered.sort(), [
    'CSIDriver',
    'CSINode',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ResourceQuota',
    'Service',
    'ServiceAccount',
    'StorageClass',
    'VolumeAttachment',
  ]);
});

test('kinds with a status of their own, and kinds whose changes are counted', () => {
  const kinds = (wanted: (definition: (typeof registry)[number]) => boolean) =>
    registry
      .filter(wanted)
      .map(({ kind }) => kind)
      .sort();
  assert.deepEqual(
    kinds(({ hasStatus }) => hasStatus),
    [
      'CertificateSigningRequest',
      'CronJob',
      'DaemonSet',
      'Deployment',
      'Dns',
      'FlowSchema',
      'HorizontalPodAutoscaler',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'Namespace',
      'Node',
      'PersistentVolume',
      'PersistentVolumeClaim',
      'Pod',
      'PodDisruptionBudget',
      'PriorityLevelConfiguration',
      'ReplicaSet',
      'ReplicationController',
      'ResourceQuota',
      'Service',
      'StatefulSet',
      'VolumeAttachment',
    ],
  );
  assert.deepEqual(
    kinds(({ strategy }) => strategy.countsGenerations),
    [
      'CSIDriver',
      'CronJob',
      'DaemonSet',
      'Deployment',
      'Dns',
      'EndpointSlice',
      'FlowSchema',
      'Ingress',
      'IngressClass',
      'Job',
      'NetworkPolicy',
      'Pod',
      'PodDisruptionBudget',
      'PodTemplate',
      'PriorityClass',
      'PriorityLevelConfiguration',
      'ReplicaSet',
      'ReplicationController',
      'StatefulSet',
    ],
  );
  assert.deepEqual(
    kinds(({ namespaced }) => !namespaced),
    [
      'CSIDriver',
      'CSINode',
      'CertificateSigningRequest',
      'ClusterRole',
      'ClusterRoleBinding',
      'FlowSchema',
      'IngressClass',
      'Namespace',
      'Node',
      'PersistentVolume',
      'PriorityClass',
      'PriorityLevelConfiguration',
      'RuntimeClass',
      'SelfSubjectAccessReview',
      'SelfSubjectReview',
      'SelfSubjectRulesReview',
      'StorageClass',
      'SubjectAccessReview',
      'TokenReview',
      'VolumeAttachment',
    ],
  );
});
