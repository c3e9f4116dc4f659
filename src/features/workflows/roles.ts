/** Roles for workflows and their runs. */

import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

export const workflowRoles: FeatureRoles = {
  view: [
    [read, 'minik8s.io', 'workflows workflows/status workflowruns workflowruns/status workflowhistories'],
  ],
  edit: [
    [write, 'minik8s.io', 'workflows workflowruns'],
    ['create', 'minik8s.io', 'workflows/invoke'],
  ],
};
