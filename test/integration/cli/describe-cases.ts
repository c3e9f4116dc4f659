/** Objects of every kind that has a describer, for `ctl describe` beside kubectl's. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';

export interface DescribeCase {
  /** The words after `describe`. */
  readonly words: string;
  /** Collection in the API. */
  readonly path: string;
  readonly object: JsonObject;
  readonly status?: JsonObject;
}

const ns = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';
const longAgo = '2020-01-02T03:04:05Z';

export const labels = { app: 'web', tier: 'front' };
const annotations = { note: 'short', lines: 'one\ntwo', long: 'x'.repeat(160) };

const probe = { initialDelaySeconds: 3, timeoutSeconds: 2, periodSeconds: 5, failureThreshold: 4 };
const container = {
  name: 'main',
  image: 'nginx:1.27',
  command: ['sh', '-c', 'echo a\necho b'],
  args: ['x'],
  ports: [
    { name: 'web', containerPort: 80 },
    { containerPort: 5353, protocol: 'UDP' },
  ],
  resources: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '100m', memory: '32Mi' } },
  livenessProbe: { httpGet: { path: '/live?', port: 80, host: 'h' }, ...probe },
  readinessProbe: { exec: { command: ['true', 'x'] }, ...probe },
  startupProbe: { tcpSocket: { port: 80 }, ...probe },
  envFrom: [{ configMapRef: { name: 'cm', optional: true } }, { prefix: 'P_', secretRef: { name: 's' } }],
  env: [
    { name: 'PLAIN', value: 'a\nb' },
    { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
    { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    { name: 'MAP', valueFrom: { configMapKeyRef: { name: 'm', key: 'k', optional: true } } },
  ],
  volumeMounts: [
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'conf', mountPath: '/etc/conf', readOnly: true, subPath: 'a' },
  ],
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
};
const podSpec = {
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  nodeName: 'node-1',
  initContainers: [{ name: 'init', image: 'busybox' }],
  containers: [container, { name: 'plain', image: 'busybox' }],
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ operator: 'Exists' }, { key: 'a', value: 'b', effect: 'NoSchedule' }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: labels },
    },
  ],
  volumes: [
    { name: 'tmp', emptyDir: { sizeLimit: '1Gi', medium: 'Memory' } },
    { name: 'host', hostPath: { path: '/srv', type: 'Directory' } },
    { name: 'conf', configMap: { name: 'cm', optional: true } },
    { name: 'sec', secret: { secretName: 's' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'nfs', nfs: { server: 's', path: '/p' } },
    { name: 'down', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'all',
      projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] },
    },
  ],
};
const templateSpec = { ...podSpec, nodeName: undefined };
const template = { metadata: { labels, annotations: { a: 'b' } }, spec: templateSpec };
const selector = { matchLabels: labels };

const condition = (type: string, more: JsonObject = {}) => ({
  type,
  status: 'True',
  reason: 'Because',
  message: 'a message',
  lastTransitionTime: longAgo,
  ...more,
});

const podStatus = {
  phase: 'Running',
  qosClass: 'Burstable',
  hostIP: '192.168.0.1',
  podIP: '10.244.0.2',
  podIPs: [{ ip: '10.244.0.2' }],
  startTime: longAgo,
  conditions: ['Initialized', 'Ready'].map((type) => ({ type, status: 'True', lastTransitionTime: longAgo })),
  initContainerStatuses: [
    {
      ...{
        name: 'init',
        ready: true,
        restartCount: 0,
        image: 'busybox',
        imageID: 'sha256:1',
        containerID: 'docker://1',
      },
      state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: longAgo, finishedAt: longAgo } },
    },
  ],
  containerStatuses: [
    {
      ...{
        name: 'main',
        ready: true,
        restartCount: 2,
        image: 'nginx',
        imageID: 'sha256:2',
        containerID: 'docker://2',
      },
      state: { running: { startedAt: longAgo } },
      lastState: {
        terminated: {
          exitCode: 137,
          signal: 9,
          reason: 'OOMKilled',
          startedAt: longAgo,
          finishedAt: longAgo,
        },
      },
    },
    {
      ...{ name: 'plain', ready: false, restartCount: 0, image: 'busybox', imageID: '' },
      state: { waiting: { reason: 'ImagePullBackOff' } },
    },
  ],
};

const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } };

