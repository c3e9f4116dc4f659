/**
 * What controllers of this server do beyond upstream's roles for them, as ClusterRoles `minik8s:NAME` for accounts in kube-system, and
 * what the scheduler does so.
 */
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
  'dns-controller': [[read, 'minik8s.io', 'dnses'], ['update', 'minik8s.io', 'dnses/status'], writeEvents],
  // What was mirrored and is the Service's own again is deleted.
  'endpointslicemirroring-controller': [['delete', 'core', 'endpoints']],
  // It asks whether the store answers before it calls a node lost.
  'node-controller': [['list', 'coordination.k8s.io', 'leases']],
  'pod-garbage-collector': [['update', 'core', 'pods/status']],
  // Upstream's has no account of its own.
  'tokens-controller': [
    ['get', 'core', 'serviceaccounts'],
    ['update delete', 'core', 'secrets'],
  ],
  // An immutable ConfigMap of that name can only be replaced.
  'root-ca-cert-publisher': [['delete', 'core', 'configmaps']],
};

/** Why a pod waits is told in an annotation too. */
export const ownSchedulerRole: readonly RuleRow[] = [['patch', 'core', 'pods']];

/** What the roles `view` and `edit` have of kinds that are this server's own. */
export const ownRolesToAggregate: Readonly<Record<'view' | 'edit', readonly RuleRow[]>> = {
  view: [[read, 'minik8s.io', 'dnses dnses/status']],
  edit: [[write, 'minik8s.io', 'dnses']],
};
