/** A typical pod of a Deployment: two containers, with probes, running. */
const at = '2026-01-01T00:00:00Z';
const container = (name: string) => ({
  name,
  image: `registry.example/team/${name}:1.27.3`,
  env: Array.from({ length: 4 }, (_, index) => ({ name: `SETTING_${index}`, value: `value ${index}` })),
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
});
const hex = (number: number, length: number) => number.toString(16).padStart(length, '0');
const toleration = (key: string) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
});

export const typicalPod = (number: number) => {
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  const workload = `web-${number % 200}-5d8c7b6f9`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${workload}-${hex(number, 5)}`,
      namespace: `team-${number % 20}`,
      uid: `00000000-0000-4000-8000-${hex(number, 12)}`,
      resourceVersion: '',
      creationTimestamp: new Date(Date.parse(at) + number * 1000).toISOString().replace('.000Z', 'Z'),
      labels: { app: 'web', 'pod-template-hash': '5d8c7b6f9' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: workload, uid: workload, controller: true },
      ],
    },
    spec: {
      nodeName: `node-${number % 50}`,
      containers: ['server', 'sidecar'].map(container),
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      serviceAccountName: 'default',
      tolerations: ['not-ready', 'unreachable'].map(toleration),
    },
    status: {
      phase: 'Running',
      hostIP: `192.0.2.${number % 50}`,
      podIP: address,
      podIPs: [{ ip: address }],
      qosClass: 'Burstable',
      startTime: at,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: at,
      })),
      containerStatuses: ['server', 'sidecar'].map((name) => ({
        name,
        image: `registry.example/team/${name}:1.27.3`,
        imageID: `sha256:${'a'.repeat(64)}`,
        containerID: `docker://${hex(number, 63)}${name.length}`,
        ready: true,
        restartCount: number % 7,
        state: { running: { startedAt: at } },
      })),
    },
  };
};
