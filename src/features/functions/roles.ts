/** Roles for functions and their versions. */
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import { read, write, writeEvents } from '../../kube-apiserver/rbac/bootstrap/rows.ts';

export const functionRoles: FeatureRoles = {
  controllers: {
    'function-controller': [
      [read, 'minik8s.io', 'functions'],
      ['patch', 'minik8s.io', 'functions/status'],
      ['get list watch create delete', 'minik8s.io', 'functionversions'],
      ['update', 'minik8s.io', 'functionversions/status'],
      ['get list watch create patch delete', 'core', 'pods'],
      [read, 'core', 'nodes'],
      [read, 'coordination.k8s.io', 'leases'],
      writeEvents,
    ],
  },
  view: [[read, 'minik8s.io', 'functions functions/status functionversions functionversions/status']],
  edit: [
    [write, 'minik8s.io', 'functions'],
    // The cluster creates versions; deleting one, for users who may change the function, rebuilds it.
    ['delete deletecollection', 'minik8s.io', 'functionversions'],
    ['create', 'minik8s.io', 'functions/invoke'],
  ],
};
