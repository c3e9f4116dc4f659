import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventResource } from '../../../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { secretResource } from '../../../../../src/api/core/v1/secret.ts';
import { serviceResource } from '../../../../../src/api/core/v1/service/service.ts';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../../src/apimachinery/resource-definition.ts';
import { decode } from '../../../../fixtures/kinds.ts';
import { before } from '../../column-cells.ts';

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

test('each kind has the selectable fields of Kubernetes', () => {
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
