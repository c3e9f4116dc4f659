/** Pods, nodes, Services and workloads that describe prints as kubectl does. */
import {
  annotations,
  apps,
  condition,
  type DescribeCase,
  labels,
  longAgo,
  ns,
  podSpec,
  podStatus,
  rolling,
  selector,
  template,
} from './describe-objects.ts';

export const workloadCases: readonly DescribeCase[] = [
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
];
