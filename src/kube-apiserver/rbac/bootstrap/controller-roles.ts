/**
 * Rights of controllers of Kubernetes 1.32 that minik8s does not have: when an administrator adds such a
 * controller, its role exists. The other controllers declare their rights in their own files.
 */
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';

export const absentControllers: Readonly<Record<string, AccountRights>> = {
  'attachdetach-controller': {
    kubernetes: [
      ['list watch', 'core', 'persistentvolumeclaims persistentvolumes'],
      [read, 'core', 'nodes'],
      ['update patch', 'core', 'nodes/status'],
      ['list watch', 'core', 'pods'],
      writeEvents,
      ['get list watch create delete', 'storage.k8s.io', 'volumeattachments'],
      [read, 'storage.k8s.io', 'csidrivers'],
      [read, 'storage.k8s.io', 'csinodes'],
    ],
  },
  'legacy-service-account-token-cleaner': {
    kubernetes: [
      ['get', 'core', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'],
      ['patch delete', 'core', 'secrets'],
    ],
  },
  'route-controller': {
    kubernetes: [['list watch', 'core', 'nodes'], ['patch', 'core', 'nodes/status'], writeEvents],
  },
  'ttl-controller': { kubernetes: [['list watch update patch', 'core', 'nodes'], writeEvents] },
  'validatingadmissionpolicy-status-controller': {
    kubernetes: [
      [read, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'],
      ['get update patch', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'],
      writeEvents,
    ],
  },
};
