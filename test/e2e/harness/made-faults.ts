/**
 * Faults of users that a real node makes, each in a namespace of its own, and words that the first cause must
 * contain. This list was written from the words of users before the rules of `why` were read.
 */
import { helloImage } from './images.ts';

export interface MadeFault {
  /** A sentence about the mistake. */
  readonly mistake: string;
  /** The object that the user asks about. */
  readonly ask: string;
  readonly objects: readonly object[];
  /** Words of the first cause; all of them must occur. */
  readonly words: readonly RegExp[];
  /** Words of `ctl` that are run once the objects exist. */
  readonly next?: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const main = (more: Fields = {}) => ({
  ...{ name: 'main', image: helloImage, imagePullPolicy: 'IfNotPresent' },
  ...more,
});
const shell = (script: string, more: Fields = {}) => main({ command: ['sh', '-c', script], ...more });
const template = (container: Fields, spec: Fields = {}) => ({
  metadata: { labels: { app: 'x' } },
  spec: { terminationGracePeriodSeconds: 1, containers: [container], ...spec },
});
const pod = (container: Fields = main(), spec: Fields = {}, more: Fields = {}) => {
  const made = template(container, spec);
  return { apiVersion: 'v1', kind: 'Pod', ...made, metadata: { name: 'x', ...made.metadata, ...more } };
};
const workload = (kind: string, container: Fields, spec: Fields = {}, podSpec: Fields = {}) => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { name: 'x' } },
  spec: { selector: { matchLabels: { app: 'x' } }, template: template(container, podSpec), ...spec },
});
const deployment = (container: Fields = main(), spec: Fields = {}, podSpec: Fields = {}) =>
  workload('Deployment', container, spec, podSpec);
const object = (apiVersion: string, kind: string, name: string, spec: Fields, more: Fields = {}) => ({
  ...{ apiVersion, kind, spec },
  metadata: { name, ...more },
});
const job = (container: Fields, spec: Fields = {}) =>
  object('batch/v1', 'Job', 'x', {
    ...{ backoffLimit: 0, ...spec },
    template: { spec: { restartPolicy: 'Never', containers: [container] } },
  });
const service = (spec: Fields) => object('v1', 'Service', 'x', { ports: [{ port: 80 }], ...spec });
const claim = (spec: Fields, name = 'data') =>
  object('v1', 'PersistentVolumeClaim', name, {
    ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    ...spec,
  });
const ingress = (spec: Fields) => object('networking.k8s.io/v1', 'Ingress', 'x', spec);
const backend = (name: string, port: Fields = { number: 80 }) => ({
  rules: [
    {
      host: 'made.example',
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port } } }] },
    },
  ],
});
const mount = (volume: Fields) => ({ volumes: [{ name: 'v', ...volume }] });
const mounting = main({ volumeMounts: [{ name: 'v', mountPath: '/v' }] });
const required = (terms: Fields) => ({ affinity: terms });
const wantedZone = {
  key: 'topology.kubernetes.io/zone',
  operator: 'In',
  values: ['moon'],
};
const probe = (script: string, more: Fields = {}) => ({
  ...{ exec: { command: ['sh', '-c', script] }, periodSeconds: 1, failureThreshold: 1 },
  ...more,
});

