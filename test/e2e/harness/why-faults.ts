/** Faults that are made on a real node, with the rule that must be named as the first cause. */

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export interface Fault {
  /** Namespace of its own. */
  readonly namespace: string;
  readonly objects: readonly Manifest[];
  /** Object to explain, in the form TYPE/NAME. */
  readonly subject: string;
  /** Rule of the first cause. */
  readonly rule: string;
  readonly says: RegExp;
  /** Expected last lines of a log. */
  readonly log?: RegExp;
  /**
   * Command lines that mend the fault, without the namespace; undefined if the first named change mends it.
   */
  readonly mend?: readonly (readonly string[])[];
  /** Returns the words of the change that is named. */
  readonly words: (line: string) => readonly string[];
}

const image = 'minik8s/hello:1';
const labels = { app: 'web' };

/** Splits a line at blanks, and removes the quotes of a quoted last word. */
const words = (line: string): readonly string[] => {
  const [, plain = line, quoted] = /^(.*) '(.*)'$/.exec(line) ?? [];
  return [...plain.split(' '), ...(quoted === undefined ? [] : [quoted])];
};

const podSpec = (container: object, more: object = {}) => ({
  terminationGracePeriodSeconds: 1,
  ...more,
  containers: [{ name: 'main', image, imagePullPolicy: 'IfNotPresent', ...container }],
});
const deployment = (container: object, more: object = {}, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec(container, more) },
    ...spec,
  },
});
const service = (spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { ports: [{ port: 80, targetPort: 8080 }], ...spec },
});
const ingress = (spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'web' },
  spec,
});
const toWeb = { defaultBackend: { service: { name: 'web', port: { number: 80 } } } };
const web = 'deployment/web';

