/** Volumes, settings, roles, policies and network objects that describe prints as kubectl does. */
import {
  annotations,
  condition,
  type DescribeCase,
  labels,
  longAgo,
  ns,
  selector,
} from './describe-objects.ts';

export const otherCases: readonly DescribeCase[] = [
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
