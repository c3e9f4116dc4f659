/**
 * Rights of this server's controllers beyond upstream's roles for them, as ClusterRoles `minik8s:NAME` for
 * accounts in kube-system.
 */
import { type RoleRows, type RuleRow, read, writeEvents } from './rows.ts';

/** Rights by account. */
export const ownControllerRoles: RoleRows = {
  // The controller approves serving certificates too. Machines that wait for approval are Nodes, which it
  // creates, approves and deletes.
  'certificate-controller': [
    ['get create update delete', 'core', 'nodes'],
    ['update', 'core', 'nodes/status'],
    ['update', 'certificates.k8s.io', 'certificatesigningrequests'],
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kubelet-serving'],
  ],
  // The controller looks up pods that were created and deleted during a gap of its watch.
  'daemon-set-controller': [['get', 'core', 'pods']],
  'event-ttl-controller': [['get list watch delete', 'core', 'events']],
  // The controller deletes mirrored Endpoints that belong to the Service itself again.
  'endpointslicemirroring-controller': [['delete', 'core', 'endpoints']],
  // The controller reads the addresses of masters.
  'service-controller': [[read, 'discovery.k8s.io', 'endpointslices']],
  // The controller checks that the store answers before it declares a node unreachable.
  'node-controller': [['list', 'coordination.k8s.io', 'leases']],
  // These controllers look up pods that their cache does not show for too long.
  'job-controller': [['get', 'core', 'pods']],
  'replicaset-controller': [['get', 'core', 'pods']],
  'replication-controller': [['get', 'core', 'pods']],
  'pod-garbage-collector': [['update', 'core', 'pods/status']],
  // The autoscaler reads its targets from a cache, and only changes the number of replicas.
  'horizontal-pod-autoscaler': [
    ['patch', '*', '*/scale'],
    [read, 'apps', 'deployments replicasets statefulsets'],
    [read, 'core', 'replicationcontrollers'],
  ],
  // The provisioner creates the volumes of this server's own classes, like an external program for upstream.
  'volume-provisioner': [
    ['get list watch create update delete', 'core', 'persistentvolumes'],
    ['update', 'core', 'persistentvolumes/status'],
    ['get list watch update', 'core', 'persistentvolumeclaims'],
    [read, 'core', 'nodes'],
    [read, 'storage.k8s.io', 'storageclasses'],
    writeEvents,
  ],
  // Upstream's controller has no account of its own.
  'tokens-controller': [
    ['get', 'core', 'serviceaccounts'],
    ['update delete', 'core', 'secrets'],
  ],
  // An immutable ConfigMap of that name can only be replaced.
  'root-ca-cert-publisher': [['delete', 'core', 'configmaps']],
};

/** Rules that are added to roles of upstream. */
export const ownRowsOfRoles: RoleRows = {
  // Upstream's paths, and the paths of this server's own pages.
  'system:monitoring': [['get', '/metrics/*']],
};

/** Rules of the role `view` beyond upstream's. */
export const ownRowsOfView: readonly RuleRow[] = [[read, 'metrics.k8s.io', 'nodes pods']];
