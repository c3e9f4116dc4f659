/** Which labels a node may give itself (upstream: the kubelet's --node-labels and the plugin NodeRestriction). */

/** By it pods and volumes are bound to a machine: that of a node which writes its own Node is its name. */
export const hostnameLabel = 'kubernetes.io/hostname';
/** With what is below them, such as `a.kubelet.kubernetes.io/b`. */
const openDomains = /^([^/]+\.)?(kubelet|node)\.kubernetes\.io\//;
const open: ReadonlySet<string> = new Set([
  hostnameLabel,
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
]);
/** Kubernetes' own, which say what an administrator trusts a node with: roles, restrictions, exclusions. */
const reserved = /^([^/]+\.)?(kubernetes|k8s)\.io\//;

export const mayLabelItself = (label: string): boolean =>
  !reserved.test(label) || open.has(label) || openDomains.test(label);
