/** Nodes on which a DaemonSet runs, and the fields of its pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Taint } from '../../../../../src/api/core/v1/node/node.ts';
import {
  daemonTemplate,
  nodeFit,
  nodeOf,
  templateForNode,
} from '../../../../../src/controllers/workloads/daemons/daemon-nodes-plan.ts';
import { node, pod } from '../../objects.ts';
import { daemonSet } from './daemon-objects.ts';

const fitOf = (podSpec: Parameters<typeof daemonSet>[1], options: Parameters<typeof node>[1] = {}) => {
  const { run, stay } = nodeFit(daemonSet({}, podSpec).spec.template)(node('n1', options));
  return `${run ? 'run' : '-'} ${stay ? 'stay' : '-'}`;
};
const taint = (key: string, effect: Taint['effect']): Taint => ({ key, effect });
const required = (term: object) => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
  },
});

describe('a node', () => {
  for (const [what, podSpec, options, expected] of [
    ['for a template without requirements', {}, {}, 'run stay'],
    ['named by the template', { nodeName: 'n1' }, {}, 'run stay'],
    ['with another node in the template', { nodeName: 'n2' }, {}, '- -'],
    ['selected', { nodeSelector: { a: '1' } }, { labels: { a: '1' } }, 'run stay'],
    ['not selected', { nodeSelector: { a: '1' } }, { labels: { a: '2' } }, '- -'],
    [
      'within the affinity',
      required({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
      { labels: { a: '' } },
      'run stay',
    ],
    ['outside the affinity', required({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }), {}, '- -'],
    [
      'with its name in the affinity',
      required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }),
      {},
      'run stay',
    ],
    ['tainted NoSchedule', {}, { taints: [taint('a', 'NoSchedule')] }, '- stay'],
    ['tainted NoExecute', {}, { taints: [taint('a', 'NoExecute')] }, '- -'],
    ['tainted PreferNoSchedule', {}, { taints: [taint('a', 'PreferNoSchedule')] }, 'run stay'],
    [
      'whose taint is tolerated',
      { tolerations: [{ key: 'a', operator: 'Exists' as const }] },
      { taints: [taint('a', 'NoExecute')] },
      'run stay',
    ],
    [
      'cordoned',
      {},
      { unschedulable: true, taints: [taint('node.kubernetes.io/unschedulable', 'NoSchedule')] },
      'run stay',
    ],
    ['lost', {}, { taints: [taint('node.kubernetes.io/unreachable', 'NoExecute')] }, 'run stay'],
    ['full', {}, { taints: [taint('node.kubernetes.io/disk-pressure', 'NoSchedule')] }, 'run stay'],
    [
      'without network',
      {},
      { taints: [taint('node.kubernetes.io/network-unavailable', 'NoSchedule')] },
      '- stay',
    ],
    [
      'without network, for pods of the host network',
      { hostNetwork: true },
      { taints: [taint('node.kubernetes.io/network-unavailable', 'NoSchedule')] },
      'run stay',
    ],
  ] as const)
    it(what, () => assert.equal(fitOf(podSpec as object, options as never), expected));
});

describe('the pods of a DaemonSet', () => {
  it('tolerate the taints of an unhealthy node without a limit, for any tolerations of the template', () => {
    const own = [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
      { key: 'mine', operator: 'Exists' },
    ] as const;
    const { spec } = daemonTemplate(daemonSet({}, { tolerations: [...own] }).spec.template, 'h');
    const told = spec.tolerations?.map(({ key, effect = '', tolerationSeconds }) =>
      `${key} ${effect} ${tolerationSeconds ?? ''}`.trim(),
    );
    assert.deepEqual(told, [
      'node.kubernetes.io/not-ready NoExecute',
      'mine',
      'node.kubernetes.io/unreachable NoExecute',
      'node.kubernetes.io/disk-pressure NoSchedule',
      'node.kubernetes.io/memory-pressure NoSchedule',
      'node.kubernetes.io/pid-pressure NoSchedule',
      'node.kubernetes.io/unschedulable NoSchedule',
    ]);
  });

  it('have the label of their revision in addition to those of the template', () => {
    const { metadata } = daemonTemplate(daemonSet().spec.template, 'h');
    assert.deepEqual(metadata.labels, { app: 'web', 'controller-revision-hash': 'h' });
  });

  it('require their node in place of other nodes, and keep their preferences', () => {
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference: {} }];
    const { template } = daemonSet(
      {},
      {
        affinity: {
          podAffinity: {},
          nodeAffinity: {
            ...required({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }).affinity.nodeAffinity,
            preferredDuringSchedulingIgnoredDuringExecution,
          },
        } as never,
      },
    ).spec;
    const { spec } = templateForNode(template, 'n7');
    assert.deepEqual(spec.affinity, {
      podAffinity: {},
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n7'] }] }],
        },
      },
    });
    assert.equal(nodeOf(pod('a', { spec: { ...spec, nodeName: undefined } })), 'n7');
  });

  it('belong to the node they run on; a pod that requires several nodes belongs to none', () => {
    const { spec } = templateForNode(daemonSet().spec.template, 'n7');
    assert.equal(nodeOf(pod('a', { spec: { ...spec, nodeName: 'n1' } })), 'n1');
    const several = required({
      matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1', 'n2'] }],
    }) as Pod['spec'];
    assert.equal(nodeOf(pod('a', { spec: { ...several, nodeName: undefined } })), undefined);
    assert.equal(nodeOf(pod('a', { spec: { nodeName: undefined } })), undefined);
  });
});
type Pod = ReturnType<typeof pod>;
