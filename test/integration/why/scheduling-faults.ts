/** Pods that get no node. */
import { claim, type Fault, labels, object, pod, workload } from './fault.ts';

const on = (pool: string) => ({ nodeSelector: { pool } });
const claimVolume = (claimName = 'data') => ({
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
});
const volume = (name: string, spec: object) =>
  object(
    'v1',
    'PersistentVolume',
    {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: name },
      local: { path: '/data' },
      ...spec,
    },
    name,
  );
const atNode = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] },
      ],
    },
  },
});

export const schedulingFaults: readonly Fault[] = [
  {
    fault: 'requests more processors than any node has',
    objects: [pod({ resources: { requests: { cpu: '64' } } })],
    subject: 'pod/web',
    says: /cpu/,
  },
  {
    fault: 'requests memory that other pods have taken',
    objects: [
      pod({ resources: { requests: { memory: '7Gi' } } }, on('memory'), 'first'),
      pod({ resources: { requests: { memory: '4Gi' } } }, on('memory')),
    ],
    subject: 'pod/web',
    says: /memory/,
  },
  {
    fault: 'names a label in nodeSelector that no node has',
    objects: [pod({}, { nodeSelector: { disk: 'ssd' } })],
    subject: 'pod/web',
    says: /disk=ssd/,
  },
  {
    fault: 'requires a zone by node affinity in which there is no node',
    objects: [
      pod(
        {},
        {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: 'zone', operator: 'In', values: ['mars'] }] },
                ],
              },
            },
          },
        },
      ),
    ],
    subject: 'pod/web',
    says: /affinity/,
  },
  {
    fault: 'keeps the pods of a Deployment apart, and has more replicas than nodes',
    objects: [
      workload(
        'Deployment',
        {},
        {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'pool', labelSelector: { matchLabels: labels } },
              ],
            },
          },
        },
        { replicas: 12 },
      ),
    ],
    subject: 'deployment/web',
    cause: /^pod\/web-/,
    says: /anti-affinity/,
  },
  {
    fault: 'spreads pods over racks, although no node has that label',
    objects: [
      pod(
        {},
        {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'rack',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: labels },
            },
          ],
        },
      ),
    ],
    subject: 'pod/web',
    says: /topology spread|rack/,
  },
  {
    fault: 'does not tolerate the taint of the nodes with GPUs',
    objects: [pod({}, on('gpu'))],
    subject: 'pod/web',
    says: /taint.*dedicated/,
  },
  {
    fault: 'forgot to uncordon the node after its maintenance',
    objects: [pod({}, on('old'))],
    subject: 'pod/web',
    cause: 'node/n-old',
    says: /cordon/,
  },
  {
    fault: 'gives two pods the same hostPort',
    objects: [
      pod({ ports: [{ containerPort: 80, hostPort: 8080 }] }, on('memory'), 'first'),
      pod({ ports: [{ containerPort: 80, hostPort: 8080 }] }, on('memory')),
    ],
    subject: 'pod/web',
    says: /port.*8080|8080.*port/,
  },
  {
    fault: 'misspells the name of the scheduler',
    objects: [pod({}, { schedulerName: 'defualt-scheduler' })],
    subject: 'pod/web',
    says: /defualt-scheduler/,
  },
  {
    fault: 'requests a GPU, although no device plugin runs',
    objects: [pod({ resources: { limits: { 'nvidia.com/gpu': '1' } } })],
    subject: 'pod/web',
    says: /nvidia\.com\/gpu/,
  },
  {
    fault: 'creates a pod for a node that has its maximum number of pods',
    objects: [pod({}, on('small'), 'first'), pod({}, on('small'))],
    subject: 'pod/web',
    says: /[Tt]oo many pods|pods/,
  },
  {
    fault: 'names a claim that does not exist',
    objects: [pod({}, claimVolume())],
    subject: 'pod/web',
    says: /data does not exist/,
  },
  {
    fault: 'misspells the class of a claim',
    objects: [claim({ storageClassName: 'fats' }), pod({}, claimVolume())],
    subject: 'pod/web',
    cause: 'pvc/data',
    says: /fats/,
  },
  {
    fault: 'selects a node other than that of the volume',
    objects: [
      volume('on-n-gpu', atNode('n-gpu')),
      claim({ storageClassName: 'on-n-gpu' }),
      pod({}, { ...claimVolume(), ...on('memory') }),
    ],
    subject: 'pod/web',
    says: /volume.*(?:n-gpu|on-n-gpu)/,
  },
  {
    fault: 'mounts a claim for one pod (ReadWriteOncePod) in two pods',
    objects: [
      volume('one-pod', { accessModes: ['ReadWriteOncePod'], ...atNode('n-memory') }),
      claim({ storageClassName: 'one-pod', accessModes: ['ReadWriteOncePod'] }),
      pod({}, claimVolume(), 'first'),
      pod({}, claimVolume()),
    ],
    subject: 'pod/web',
    says: /ReadWriteOncePod/,
  },
  {
    fault: 'forgot to remove a scheduling gate',
    objects: [pod({}, { schedulingGates: [{ name: 'example.com/review' }] })],
    subject: 'pod/web',
    says: /example\.com\/review/,
  },
  {
    fault: 'sets nodeName to a node that does not exist',
    objects: [pod({}, { nodeName: 'n9' })],
    subject: 'pod/web',
    says: /n9.*does not exist/,
  },
];
