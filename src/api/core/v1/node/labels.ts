/**
 * The labels that a node may set on itself (upstream: the kubelet's --node-labels and the plugin
 * NodeRestriction).
 */

/**
 * Label by which pods and volumes are bound to a machine. On a Node that its agent writes, the value is the
 * Node's name.
 */
export const hostnameLabel = 'kubernetes.io/hostname';
export const zoneLabel = 'topology.kubernetes.io/zone';
/** Label of a node that load balancers leave out (upstream: the service controller). */
export const excludedLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
/** Allowed domains with their subdomains, such as `a.kubelet.kubernetes.io/b`. */
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
  zoneLabel,
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
]);
/** Kubernetes' own domains, in which administrators mark nodes with roles, restrictions and exclusions. */
const reserved = /^([^/]+\.)?(kubernetes|k8s)\.io\//;

export const mayLabelItself = (label: string): boolean =>
  !reserved.test(label) || open.has(label) || openDomains.test(label);
