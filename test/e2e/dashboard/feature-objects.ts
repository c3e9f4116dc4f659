/** Objects of the features, which their pages show, in the namespace `shop`. */
import { helloImage } from '../harness/images.ts';
import { hostile } from './hostile.ts';

const namespace = 'shop';

/** Fails for the first attempt of each event, so that each becomes a dead letter once. */
const clerk = `seen = set()
def handler(event):
    if isinstance(event, dict) and "id" in event:
        if event["id"] not in seen:
            seen.add(event["id"])
            raise ValueError("the clerk is asleep")
    return {"got": event, "note": ${JSON.stringify(hostile)}}
`;

const workflow = {
  StartAt: 'Count',
  States: {
    Count: { Type: 'Pass', Result: { items: 3 }, ResultPath: '$.counted', Next: 'Many' },
    Many: {
      Type: 'Choice',
      Choices: [{ Variable: '$.counted.items', NumericGreaterThan: 5, Next: 'Large' }],
      Default: 'Small',
    },
    Large: { Type: 'Fail', Error: 'TooLarge', Cause: 'more than five' },
    Small: { Type: 'Pass', Result: 'a small order', End: true },
  },
};

const labels = { app: 'chatty' };
const chatty = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'chatty', namespace, labels },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            ...{ name: 'main', image: helloImage, imagePullPolicy: 'Never' },
            env: [{ name: 'TEXT', value: hostile }],
            command: ['sh', '-c', 'echo "$HOSTNAME begins"; echo "$TEXT"; while sleep 2; do echo tick; done'],
          },
        ],
      },
    },
  },
};

const pathTo = (name: string) => ({
  paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { number: 80 } } } }],
});

export const featureObjects: readonly object[] = [
  chatty,
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'front', namespace },
    spec: { rules: [{ host: 'shop.example', http: pathTo('web') }] },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'side-door', namespace },
    spec: {
      parentRefs: [{ name: 'edge' }],
      hostnames: ['side.example'],
      rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
    },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GRPCRoute',
    metadata: { name: 'calls', namespace },
    spec: {
      parentRefs: [{ name: 'edge' }],
      hostnames: ['calls.example'],
      rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
    },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'edge', namespace },
    spec: { gatewayClassName: 'minik8s', listeners: [{ name: 'http', protocol: 'HTTP', port: 80 }] },
  },
  {
    apiVersion: 'minik8s.io/v1',
    kind: 'Function',
    metadata: { name: 'clerk', namespace },
    spec: { runtime: 'python', files: { 'main.py': clerk }, idleSeconds: 600, maxScale: 1 },
  },
  {
    apiVersion: 'minik8s.io/v1',
    kind: 'Workflow',
    metadata: { name: 'order', namespace },
    spec: { definition: workflow },
  },
  {
    apiVersion: 'minik8s.io/v1',
    kind: 'Trigger',
    metadata: { name: 'letters', namespace },
    spec: {
      target: { name: 'clerk' },
      object: { apiVersion: 'v1', kind: 'ConfigMap', labelSelector: 'letter=yes', types: ['Created'] },
      retry: { maxAttempts: 1 },
      serviceAccountName: 'reader',
    },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'reader', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
  },
];

/** A job whose login host does not answer: it waits. */
export const waitingJob: readonly object[] = [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'no-slurm', namespace },
    stringData: { host: '127.0.0.1', port: '1', user: 'nobody', password: 'none', knownHosts: '' },
  },
  {
    apiVersion: 'minik8s.io/v1',
    kind: 'SlurmJob',
    metadata: { name: 'simulation', namespace },
    spec: { connection: { secretName: 'no-slurm' }, run: ['hostname'] },
  },
];
