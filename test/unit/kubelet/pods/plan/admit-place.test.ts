import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Node } from '../../../../../src/api/core/v1/node/node.ts';
import { placeRefusal } from '../../../../../src/kubelet/pods/plan/admit-place.ts';
import { makePod } from '../../builders.ts';

const node = {
  metadata: { name: 'n1', labels: { disk: 'ssd', 'kubernetes.io/os': 'linux' } },
} as never as Node;
const affinity = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }],
    },
  },
});

for (const [what, spec, reason] of [
  ['without requirements is admitted', {}, undefined],
  ['for this operating system is admitted', { os: { name: 'linux' } }, undefined],
  ['for another operating system is rejected', { os: { name: 'windows' } }, 'PodOSNotSupported'],
  ['whose node selector matches the node is admitted', { nodeSelector: { disk: 'ssd' } }, undefined],
  [
    'whose node selector does not match the node is rejected',
    { nodeSelector: { disk: 'hdd' } },
    'NodeAffinity',
  ],
  ['with an affinity to the node is admitted', { affinity: affinity('disk') }, undefined],
  ['with an affinity to another node is rejected', { affinity: affinity('gpu') }, 'NodeAffinity'],
] as const)
  it(`a pod ${what}`, () => assert.equal(placeRefusal(makePod(spec), node)?.reason, reason));

it('a pod is admitted by an unknown Node for any node selector, but not for another operating system', () => {
  assert.equal(placeRefusal(makePod({ nodeSelector: { disk: 'hdd' } }), undefined), undefined);
  assert.deepEqual(placeRefusal(makePod({ os: { name: 'windows' } }), undefined), {
    reason: 'PodOSNotSupported',
    message: "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
    gracePeriodSeconds: 0,
    disruption: false,
  });
});