export const faults: readonly Fault[] = [
  {
    namespace: 'why-image',
    objects: [deployment({ image: '127.0.0.1:1/nothing:1' })],
    subject: web,
    rule: 'pod-image',
    says: /127\.0\.0\.1:1\/nothing:1 cannot be pulled/,
    words,
  },
  {
    namespace: 'why-secret',
    objects: [deployment({ envFrom: [{ secretRef: { name: 'keys' } }] })],
    subject: web,
    rule: 'pod-references',
    says: /the Secret keys does not exist in namespace why-secret/,
    words,
  },
  {
    namespace: 'why-volume',
    objects: [
      deployment(
        { volumeMounts: [{ name: 'paint', mountPath: '/paint' }] },
        { volumes: [{ name: 'paint', configMap: { name: 'paint' } }] },
      ),
    ],
    subject: web,
    rule: 'pod-references',
    says: /the ConfigMap paint does not exist/,
    words,
  },
  {
    namespace: 'why-key',
    objects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'paint' } },
      deployment({
        env: [{ name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'paint', key: 'color' } } }],
      }),
    ],
    subject: web,
    rule: 'pod-references',
    says: /the ConfigMap paint has no key color/,
    words,
  },
  {
    namespace: 'why-selector',
    objects: [deployment({}, { nodeSelector: { 'why.example.com/disk': 'ssd' } })],
    subject: web,
    rule: 'pod-node-selector',
    says: /why\.example\.com\/disk=ssd/,
    words,
  },
  {
    namespace: 'why-cpu',
    objects: [deployment({ resources: { requests: { cpu: '1000' } } })],
    subject: web,
    rule: 'pod-resources',
    says: /lacks the least: cpu \(requested 1k, free /,
    mend: [['set', 'resources', web, '--requests=cpu=1m']],
    words,
  },
  {
    namespace: 'why-crash',
    objects: [deployment({ command: ['sh', '-c', 'echo no such table; exit 3'] })],
    subject: web,
    rule: 'pod-crash',
    says: /ends with exit code 3/,
    log: /no such table/,
    mend: [
      [
        'patch',
        'deployment',
        'web',
        '--type=json',
        '-p',
        '[{"op":"remove","path":"/spec/template/spec/containers/0/command"}]',
      ],
    ],
    words,
  },
  {
    namespace: 'why-command',
    objects: [deployment({ command: ['/bin/nothing-here'] })],
    subject: web,
    rule: 'pod-start-error',
    says: /has no such program/,
    mend: [
      [
        'patch',
        'deployment',
        'web',
        '--type=json',
        '-p',
        '[{"op":"remove","path":"/spec/template/spec/containers/0/command"}]',
      ],
    ],
    words,
  },
  {
    namespace: 'why-probe',
    objects: [deployment({ readinessProbe: { httpGet: { port: 9999 }, periodSeconds: 1 } })],
    subject: web,
    rule: 'pod-readiness',
    says: /readiness probe of container main fails/,
    mend: [
      [
        'patch',
        'deployment',
        'web',
        '--type=json',
        '-p',
        '[{"op":"remove","path":"/spec/template/spec/containers/0/readinessProbe"}]',
      ],
    ],
    words,
  },
  {
    namespace: 'why-quota',
    objects: [
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'none' },
        spec: { hard: { pods: '0' } },
      } as Manifest,
      deployment({}),
    ],
    subject: web,
    rule: 'workload-refused',
    says: /exceeded quota: none/,
    mend: [
      ['patch', 'quota', 'none', '-p', '{"spec":{"hard":{"pods":"5"}}}'],
      ['rollout', 'restart', web],
    ],
    words,
  },
  {
    namespace: 'why-account',
    objects: [deployment({}, { serviceAccountName: 'robot' })],
    subject: web,
    rule: 'workload-refused',
    says: /robot/,
    words,
  },
  {
    namespace: 'why-paused',
    objects: [deployment({}, {}, { paused: true })],
    subject: web,
    rule: 'deployment-paused',
    says: /the rollout is paused/,
    words,
  },
  {
    namespace: 'why-service',
    objects: [service({ selector: { app: 'wep' } }), deployment({})],
    subject: 'service/web',
    rule: 'service-selector',
    says: /selector app=wep matches no pod/,
    mend: [['set', 'selector', 'service', 'web', 'app=web']],
    words,
  },
  {
    namespace: 'why-scaled',
    objects: [service({ selector: labels }), deployment({}, {}, { replicas: 0 })],
    subject: 'service/web',
    rule: 'service-selector',
    says: /template of deployment web, which has no pods/,
    words,
  },
  {
    namespace: 'why-ingress',
    objects: [ingress(toWeb), deployment({})],
    subject: 'ingress/web',
    rule: 'ingress-service',
    says: /its Service web does not exist/,
    mend: [['expose', 'deployment', 'web', '--port=80', '--target-port=8080']],
    words,
  },
  {
    namespace: 'why-tls',
    objects: [
      service({ selector: labels }),
      deployment({}),
      ingress({ ...toWeb, ingressClassName: 'unknown' }),
    ],
    subject: 'ingress/web',
    rule: 'ingress-class',
    says: /IngressClass unknown does not exist/,
    words,
  },
  {
    namespace: 'why-claim',
    objects: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: {
          storageClassName: 'why-nothing',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Mi' } },
        },
      } as Manifest,
      deployment({}, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }),
    ],
    subject: web,
    rule: 'claim-class',
    says: /StorageClass why-nothing does not exist/,
    mend: [
      [
        'patch',
        'deployment',
        'web',
        '--type=json',
        '-p',
        '[{"op":"remove","path":"/spec/template/spec/volumes"}]',
      ],
      ['delete', 'pvc', 'data'],
    ],
    words,
  },
  {
    namespace: 'why-job',
    objects: [
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'work' },
        spec: {
          suspend: true,
          template: { spec: { ...podSpec({ command: ['true'] }), restartPolicy: 'Never' } },
        },
      } as Manifest,
    ],
    subject: 'job/work',
    rule: 'job-suspended',
    says: /suspended/,
    words,
  },
];
