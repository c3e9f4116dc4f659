/** Pods that no node takes. */
import type { MadeFault } from './made-fault.ts';
import { deployment, main, pod, removing, required, wantedZone } from './objects.ts';

export const unschedulable: readonly MadeFault[] = [
  {
    mistake: 'a request of 900 processors',
    ask: 'pod/x',
    objects: [pod(main({ resources: { requests: { cpu: '900' } } }))],
    words: [/cpu/i],
    mend: { again: [pod(main({ resources: { requests: { cpu: '10m' } } }))] },
  },
  {
    mistake: 'a request in Ti instead of Mi',
    ask: 'deployment/x',
    objects: [deployment(main({ resources: { requests: { memory: '256Ti' } } }))],
    words: [/memory/i],
    mend: { named: { gaps: { '[0-9]+Ki': '16Mi' } } },
  },
  {
    mistake: 'a GPU on a machine without one',
    ask: 'pod/x',
    objects: [pod(main({ resources: { limits: { 'nvidia.com/gpu': '1' } } }))],
    words: [/nvidia\.com\/gpu/],
    mend: { again: [pod()] },
  },
  {
    mistake: 'a node selector with a label that no node has',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { nodeSelector: { disk: 'fast' } })],
    words: [/disk/, /fast|label/],
    mend: { named: {} },
  },
  {
    mistake: 'a required zone where there is no node',
    ask: 'pod/x',
    objects: [
      pod(
        main(),
        required({
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [wantedZone] }],
            },
          },
        }),
      ),
    ],
    words: [/affinity|zone/i],
    mend: { run: [['label', 'nodes', '--all', 'topology.kubernetes.io/zone=moon']] },
  },
  {
    mistake: 'a pod that must be beside pods that do not exist',
    ask: 'pod/x',
    objects: [
      pod(
        main(),
        required({
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: 'kubernetes.io/hostname' },
            ],
          },
        }),
      ),
    ],
    words: [/affinity/i],
    mend: { add: [pod(main(), {}, { name: 'cache', labels: { app: 'cache' } })] },
  },
  {
    mistake: 'two replicas that may not share the only node',
    ask: 'deployment/x',
    objects: [
      deployment(
        main(),
        { replicas: 2 },
        required({
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: 'kubernetes.io/hostname' },
            ],
          },
        }),
      ),
    ],
    words: [/anti-?affinity/i],
    mend: { run: [['scale', 'deployment', 'x', '--replicas=1']] },
  },
  {
    mistake: 'pods spread over racks, a label that the node lacks',
    ask: 'deployment/x',
    objects: [
      deployment(
        main(),
        {},
        {
          topologySpreadConstraints: [
            {
              ...{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
              labelSelector: { matchLabels: { app: 'x' } },
            },
          ],
        },
      ),
    ],
    words: [/rack|spread/i],
    mend: { run: [['label', 'nodes', '--all', 'rack=r1']] },
  },
  {
    mistake: 'two pods with one host port',
    ask: 'deployment/x',
    objects: [deployment(main({ ports: [{ containerPort: 8080, hostPort: 18_080 }] }), { replicas: 2 })],
    words: [/18080|host ?port/i],
    mend: { run: [removing('containers/0/ports')] },
  },
  {
    mistake: 'a scheduler that nobody runs',
    ask: 'pod/x',
    objects: [pod(main(), { schedulerName: 'gpu-scheduler' })],
    words: [/gpu-scheduler/],
    mend: { again: [pod()] },
  },
  {
    mistake: 'a scheduling gate that nothing removes',
    ask: 'pod/x',
    objects: [pod(main(), { schedulingGates: [{ name: 'example.org/approval' }] })],
    words: [/example\.org\/approval/],
    mend: { named: {} },
  },
  {
    mistake: 'a node that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { nodeName: 'worker-9' })],
    words: [/worker-9/],
    mend: { run: [removing('nodeName')] },
  },
];
