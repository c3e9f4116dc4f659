import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { formatLabels, listWithMore } from '../../../src/api/columns.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../src/api/core/v1/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node.ts';
import { podResource } from '../../../src/api/core/v1/pod.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { serviceResource } from '../../../src/api/core/v1/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { storedKinds } from '../../../src/api/registry.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { cells, decode, merge } from '../../fixtures/kinds.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const before = (seconds: number) => new Date(now - seconds * 1000).toISOString();

/** Name, and after it `(i)` for integers and `*` for `-o wide`; the order is kubectl's. */
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
  dnses: 'Name|Host|Paths|Ready|Age',
  replicasets: 'Name|Desired(i)|Current(i)|Ready(i)|Age|Containers*|Images*|Selector*',
  horizontalpodautoscalers: 'Name|Reference|Targets|MinPods|MaxPods|Replicas|Age',
  deployments: 'Name|Ready|Up-to-date|Available|Age|Containers*|Images*|Selector*',
};

for (const { plural, columns } of storedKinds) {
  test(`the columns of ${plural} are kubectl's`, () => {
    const layout = columns.map(
      ({ name, type, priority }) => `${name}${type === 'integer' ? '(i)' : ''}${priority === 1 ? '*' : ''}`,
    );
    assert.equal(layout.join('|'), layouts[plural]);
    assert.deepEqual(
      columns.filter(({ format }) => format === 'name').map(({ name }) => name),
      ['Name'],
    );
    for (const { description } of columns) assert.match(description, /\.$/);
  });
}

function testCells<T extends KubeObject>(
  kind: ResourceDefinition<T>,
  title: string,
  raw: object,
  expected: Readonly<Record<string, string | number>>,
): void {
  test(`${kind.singular}: ${title}`, () => {
    const head = {
      apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
      kind: kind.kind,
      metadata: {
        name: 'web',
        creationTimestamp: before(95),
        ...(kind.namespaced && { namespace: 'default' }),
      },
    };
    const found = cells(kind, decode(kind, merge(head, raw)), now);
    const wanted = Object.keys(expected).map((name) => [name, found[name]]);
    assert.deepEqual(Object.fromEntries(wanted), expected);
  });
}

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
  'headless, without anything',
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
  'without a balancer yet',
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

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      { name: 'a', image: 'x:1' },
      { name: 'b', image: 'y:2' },
    ],
  },
};
const workload = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
testCells(
  replicaSetResource,
  'new',
  { spec: workload },
  {
    Desired: 3,
    Current: 0,
    Ready: 0,
    Containers: 'a,b',
    Images: 'x:1,y:2',
    Selector: 'app=web',
  },
);
testCells(
  replicaSetResource,
  'at work',
  { spec: workload, status: { replicas: 2, readyReplicas: 1 } },
  {
    Desired: 3,
    Current: 2,
    Ready: 1,
  },
);
testCells(
  deploymentResource,
  'new',
  { spec: workload },
  {
    Ready: '0/3',
    'Up-to-date': 0,
    Available: 0,
    Containers: 'a,b',
    Images: 'x:1,y:2',
    Selector: 'app=web',
  },
);
testCells(
  deploymentResource,
  'at work',
  {
    spec: workload,
    status: { replicas: 4, readyReplicas: 3, updatedReplicas: 2, availableReplicas: 1 },
  },
  { Ready: '3/3', 'Up-to-date': 2, Available: 1 },
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
  'that says little',
  { involvedObject: {} },
  {
    'Last Seen': '<unknown>',
    'First Seen': '<unknown>',
    Source: '',
    Count: 1,
  },
);

test('selectable fields', () => {
  const read = <T extends KubeObject>(kind: ResourceDefinition<T>, raw: object) => {
    const object = decode(kind, raw);
    return Object.fromEntries(
      Object.entries(kind.selectableFields).map(([name, get]) => [name, get(object)]),
    );
  };
  const head = (kind: string) => ({ apiVersion: 'v1', kind, metadata: { name: 'a' } });
  const containers = [{ name: 'a', image: 'x' }];
  assert.deepEqual(read(podResource, { ...head('Pod'), spec: { containers } }), {
    'spec.nodeName': '',
    'spec.restartPolicy': 'Always',
    'spec.schedulerName': 'default-scheduler',
    'spec.serviceAccountName': '',
    'spec.hostNetwork': 'false',
    'status.phase': '',
    'status.podIP': '',
    'status.podIPs': '',
    'status.nominatedNodeName': '',
  });
  assert.deepEqual(
    read(podResource, {
      ...head('Pod'),
      spec: {
        containers,
        nodeName: 'n1',
        hostNetwork: true,
        serviceAccountName: 'sa',
        restartPolicy: 'Never',
      },
      status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], nominatedNodeName: 'n2' },
    }),
    {
      'spec.nodeName': 'n1',
      'spec.restartPolicy': 'Never',
      'spec.schedulerName': 'default-scheduler',
      'spec.serviceAccountName': 'sa',
      'spec.hostNetwork': 'true',
      'status.phase': 'Running',
      'status.podIP': '10.0.0.1',
      'status.podIPs': '10.0.0.1,fd00::1',
      'status.nominatedNodeName': 'n2',
    },
  );
  assert.deepEqual(read(nodeResource, head('Node')), { 'spec.unschedulable': 'false' });
  assert.deepEqual(read(namespaceResource, { ...head('Namespace'), status: { phase: 'Active' } }), {
    'status.phase': 'Active',
  });
  assert.deepEqual(read(secretResource, { ...head('Secret'), type: 'a/b' }), { type: 'a/b' });
  assert.deepEqual(read(serviceResource, { ...head('Service'), spec: { clusterIP: 'None' } }), {
    'spec.clusterIP': 'None',
    'spec.type': 'ClusterIP',
  });
  const found = read(eventResource, { ...head('Event'), ...event });
  assert.equal(found['involvedObject.name'], 'web');
  assert.equal(found['involvedObject.uid'], '');
  assert.equal(found['involvedObject.fieldPath'], 'spec.containers{web}');
  assert.deepEqual(
    [found.reason, found.type, found.source, found.reportingComponent],
    ['BackOff', 'Warning', 'kubelet', ''],
  );
  assert.equal(Object.keys(found).length, 11);
});

test('texts of cells', () => {
  assert.equal(formatLabels({ b: '2', a: '1' }), 'a=1,b=2');
  assert.equal(formatLabels({}), '<none>');
  assert.equal(listWithMore([], 3, '-'), '-');
  assert.equal(listWithMore(['a', 'b', 'c'], 3, '-'), 'a,b,c');
  assert.equal(listWithMore(['a', 'b', 'c', 'd', 'e'], 3, '-'), 'a,b,c + 2 more...');
});
