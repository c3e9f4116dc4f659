/** Nodes on which a pod with a claim may run, and the message for a pod that waits for a claim. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/api/core/v1/types.gen.ts';
import type { StorageClass } from '../../../src/api/storage/v1/types.gen.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { at, meta, node, pod } from '../controllers/objects.ts';
import { decideWith, plain } from './pods.ts';
import { on, told as remedyTold, sized, urgent } from './preempting.ts';

describe('a pod with a claim', () => {
  const claim = (over: object = {}, status: object = {}) =>
    ({
      metadata: meta('c'),
      spec: { accessModes: ['ReadWriteOnce'], resources: {}, ...over },
      status,
    }) as unknown as PersistentVolumeClaim;
  const volume = (...zones: string[]) =>
    ({
      metadata: meta('pv'),
      spec: {
        ...(zones.length > 0 && {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: zones.map((zone) => ({
                matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }],
              })),
            },
          },
        }),
      },
    }) as unknown as PersistentVolume;
  const bound = claim({ volumeName: 'pv' }, { phase: 'Bound' });
  const boundMeta = meta('c', { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } });
  const late = {
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  } as StorageClass;
  const made = { ...late, provisioner: 'example.com/disks' } as StorageClass;
  const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values: ['b'] }] }];
  const classes = new Map([
    ['late', late],
    ['made', made],
    ['local', { ...late, provisioner: 'minik8s.io/local' } as StorageClass],
    ['made-elsewhere', { ...made, allowedTopologies } as StorageClass],
  ]);
  const one = plain({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] });
  const ephemeral = plain({ volumes: [{ name: 'c', ephemeral: {} }] });
  const told = (asks: Pod, found?: PersistentVolumeClaim, of?: PersistentVolume, used = false) => {
    const snapshot = new Snapshot({
      namespaceLabels: () => undefined,
      siblingsOf: () => undefined,
      volumes: {
        claim: () => found,
        volumesFor: () => [],
        volume: () => of,
        storageClass: (name) => classes.get(name),
      },
    });
    snapshot.setNode(node('n', { labels: { zone: 'a' } }));
    if (used) snapshot.setPod({ ...pod('user', { spec: { ...one.spec, nodeName: 'n' } }) });
    const decision = decideWith(asks, snapshot);
    if (decision.kind === 'node') return decision.node;
    return decision.refused?.text ?? decision.nodes[0]?.rejections.map(({ text }) => text).join();
  };
  const table: [string, string | undefined, string][] = [
    ['that does not exist', told(one), 'persistentvolumeclaim "c" not found'],
    [
      'that will be created for it',
      told(ephemeral),
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-c"',
    ],
    ['that is not bound', told(one, claim()), 'pod has unbound immediate PersistentVolumeClaims'],
    [
      'of a class that waits for pods',
      told(one, claim({ storageClassName: 'late' })),
      "node(s) didn't find available persistent volumes to bind",
    ],
    [
      'for many nodes, of a class with volumes on one node',
      told(one, claim({ storageClassName: 'local', accessModes: ['ReadWriteMany', 'ReadWriteOnce'] })),
      'node(s) didn\'t find available persistent volumes to bind (persistentvolumeclaim "c": access mode ReadWriteMany is not supported: a local volume is on one node)',
    ],
    [
      'for one node, of a class with volumes on one node',
      told(one, claim({ storageClassName: 'local' })),
      'n',
    ],
    ['whose volume is provisioned on its node', told(one, claim({ storageClassName: 'made' })), 'n'],
    [
      'whose volume is provisioned on other nodes',
      told(one, claim({ storageClassName: 'made-elsewhere' })),
      "node(s) didn't find available persistent volumes to bind",
    ],
    [
      'in phase Lost',
      told(one, claim({ volumeName: 'pv' }, { phase: 'Lost' })),
      'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv"',
    ],
    [
      'of a volume that does not exist',
      told(one, bound),
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    ],
    [
      'of a volume on another node',
      told(one, bound, volume('b')),
      'node(s) had volume node affinity conflict',
    ],
    ['of a volume on this node', told(one, bound, volume('a')), 'n'],
    ['of a volume on this or another node', told(one, bound, volume('b', 'a')), 'n'],
    [
      'that names a volume, and is not bound to it yet',
      told(one, claim({ volumeName: 'pv' }, { phase: 'Pending' }), volume('a')),
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'that is bound without a status',
      told(one, { ...claim({ volumeName: 'pv' }), metadata: boundMeta }, volume('a')),
      'n',
    ],
    [
      'that is bound to a volume without a name',
      told(one, claim({ volumeName: '' }, { phase: 'Bound' })),
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'in phase Lost without a volume',
      told(one, claim({}, { phase: 'Lost' })),
      'persistentvolumeclaim "c" bound to non-existent persistentvolume ""',
    ],
    [
      'that is being deleted',
      told(one, { ...bound, metadata: meta('c', { deletionTimestamp: at(0) }) }, volume('a')),
      'persistentvolumeclaim "c" is being deleted',
    ],
    [
      'that does not exist, beside one that will be created',
      told(
        plain({
          volumes: [
            { name: 'v', persistentVolumeClaim: { claimName: 'c' } },
            { name: 'e', ephemeral: {} },
          ],
        }),
      ),
      'persistentvolumeclaim "c" not found',
    ],
    [
      'that does not exist, with the name of a generated claim',
      told(
        plain({
          volumes: [
            { name: 'v', persistentVolumeClaim: { claimName: 'p-x' } },
            { name: 'x', emptyDir: {} },
          ],
        }),
      ),
      'persistentvolumeclaim "p-x" not found',
    ],
    [
      'that will be created for it, beside a volume without a claim',
      told(
        plain({
          volumes: [
            { name: 'x', emptyDir: {} },
            { name: 'c', ephemeral: {} },
          ],
        }),
      ),
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-c"',
    ],
    ['of a volume on all nodes that another pod uses', told(one, bound, volume(), true), 'n'],
    [
      'with ReadWriteOncePod that another pod uses',
      told(
        one,
        claim({ volumeName: 'pv', accessModes: ['ReadWriteOncePod'] }, { phase: 'Bound' }),
        volume(),
        true,
      ),
      'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
    ],
  ];
  for (const [what, text, expected] of table)
    it(`${what} ${expected === 'n' ? 'is scheduled' : 'is not scheduled'}`, () =>
      assert.equal(text, expected));
});

describe('a claim with ReadWriteOncePod', () => {
  const exclusive = {
    metadata: meta('c', { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    spec: { accessModes: ['ReadWriteOncePod'], volumeName: 'pv', resources: {} },
    status: { phase: 'Bound' },
  } as unknown as PersistentVolumeClaim;
  const using = (...claims: string[]) => ({
    volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  });
  const remedy = (asks: Pod, ...bound: Pod[]) => {
    const snapshot = new Snapshot({
      namespaceLabels: () => undefined,
      siblingsOf: () => undefined,
      volumes: {
        claim: () => exclusive,
        volumesFor: () => [],
        volume: () => ({ metadata: meta('pv'), spec: {} }) as unknown as PersistentVolume,
        storageClass: () => undefined,
      },
    });
    for (const name of ['a', 'b']) snapshot.setNode(sized(name, '2'));
    for (const one of bound) snapshot.setPod(one);
    const decision = decideWith(asks, snapshot);
    return decision.kind === 'node' ? decision.node : remedyTold(decision.remedy);
  };
  const inOther = on('a', 'other', '0', 5, using('c'));
  const elsewhere = { ...inOther, metadata: { ...inOther.metadata, namespace: 'elsewhere' } };
  const table: [string, unknown, unknown][] = [
    [
      'is taken from a pod of a lower priority, on its node and no other',
      remedy(urgent('1', using('c')), on('a', 'x', '1', 1), on('b', 'user', '0', 5, using('c'))),
      ['b', ['user']],
    ],
    [
      'is not taken from a pod of the same priority',
      remedy(urgent('1', using('c')), on('a', 'x', '1', 1), on('b', 'user', '0', 100, using('c'))),
      'none: No preemption victims found for incoming pod',
    ],
    [
      'is not taken if two pods on two nodes have it',
      remedy(urgent('1', using('c')), on('a', 'one', '0', 5, using('c')), on('b', 'two', '0', 5, using('c'))),
      'none: No preemption victims found for incoming pod',
    ],
    [
      'is taken with another claim from the pods that use them',
      remedy(
        urgent('1', using('c', 'd')),
        on('a', 'one', '0', 5, using('c')),
        on('a', 'two', '0', 6, using('d')),
        on('a', 'x', '1', 1),
      ),
      ['a', ['two', 'one']],
    ],
  ];
  for (const [what, found, expected] of table) it(what, () => assert.deepEqual(found, expected));
  it('is not in use by pods of another namespace', () =>
    assert.ok(['a', 'b'].includes(String(remedy(urgent('1', using('c')), elsewhere)))));
});
