/** Pods that have a node, but no image, or do not start or stay. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { containerStatus, ended, type Fault, pod, waits, workload } from './fault.ts';

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
      'forbids pulling an image that only the laptop has',
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
    fault: 'runs an image for another processor architecture',
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
    fault: 'runs a program that ends with an error',
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
    fault: 'misspells the path of the liveness probe',
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
    fault: 'names a port in the readiness probe on which nothing listens',
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
    fault: 'requires runAsNonRoot for an image that runs as root',
    objects: [pod({ securityContext: { runAsNonRoot: true } })],
    subject: 'pod/web',
    status: waits(
      'CreateContainerConfigError',
      'container has runAsNonRoot and image will run as root (pod: "web", container: main)',
    ),
    says: /runAsNonRoot/,
  },
  {
    fault: 'mounts a folder of the node that does not exist',
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

export const podFaults: readonly Fault[] = [...images, ...starts];
