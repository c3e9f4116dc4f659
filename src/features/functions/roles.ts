/** Roles for functions and their versions. */

import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

export const functionRoles: FeatureRoles = {
  view: [[read, 'minik8s.io', 'functions functions/status functionversions functionversions/status']],
  edit: [
    [write, 'minik8s.io', 'functions'],
    // The cluster creates versions. A version that is deleted is created and built again.
    ['delete deletecollection', 'minik8s.io', 'functionversions'],
    ['create', 'minik8s.io', 'functions/invoke'],
  ],
};
