/** Roles for triggers and their events. */
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import { read, write, writeEvents } from '../../kube-apiserver/rbac/bootstrap/rows.ts';

export const triggerRoles: FeatureRoles = {
  controllers: {
    // The controller watches objects as the accounts of the triggers, not as itself.
    'trigger-controller': [
      [read, 'minik8s.io', 'functions triggers workflows'],
      ['update', 'minik8s.io', 'triggers/status'],
      ['get list watch create delete', 'minik8s.io', 'triggerevents'],
      ['patch', 'minik8s.io', 'triggerevents/status'],
      // Locations of the folders that nodes watch for triggers.
      ['get list watch create delete', 'minik8s.io', 'folderwatches'],
      [read, 'core', 'nodes persistentvolumes persistentvolumeclaims'],
      ['create', 'minik8s.io', 'functions/invoke workflowruns'],
      writeEvents,
    ],
  },
  view: [[read, 'minik8s.io', 'triggers triggers/status']],
  edit: [
    [write, 'minik8s.io', 'triggers'],
    // Events contain copies of objects. The cluster creates them; changing one replays it.
    ['get list watch update patch delete deletecollection', 'minik8s.io', 'triggerevents'],
    ['get', 'minik8s.io', 'triggerevents/status'],
    ['create', 'minik8s.io', 'triggers/invoke'],
  ],
};
