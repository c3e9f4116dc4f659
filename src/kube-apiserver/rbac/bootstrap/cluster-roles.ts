/**
 * The ClusterRoles of users, nodes and components that every cluster has (facts of Kubernetes 1.32: the
 * components of a cluster and their charts rely on them).
 */
import { type RoleRows, read, readWrite, write, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';

/**
 * Roles that aggregate all roles with the label `rbac.authorization.k8s.io/aggregate-to-NAME`; the value is
 * the role that they are aggregated to in turn.
 */
export const aggregatedRoles: Readonly<Record<string, string | undefined>> = {
  admin: undefined,
  edit: 'admin',
  view: 'edit',
};

/** Roles that are aggregated, by name, with the role that aggregates them. */
export const rolesToAggregate: Readonly<Record<string, string>> = {
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
};

export const clusterRoles: RoleRows = {
  'cluster-admin': [
    ['*', '*', '*'],
    ['*', '*'],
  ],
  'system:aggregate-to-admin': [
    ['create', 'authorization.k8s.io', 'localsubjectaccessreviews'],
    [readWrite, 'rbac.authorization.k8s.io', 'rolebindings roles'],
  ],
  'system:aggregate-to-edit': [
    [read, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'],
    ['impersonate', 'core', 'serviceaccounts'],
    [write, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'],
    ['create', 'core', 'pods/eviction'],
    [
      write,
      'core',
      'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    ],
    ['create', 'core', 'serviceaccounts/token'],
    [
      write,
      'apps',
      'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
    ],
    [write, 'autoscaling', 'horizontalpodautoscalers'],
    [write, 'batch', 'cronjobs jobs'],
    [
      write,
      'extensions',
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
    ],
    [write, 'policy', 'poddisruptionbudgets'],
    [write, 'networking.k8s.io', 'ingresses networkpolicies'],
    [readWrite, 'coordination.k8s.io', 'leases'],
  ],
  'system:aggregate-to-view': [
    [
      read,
      'core',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
    ],
    [
      read,
      'core',
      'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
    ],
    [read, 'core', 'namespaces'],
    [read, 'discovery.k8s.io', 'endpointslices'],
    [
      read,
      'apps',
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
    ],
    [read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'],
    [read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'],
    [
      read,
      'extensions',
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
    ],
    [read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'],
    [read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'],
  ],
  'system:auth-delegator': [
    ['create', 'authentication.k8s.io', 'tokenreviews'],
    ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
  ],
  'system:basic-user': [
    ['create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'],
    ['create', 'authentication.k8s.io', 'selfsubjectreviews'],
  ],
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient': [
    ['create', 'certificates.k8s.io', 'certificatesigningrequests/nodeclient'],
  ],
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient': [
    ['create', 'certificates.k8s.io', 'certificatesigningrequests/selfnodeclient'],
  ],
  'system:certificates.k8s.io:kube-apiserver-client-approver': [
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kube-apiserver-client'],
  ],
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver': [
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kube-apiserver-client-kubelet'],
  ],
  'system:certificates.k8s.io:kubelet-serving-approver': [
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kubelet-serving'],
  ],
  'system:certificates.k8s.io:legacy-unknown-approver': [
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/legacy-unknown'],
  ],
  'system:cluster-trust-bundle-discovery': [[read, 'certificates.k8s.io', 'clustertrustbundles']],
  'system:discovery': [
    ['get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/'],
  ],
  'system:heapster': [
    [read, 'core', 'events namespaces nodes pods'],
    [read, 'extensions', 'deployments'],
  ],
  'system:kube-aggregator': [[read, 'core', 'endpoints services']],
  'system:kube-controller-manager': [
    writeEvents,
    ['create', 'coordination.k8s.io', 'leases'],
    ['get update', 'coordination.k8s.io', 'leases', 'kube-controller-manager'],
    ['create', 'core', 'secrets serviceaccounts'],
    ['delete', 'core', 'secrets'],
    ['get', 'core', 'configmaps namespaces secrets serviceaccounts'],
    ['update', 'core', 'secrets serviceaccounts'],
    ['create', 'authentication.k8s.io', 'tokenreviews'],
    ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
    ['list watch', '*', '*'],
    ['create', 'core', 'serviceaccounts/token'],
  ],
  'system:kube-dns': [['list watch', 'core', 'endpoints services']],
  'system:kube-scheduler': [
    writeEvents,
    ['create', 'coordination.k8s.io', 'leases'],
    ['get list watch update', 'coordination.k8s.io', 'leases', 'kube-scheduler'],
    [readWrite, 'coordination.k8s.io', 'leasecandidates'],
    [read, 'core', 'nodes'],
    ['get list watch delete', 'core', 'pods'],
    ['create', 'core', 'bindings pods/binding'],
    ['update patch', 'core', 'pods/status'],
    [read, 'core', 'replicationcontrollers services'],
    [read, 'apps extensions', 'replicasets'],
    [read, 'apps', 'statefulsets'],
    [read, 'policy', 'poddisruptionbudgets'],
    [read, 'core', 'persistentvolumeclaims persistentvolumes'],
    ['create', 'authentication.k8s.io', 'tokenreviews'],
    ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
    [read, 'storage.k8s.io', 'csinodes'],
    [read, 'storage.k8s.io', 'volumeattachments'],
    [read, 'core', 'namespaces'],
    [read, 'storage.k8s.io', 'csidrivers'],
    [read, 'storage.k8s.io', 'csistoragecapacities'],
  ],
  'system:kubelet-api-admin': [
    [read, 'core', 'nodes'],
    ['proxy', 'core', 'nodes'],
    ['*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats'],
  ],
  'system:monitoring': [
    ['get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'],
  ],
  'system:node': [
    ['create', 'authentication.k8s.io', 'tokenreviews'],
    ['create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'],
    [read, 'core', 'services'],
    ['get list watch create', 'core', 'nodes'],
    ['update patch', 'core', 'nodes/status'],
    ['update patch', 'core', 'nodes'],
    ['create update patch', 'core', 'events'],
    [read, 'core', 'pods'],
    ['create delete', 'core', 'pods'],
    ['update patch', 'core', 'pods/status'],
    ['create', 'core', 'pods/eviction'],
    [read, 'core', 'configmaps secrets'],
    ['get', 'core', 'persistentvolumeclaims persistentvolumes'],
    ['get', 'core', 'endpoints'],
    ['get list watch create', 'certificates.k8s.io', 'certificatesigningrequests'],
    ['get create update patch delete', 'coordination.k8s.io', 'leases'],
    ['get', 'storage.k8s.io', 'volumeattachments'],
    ['create', 'core', 'serviceaccounts/token'],
    ['get update patch', 'core', 'persistentvolumeclaims/status'],
    [read, 'storage.k8s.io', 'csidrivers'],
    ['get create update patch delete', 'storage.k8s.io', 'csinodes'],
    [read, 'node.k8s.io', 'runtimeclasses'],
    [read, 'certificates.k8s.io', 'clustertrustbundles'],
    ['get', 'core', 'serviceaccounts'],
    ['get list watch create', 'certificates.k8s.io', 'podcertificaterequests'],
  ],
  'system:node-bootstrapper': [
    ['get list watch create', 'certificates.k8s.io', 'certificatesigningrequests'],
  ],
  'system:node-problem-detector': [['get', 'core', 'nodes'], ['patch', 'core', 'nodes/status'], writeEvents],
  'system:node-proxier': [
    ['list watch', 'core', 'endpoints services'],
    [read, 'core', 'nodes'],
    writeEvents,
    ['list watch', 'discovery.k8s.io', 'endpointslices'],
    ['list watch', 'networking.k8s.io', 'servicecidrs'],
  ],
  'system:persistent-volume-provisioner': [
    ['get list watch create delete', 'core', 'persistentvolumes'],
    ['get list watch update', 'core', 'persistentvolumeclaims'],
    [read, 'storage.k8s.io', 'storageclasses'],
    ['watch', 'core', 'events'],
    writeEvents,
  ],
  'system:public-info-viewer': [['get', '/healthz /livez /readyz /version /version/']],
  'system:service-account-issuer-discovery': [
    [
      'get',
      '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
    ],
  ],
  'system:volume-scheduler': [
    ['get list watch update patch', 'core', 'persistentvolumes'],
    [read, 'storage.k8s.io', 'storageclasses'],
    ['get list watch update patch', 'core', 'persistentvolumeclaims'],
  ],
};
