import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csiDriverResource } from '../../../../src/api/storage/v1/csi-driver.ts';
import { csiNodeResource } from '../../../../src/api/storage/v1/csi-node.ts';
import { csiStorageCapacityResource } from '../../../../src/api/storage/v1/csi-storage-capacity.ts';
import { cells, created, testCreate, testUpdate } from '../../../fixtures/kinds.ts';

const apiVersion = 'storage.k8s.io/v1';
const driver = { apiVersion, kind: 'CSIDriver', metadata: { name: 'disk.example.com' }, spec: {} };
const node = {
  apiVersion,
  kind: 'CSINode',
  metadata: { name: 'n1' },
  spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n1' }] },
};
const capacity = {
  apiVersion,
  kind: 'CSIStorageCapacity',
  metadata: { name: 'room', namespace: 'default' },
  storageClassName: 'fast',
};

testCreate(csiDriverResource, driver, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  ['no specification', { spec: null }],
  [
    'an invalid policy',
    { spec: { fsGroupPolicy: 'X' } },
    'spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"',
  ],
  ['modes', { spec: { volumeLifecycleModes: ['Ephemeral', 'Persistent'] } }],
  [
    'invalid modes',
    { spec: { volumeLifecycleModes: ['X', 'Ephemeral', ''] } },
    'spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral"',
    'spec.volumeLifecycleModes: Unsupported value: "": supported values: "Persistent", "Ephemeral"',
  ],
  [
    'two tokens for one audience',
    { spec: { tokenRequests: [{}, { audience: 'a' }, {}, { audience: 'a', expirationSeconds: 1 }] } },
    'spec.tokenRequests[2].audience: Duplicate value: ""',
    'spec.tokenRequests[3].audience: Duplicate value: "a"',
  ],
  [
    'a token with too short a validity',
    { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 599 }] } },
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ],
  [
    'a token with too long a validity',
    { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 4294967297 }] } },
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^3',
  ],
  [
    'tokens with the minimum and the maximum validity',
    {
      spec: {
        tokenRequests: [
          { audience: 'a', expirationSeconds: 600 },
          { audience: 'b', expirationSeconds: 4294967296 },
        ],
      },
    },
  ],
]);

testUpdate(csiDriverResource, driver, [
  ['all mutable fields', { spec: { podInfoOnMount: true, tokenRequests: [{ audience: 'a' }] } }],
  [
    'immutable fields',
    { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } },
    'spec.attachedRequired: Invalid value: false: field is immutable',
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ],
]);

testCreate(csiNodeResource, node, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  ['no specification', { spec: null }],
  [
    'a driver without any field',
    { spec: { drivers: [{}] } },
    'spec.drivers[0].nodeID: Required value',
    'spec.drivers[0].name: Required value',
    'spec.drivers[0].name: Invalid value: "": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each ',
  ],
  [
    'a driver twice',
    {
      spec: {
        drivers: [
          { name: 'a', nodeID: 'x' },
          { name: 'a', nodeID: 'y' },
        ],
      },
    },
    'spec.drivers[1].name: Duplicate value: "a"',
  ],
  [
    'a name in capitals, and a long one',
    {
      spec: {
        drivers: [
          { name: 'A.b', nodeID: 'x' },
          { name: 'a'.repeat(64), nodeID: 'x' },
        ],
      },
    },
    'spec.drivers[1].name: Too long: may not be more than 63 bytes',
  ],
  [
    'an empty node',
    { spec: { drivers: [{ name: 'a', nodeID: '' }] } },
    'spec.drivers[0].nodeID: Required value',
  ],
  [
    'a node ID above the maximum length',
    { spec: { drivers: [{ name: 'a', nodeID: 'y'.repeat(257) }] } },
    `spec.drivers[0].nodeID: Invalid value: "${'y'.repeat(257)}": must be 256 characters or less`,
  ],
  ['a node ID of the maximum length', { spec: { drivers: [{ name: 'a', nodeID: 'y'.repeat(256) }] } }],
  [
    'a negative number of volumes',
    { spec: { drivers: [{ name: 'a', nodeID: 'x', allocatable: { count: -1 } }] } },
    'spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['no volumes', { spec: { drivers: [{ name: 'a', nodeID: 'x', allocatable: { count: 0 } }] } }],
  [
    'invalid topology keys',
    { spec: { drivers: [{ name: 'a', nodeID: 'x', topologyKeys: ['b', 'b', '', 'c d'] }] } },
    'spec.drivers[0]: Duplicate value: "b"',
    'spec.drivers[0]: Required value',
    'spec.drivers[0]: Invalid value: "": name part must be non-empty',
    "spec.drivers[0]: Invalid value: \"\": name part must consist of letters, digits, '-', '_' and '.', its first and",
    "spec.drivers[0]: Invalid value: \"c d\": name part must consist of letters, digits, '-', '_' and '.', its first ",
  ],
]);

