import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { kubernetesMessages, messageLines } from '../../../src/api/message-table.ts';
import { registry } from '../../../src/api/registry.ts';
import type { MessageField, MessageType } from '../../../src/apimachinery/protobuf/message-types.ts';

/** Fields that Kubernetes got after the version whose numbers the table has. */
const withoutNumber: Readonly<Record<string, readonly string[]>> = {
  V1CSIDriverSpec: [
    'nodeAllocatableUpdatePeriodSeconds',
    'preventPodSchedulingIfMissing',
    'serviceAccountTokenInSecrets',
  ],
  V1Container: ['restartPolicyRules'],
  V1ContainerStatus: ['stopSignal'],
  V1DeploymentStatus: ['terminatingReplicas'],
  V1EndpointHints: ['forNodes'],
  V1EnvVarSource: ['fileKeyRef'],
  V1EphemeralContainer: ['restartPolicyRules'],
  V1Lifecycle: ['stopSignal'],
  V1ListMeta: ['shardInfo'],
  V1NodeStatus: ['declaredFeatures'],
  V1NodeSystemInfo: ['swap'],
  V1PodCondition: ['observedGeneration'],
  V1PodSpec: ['hostnameOverride', 'schedulingGroup'],
  V1PodStatus: [
    'allocatedResources',
    'extendedResourceClaimStatus',
    'nodeAllocatableResourceClaimStatuses',
    'observedGeneration',
    'resources',
  ],
  V1ReplicaSetStatus: ['terminatingReplicas'],
  V1ResourceHealth: ['message'],
  V1VolumeError: ['errorCode'],
  V1VolumeMountStatus: ['volumeStatus'],
  V1VolumeProjection: ['podCertificate'],
  V2HPAScalingRules: ['tolerance'],
};

const types = Object.keys(messageLines).flatMap((name) => kubernetesMessages.typeOf(name) ?? []);

/** The named fields of a message and of its parts. */
function namedFields(type: MessageType): Exclude<MessageField, { kind: 'part' }>[] {
  return [...type.fields.values()].flatMap((field) =>
    field.kind === 'part' ? namedFields(field.message) : [field],
  );
}

function partsOf(type: MessageType): string[] {
  return [...type.fields.values()].flatMap((field) =>
    field.kind === 'part' ? [field.message.name, ...partsOf(field.message)] : [],
  );
}

test('every field of a type has one number, or is known to have none', () => {
  assert.ok(types.length > 300);
  for (const type of types) {
    const numbered = namedFields(type).map((field) => field.name);
    assert.equal(new Set(numbered).size, numbered.length, `${type.name} has a name twice`);
    const fields = [...(kubernetesFields.typeOf(type.name)?.fields.keys() ?? [])];
    const missing = fields.filter((name) => !numbered.includes(name) && !isTypeMeta(type.name, name));
    assert.deepEqual(missing.sort(), withoutNumber[type.name] ?? [], type.name);
  }
});

/** Objects have their type in the envelope, but some fields of that name are ordinary ones. */
const isTypeMeta = (type: string, field: string) =>
  (field === 'apiVersion' || field === 'kind') &&
  kubernetesFields.typeOf(type)?.fields.has('apiVersion') === true;

test('every line is one of a type or of a part of one', () => {
  const parts = new Set(types.flatMap(partsOf));
  const loose = Object.keys(messageLines).filter(
    (name) => !kubernetesFields.typeOf(name) && !parts.has(name),
  );
  assert.deepEqual(loose, []);
});

test('numbers rise in every line', () => {
  for (const [name, line] of Object.entries(messageLines)) {
    const numbers = [...line.matchAll(/(?:^| )(\d+):/g)].map(([, number]) => Number(number));
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      name,
    );
  }
});

/** Required by the schema, and yet left out by Go when it is empty. */
const requiredButOmitted = ['V1TokenReviewSpec.token', 'V1ValidatingAdmissionPolicyBindingSpec.policyName'];

test('only single scalars that need not be there are left out when they are zero', () => {
  const required: string[] = [];
  for (const type of types) {
    for (const field of namedFields(type).filter(({ omitsZero }) => omitsZero)) {
      const where = `${type.name}.${field.name}`;
      assert.equal(field.kind, 'single', where);
      assert.equal(field.value.kind, 'scalar', where);
      if (kubernetesFields.typeOf(type.name)?.fields.get(field.name)?.required) required.push(where);
    }
  }
  assert.deepEqual(required, requiredButOmitted);
});

test('every kind of Kubernetes that is served, and every kind that is only sent, has numbers', () => {
  const served = registry.filter(({ group }) => group !== 'minik8s.io').map(({ fieldsOf }) => fieldsOf);
  for (const name of [...served, 'V1DeleteOptions', 'V1Scale', 'V1Binding', 'V1Eviction', 'V1Status'])
    assert.ok(kubernetesMessages.typeOf(name), name);
  for (const name of ['V1VolumeSource', 'constructor', 'V1Podd'])
    assert.equal(kubernetesMessages.typeOf(name), undefined, name);
});
