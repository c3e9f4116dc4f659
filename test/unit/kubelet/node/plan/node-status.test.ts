/** Status, labels and Lease of a node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lease } from '../../../../../src/api/coordination/v1/lease.ts';
import {
  countAway,
  countOf,
  type DeviceCounts,
} from '../../../../../src/kubelet/devices/plan/device-counts.ts';
import {
  computeNodeStatus,
  type NodeImage,
  type NodeInput,
  newLease,
  nodeLabels,
  nodeStatusPatch,
  renewedLease,
} from '../../../../../src/kubelet/node/plan/node-status.ts';
import { node } from '../../../controllers/objects.ts';
import { now, seconds } from '../../builders.ts';

const facts = {
  hostname: 'vm',
  architecture: 'arm64',
  kernelVersion: '6.1.0',
  osImage: 'Debian',
  machineID: 'machine',
  systemUUID: 'system',
  bootID: 'boot',
  hasAppArmor: false,
  cpus: 2,
  // Neither value is a whole number of kibibytes.
  memoryBytes: 8 * 2 ** 30 + 1023,
  storageBytes: 2 ** 40 + 1023,
  kubeletVersion: 'v1.34.0',
};
const input: NodeInput = {
  nodeName: 'node-1',
  nodeIP: '192.0.2.1',
  facts,
  maxPods: 110,
  kubeletPort: 10_250,
  runtimeVersion: 'docker://29.0.0',
  images: [],
  problem: undefined,
  pressures: { MemoryPressure: false, DiskPressure: false, PIDPressure: false },
  reported: {},
  now,
};
const statusOf = (more: Partial<NodeInput> = {}, previous?: Parameters<typeof computeNodeStatus>[1]) =>
  computeNodeStatus({ ...input, ...more }, previous);

describe('the status of a node', () => {
  it('contains the counts of devices, and keeps resources that other clients advertise', () => {
    const devices: DeviceCounts = new Map([
      [
        'example.com/gpu',
        countOf([
          { id: 'a', healthy: true },
          { id: 'b', healthy: false },
        ]),
      ],
      ['example.com/away', countAway(3)],
      ['example.com/gone', undefined],
    ]);
    const before = { 'example.com/gone': '1', 'example.com/patched': '5' };
    const previous = { ...statusOf(), capacity: before, allocatable: before };
    const status = statusOf({ devices }, previous);
    const amounts = (list: Readonly<Record<string, unknown>> = {}) =>
      Object.fromEntries(Object.entries(list).filter(([name]) => name.includes('/')));
    const others = { 'example.com/patched': '5' };
    assert.deepEqual(amounts(status.capacity), {
      ...others,
      'example.com/gpu': '2',
      'example.com/away': '3',
    });
    const left = { 'example.com/gpu': '1', 'example.com/away': '0' };
    assert.deepEqual(amounts(status.allocatable), { ...others, ...left });
    const patch = nodeStatusPatch(status, previous, devices) as typeof status;
    // Resources that others advertise are left unchanged on the server; resources that are gone are removed.
    assert.deepEqual(amounts(patch.capacity), {
      'example.com/gpu': '2',
      'example.com/away': '3',
      'example.com/gone': null,
    });
    assert.deepEqual(amounts(patch.allocatable), { ...others, ...left, 'example.com/gone': null });
  });

  it('has the features of its runtimes, and keeps them while the engine is unavailable', () => {
    const runtimeHandlers = [{ name: '', recursiveReadOnlyMounts: true }];
    const told = statusOf({ runtimeHandlers });
    assert.deepEqual(told.runtimeHandlers, [
      { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
    ]);
    assert.deepEqual(told.features, { supplementalGroupsPolicy: false });
    const later = statusOf({}, told);
    assert.deepEqual([later.runtimeHandlers, later.features], [told.runtimeHandlers, told.features]);
    assert.ok(!('features' in statusOf()));
  });

  it('has an address of IPv6 after that of IPv4', () => {
    assert.deepEqual(statusOf({ nodeIPv6: '2001:db8::1' }).addresses, [
      { type: 'InternalIP', address: '192.0.2.1' },
      { type: 'InternalIP', address: '2001:db8::1' },
      { type: 'Hostname', address: 'node-1' },
    ]);
  });

  it('has the properties, the capacity and the addresses of the machine', () => {
    const { conditions, ...rest } = statusOf({ systemReserved: { memory: '1Gi' } });
    assert.deepEqual(rest, {
      capacity: { cpu: '2', memory: '8Gi', 'ephemeral-storage': '1Ti', pods: '110' },
      allocatable: { cpu: '2', memory: '7Gi', 'ephemeral-storage': '1Ti', pods: '110' },
      addresses: [
        { type: 'InternalIP', address: '192.0.2.1' },
        { type: 'Hostname', address: 'node-1' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: {
        machineID: 'machine',
        systemUUID: 'system',
        bootID: 'boot',
        kernelVersion: '6.1.0',
        osImage: 'Debian',
        containerRuntimeVersion: 'docker://29.0.0',
        kubeletVersion: 'v1.34.0',
        kubeProxyVersion: 'v1.34.0',
        operatingSystem: 'linux',
        architecture: 'arm64',
      },
      images: [],
    });
    assert.deepEqual(
      conditions?.map(({ type, status }) => `${type} ${status}`),
      ['MemoryPressure False', 'DiskPressure False', 'PIDPressure False', 'Ready True'],
    );
  });

  it('has no endpoint if the agent does not serve', () => {
    assert.ok(!('daemonEndpoints' in statusOf({ kubeletPort: undefined })));
  });

  it('names the fifty largest images, the largest first', () => {
    const image = (size: number): NodeImage => ({ names: [`app:${size}`], sizeBytes: size });
    const sizes = [3, 1, 2];
    assert.deepEqual(
      statusOf({ images: sizes.map(image) }).images,
      [3, 2, 1].map((size) => ({ names: [`app:${size}`], sizeBytes: size })),
    );
    const many = Array.from({ length: 60 }, (_, at) => image(at));
    const named = statusOf({ images: many }).images?.map(({ sizeBytes }) => sizeBytes);
    assert.deepEqual(
      named,
      Array.from({ length: 50 }, (_, at) => 59 - at),
    );
  });

  it('keeps fields of other clients, and the transition times of its conditions', () => {
    const long = '2025-12-31T00:00:00Z';
    const condition = { status: 'False', lastHeartbeatTime: long, lastTransitionTime: long } as const;
    const previous = {
      phase: 'Running',
      conditions: [
        { type: 'example.com/gpu', ...condition },
        { type: 'DiskPressure', ...condition },
      ],
    };
    const { phase, conditions = [] } = statusOf({}, previous);
    assert.equal(phase, 'Running');
    assert.deepEqual(conditions[0], previous.conditions[0]);
    assert.equal(conditions.find(({ type }) => type === 'DiskPressure')?.lastTransitionTime, long);
  });

  it('keeps the capacity that other clients advertise, and makes it allocatable', () => {
    const own = statusOf();
    const previous = {
      capacity: { cpu: '64', 'example.com/gpu': '4' },
      allocatable: { cpu: '64', 'example.com/gone': '1' },
    };
    const status = statusOf({}, previous);
    assert.deepEqual(status.capacity, { ...own.capacity, 'example.com/gpu': '4' });
    assert.deepEqual(status.allocatable, { ...own.allocatable, 'example.com/gpu': '4' });
    assert.deepEqual(statusOf({}, status), status);
  });

  it('is written without the capacity that others advertise, and without removed resources', () => {
    const own = statusOf();
    const previous = { capacity: { 'example.com/gpu': '4' }, allocatable: { 'example.com/gone': '1' } };
    const written = nodeStatusPatch(statusOf({}, previous), previous);
    assert.deepEqual(written, {
      ...own,
      allocatable: { ...own.allocatable, 'example.com/gpu': '4', 'example.com/gone': null },
    });
    assert.deepEqual(nodeStatusPatch(own, undefined), own);
  });
});

it('a node has the labels that schedulers and people select by', () => {
  assert.deepEqual(nodeLabels(input), {
    'kubernetes.io/hostname': 'node-1',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'arm64',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'arm64',
  });
});

describe('the Lease of a node', () => {
  const lease = newLease(node('node-1'), 10_000, now);

  it('lasts for four heartbeats and is deleted with its Node', () => {
    assert.deepEqual(lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'node-1',
        namespace: 'kube-node-lease',
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: node('node-1').metadata.uid },
        ],
      },
      spec: {
        holderIdentity: 'node-1',
        leaseDurationSeconds: 40,
        renewTime: '2026-01-01T12:00:00.000000Z',
      },
    });
  });

  it('lasts for four heartbeats rounded up to whole seconds', () => {
    assert.equal(newLease(node('node-1'), 2502, now).spec?.leaseDurationSeconds, 11);
    assert.equal(newLease(node('node-1'), 2500, now).spec?.leaseDurationSeconds, 10);
  });

  it('is renewed for any previous holder, and keeps fields of other clients', () => {
    const spec = { ...lease.spec, holderIdentity: 'other', leaseTransitions: 3, leaseDurationSeconds: 1 };
    const metadata = { ...lease.metadata, uid: 'l', resourceVersion: '7', creationTimestamp: '' };
    const previous = { ...lease, metadata, spec } as Lease;
    assert.deepEqual(renewedLease('node-1', 10_000, now + seconds(10), previous), {
      ...previous,
      spec: {
        holderIdentity: 'node-1',
        leaseDurationSeconds: 40,
        leaseTransitions: 3,
        renewTime: '2026-01-01T12:00:10.000000Z',
      },
    });
  });
});