export const cases: readonly DescribeCase[] = [
  {
    words: 'pod web',
    path: `${ns}/pods`,
    object: { metadata: { name: 'web', labels, annotations }, spec: podSpec },
    status: podStatus,
  },
  {
    words: 'node node-1',
    path: '/api/v1/nodes',
    object: {
      metadata: { name: 'node-1', labels: { 'node-role.kubernetes.io/control-plane': '', zone: 'a' } },
      spec: {
        taints: [
          { key: 'b', effect: 'NoSchedule' },
          { key: 'a', value: 'v', effect: 'NoExecute' },
        ],
        podCIDR: '10.244.0.0/24',
        podCIDRs: ['10.244.0.0/24'],
      },
    },
    status: {
      capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '50Gi', 'example.com/gpu': '2' },
      allocatable: {
        cpu: '3500m',
        memory: '7Gi',
        pods: '110',
        'ephemeral-storage': '40Gi',
        'example.com/gpu': '2',
      },
      addresses: [{ type: 'InternalIP', address: '192.168.0.1' }],
      conditions: [condition('Ready', { lastHeartbeatTime: longAgo })],
      nodeInfo: {
        ...{
          machineID: 'm',
          systemUUID: 'u',
          bootID: 'b',
          kernelVersion: '6.1',
          osImage: 'Debian',
          operatingSystem: 'linux',
        },
        ...{
          architecture: 'amd64',
          containerRuntimeVersion: 'docker://28',
          kubeletVersion: 'v1.32.0',
          kubeProxyVersion: '',
        },
      },
    },
  },
  {
    words: 'service web',
    path: `${ns}/services`,
    object: {
      metadata: { name: 'web', labels, annotations },
      spec: {
        type: 'NodePort',
        selector: labels,
        ports: [
          { name: 'http', port: 80, targetPort: 'web', nodePort: 30080 },
          { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353, nodePort: 30053 },
        ],
      },
    },
  },
  {
    words: 'endpointslice web-1',
    path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    object: {
      metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [
        { name: 'http', port: 8080, protocol: 'TCP' },
        { name: 'dns', port: 5353, protocol: 'UDP' },
      ],
      endpoints: ['1', '2', '3', '4'].map((end) => ({
        addresses: [`10.244.0.${end}`],
        conditions: { ready: end !== '2' },
        nodeName: 'node-1',
        targetRef: { kind: 'Pod', name: `web-${end}`, namespace: 'default' },
      })),
    },
  },
  {
    words: 'endpoints other',
    path: `${ns}/endpoints`,
    object: {
      metadata: { name: 'other' },
      subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports: [{ name: 'a', port: 80 }] }],
    },
  },
  {
    words: 'deployment web',
    path: `${apps}/deployments`,
    object: {
      metadata: { name: 'web', labels, annotations },
      spec: { replicas: 3, selector, template, strategy: rolling },
    },
    status: {
      ...{ replicas: 3, updatedReplicas: 2, availableReplicas: 1, unavailableReplicas: 2 },
      conditions: [condition('Available'), condition('Progressing')],
    },
  },
  {
    words: 'replicaset web',
    path: `${apps}/replicasets`,
    object: { metadata: { name: 'web', labels }, spec: { replicas: 2, selector, template } },
    status: { replicas: 1, conditions: [condition('ReplicaFailure')] },
  },
  {
    words: 'statefulset web',
    path: `${apps}/statefulsets`,
    object: {
      metadata: { name: 'web', labels },
      spec: {
        ...{ replicas: 2, selector, template, serviceName: 'web' },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data', labels: { a: 'b' } },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  },
  {
    words: 'daemonset web',
    path: `${apps}/daemonsets`,
    object: { metadata: { name: 'web', labels }, spec: { selector, template } },
    status: { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberMisscheduled: 1, numberReady: 2 },
  },
  {
    words: 'job once',
    path: '/apis/batch/v1/namespaces/default/jobs',
    object: {
      metadata: { name: 'once', labels },
      spec: {
        ...{
          parallelism: 2,
          completions: 4,
          completionMode: 'Indexed',
          activeDeadlineSeconds: 60,
          ttlSecondsAfterFinished: 9,
        },
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } },
      },
    },
    status: { active: 1, ready: 1, succeeded: 2, failed: 1, completedIndexes: '0,2', startTime: longAgo },
  },
  {
    words: 'cronjob nightly',
    path: '/apis/batch/v1/namespaces/default/cronjobs',
    object: {
      metadata: { name: 'nightly' },
      spec: {
        ...{ schedule: '0 3 * * *', startingDeadlineSeconds: 30 },
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } } },
        },
      },
    },
    status: { lastScheduleTime: longAgo, active: [{ kind: 'Job', name: 'nightly-1', namespace: 'default' }] },
  },
  {
    words: 'pvc data',
    path: `${ns}/persistentvolumeclaims`,
    object: {
      metadata: { name: 'data', labels },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'fast',
        resources: { requests: { storage: '1Gi' } },
      },
    },
    status: { phase: 'Pending', conditions: [condition('Resizing', { lastProbeTime: longAgo })] },
  },
  {
    words: 'pv vol',
    path: '/api/v1/persistentvolumes',
    object: {
      metadata: { name: 'vol' },
      spec: {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        local: { path: '/mnt/a' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'kubernetes.io/hostname', operator: 'In', values: ['a', 'b'] },
                  { key: 'x', operator: 'Exists' },
                ],
              },
            ],
          },
        },
      },
    },
  },
  {
    words: 'storageclass fast',
    path: '/apis/storage.k8s.io/v1/storageclasses',
    object: {
      metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.com/disk',
      parameters: { b: '2', a: '1' },
      allowVolumeExpansion: true,
      reclaimPolicy: 'Delete',
      mountOptions: ['ro'],
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  },
  {
    words: 'configmap cm',
    path: `${ns}/configmaps`,
    object: {
      metadata: { name: 'cm', labels, annotations },
      data: { key: 'one\ntwo' },
      binaryData: { bin: 'AAEC' },
    },
  },
  {
    words: 'secret s',
    path: `${ns}/secrets`,
    object: { metadata: { name: 's', labels }, type: 'Opaque', data: { k: 'aHVudGVy' } },
  },
  {
    words: 'serviceaccount robot',
    path: `${ns}/serviceaccounts`,
    object: { metadata: { name: 'robot', labels }, imagePullSecrets: [{ name: 's' }, { name: 'gone' }] },
  },
  {
    words: 'resourcequota q',
    path: `${ns}/resourcequotas`,
    object: { metadata: { name: 'q' }, spec: { hard: { cpu: '2', pods: '10', 'requests.memory': '2Gi' } } },
    status: {
      hard: { cpu: '2', pods: '10', 'requests.memory': '2Gi' },
      used: { cpu: '500m', pods: '3', 'requests.memory': '512Mi' },
    },
  },
  {
    words: 'limitrange l',
    path: `${ns}/limitranges`,
    object: {
      metadata: { name: 'l' },
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' }, defaultRequest: { cpu: '100m' } },
        ],
      },
    },
  },
  { words: 'namespace default', path: '', object: {} },
  {
    words: 'role reader',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
    object: {
      metadata: { name: 'reader', labels },
      rules: [
        { apiGroups: ['', 'apps'], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'], verbs: ['update'] },
      ],
    },
  },
  { words: 'clusterrole cluster-admin', path: '', object: {} },
  {
    words: 'rolebinding readers',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
    object: {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [
        { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
        { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'g' },
      ],
    },
  },
  { words: 'clusterrolebinding cluster-admin', path: '', object: {} },
  {
    words: 'hpa web',
    path: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    object: {
      metadata: { name: 'web', labels },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        ...{ minReplicas: 1, maxReplicas: 5 },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
          },
          {
            type: 'Resource',
            resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '64Mi' } },
          },
        ],
        behavior: {
          scaleDown: {
            stabilizationWindowSeconds: 60,
            policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }],
          },
        },
      },
    },
    status: {
      ...{ currentReplicas: 2, desiredReplicas: 3 },
      conditions: [condition('AbleToScale')],
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 30, averageValue: '30m' } },
        },
      ],
    },
  },
  {
    words: 'pdb web',
    path: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    object: { metadata: { name: 'web' }, spec: { minAvailable: '50%', selector } },
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
  },
  {
    words: 'ingress web',
    path: '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    object: {
      metadata: { name: 'web', labels, annotations },
      spec: {
        ingressClassName: 'own',
        tls: [{ secretName: 's', hosts: ['a.example', 'b.example'] }],
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  backend: { service: { name: 'web', port: { number: 80 } } },
                },
                {
                  path: '/dns',
                  pathType: 'Exact',
                  backend: { service: { name: 'web', port: { name: 'dns' } } },
                },
                {
                  path: '/gone',
                  pathType: 'Exact',
                  backend: { service: { name: 'gone', port: { number: 1 } } },
                },
              ],
            },
          },
        ],
      },
    },
  },
  {
    words: 'ingressclass own',
    path: '/apis/networking.k8s.io/v1/ingressclasses',
    object: {
      metadata: { name: 'own' },
      spec: {
        controller: 'example.com/in',
        parameters: { apiGroup: 'example.com', kind: 'P', name: 'p', scope: 'Cluster' },
      },
    },
  },
  {
    words: 'networkpolicy np',
    path: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    object: {
      metadata: { name: 'np' },
      spec: {
        podSelector: selector,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [
              { podSelector: selector, namespaceSelector: {} },
              { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] } },
            ],
            ports: [{ port: 80 }, { port: 8000, endPort: 8010, protocol: 'UDP' }],
          },
          {},
        ],
      },
    },
  },
  {
    words: 'priorityclass high',
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: { metadata: { name: 'high' }, value: 1000, description: 'for the web' },
  },
];
