/** Roles within the system namespaces, by NAMESPACE/NAME, and their bindings (facts of Kubernetes 1.32). */
import { type RoleRows, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';

export const namespaceRoles: RoleRows = {
  'kube-public/system:controller:bootstrap-signer': [
    [read, 'core', 'configmaps'],
    ['update', 'core', 'configmaps', 'cluster-info'],
    writeEvents,
  ],
  'kube-system/extension-apiserver-authentication-reader': [
    [read, 'core', 'configmaps', 'extension-apiserver-authentication'],
  ],
  'kube-system/system::leader-locking-kube-controller-manager': [
    ['watch', 'core', 'configmaps'],
    ['get update', 'core', 'configmaps', 'kube-controller-manager'],
    ['get list watch create update', 'coordination.k8s.io', 'leases'],
    ['get list watch create update', 'coordination.k8s.io', 'leasecandidates'],
  ],
  'kube-system/system::leader-locking-kube-scheduler': [
    ['watch', 'core', 'configmaps'],
    ['get update', 'core', 'configmaps', 'kube-scheduler'],
    ['get list watch create update', 'coordination.k8s.io', 'leases'],
    ['get list watch create update', 'coordination.k8s.io', 'leasecandidates'],
  ],
  'kube-system/system:controller:bootstrap-signer': [[read, 'core', 'secrets']],
  'kube-system/system:controller:cloud-provider': [['get list watch create', 'core', 'configmaps']],
};

export interface NamespaceBinding {
  readonly namespace: string;
  readonly name: string;
  readonly role: string;
  readonly users?: readonly string[];
  /** Names of accounts in kube-system. */
  readonly accounts?: readonly string[];
}

const controllerManager = 'system:kube-controller-manager';
const scheduler = 'system:kube-scheduler';

export const namespaceBindings: readonly NamespaceBinding[] = [
  {
    namespace: 'kube-system',
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    users: [controllerManager, scheduler],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    role: 'system::leader-locking-kube-controller-manager',
    users: [controllerManager],
    accounts: ['kube-controller-manager', 'leader-election-controller'],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    role: 'system::leader-locking-kube-scheduler',
    users: [scheduler],
    accounts: ['kube-scheduler'],
  },
  ...['bootstrap-signer', 'cloud-provider'].map((account) => bindingOfController('kube-system', account)),
  bindingOfController('kube-public', 'bootstrap-signer'),
];

export function bindingOfController(namespace: string, account: string): NamespaceBinding {
  const role = `system:controller:${account}`;
  return { namespace, name: role, role, accounts: [account] };
}
