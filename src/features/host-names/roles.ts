/** Roles for Dns objects. */

import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

export const hostNameRoles: FeatureRoles = {
  view: [[read, 'minik8s.io', 'dnses dnses/status']],
  edit: [[write, 'minik8s.io', 'dnses']],
};
