/** Roles for Slurm jobs and their files. */

import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import { read, write, writeEvents } from '../../kube-apiserver/rbac/bootstrap/rows.ts';
import { slurmClientRole } from './api/slurm-client-pod.ts';

export const slurmRoles: FeatureRoles = {
  controllers: {
    // The controller checks that the Secret of a connection exists, and binds clients to the clients' role,
    // and to no other.
    'slurm-controller': [
      ['get list watch patch delete', 'minik8s.io', 'slurmjobs'],
      ['get list watch create delete', 'core', 'pods'],
      ['get list watch create', 'core', 'serviceaccounts'],
      ['get list watch create', 'rbac.authorization.k8s.io', 'rolebindings'],
      ['bind', 'rbac.authorization.k8s.io', 'clusterroles', slurmClientRole],
      ['get', 'core', 'secrets'],
      writeEvents,
    ],
  },
  clusterRoles: {
    // No Secrets: the Secret of the connection is mounted in the pod.
    [slurmClientRole]: [
      ['get list watch patch', 'minik8s.io', 'slurmjobs'],
      ['patch', 'minik8s.io', 'slurmjobs/status'],
      ['get list create', 'minik8s.io', 'slurmfiles'],
      ['get', 'core', 'configmaps'],
      ['get list watch create update', 'coordination.k8s.io', 'leases'],
    ],
  },
  view: [[read, 'minik8s.io', 'slurmjobs slurmjobs/status slurmfiles']],
  edit: [
    [write, 'minik8s.io', 'slurmjobs'],
    // The client of a job creates these files.
    ['delete deletecollection', 'minik8s.io', 'slurmfiles'],
  ],
};