export const madeFaults: readonly MadeFault[] = [
  // Pods that no node takes.
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
  // Images.
  {
    mistake: 'an image that is not there and may not be pulled',
    ask: 'deployment/x',
    objects: [deployment(main({ image: 'shop/web:7', imagePullPolicy: 'Never' }))],
    words: [/shop\/web:7/, /pull/i],
  },
  {
    mistake: 'an image name in upper case',
    ask: 'pod/x',
    objects: [pod(main({ image: 'Shop/Web:7' }))],
    words: [/Shop\/Web:7/, /invalid|name|lower/i],
  },
  {
    mistake: 'a registry at a port where nothing listens',
    ask: 'deployment/x',
    objects: [deployment(main({ image: '127.0.0.1:9/shop/web:7' }))],
    words: [/127\.0\.0\.1:9/, /registry|reach|connect|refused/i],
  },
  // Settings.
  {
    mistake: 'envFrom a ConfigMap that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main({ envFrom: [{ configMapRef: { name: 'settings' } }] }))],
    words: [/settings/, /ConfigMap/i],
  },
  {
    mistake: 'a Secret that does not exist',
    ask: 'pod/x',
    objects: [
      pod(main({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'password', key: 'word' } } }] })),
    ],
    words: [/password/, /Secret/i],
  },
  {
    mistake: 'a key that the Secret does not have',
    ask: 'pod/x',
    objects: [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'password' }, stringData: { pass: 'a' } },
      pod(main({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'password', key: 'word' } } }] })),
    ],
    words: [/word/, /key/i],
  },
  {
    mistake: 'a volume of a ConfigMap that does not exist',
    ask: 'deployment/x',
    objects: [deployment(mounting, {}, mount({ configMap: { name: 'pages' } }))],
    words: [/pages/],
  },
  {
    mistake: 'an item that the ConfigMap of a volume does not have',
    ask: 'pod/x',
    objects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pages' }, data: { 'a.html': 'a' } },
      pod(mounting, mount({ configMap: { name: 'pages', items: [{ key: 'b.html', path: 'b' }] } })),
    ],
    words: [/b\.html/],
  },
  {
    mistake: 'a directory of the machine that does not exist',
    ask: 'pod/x',
    objects: [pod(mounting, mount({ hostPath: { path: '/no/such/place', type: 'Directory' } }))],
    words: [/\/no\/such\/place/],
  },
  {
    mistake: 'a claim that does not exist',
    ask: 'deployment/x',
    objects: [deployment(mounting, {}, mount({ persistentVolumeClaim: { claimName: 'data' } }))],
    words: [/data/],
  },
  {
    mistake: 'runAsNonRoot with an image of root',
    ask: 'pod/x',
    objects: [pod(main({ securityContext: { runAsNonRoot: true } }))],
    words: [/root/i],
  },
  {
    mistake: 'a service account that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { serviceAccountName: 'robot' })],
    words: [/robot/],
  },
  // Programs that end.
  {
    mistake: 'a command with a typing error',
    ask: 'deployment/x',
    objects: [deployment(main({ command: ['/bin/helo'] }))],
    words: [/helo/],
  },
  {
    mistake: 'a file that may not be executed',
    ask: 'pod/x',
    objects: [pod(main({ command: ['/etc/passwd'] }))],
    words: [/permission|execut/i],
  },
  {
    mistake: 'a program that fails with a message',
    ask: 'deployment/x',
    objects: [deployment(shell('echo no database; exit 3'))],
    words: [/\b3\b/, /no database/],
  },
  {
    mistake: 'a program that ends at once without an error',
    ask: 'deployment/x',
    objects: [deployment(shell('echo done'))],
    words: [/\b(?:ended|ends|exits?|exited|completed?|finished)\b/i],
  },
  {
    mistake: 'more memory than the limit',
    ask: 'deployment/x',
    objects: [
      deployment(shell('head -c 100000000 /dev/zero | tail', { resources: { limits: { memory: '12Mi' } } })),
    ],
    words: [/memory/i],
  },
  {
    // Kubernetes replaces $$ by $.
    mistake: 'a program that ends itself by a signal',
    ask: 'pod/x',
    objects: [pod(shell("sh -c 'kill -SEGV $$$$'; exit $?"))],
    words: [/139|segmentation|SIGSEGV|signal 11/i],
  },
  {
    mistake: 'an init container that fails',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { initContainers: [{ ...shell('exit 5'), name: 'migrate' }] })],
    words: [/migrate/],
  },
  {
    mistake: 'an init container that waits for something that never comes',
    ask: 'pod/x',
    objects: [pod(main(), { initContainers: [{ ...shell('sleep 100000'), name: 'wait-for-db' }] })],
    words: [/wait-for-db/],
  },
  {
    mistake: 'a liveness probe at the wrong port',
    ask: 'deployment/x',
    objects: [
      deployment(
        main({
          livenessProbe: { httpGet: { path: '/', port: 9999 }, periodSeconds: 1, failureThreshold: 1 },
        }),
      ),
    ],
    words: [/liveness/i],
  },
  {
    mistake: 'a readiness probe that fails with a message',
    ask: 'deployment/x',
    objects: [deployment(main({ readinessProbe: probe('echo cache is cold; exit 1') }))],
    words: [/readiness|ready/i, /cache is cold/],
  },
  {
    mistake: 'a startup probe that never succeeds',
    ask: 'pod/x',
    objects: [pod(main({ startupProbe: probe('exit 1', { failureThreshold: 3 }) }))],
    words: [/startup/i],
  },
  {
    mistake: 'a postStart hook that fails',
    ask: 'pod/x',
    objects: [pod(main({ lifecycle: { postStart: { exec: { command: ['sh', '-c', 'exit 4'] } } } }))],
    words: [/postStart/i],
  },
  {
    mistake: 'a readiness gate that nothing sets',
    ask: 'pod/x',
    objects: [pod(main(), { readinessGates: [{ conditionType: 'example.org/balanced' }] })],
    words: [/example\.org\/balanced/],
  },
  {
    mistake: 'a volume that is larger than its limit',
    ask: 'pod/x',
    objects: [
      pod(
        shell('head -c 30000000 /dev/zero > /v/big; sleep 100000', {
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        }),
        { ...mount({ emptyDir: { sizeLimit: '1Mi' } }), restartPolicy: 'Never' },
      ),
    ],
    words: [/limit/i],
  },
  // Workloads.
  {
    mistake: 'a quota without room for pods',
    ask: 'deployment/x',
    objects: [object('v1', 'ResourceQuota', 'few', { hard: { pods: '0' } }), deployment()],
    words: [/quota/i, /few|pods/],
  },
  {
    mistake: 'a quota of memory, and a pod without a request',
    ask: 'deployment/x',
    objects: [object('v1', 'ResourceQuota', 'memory', { hard: { 'requests.memory': '1Gi' } }), deployment()],
    words: [/requests\.memory|memory/i, /quota|must|specify/i],
  },
  {
    mistake: 'a container beyond the LimitRange',
    ask: 'deployment/x',
    objects: [
      object('v1', 'LimitRange', 'small', { limits: [{ type: 'Container', max: { memory: '8Mi' } }] }),
      deployment(main({ resources: { limits: { memory: '64Mi' } } })),
    ],
    words: [/maximum|limit ?range|8Mi/i],
  },
  {
    mistake: 'a priority class that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { priorityClassName: 'urgent' })],
    words: [/urgent/],
  },
  {
    mistake: 'a policy that refuses the pods',
    ask: 'deployment/x',
    objects: [deployment(main({ securityContext: { privileged: true } }))],
    words: [/privileged|PodSecurity|baseline/i],
  },
  {
    mistake: 'a Deployment that is paused before its first pod',
    ask: 'deployment/x',
    objects: [deployment(main(), { paused: true })],
    words: [/paused/i],
  },
  {
    mistake: 'a StatefulSet whose first pod is never ready',
    ask: 'statefulset/x',
    objects: [
      workload('StatefulSet', main({ readinessProbe: probe('exit 1') }), { replicas: 3, serviceName: 'x' }),
    ],
    words: [/readiness/i],
  },
  {
    mistake: 'a Job that fails',
    ask: 'job/x',
    objects: [job(shell('exit 7'))],
    words: [/\b7\b/],
  },
  {
    mistake: 'a Job that exceeds its deadline',
    ask: 'job/x',
    objects: [job(shell('sleep 100000'), { activeDeadlineSeconds: 3 })],
    words: [/deadline/i],
  },
  {
    mistake: 'a suspended Job',
    ask: 'job/x',
    objects: [job(main(), { suspend: true })],
    words: [/suspend/i],
  },
  {
    mistake: 'an autoscaler of a Deployment that does not exist',
    ask: 'hpa/x',
    objects: [
      object('autoscaling/v2', 'HorizontalPodAutoscaler', 'x', {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        ...{ minReplicas: 1, maxReplicas: 3 },
      }),
    ],
    words: [/web/, /exist|found|no /i],
  },
  {
    mistake: 'an autoscaler by processor of pods without a request',
    ask: 'hpa/x',
    objects: [
      deployment(),
      object('autoscaling/v2', 'HorizontalPodAutoscaler', 'x', {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
        ...{ minReplicas: 1, maxReplicas: 3 },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
      }),
    ],
    words: [/cpu/i, /request/i],
  },
  // Services and volumes.
  {
    mistake: 'a selector with a typing error',
    ask: 'service/x',
    objects: [deployment(), service({ selector: { app: 'xx' } })],
    words: [/selector|select|match|label/i],
  },
  {
    mistake: 'a target port name that no container has',
    ask: 'service/x',
    objects: [deployment(), service({ selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http' }] })],
    words: [/http/, /port/i],
  },
  {
    mistake: 'a Service whose pods are never ready',
    ask: 'service/x',
    objects: [deployment(main({ readinessProbe: probe('exit 1') })), service({ selector: { app: 'x' } })],
    words: [/readiness/i],
  },
  {
    mistake: 'a Service of a Deployment with no replicas',
    ask: 'service/x',
    objects: [deployment(main(), { replicas: 0 }), service({ selector: { app: 'x' } })],
    words: [/replicas|scaled/i],
  },
  {
    mistake: 'an Ingress to a Service that does not exist',
    ask: 'ingress/x',
    objects: [ingress(backend('shop'))],
    words: [/shop/],
  },
  {
    mistake: 'an Ingress to a port that its Service does not have',
    ask: 'ingress/x',
    objects: [deployment(), service({ selector: { app: 'x' } }), ingress(backend('x', { number: 8080 }))],
    words: [/8080/],
  },
  {
    mistake: 'an Ingress of a class that does not exist',
    ask: 'ingress/x',
    objects: [
      deployment(),
      service({ selector: { app: 'x' } }),
      ingress({ ingressClassName: 'traefik', ...backend('x') }),
    ],
    words: [/traefik/],
  },
  {
    mistake: 'a certificate that does not exist',
    ask: 'ingress/x',
    objects: [
      deployment(),
      service({ selector: { app: 'x' }, ports: [{ port: 80, targetPort: 8080 }] }),
      ingress({ tls: [{ hosts: ['made.example'], secretName: 'made-tls' }], ...backend('x') }),
    ],
    words: [/made-tls/],
  },
  {
    mistake: 'a storage class that does not exist',
    ask: 'pod/x',
    objects: [
      claim({ storageClassName: 'ssd' }),
      pod(mounting, mount({ persistentVolumeClaim: { claimName: 'data' } })),
    ],
    words: [/ssd/],
  },
  {
    mistake: 'an object with a finalizer that nothing removes',
    ask: 'pod/x',
    objects: [pod(main(), {}, { finalizers: ['example.org/backup'] })],
    next: ['delete', 'pod', 'x', '--wait=false'],
    words: [/example\.org\/backup/],
  },
];

/** Labels of the namespace of a fault. */
export const labelsOf = ({ mistake }: MadeFault): Readonly<Record<string, string>> =>
  mistake.startsWith('a policy') ? { 'pod-security.kubernetes.io/enforce': 'baseline' } : {};
