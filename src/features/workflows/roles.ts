/** Roles for workflows and their runs. */
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import { read, write, writeEvents } from '../../kube-apiserver/rbac/bootstrap/rows.ts';

export const workflowRoles: FeatureRoles = {
  controllers: {
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
  },
  view: [
    [read, 'minik8s.io', 'workflows workflows/status workflowruns workflowruns/status workflowhistories'],
  ],
  edit: [
    [write, 'minik8s.io', 'workflows workflowruns'],
    ['create', 'minik8s.io', 'workflows/invoke'],
  ],
};