testUpdate(csiNodeResource, node, [
  ['another driver', { spec: { drivers: [{ name: 'a', nodeID: 'x' }] } }],
  ['no driver', { spec: { drivers: [] } }],
  [
    'another node',
    { spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n2' }] } },
    'CSINodeDriver: Invalid value: {"name":"disk.example.com","nodeID":"n2"}: field is immutable',
  ],
]);

testCreate(csiStorageCapacityResource, capacity, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'no class',
    { storageClassName: null },
    'storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a',
  ],
  [
    'an invalid class',
    { storageClassName: 'A' },
    'storageClassName: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of ',
  ],
  [
    'an invalid node selector',
    { nodeTopology: { matchLabels: { 'a b': 'c' } } },
    "nodeTopology.matchLabels: Invalid value: \"a b\": name part must consist of letters, digits, '-', '_' and '.', i",
  ],
  [
    'a negative capacity',
    { capacity: '-1' },
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ],
  ['nothing', { capacity: '0' }],
  ['a negative maximum volume size', { maximumVolumeSize: '-1' }],
]);

testUpdate(csiStorageCapacityResource, capacity, [
  ['more room', { capacity: '1Gi', maximumVolumeSize: '1Gi' }],
  [
    'another class',
    { storageClassName: 'slow' },
    'storageClassName: Invalid value: "slow": field is immutable',
  ],
  ['other nodes', { nodeTopology: {} }, 'nodeTopology: Invalid value: {}: field is immutable'],
]);

test('a CSIDriver gets the defaults of Kubernetes', () => {
  const { metadata, spec } = created(csiDriverResource, { ...driver, spec: { volumeLifecycleModes: [] } });
  assert.deepEqual(spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
  });
  assert.equal(metadata.generation, undefined, 'counts changes alone');
  assert.deepEqual(created(csiNodeResource, { ...node, spec: {} }).spec, { drivers: [] });
});

test('a warning reports deprecated labels', () => {
  const made = created(csiStorageCapacityResource, {
    ...capacity,
    nodeTopology: {
      matchLabels: { a: 'b', 'node-role.kubernetes.io/master': '' },
      matchExpressions: [{ key: 'beta.kubernetes.io/arch', operator: 'Exists' }],
    },
  });
  assert.deepEqual(csiStorageCapacityResource.strategy.warnings?.(made, undefined), [
    'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'nodeTopology.matchLabels.node-role.kubernetes.io/master: use "node-role.kubernetes.io/control-plane" instead',
  ]);
});

test('the kinds of CSI have the columns of kubectl', () => {
  const shown = {
    Name: 'disk.example.com',
    AttachRequired: true,
    PodInfoOnMount: false,
    StorageCapacity: false,
    TokenRequests: '<unset>',
    RequiresRepublish: false,
    Modes: 'Persistent',
    Age: '<unknown>',
  };
  const show = (spec: object) => cells(csiDriverResource, created(csiDriverResource, { ...driver, spec }), 0);
  assert.deepEqual(show({}), shown);
  const other = {
    attachRequired: false,
    podInfoOnMount: true,
    storageCapacity: true,
    requiresRepublish: true,
    tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
    volumeLifecycleModes: ['Persistent', 'Ephemeral'],
  };
  assert.deepEqual(show(other), {
    ...shown,
    AttachRequired: false,
    PodInfoOnMount: true,
    StorageCapacity: true,
    TokenRequests: 'a,b',
    RequiresRepublish: true,
    Modes: 'Persistent,Ephemeral',
  });
  assert.deepEqual(cells(csiNodeResource, created(csiNodeResource, node), 0), {
    Name: 'n1',
    Drivers: 1,
    Age: '<unknown>',
  });
  const room = (fields: object) =>
    cells(csiStorageCapacityResource, created(csiStorageCapacityResource, { ...capacity, ...fields }), 0);
  assert.deepEqual(room({}), { Name: 'room', StorageClassName: 'fast', Capacity: '<unset>' });
  assert.equal(room({ capacity: '1024Mi' }).Capacity, '1Gi');
});
