/**
 * Roles for images. An image's name has one meaning in the whole cluster, so that loading one changes what
 * pods of all namespaces run: the roles `view`, `edit` and `admin` do not allow it.
 */
import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

export const imageRoles: FeatureRoles = {
  clusterRoles: {
    'minik8s:image-loader': [
      [`${read} ${write}`, 'minik8s.io', 'images'],
      ['create', 'minik8s.io', 'images/upload'],
    ],
  },
  view: [],
  edit: [],
};
