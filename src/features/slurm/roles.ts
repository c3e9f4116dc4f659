/** Roles for Slurm jobs and their files. */

import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import { slurmClientRole } from './api/slurm-client-pod.ts';

export const slurmRoles: FeatureRoles = {
  clusterRoles: {
    // Access to Secrets is not granted: the Secret of the connection is mounted in the pod.
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
