/**
 * Rights of this server's controllers beyond upstream's roles for them, as ClusterRoles `minik8s:NAME` for
 * accounts in kube-system.
 */
import { slurmClientRole } from '../../../api/minik8s/v1/slurm-client-pod.ts';
import { type RoleRows, type RuleRow, read, write, writeEvents } from './rows.ts';

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
  'dns-controller': [[read, 'minik8s.io', 'dnses'], ['update', 'minik8s.io', 'dnses/status'], writeEvents],
  'function-controller': [
    [read, 'minik8s.io', 'functions'],
    ['patch', 'minik8s.io', 'functions/status'],
    ['get list watch create delete', 'minik8s.io', 'functionversions'],
    ['update', 'minik8s.io', 'functionversions/status'],
    ['get list watch create patch delete', 'core', 'pods'],
    [read, 'core', 'nodes'],
    [read, 'coordination.k8s.io', 'leases'],
    writeEvents,
  ],
  'workflow-controller': [
    ['get list watch', 'minik8s.io', 'workflows'],
    ['update', 'minik8s.io', 'workflows/status'],
    ['get list watch create patch delete', 'minik8s.io', 'workflowruns'],
    ['update', 'minik8s.io', 'workflowruns/status'],
    ['create', 'minik8s.io', 'workflowhistories'],
    ['get list watch create delete', 'apps', 'controllerrevisions'],
    ['get list watch create patch delete', 'batch', 'jobs'],
    ['get', 'batch', 'cronjobs'],
    ['list', 'core', 'pods'],
    ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
    writeEvents,
  ],
  // The controller watches objects as the accounts of the triggers, not as itself.
  'trigger-controller': [
    [read, 'minik8s.io', 'functions triggers workflows'],
    ['update', 'minik8s.io', 'triggers/status'],
    ['get list watch create delete', 'minik8s.io', 'triggerevents'],
    ['patch', 'minik8s.io', 'triggerevents/status'],
    // Locations of the folders that nodes watch for triggers.
    ['get list watch create delete', 'minik8s.io', 'folderwatches'],
    [read, 'core', 'nodes persistentvolumes persistentvolumeclaims'],
    ['create', 'minik8s.io', 'functions/invoke workflowruns'],
    writeEvents,
  ],
  // The controller checks that the Secret of a connection exists, and binds clients to the clients' role, and
  // to no other.
  'slurm-controller': [
    ['get list watch patch delete', 'minik8s.io', 'slurmjobs'],
    ['get list watch create delete', 'core', 'pods'],
    ['get list watch create', 'core', 'serviceaccounts'],
    ['get list watch create', 'rbac.authorization.k8s.io', 'rolebindings'],
    ['bind', 'rbac.authorization.k8s.io', 'clusterroles', slurmClientRole],
    ['get', 'core', 'secrets'],
    writeEvents,
  ],
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

/** Roles of this server's own, which are bound when they are needed. */
export const ownClusterRoles: RoleRows = {
  // No Secrets: the Secret of the connection is mounted in the pod.
  [slurmClientRole]: [
    ['get list watch patch', 'minik8s.io', 'slurmjobs'],
    ['patch', 'minik8s.io', 'slurmjobs/status'],
    ['get list create', 'minik8s.io', 'slurmfiles'],
    ['get', 'core', 'configmaps'],
    ['get list watch create update', 'coordination.k8s.io', 'leases'],
  ],
};

/** Rules of the roles `view` and `edit` for this server's own kinds. */
export const ownRolesToAggregate: Readonly<Record<'view' | 'edit', readonly RuleRow[]>> = {
  view: [
    [
      read,
      'minik8s.io',
      'dnses dnses/status functions functions/status functionversions functionversions/status ' +
        'workflows workflows/status workflowruns workflowruns/status workflowhistories triggers triggers/status ' +
        'slurmjobs slurmjobs/status slurmfiles',
    ],
    [read, 'metrics.k8s.io', 'nodes pods'],
  ],
  edit: [
    [write, 'minik8s.io', 'dnses functions triggers workflows workflowruns slurmjobs'],
    // The client of a job creates these files.
    ['delete deletecollection', 'minik8s.io', 'slurmfiles'],
    // Events contain copies of objects. The cluster creates them; changing one replays it.
    ['get list watch update patch delete deletecollection', 'minik8s.io', 'triggerevents'],
    ['get', 'minik8s.io', 'triggerevents/status'],
    // The cluster creates versions; deleting one, for users who may change the function, rebuilds it.
    ['delete deletecollection', 'minik8s.io', 'functionversions'],
    ['create', 'minik8s.io', 'functions/invoke triggers/invoke workflows/invoke'],
  ],
};
