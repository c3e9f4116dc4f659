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

export const ns = '/api/v1/namespaces/default';
export const apps = '/apis/apps/v1/namespaces/default';
export const longAgo = '2020-01-02T03:04:05Z';

export const labels = { app: 'web', tier: 'front' };
export const annotations = { note: 'short', lines: 'one\ntwo', long: 'x'.repeat(160) };

export const probe = { initialDelaySeconds: 3, timeoutSeconds: 2, periodSeconds: 5, failureThreshold: 4 };
export const container = {
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
export const podSpec = {
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
export const templateSpec = { ...podSpec, nodeName: undefined };
export const template = { metadata: { labels, annotations: { a: 'b' } }, spec: templateSpec };
export const selector = { matchLabels: labels };

export const condition = (type: string, more: JsonObject = {}) => ({
  type,
  status: 'True',
  reason: 'Because',
  message: 'a message',
  lastTransitionTime: longAgo,
  ...more,
});

export const podStatus = {
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

export const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } };
