/** Faults 1 to 44: pods that get no node, no image, do not start or do not stay. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { containerStatus, ended, type Fault, labels, object, pod, waits, workload } from './fault.ts';

const on = (pool: string) => ({ nodeSelector: { pool } });
const claimVolume = (claimName = 'data') => ({
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
});
const claim = (spec: object, name = 'data') =>
  object(
    'v1',
    'PersistentVolumeClaim',
    { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    name,
  );
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

const scheduling: readonly Fault[] = [
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
    fault: 'requires a zone by node affinity that no node is in',
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
    fault: 'spreads over racks, which no node has as a label',
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
    fault: 'does not tolerate the taint of the nodes for cards',
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
    fault: 'misspells the scheduler',
    objects: [pod({}, { schedulerName: 'defualt-scheduler' })],
    subject: 'pod/web',
    says: /defualt-scheduler/,
  },
  {
    fault: 'asks for a card, and no device plugin runs',
    objects: [pod({ resources: { limits: { 'nvidia.com/gpu': '1' } } })],
    subject: 'pod/web',
    says: /nvidia\.com\/gpu/,
  },
  {
    fault: 'fills a node with as many pods as it may have',
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
    fault: 'has its volume on another node than the one it asks for',
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
    fault: 'forgot a scheduling gate',
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

const image = (fault: string, message: string, says: RegExp, reason = 'ErrImagePull'): Fault => ({
  fault,
  objects: [workload('Deployment')],
  subject: 'deployment/web',
  cause: /^pod\/web-/,
  status: waits(reason, message),
  events: [['Failed', `Failed to pull image "shop:1": ${message}`]],
  says,
});

const images: readonly Fault[] = [
  image(
    'misspells the tag of an image',
    'manifest for shop:1 not found: manifest unknown: manifest unknown',
    /tag|no such (?:image|version)|does not exist/,
  ),
  image(
    'pulls a private image without a password',
    "pull access denied for shop, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
    /password|login|denied/,
  ),
  {
    ...image(
      'names an imagePullSecret that does not exist',
      'unauthorized',
      /registry-login .*does not exist/,
    ),
    objects: [workload('Deployment', {}, { imagePullSecrets: [{ name: 'registry-login' }] })],
  },
  image(
    'is over the rate limit of the registry',
    'toomanyrequests: You have reached your unauthenticated pull rate limit',
    /limit/,
  ),
  image(
    'uses a registry whose certificate is unknown',
    'Get "https://reg.example:5000/v2/": x509: certificate signed by unknown authority',
    /certificate/,
  ),
  image(
    'uses a registry that speaks plain HTTP',
    'Get "https://reg.example:5000/v2/": http: server gave HTTP response to HTTPS client',
    /HTTP/,
  ),
  {
    ...image(
      'forbids to pull an image that only the laptop has',
      'Container image "shop:1" is not present with pull policy of Never',
      /Never/,
      'ErrImageNeverPull',
    ),
    events: [],
  },
  image(
    'writes the name of an image with capitals',
    'Failed to apply default image tag "Shop:1": couldn\'t parse image name "Shop:1": invalid reference format: repository name must be lowercase',
    /valid name/,
    'InvalidImageName',
  ),
  {
    fault: 'runs an image for another processor',
    objects: [pod()],
    subject: 'pod/web',
    status: waits('CrashLoopBackOff', '', {
      lastState: ended(255, 'Error', 'exec /shop: exec format error'),
    }),
    says: /processor|architecture/,
  },
];

const crashed = (lastState: JsonObject, more: JsonObject = {}) =>
  waits('CrashLoopBackOff', 'back-off 5m0s restarting failed container', { lastState, ...more });
const probed = (type: string, probe: object, message: string, more: JsonObject = {}): Partial<Fault> => ({
  objects: [workload('Deployment', { [type]: { httpGet: { path: '/helth', port: 8080 }, ...probe } })],
  subject: 'deployment/web',
  cause: /^pod\/web-/,
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [containerStatus({ running: { startedAt: '2026-01-01T00:00:00Z' } }, more)],
  },
  events: [['Unhealthy', message]],
});

const starts: readonly Fault[] = [
  {
    fault: 'names a command that the image does not have',
    objects: [pod({ command: ['serve'] })],
    subject: 'pod/web',
    status: waits(
      'RunContainerError',
      'failed to create task for container: exec: "serve": executable file not found in $PATH: unknown',
    ),
    says: /no such program|not found/,
  },
  {
    fault: 'has a program that ends with an error',
    objects: [pod()],
    subject: 'pod/web',
    status: crashed(ended(1)),
    says: /exit code 1/,
  },
  {
    fault: 'sets the limit of memory too low',
    objects: [pod({ resources: { limits: { memory: '64Mi' } } })],
    subject: 'pod/web',
    status: crashed(ended(137, 'OOMKilled')),
    says: /memory.*64Mi|64Mi.*memory/,
  },
  {
    fault: 'runs a program in a Deployment that has nothing to do and ends',
    objects: [workload('Deployment')],
    subject: 'deployment/web',
    cause: /^pod\/web-/,
    status: crashed(ended(0, 'Completed')),
    says: /ends without an error/,
  },
  {
    fault: 'writes the path of the liveness probe wrong',
    ...probed('livenessProbe', {}, 'Liveness probe failed: HTTP probe failed with statuscode: 404'),
    events: [
      ['Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 404'],
      ['Killing', 'Container main failed liveness probe, will be restarted'],
    ],
    status: crashed(ended(137)),
    says: /liveness probe.*404/s,
  } as Fault,
  {
    fault: 'gives a slow program too little time in its startup probe',
    ...probed(
      'startupProbe',
      { failureThreshold: 1 },
      'Startup probe failed: dial tcp 10.244.0.5:8080: connect: connection refused',
    ),
    events: [
      ['Unhealthy', 'Startup probe failed: dial tcp 10.244.0.5:8080: connect: connection refused'],
      ['Killing', 'Container main failed startup probe, will be restarted'],
    ],
    status: crashed(ended(137)),
    says: /startup probe/,
  } as Fault,
  {
    fault: 'asks a port in the readiness probe where nothing listens',
    ...probed('readinessProbe', {}, 'Readiness probe failed: dial tcp 10.244.0.5:9999: connection refused', {
      started: true,
    }),
    says: /readiness probe.*connection refused/s,
  } as Fault,
  {
    fault: 'forgot to create the ConfigMap of envFrom',
    objects: [workload('Deployment', { envFrom: [{ configMapRef: { name: 'settings' } }] })],
    subject: 'deployment/web',
    cause: /^pod\/web-/,
    status: waits('CreateContainerConfigError', 'configmap "settings" not found'),
    says: /ConfigMap settings does not exist/,
  },
  {
    fault: 'misspells the key of a Secret',
    objects: [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' }, stringData: { password: 'x' } },
      pod({ env: [{ name: 'P', valueFrom: { secretKeyRef: { name: 'login', key: 'pasword' } } }] }),
    ],
    subject: 'pod/web',
    status: waits('CreateContainerConfigError', "couldn't find key pasword in Secret f/login"),
    says: /no key pasword/,
  },
  {
    fault: 'mounts a Secret that does not exist',
    objects: [
      pod(
        { volumeMounts: [{ name: 'tls', mountPath: '/tls' }] },
        { volumes: [{ name: 'tls', secret: { secretName: 'tls' } }] },
      ),
    ],
    subject: 'pod/web',
    status: waits('ContainerCreating'),
    events: [['FailedMount', 'MountVolume.SetUp failed for volume "tls" : secret "tls" not found']],
    says: /Secret tls does not exist/,
  },
  {
    fault: 'demands runAsNonRoot of an image that runs as root',
    objects: [pod({ securityContext: { runAsNonRoot: true } })],
    subject: 'pod/web',
    status: waits(
      'CreateContainerConfigError',
      'container has runAsNonRoot and image will run as root (pod: "web", container: main)',
    ),
    says: /runAsNonRoot/,
  },
  {
    fault: 'mounts a folder of the node that is not there',
    objects: [
      pod(
        { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
        { volumes: [{ name: 'data', hostPath: { path: '/srv/data', type: 'Directory' } }] },
      ),
    ],
    subject: 'pod/web',
    status: waits('ContainerCreating'),
    events: [
      [
        'FailedMount',
        'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /srv/data is not a directory',
      ],
    ],
    says: /\/srv\/data is not a directory/,
  },
  {
    fault: 'lets an init container wait for a Service that does not exist',
    objects: [
      pod(
        {},
        {
          initContainers: [
            {
              name: 'wait',
              image: 'busybox:1',
              command: ['sh', '-c', 'until nslookup db; do sleep 2; done'],
            },
          ],
        },
      ),
    ],
    subject: 'pod/web',
    status: {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'False' }],
      initContainerStatuses: [
        containerStatus(
          { running: { startedAt: '2020-01-01T00:00:00Z' } },
          { name: 'wait', restartCount: 0 },
        ),
      ],
      containerStatuses: [containerStatus({ waiting: { reason: 'PodInitializing' } })],
    },
    says: /init container wait.*(?:runs|since)/,
  },
  {
    fault: 'has an init container that fails',
    objects: [pod({}, { initContainers: [{ name: 'migrate', image: 'shop:1' }] })],
    subject: 'pod/web',
    status: {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'False' }],
      initContainerStatuses: [
        containerStatus(
          { waiting: { reason: 'CrashLoopBackOff' } },
          { name: 'migrate', lastState: ended(2) },
        ),
      ],
      containerStatuses: [containerStatus({ waiting: { reason: 'PodInitializing' } })],
    },
    says: /init container migrate.*exit code 2/,
  },
  {
    fault: 'has a postStart hook that fails',
    objects: [pod({ lifecycle: { postStart: { exec: { command: ['/warm'] } } } })],
    subject: 'pod/web',
    status: waits('PostStartHookError', 'Exec lifecycle hook ([/warm]) failed - exit code 1'),
    events: [['FailedPostStartHook', 'PostStartHook failed']],
    says: /postStart/i,
  },
  {
    fault: 'fills the disk of the node, which evicts the pod',
    objects: [pod()],
    subject: 'pod/web',
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: ephemeral-storage. Container main was using 12Gi',
    },
    says: /ephemeral-storage/,
  },
  {
    fault: 'deletes a pod of a machine that is switched off',
    objects: [],
    subject: 'pod/gone',
    cause: 'node/n-lost',
    says: /has not reported/,
    later: {
      pods: [
        {
          kind: 'Pod',
          metadata: {
            ...{ name: 'gone', uid: 'gone', creationTimestamp: '2020-01-01T00:00:00Z' },
            ...{ deletionTimestamp: '2020-01-02T00:00:00Z', deletionGracePeriodSeconds: 30 },
          },
          spec: { nodeName: 'n-lost', containers: [{ name: 'main', image: 'shop:1' }] },
          status: { phase: 'Running' },
        },
      ],
      nodes: [
        {
          kind: 'Node',
          metadata: { name: 'n-lost', uid: 'n-lost' },
          status: {
            conditions: [
              {
                type: 'Ready',
                status: 'Unknown',
                reason: 'NodeStatusUnknown',
                message: 'Kubelet stopped posting node status.',
              },
            ],
          },
        },
      ],
    },
  },
];

export const podFaults: readonly Fault[] = [...scheduling, ...images, ...starts];
