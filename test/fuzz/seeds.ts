/**
 * One object of each kind that the server accepts, by group and kind, without head and name: the base of
 * every broken object.
 */
import { newKey } from '../../src/kubelet/environment/certificate-key.ts';
import { makeKey, makeRequest } from '../../src/pki/new-request.ts';
import { testAuthority } from '../fixtures/certificates.ts';

const pem = await makeRequest(await makeKey(), { commonName: 'a' });
const { certificate: authority } = await testAuthority();
const { request: stub } = await newKey('ED25519');
const request = Buffer.from(pem).toString('base64');
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const selector = { matchLabels: { a: 'b' } };
const access = (g: string, v: string) => ({
  resourceAttributes: { group: g, verb: v, resource: 'pods', namespace: 'default' },
});
const role = { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] };
const binding = {
  subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
  roleRef: { kind: 'ClusterRole', name: 'web', apiGroup: 'rbac.authorization.k8s.io' },
};
const hpa = {
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, maxReplicas: 3 },
};
export const seeds: Record<string, object> = {
  '/Pod': { spec: template.spec },
  '/Namespace': {},
  '/Node': {},
  '/Service': { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } },
  '/Endpoints': { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 1 }] }] },
  '/ConfigMap': { data: { a: 'b' } },
  '/Secret': { data: { a: 'YQ==' } },
  '/ServiceAccount': {},
  '/PodTemplate': { template },
  '/Event': { involvedObject: { namespace: 'default', name: 'web', kind: 'Pod' } },
  'events.k8s.io/Event': {
    eventTime: '2026-01-01T00:00:00.000000Z',
    regarding: { namespace: 'default', name: 'web', kind: 'Pod' },
    type: 'Normal',
    reason: 'r',
    action: 'a',
    reportingController: 'a/b',
    reportingInstance: 'i',
  },
  'discovery.k8s.io/EndpointSlice': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['1.2.3.4'] }],
    ports: [{ port: 1, name: 'a' }],
  },
  'coordination.k8s.io/Lease': { spec: { holderIdentity: 'a', leaseDurationSeconds: 3 } },
  'apps/ReplicaSet': { spec: { selector, template } },
  'apps/Deployment': { spec: { selector, template } },
  'apps/DaemonSet': { spec: { selector, template } },
  'apps/StatefulSet': { spec: { selector, template, serviceName: 'x' } },
  'apps/ControllerRevision': { revision: 1, data: { a: 1 } },
  '/ReplicationController': { spec: { selector: { a: 'b' }, template } },
  'batch/Job': { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
  'batch/CronJob': {
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
    },
  },
  'policy/PodDisruptionBudget': { spec: { selector, minAvailable: 1 } },
  '/ResourceQuota': { spec: { hard: { cpu: '1' } } },
  '/LimitRange': { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } },
  'networking.k8s.io/Ingress': {
    spec: {
      rules: [
        {
          host: 'a.b',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'a', port: { number: 80 } } } },
            ],
          },
        },
      ],
    },
  },
  'networking.k8s.io/IngressClass': { spec: { controller: 'a.b/c' } },
  'networking.k8s.io/IPAddress': { spec: { parentRef: { resource: 'things', name: 'a' } } },
  'networking.k8s.io/ServiceCIDR': { spec: { cidrs: ['203.0.113.0/24'] } },
  'networking.k8s.io/NetworkPolicy': {
    spec: { podSelector: selector, ingress: [{ from: [{ ipBlock: { cidr: '1.2.3.0/24' } }] }] },
  },
  'apiregistration.k8s.io/APIService': {
    spec: {
      group: 'a.b',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { namespace: 'a', name: 'b' },
    },
  },
  'scheduling.k8s.io/PriorityClass': { value: 3 },
  'apiextensions.k8s.io/CustomResourceDefinition': {
    spec: {
      ...{ group: 'a.example.com', scope: 'Namespaced', names: { plural: 'as', kind: 'A' } },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  },
  'node.k8s.io/RuntimeClass': { handler: 'a' },
  'autoscaling/HorizontalPodAutoscaler': hpa,
  'certificates.k8s.io/ClusterTrustBundle': { spec: { trustBundle: authority } },
  'certificates.k8s.io/PodCertificateRequest': {
    spec: {
      ...{ signerName: 'a.b/c', podName: 'a', podUID: 'p', serviceAccountName: 's', serviceAccountUID: 's' },
      ...{ nodeName: 'n', nodeUID: 'n', stubPKCS10Request: stub },
    },
  },
  'certificates.k8s.io/CertificateSigningRequest': {
    spec: { request, signerName: 'a.b/c', usages: ['client auth'] },
  },
  'rbac.authorization.k8s.io/Role': role,
  'rbac.authorization.k8s.io/ClusterRole': role,
  'rbac.authorization.k8s.io/RoleBinding': binding,
  'rbac.authorization.k8s.io/ClusterRoleBinding': binding,
  '/PersistentVolume': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
  },
  '/PersistentVolumeClaim': {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  'storage.k8s.io/StorageClass': { provisioner: 'a.b/c' },
  'storage.k8s.io/CSIDriver': { spec: {} },
  'storage.k8s.io/CSINode': { spec: { drivers: [{ name: 'a', nodeID: 'b' }] } },
  'storage.k8s.io/CSIStorageCapacity': { storageClassName: 'a', capacity: '1Gi' },
  'storagemigration.k8s.io/StorageVersionMigration': { spec: { resource: { resource: 'a' } } },
  'storage.k8s.io/VolumeAttributesClass': { driverName: 'a.b/c', parameters: { a: 'b' } },
  'storage.k8s.io/VolumeAttachment': {
    spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } },
  },
  'flowcontrol.apiserver.k8s.io/FlowSchema': {
    spec: {
      priorityLevelConfiguration: { name: 'a' },
      matchingPrecedence: 1000,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'a' } }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': {
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 3,
        limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
      },
    },
  },
  'authorization.k8s.io/SelfSubjectAccessReview': { spec: access('', 'get') },
  'authorization.k8s.io/SubjectAccessReview': { spec: { ...access('', 'get'), user: 'u' } },
  'authorization.k8s.io/LocalSubjectAccessReview': { spec: { ...access('', 'get'), user: 'u' } },
  'authorization.k8s.io/SelfSubjectRulesReview': { spec: { namespace: 'default' } },
  'authentication.k8s.io/TokenReview': { spec: { token: 'abc' } },
  'authentication.k8s.io/SelfSubjectReview': {},
  'minik8s.io/Function': { spec: { image: 'app:1' } },
  'minik8s.io/FunctionVersion': { spec: { function: 'f', image: 'app:1' } },
  'minik8s.io/Workflow': {
    spec: {
      definition: { StartAt: 'A', States: { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Succeed' } } },
    },
  },
  'minik8s.io/WorkflowRun': { spec: { workflow: 'web', input: { a: [1] } } },
  'minik8s.io/WorkflowHistory': {
    spec: { run: 'r', entries: [{ id: 1, type: 'ExecutionStarted', time: '2026-01-01T00:00:00Z' }] },
  },
  'minik8s.io/Trigger': { spec: { target: { name: 'f' }, http: { path: '/a' } } },
  'minik8s.io/TriggerEvent': {
    spec: { trigger: 't', id: '1', type: 't', source: '/s', time: '2026-01-01T00:00:00Z', data: { a: [1] } },
  },
  'minik8s.io/SlurmJob': { spec: { connection: { secretName: 'a' }, run: ['hostname'] } },
  'minik8s.io/SlurmFile': {
    spec: { job: 'a', jobUID: 'u', kind: 'Output', path: 'stdout', offset: 0, length: 3, data: 'AAEC' },
  },
  'minik8s.io/FolderWatch': {
    spec: {
      trigger: 't',
      nodeName: 'n',
      source: '/s',
      since: '2026-01-01T00:00:00Z',
      folder: '/srv/in',
      types: ['Created'],
    },
  },
  'minik8s.io/Image': {
    metadata: { name: 'a-1-29b9927560' },
    spec: {
      image: 'docker.io/library/a:1',
      config: { digest: `sha256:${'a'.repeat(64)}`, size: 1 },
      layers: [{ digest: `sha256:${'b'.repeat(64)}`, size: 1 }],
    },
  },
  'minik8s.io/Dns': { spec: { host: 'a.b', paths: [{ path: '/', serviceName: 'a', servicePort: 80 }] } },
};
