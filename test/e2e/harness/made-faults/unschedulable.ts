/** Pods that no node takes. */
import type { MadeFault } from './made-fault.ts';
import { deployment, main, pod, required, wantedZone } from './objects.ts';

export const unschedulable: readonly MadeFault[] = [
  {
    mistake: 'a request of 900 processors',
    ask: 'pod/x',
    objects: [pod(main({ resources: { requests: { cpu: '900' } } }))],
    words: [/cpu/i],
  },
  {
    mistake: 'a request in Ti instead of Mi',
    ask: 'deployment/x',
    objects: [deployment(main({ resources: { requests: { memory: '256Ti' } } }))],
    words: [/memory/i],
  },
  {
    mistake: 'a GPU on a machine without one',
    ask: 'pod/x',
    objects: [pod(main({ resources: { limits: { 'nvidia.com/gpu': '1' } } }))],
    words: [/nvidia\.com\/gpu/],
  },
  {
    mistake: 'a node selector with a label that no node has',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { nodeSelector: { disk: 'fast' } })],
    words: [/disk/, /fast|label/],
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
  },
  {
    mistake: 'two pods with one host port',
    ask: 'deployment/x',
    objects: [deployment(main({ ports: [{ containerPort: 8080, hostPort: 18_080 }] }), { replicas: 2 })],
    words: [/18080|host ?port/i],
  },
  {
    mistake: 'a scheduler that nobody runs',
    ask: 'pod/x',
    objects: [pod(main(), { schedulerName: 'gpu-scheduler' })],
    words: [/gpu-scheduler/],
  },
  {
    mistake: 'a scheduling gate that nothing removes',
    ask: 'pod/x',
    objects: [pod(main(), { schedulingGates: [{ name: 'example.org/approval' }] })],
    words: [/example\.org\/approval/],
  },
  {
    mistake: 'a node that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { nodeName: 'worker-9' })],
    words: [/worker-9/],
  },
];
