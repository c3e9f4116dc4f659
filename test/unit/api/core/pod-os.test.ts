/**
 * Fields that a pod for Windows must not set, and that a pod for Linux or without an operating system may
 * set.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validatePodOS } from '../../../../src/api/core/v1/pod/os-validation.ts';
import type { PodSpec } from '../../../../src/api/core/v1/types.gen.ts';
import { container, pod } from '../../controllers/objects.ts';

type Fields = readonly (readonly [field: string, value: unknown])[];

const told = (spec: object, os: string | undefined) =>
  validatePodOS({ ...pod('p').spec, ...spec, ...(os && { os: { name: os } }) } as PodSpec, 'spec').map(
    ({ field, message }) => `${field}: ${message}`,
  );
const because = 'Forbidden: cannot be set for a windows pod';

const profile = { type: 'RuntimeDefault' };
const ofPod: Fields = [
  ['hostUsers', true],
  ['hostUsers', false],
  ['hostPID', true],
  ['hostIPC', true],
  ['shareProcessNamespace', true],
  ['shareProcessNamespace', false],
];
const ofContext: Fields = [
  ['appArmorProfile', profile],
  ['seLinuxOptions', {}],
  ['seccompProfile', profile],
  ['fsGroup', 0],
  ['fsGroupChangePolicy', 'Always'],
  ['sysctls', [{ name: 'a.b', value: '1' }]],
  ['runAsUser', 0],
  ['runAsGroup', 0],
  ['supplementalGroups', []],
  ['supplementalGroupsPolicy', 'Merge'],
  ['seLinuxChangePolicy', 'Recursive'],
];
const ofContainer: Fields = [
  ['appArmorProfile', profile],
  ['seLinuxOptions', {}],
  ['seccompProfile', profile],
  ['capabilities', {}],
  ['readOnlyRootFilesystem', false],
  ['privileged', false],
  ['allowPrivilegeEscalation', false],
  ['procMount', 'Default'],
  ['runAsUser', 0],
  ['runAsGroup', 0],
];
const lists = ['initContainers', 'containers', 'ephemeralContainers'];

const cases: (readonly [path: string, spec: object])[] = [
  ...ofPod.map(([field, value]) => [`spec.${field}`, { [field]: value }] as const),
  ...ofContext.map(
    ([field, value]) => [`spec.securityContext.${field}`, { securityContext: { [field]: value } }] as const,
  ),
  ...lists.flatMap((list) =>
    ofContainer.map(
      ([field, value]) =>
        [
          `spec.${list}[0].securityContext.${field}`,
          { [list]: [container({ securityContext: { [field]: value } as never })] },
        ] as const,
    ),
  ),
];

describe('a pod for Windows', () => {
  for (const [path, spec] of cases)
    it(`has no ${path} ${JSON.stringify(Object.values(spec)[0]).slice(0, 20)}`, () => {
      assert.deepEqual(told(spec, 'windows'), [`${path}: ${because}`]);
      assert.deepEqual(told(spec, 'linux'), []);
      assert.deepEqual(told(spec, undefined), []);
    });
  it('may set a field to false if that equals its absence', () => {
    const spec = { hostPID: false, hostIPC: false, securityContext: { sysctls: [] } };
    assert.deepEqual(told(spec, 'windows'), []);
  });
});
