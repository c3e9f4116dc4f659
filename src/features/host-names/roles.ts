/** Roles for Dns objects. */
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import { read, write, writeEvents } from '../../kube-apiserver/rbac/bootstrap/rows.ts';

export const hostNameRoles: FeatureRoles = {
  controllers: {
    'dns-controller': [[read, 'minik8s.io', 'dnses'], ['update', 'minik8s.io', 'dnses/status'], writeEvents],
  },
  view: [[read, 'minik8s.io', 'dnses dnses/status']],
  edit: [[write, 'minik8s.io', 'dnses']],
};
