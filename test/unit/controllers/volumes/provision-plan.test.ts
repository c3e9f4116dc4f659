/** Volume that is provisioned for a claim, and the next step for a provisioned volume. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ProvisionWorld,
  planProvision,
  planRemoval,
} from '../../../../src/controllers/volumes/provision-plan.ts';
import { at, node } from '../objects.ts';
import { claim, referenceTo, storageClass, volume } from './objects.ts';

const chosen = 'volume.kubernetes.io/selected-node';
const askedFor = 'volume.kubernetes.io/storage-provisioner';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';
const late = 'WaitForFirstConsumer' as const;
type Over = NonNullable<Parameters<typeof claim>[1]>;

const local = storageClass('local', { provisioner: 'minik8s.io/local', volumeBindingMode: late });
const of = (annotations: Record<string, string>, over: Over = {}) =>
  claim('c', {
    ...over,
    metadata: { annotations, ...over.metadata },
    spec: { storageClassName: 'local', ...over.spec },
  });
const wanting = { [askedFor]: 'minik8s.io/local', [chosen]: 'n1' };
const machine = (
  annotations: Record<string, string> = { 'minik8s.io/local-volumes': '/folders' },
  labels = {},
) => {
  const made = node('n1', { labels });
  return { ...made, metadata: { ...made.metadata, annotations } };
};
const plan = (one: ReturnType<typeof claim>, world: Partial<ProvisionWorld> = {}) =>
  planProvision(one, { storageClass: local, hasOther: false, node: machine(), ...world });
const none = { kind: 'none' };

describe('the volume of a claim', () => {
  it('is a folder of its node', () => {
    const step = plan(of(wanting, { spec: { resources: { requests: { storage: '3Gi' } } } }));
    assert.deepEqual(step, {
      kind: 'create',
      volume: {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: {
          name: 'pvc-uid-c',
          labels: { 'minik8s.io/node': 'n1' },
          finalizers: ['minik8s.io/folder'],
          annotations: { [provisionedBy]: 'minik8s.io/local' },
        },
        spec: {
          capacity: { storage: '3Gi' },
          accessModes: ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Delete',
          storageClassName: 'local',
          volumeMode: 'Filesystem',
          claimRef: { ...referenceTo('c'), resourceVersion: '1' },
          local: { path: '/folders/pvc-uid-c' },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] },
              ],
            },
          },
        },
      },
    });
  });

  it('has the affinity to the host name of its node and the mount options of its class', () => {
    const step = plan(of(wanting), {
      node: machine(undefined, { 'kubernetes.io/hostname': 'first' }),
      storageClass: { ...local, mountOptions: ['noatime'] },
    });
    assert.ok(step.kind === 'create');
    const [term] = step.volume.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    assert.deepEqual(term?.matchExpressions?.[0]?.values, ['first']);
    assert.deepEqual(step.volume.spec.mountOptions, ['noatime']);
  });

  it('is a folder of the share, or the whole share if that is read-only', () => {
    const share = (parameters: Record<string, string> | undefined) =>
      plan(of({ [askedFor]: 'minik8s.io/nfs' }), {
        storageClass: storageClass('nfs', {
          provisioner: 'minik8s.io/nfs',
          ...(parameters && { parameters }),
        }),
        node: undefined,
      });
    for (const [path, at] of [
      ['/data', '/data/pvc-uid-c'],
      ['/', '/pvc-uid-c'],
    ] as const) {
      const step = share({ server: 'files', path });
      assert.ok(step.kind === 'create');
      assert.deepEqual(step.volume.spec.nfs, { server: 'files', path: at });
      assert.deepEqual(step.volume.metadata.finalizers, ['minik8s.io/folder']);
    }
    const whole = share({ server: 'files', path: '/data', readOnly: 'true' });
    assert.ok(whole.kind === 'create');
    assert.deepEqual(whole.volume.spec.nfs, { server: 'files', path: '/data', readOnly: true });
    assert.equal(whole.volume.metadata.finalizers, undefined, 'nothing of it is ever removed');
    const own = share({ server: 'files', path: '/data', readOnly: 'false' });
    assert.ok(own.kind === 'create' && own.volume.spec.nfs?.path === '/data/pvc-uid-c');
    const wrong: (Record<string, string> | undefined)[] = [
      ...[undefined, {}, { server: 'files' }, { path: '/data' }],
      { server: 'files', path: 'data' },
    ];
    for (const parameters of wrong) {
      const step = share(parameters);
      assert.ok(step.kind === 'fail');
      assert.match(step.why, /^the StorageClass is wrong: ./);
    }
  });
});

describe('no volume is provisioned', () => {
  for (const [what, one, world] of [
    ['that goes', of(wanting, { metadata: { annotations: wanting, deletionTimestamp: at(1) } }), {}],
    ['that has a volume', of(wanting, { spec: { volumeName: 'v' } }), {}],
    ['whose class does not exist', of(wanting), { storageClass: undefined }],
    ['that is not annotated for this provisioner', of({ [chosen]: 'n1' }), {}],
    ['that is annotated for another provisioner', of({ ...wanting, [askedFor]: 'example.com/disks' }), {}],
    [
      'whose class has another provisioner',
      of({ ...wanting, [askedFor]: 'example.com/disks' }),
      { storageClass: storageClass('local') },
    ],
    ['whose node is not chosen yet', of({ [askedFor]: 'minik8s.io/local' }), {}],
    [
      'that an existing volume fits, although no volume can be provisioned for it',
      of(wanting, { spec: { accessModes: ['ReadWriteMany'] } }),
      { hasOther: true },
    ],
  ] as const)
    it(`for a claim ${what}`, () => assert.deepEqual(plan(one, world), none));

  it('while its class does not wait for pods, which an event reports', () => {
    assert.deepEqual(
      plan(of({ [askedFor]: 'minik8s.io/local' }), {
        storageClass: { ...local, volumeBindingMode: 'Immediate' },
      }),
      {
        kind: 'fail',
        why: 'no node was chosen for it; a StorageClass of local volumes needs volumeBindingMode: WaitForFirstConsumer',
      },
    );
  });

  it('on a node that does not exist, and the scheduler must choose another one', () => {
    assert.deepEqual(plan(of(wanting), { node: undefined }), {
      kind: 'chooseAgain',
      why: 'node "n1" does not exist',
    });
  });

  it('on a node without a place for it, which an event reports', () => {
    assert.deepEqual(plan(of(wanting), { node: machine({}) }), {
      kind: 'fail',
      why: 'node "n1" does not report where its local volumes are',
    });
  });
});

describe('a provisioned volume', () => {
  type VolumeOver = NonNullable<Parameters<typeof volume>[1]>;
  const made = (over: VolumeOver = {}) =>
    volume('v', {
      metadata: {
        annotations: { [provisionedBy]: 'minik8s.io/local' },
        finalizers: ['minik8s.io/folder'],
        labels: { 'minik8s.io/node': 'n1' },
        ...over.metadata,
      },
      spec: {
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: undefined,
        local: { path: '/folders/v' },
        ...over.spec,
      },
      status: { phase: 'Released', ...over.status },
    });
  const annotations = { [provisionedBy]: 'minik8s.io/local' };
  const going = { annotations, finalizers: ['minik8s.io/folder'], deletionTimestamp: at(1) };
  const step = (one: ReturnType<typeof volume>, hasNode = true, nodes = [node('n1')]) =>
    planRemoval(one, { hasNode, nodes });

  it('is deleted when its claim is deleted, unless it is to be retained', () => {
    for (const phase of ['Released', 'Failed'])
      assert.deepEqual(step(made({ status: { phase } })), { kind: 'delete' });
    for (const phase of ['Bound', 'Available', 'Pending'])
      assert.deepEqual(step(made({ status: { phase } })), none);
    assert.deepEqual(step(made({ spec: { persistentVolumeReclaimPolicy: 'Retain' } })), none);
  });

  it('is not changed if another provisioner made it', () => {
    const metadata = { annotations: { [provisionedBy]: 'example.com/disks' } };
    assert.deepEqual(step(made({ metadata })), none);
    assert.deepEqual(step(made({ metadata: { ...going, ...metadata } })), none);
    assert.deepEqual(step(volume('v', { status: { phase: 'Released' } })), none);
  });

  it('waits for its node to remove the folder, and for no node if the node was deleted as well', () => {
    assert.deepEqual(step(made({ metadata: going })), none);
    assert.deepEqual(step(made({ metadata: going, status: { reason: 'FolderRemoved' } })), { kind: 'lift' });
    assert.deepEqual(step(made({ metadata: going }), false), { kind: 'lift' });
    assert.deepEqual(step(made({ metadata: going, status: { phase: 'Bound' } }), false), none);
    assert.deepEqual(step(made({ metadata: { ...going, finalizers: [] } }), false), none);
    const kept = made({ metadata: going, spec: { persistentVolumeReclaimPolicy: 'Retain' } });
    assert.deepEqual(step(kept), { kind: 'lift' });
  });

  it('on a share is moved from node to node, and reports that no node is left', () => {
    const share = {
      metadata: { ...going, annotations: { [provisionedBy]: 'minik8s.io/nfs' }, labels: {} },
      spec: { local: undefined, nfs: { server: 'files', path: '/data/v' } },
    };
    assert.deepEqual(step(made(share)), { kind: 'assign', node: 'n1' });
    const labels = { 'minik8s.io/node': 'n1' };
    const given = { ...share, metadata: { ...share.metadata, labels } };
    assert.deepEqual(step(made(given)), none, 'it is at work');
    assert.deepEqual(step(made(given), true, [node('n1'), node('n2')]), none);
    const stuck = made({ ...given, status: { phase: 'Failed', reason: 'Stuck' } });
    assert.deepEqual(step(stuck, true, [node('n1'), node('n2')]), { kind: 'assign', node: 'n2' });
    assert.deepEqual(step(stuck), none);
    const why = 'no node is ready that could mount it';
    assert.deepEqual(step(made(share), true, []), { kind: 'stuck', why });
    assert.deepEqual(step(made({ ...share, status: { message: why } }), true, []), none, 'it is said once');
  });
});
