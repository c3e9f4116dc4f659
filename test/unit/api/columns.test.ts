import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLabels, listWithMore } from '../../../src/api/columns.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { storedKinds } from '../../../src/features/kinds.ts';
import { before, testCells } from './column-cells.ts';

/**
 * Columns of kinds whose own tests do not name every column. After the name: `(i)` for integers and `*` for
 * `-o wide`. The order is kubectl's.
 */
const layouts: Readonly<Record<string, string>> = {
  pods: 'Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*',
  namespaces: 'Name|Status|Age',
  nodes:
    'Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*',
  services: 'Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector*',
  endpoints: 'Name|Endpoints|Age',
  configmaps: 'Name|Data|Age',
  secrets: 'Name|Type|Data|Age',
  serviceaccounts: 'Name|Secrets|Age',
  podtemplates: 'Name|Containers|Images|Pod Labels',
  events: 'Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*',
  endpointslices: 'Name|AddressType|Ports|Endpoints|Age',
  leases: 'Name|Holder|Age',
  certificatesigningrequests: 'Name|Age|SignerName|Requestor|RequestedDuration|Condition',
  clustertrustbundles: 'Name|SignerName',
  podcertificaterequests:
    'Name|PodName|ServiceAccountName|NodeName|SignerName|State|UnverifiedUserAnnotations',
  roles: 'Name|Created At',
  clusterroles: 'Name|Created At',
  rolebindings: 'Name|Role|Age|Users*|Groups*|ServiceAccounts*',
  clusterrolebindings: 'Name|Role|Age|Users*|Groups*|ServiceAccounts*',
  persistentvolumes:
    'Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode*',
  persistentvolumeclaims:
    'Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode*',
  storageclasses: 'Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age',
  csidrivers: 'Name|AttachRequired|PodInfoOnMount|StorageCapacity|TokenRequests|RequiresRepublish|Modes|Age',
  csinodes: 'Name|Drivers(i)|Age',
  csistoragecapacities: 'Name|StorageClassName|Capacity',
  volumeattachments: 'Name|Attacher|PV|Node|Attached|Age',
  volumeattributesclasses: 'Name|DriverName|Age',
  storageversionmigrations: 'Name|Resource|Status',
  flowschemas: 'Name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL',
  prioritylevelconfigurations: 'Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age',
  apiservices: 'Name|Service|Available|Age',
  dnses: 'Name|Host|Paths|Ready|Age',
  replicasets: 'Name|Desired(i)|Current(i)|Ready(i)|Age|Containers*|Images*|Selector*',
  daemonsets:
    'Name|Desired(i)|Current(i)|Ready(i)|Up-to-date(i)|Available(i)|Node Selector|Age|Containers*|Images*|Selector*',
  statefulsets: 'Name|Ready|Age|Containers*|Images*',
  controllerrevisions: 'Name|Controller|Revision|Age',
  replicationcontrollers: 'Name|Desired(i)|Current(i)|Ready(i)|Age|Containers*|Images*|Selector*',
  jobs: 'Name|Status|Completions|Duration|Age|Containers*|Images*|Selector*',
  cronjobs: 'Name|Schedule|Timezone|Suspend|Active(i)|Last Schedule|Age|Containers*|Images*|Selector*',
  poddisruptionbudgets: 'Name|Min Available|Max Unavailable|Allowed Disruptions(i)|Age',
  resourcequotas: 'Name|Age|Request|Limit',
  limitranges: 'Name|Created At',
  ingresses: 'Name|Class|Hosts|Address|Ports|Age',
  ingressclasses: 'Name|Controller|Parameters|Age',
  ipaddresses: 'Name|ParentRef|Age',
  servicecidrs: 'Name|CIDRs|Age',
  mutatingwebhookconfigurations: 'Name|Webhooks(i)|Age',
  validatingadmissionpolicies: 'Name|Validations(i)|ParamKind|Age',
  validatingadmissionpolicybindings: 'Name|PolicyName|ParamRef|Age',
  validatingwebhookconfigurations: 'Name|Webhooks(i)|Age',
  networkpolicies: 'Name|Pod-Selector|Age',
  priorityclasses: 'Name|Value(i)|Global-Default|Age|PreemptionPolicy',
  runtimeclasses: 'Name|Handler|Age',
  horizontalpodautoscalers: 'Name|Reference|Targets|MinPods|MaxPods|Replicas|Age',
  deployments: 'Name|Ready|Up-to-date|Available|Age|Containers*|Images*|Selector*',
};

for (const [plural, expected] of Object.entries(layouts))
  test(`the columns of ${plural} are kubectl's`, () => {
    const { columns } = storedKinds.find((kind) => kind.plural === plural) ?? assert.fail('not served');
    const layout = columns.map(
      ({ name, type, priority }) => `${name}${type === 'integer' ? '(i)' : ''}${priority === 1 ? '*' : ''}`,
    );
    assert.equal(layout.join('|'), expected);
  });

for (const { plural, columns } of storedKinds)
  test(`the columns of ${plural} are named and described`, () => {
    const names = columns.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      columns.filter(({ format }) => format === 'name').map(({ name }) => name),
      ['Name'],
    );
    for (const { description } of columns) assert.match(description, /\.$/);
  });
testCells(
  namespaceResource,
  'active',
  { status: { phase: 'Active' } },
  { Name: 'web', Status: 'Active', Age: '95s' },
);
testCells(
  configMapResource,
  'both kinds of data',
  { data: { a: '', b: '' }, binaryData: { c: '' } },
  { Data: 3 },
);
testCells(configMapResource, 'empty', {}, { Data: 0 });
testCells(secretResource, 'of the usual type', { stringData: { a: 'x' } }, { Type: 'Opaque', Data: 1 });
testCells(leaseResource, 'held', { spec: { holderIdentity: 'n1' } }, { Holder: 'n1' });
testCells(leaseResource, 'free', {}, { Holder: '' });

