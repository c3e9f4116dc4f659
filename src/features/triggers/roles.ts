/** Roles for triggers and their events. */

import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

export const triggerRoles: FeatureRoles = {
  view: [[read, 'minik8s.io', 'triggers triggers/status']],
  edit: [
    [write, 'minik8s.io', 'triggers'],
    // Events contain copies of objects. Only the cluster creates events; a change of an event replays it.
    ['get list watch update patch delete deletecollection', 'minik8s.io', 'triggerevents'],
    ['get', 'minik8s.io', 'triggerevents/status'],
    ['create', 'minik8s.io', 'triggers/invoke'],
  ],
};
