/** States of pods that no node takes, each with the rule that must recognize it. */
import type { Case } from './why-cases.ts';
import { condition, node, pod } from './why-objects.ts';

const report = (reasons: readonly object[]) => ({
  'scheduler.minik8s.io/rejections': JSON.stringify({ total: 1, nodes: [{ node: 'n1', reasons }] }),
});
const unscheduled = (message: string, reasons: readonly object[], spec: object = {}) =>
  pod('web', {
    metadata: { annotations: report(reasons) },
    spec,
    status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)] },
  });

export const schedulingCases: readonly Case[] = [
  {
    rule: 'pod-no-node',
    objects: { pods: [unscheduled('no nodes available to schedule pods', [])], nodes: [] },
    says: /the cluster has no nodes/,
    mend: /token create/,
  },
  {
    rule: 'pod-cordoned-nodes',
    objects: {
      pods: [unscheduled('0/1 nodes are available', [{ reason: 'node(s) were unschedulable' }])],
      nodes: [node('n1', { spec: { unschedulable: true } })],
    },
    says: /cordoned/,
    first: 'node-cordoned',
    mend: /^uncordon n1$/,
  },
  {
    rule: 'pod-node-selector',
    objects: {
      pods: [
        unscheduled('', [{ reason: "node(s) didn't match Pod's node affinity/selector" }], {
          nodeSelector: { disk: 'ssd' },
        }),
      ],
      nodes: [node('n1')],
    },
    says: /disk=ssd/,
    mend: /^label node n1 disk=ssd$/,
  },
  {
    rule: 'pod-taints',
    objects: { pods: [unscheduled('', [{ reason: 'node(s) had untolerated taint {gpu: yes}' }])] },
    says: /taint gpu=yes/,
    mend: /key: gpu, operator: Equal, value: yes/,
  },
  {
    rule: 'pod-host-port',
    objects: {
      pods: [
        unscheduled('', [{ reason: "node(s) didn't have free ports for the requested pod ports" }], {
          containers: [{ name: 'main', ports: [{ hostPort: 8080 }] }],
        }),
      ],
    },
    says: /8080/,
  },
  {
    rule: 'pod-resources',
    objects: {
      pods: [
        unscheduled('', [{ reason: 'Insufficient cpu', resource: 'cpu', requested: '8', free: '1500m' }]),
      ],
    },
    says: /n1 lacks the least: cpu \(requested 8, free 1500m\)/,
    evidence: /n1: Insufficient cpu \(requested 8, free 1500m\)/,
  },
  {
    rule: 'pod-unschedulable',
    objects: { pods: [unscheduled('0/1 nodes are available: spread', [{ reason: 'spread' }])] },
    says: /0\/1 nodes are available: spread/,
    mend: /^change the field of the pod/,
  },
  ...(
    [
      ["didn't match pod affinity rules", /^start the pods that spec\.affinity\.podAffinity requires/],
      ["didn't match pod anti-affinity rules", /^add a node, run fewer replicas/],
      ["didn't satisfy existing pods anti-affinity rules", /^add a node, run fewer replicas/],
      [
        "didn't match pod topology spread constraints (missing required label)",
        /^give the nodes the label that spec\.topologySpreadConstraints names/,
      ],
      ["didn't match pod topology spread constraints", /or set whenUnsatisfiable to ScheduleAnyway/],
    ] as const
  ).map(([reason, mend]) => ({
    rule: 'pod-unschedulable',
    objects: { pods: [unscheduled(`0/1 nodes are available: 1 node(s) ${reason}.`, [{ reason }])] },
    says: /it is not scheduled/,
    mend,
  })),
];