const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
testCells(
  nodeResource,
  'new',
  {},
  {
    Status: 'Unknown',
    Roles: '<none>',
    Version: '',
    'Internal-IP': '<none>',
    'External-IP': '<none>',
    'OS-Image': '<unknown>',
    'Kernel-Version': '<unknown>',
    'Container-Runtime': '<unknown>',
  },
);
testCells(nodeResource, 'silent', ready('Unknown'), { Status: 'NotReady' });
testCells(
  nodeResource,
  'ready',
  {
    metadata: {
      labels: {
        'node-role.kubernetes.io/worker': '',
        'node-role.kubernetes.io/control-plane': '',
        'kubernetes.io/role': 'edge',
        'node-role.kubernetes.io/': '',
        'kubernetes.io/os': 'linux',
      },
    },
    spec: { unschedulable: true },
    status: {
      ...ready('True').status,
      addresses: [
        { type: 'Hostname', address: 'n1' },
        { type: 'InternalIP', address: '192.168.0.2' },
        { type: 'ExternalIP', address: '192.0.2.1' },
      ],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '6.1.0',
        osImage: 'Debian GNU/Linux 12',
        containerRuntimeVersion: 'docker://20.10',
        kubeletVersion: 'v1.32.0',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  },
  {
    Status: 'Ready,SchedulingDisabled',
    Roles: 'control-plane,edge,worker',
    Version: 'v1.32.0',
    'Internal-IP': '192.168.0.2',
    'External-IP': '192.0.2.1',
    'OS-Image': 'Debian GNU/Linux 12',
    'Kernel-Version': '6.1.0',
    'Container-Runtime': 'docker://20.10',
  },
);

testCells(
  serviceResource,
  'with a cluster IP',
  {
    spec: {
      clusterIP: '10.96.0.9',
      selector: { b: '2', a: '1' },
      ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }],
    },
  },
  {
    Type: 'ClusterIP',
    'Cluster-IP': '10.96.0.9',
    'External-IP': '<none>',
    'Port(s)': '80/TCP,53/UDP',
    Selector: 'a=1,b=2',
  },
);
testCells(
  serviceResource,
  'headless, without any addresses or ports',
  { spec: { clusterIP: 'None' } },
  {
    'Cluster-IP': 'None',
    'Port(s)': '<none>',
    Selector: '<none>',
  },
);
testCells(
  serviceResource,
  'with node ports',
  {
    spec: {
      type: 'NodePort',
      externalIPs: ['192.0.2.1', '192.0.2.2'],
      ports: [{ port: 80, nodePort: 30080 }],
    },
  },
  { 'External-IP': '192.0.2.1,192.0.2.2', 'Port(s)': '80:30080/TCP' },
);
testCells(
  serviceResource,
  'without an address of a load balancer yet',
  { spec: { type: 'LoadBalancer' } },
  { 'External-IP': '<pending>' },
);
testCells(
  serviceResource,
  'with a balancer',
  {
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.7' }, { hostname: 'lb.example.com' }] } },
  },
  { 'External-IP': '192.0.2.7,lb.example.com' },
);
testCells(
  serviceResource,
  'elsewhere',
  { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
  {
    'Cluster-IP': '<none>',
    'External-IP': 'db.example.com',
  },
);

testCells(
  endpointSliceResource,
  'empty',
  { addressType: 'IPv4' },
  { AddressType: 'IPv4', Ports: '<unset>', Endpoints: '<unset>' },
);
testCells(
  endpointSliceResource,
  'long',
  {
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1', '10.0.0.2'] },
      { addresses: ['10.0.0.3'] },
      { addresses: ['10.0.0.4'] },
    ],
    ports: [{ port: 80 }, { name: 'any' }, {}],
  },
  { Ports: '80,any,*', Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...' },
);

const event = {
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', fieldPath: 'spec.containers{web}' },
  type: 'Warning',
  reason: 'BackOff',
  message: ' restarting \n',
  count: 4,
  firstTimestamp: before(600),
  lastTimestamp: before(30),
  source: { component: 'kubelet', host: 'n1' },
};
testCells(eventResource, 'of an older recorder', event, {
  'Last Seen': '30s',
  Type: 'Warning',
  Reason: 'BackOff',
  Object: 'pod/web',
  Subobject: 'spec.containers{web}',
  Source: 'kubelet, n1',
  Message: 'restarting',
  'First Seen': '10m',
  Count: 4,
  Name: 'web',
});
testCells(
  eventResource,
  'of a newer recorder',
  {
    involvedObject: { kind: 'Node' },
    eventTime: before(600),
    reportingComponent: 'scheduler',
    reportingInstance: 's-1',
    series: { count: 7, lastObservedTime: before(5) },
  },
  { 'Last Seen': '5s', 'First Seen': '10m', Object: 'node', Source: 'scheduler, s-1', Count: 7 },
);
testCells(
  eventResource,
  'with few fields',
  { involvedObject: {} },
  {
    'Last Seen': '<unknown>',
    'First Seen': '<unknown>',
    Source: '',
    Count: 1,
  },
);

test('cells show labels and long lists as kubectl does', () => {
  assert.equal(formatLabels({ b: '2', a: '1' }), 'a=1,b=2');
  assert.equal(formatLabels({}), '<none>');
  assert.equal(listWithMore([], 3, '-'), '-');
  assert.equal(listWithMore(['a', 'b', 'c'], 3, '-'), 'a,b,c');
  assert.equal(listWithMore(['a', 'b', 'c', 'd', 'e'], 3, '-'), 'a,b,c + 2 more...');
});
