/**
 * What controllers of this server do beyond upstream's roles for them, as ClusterRoles `minik8s:NAME` for accounts in kube-system.
 */
import { slurmClientRole } from '../../../api/minik8s/v1/slurm-client-pod.ts';
import { type RoleRows, type RuleRow, read, write, writeEvents } from './rows.ts';

/** By account. */
export const ownControllerRoles: RoleRows = {
  // It approves serving certificates too. Machines that wait for approval are Nodes, which it makes, frees and takes away.
  'certificate-controller': [
    ['get create update delete', 'core', 'nodes'],
    ['update', 'core', 'nodes/status'],
    ['update', 'certificates.k8s.io', 'certificatesigningrequests'],
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kubelet-serving'],
  ],
  // A pod that was made and removed where their watch had a gap is looked up.
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
  // It watches objects as the accounts of the triggers, not as itself.
  'trigger-controller': [
    [read, 'minik8s.io', 'functions triggers workflows'],
    ['update', 'minik8s.io', 'triggers/status'],
    ['get list watch create delete', 'minik8s.io', 'triggerevents'],
    ['patch', 'minik8s.io', 'triggerevents/status'],
    // Where the folders are that nodes watch for it.
    ['get list watch create delete', 'minik8s.io', 'folderwatches'],
    [read, 'core', 'nodes persistentvolumes persistentvolumeclaims'],
    ['create', 'minik8s.io', 'functions/invoke workflowruns'],
    writeEvents,
  ],
  // It looks whether the Secret of a connection is there, and gives clients the role of clients, and no other.
  'slurm-controller': [
    ['get list watch patch delete', 'minik8s.io', 'slurmjobs'],
    ['get list watch create delete', 'core', 'pods'],
    ['get list watch create', 'core', 'serviceaccounts'],
    ['get list watch create', 'rbac.authorization.k8s.io', 'rolebindings'],
    ['bind', 'rbac.authorization.k8s.io', 'clusterroles', slurmClientRole],
    ['get', 'core', 'secrets'],
    writeEvents,
  ],
  // What was mirrored and is the Service's own again is deleted.
  'endpointslicemirroring-controller': [['delete', 'core', 'endpoints']],
  // It reads which addresses are those of masters.
  'service-controller': [[read, 'discovery.k8s.io', 'endpointslices']],
  // It asks whether the store answers before it calls a node lost.
  'node-controller': [['list', 'coordination.k8s.io', 'leases']],
  // They look up on the server what their cache does not show for too long.
  'job-controller': [['get', 'core', 'pods']],
  'replicaset-controller': [['get', 'core', 'pods']],
  'replication-controller': [['get', 'core', 'pods']],
  'pod-garbage-collector': [['update', 'core', 'pods/status']],
  // What it scales it reads from a cache, and it changes nothing but the number.
  'horizontal-pod-autoscaler': [
    ['patch', '*', '*/scale'],
    [read, 'apps', 'deployments replicasets statefulsets'],
    [read, 'core', 'replicationcontrollers'],
  ],
  // It makes the volumes of this server's own classes, as a program beside upstream's does.
  'volume-provisioner': [
    ['get list watch create update delete', 'core', 'persistentvolumes'],
    ['update', 'core', 'persistentvolumes/status'],
    ['get list watch update', 'core', 'persistentvolumeclaims'],
    [read, 'core', 'nodes'],
    [read, 'storage.k8s.io', 'storageclasses'],
    writeEvents,
  ],
  // Upstream's has no account of its own.
  'tokens-controller': [
    ['get', 'core', 'serviceaccounts'],
    ['update delete', 'core', 'secrets'],
  ],
  // An immutable ConfigMap of that name can only be replaced.
  'root-ca-cert-publisher': [['delete', 'core', 'configmaps']],
};

/** What roles of upstream's allow here besides. */
export const ownRowsOfRoles: RoleRows = {
  // Upstream's paths, and those of this server's own pages.
  'system:monitoring': [['get', '/metrics/*']],
};

/** Roles of this server's own that are bound where they are needed. */
export const ownClusterRoles: RoleRows = {
  // Not Secrets: that of the connection is in the pod.
  [slurmClientRole]: [
    ['get list watch patch', 'minik8s.io', 'slurmjobs'],
    ['patch', 'minik8s.io', 'slurmjobs/status'],
    ['get list create', 'minik8s.io', 'slurmfiles'],
    ['get', 'core', 'configmaps'],
    ['get list watch create update', 'coordination.k8s.io', 'leases'],
  ],
};

/** What the roles `view` and `edit` have of kinds that are this server's own. */
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
    // The client of a job makes them.
    ['delete deletecollection', 'minik8s.io', 'slurmfiles'],
    // They hold what objects were. They are made by the cluster; to change one is to replay it.
    ['get list watch update patch delete deletecollection', 'minik8s.io', 'triggerevents'],
    ['get', 'minik8s.io', 'triggerevents/status'],
    // A version is made by the cluster; who may change a function may see it made anew.
    ['delete deletecollection', 'minik8s.io', 'functionversions'],
    ['create', 'minik8s.io', 'functions/invoke triggers/invoke workflows/invoke'],
  ],
};
