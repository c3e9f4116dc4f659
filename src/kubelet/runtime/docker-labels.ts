/** Labels of the agent's containers and sandboxes in Docker. */

/**
 * Label names. The labels of Kubernetes have the kubelet's names, so that cAdvisor and similar tools
 * recognize the containers.
 */
export const labels = {
  owner: 'minik8s.io/node',
  role: 'minik8s.io/role',
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
  ip: 'minik8s.io/pod-ip',
  sandbox: 'minik8s.io/sandbox',
  image: 'minik8s.io/image',
  specHash: 'minik8s.io/spec-hash',
  attempt: 'minik8s.io/attempt',
  crashes: 'minik8s.io/crashes',
  gracePeriod: 'minik8s.io/grace-period',
  stopTurn: 'minik8s.io/stop-turn',
  preStop: 'minik8s.io/pre-stop',
  terminationMessage: 'minik8s.io/termination-message',
  hostname: 'minik8s.io/hostname',
  allocation: 'minik8s.io/allocation',
  devices: 'minik8s.io/devices',
} as const;
