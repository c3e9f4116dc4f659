/** Nodes on which the folder of a trigger is watched, and the trigger's conditions about it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import {
  type FileFacts,
  planFileWatches,
} from '../../../../../src/features/triggers/controller/file-plan.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const position = { of: 'o', since: '2026-01-01T00:00:00Z' };
const node = (name: string, labels: Record<string, string> = {}, status = 'True') => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  status: { conditions: [{ type: 'Ready', status }] },
});
const claim = (more: object = {}) => ({
  metadata: { name: 'c', uid: 'c1' },
  status: { phase: 'Bound' },
  ...more,
});
const volume = (spec: object) => ({
  metadata: { name: 'v' },
  spec: { claimRef: { uid: 'c1' }, ...spec },
});
const on = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] },
      ],
    },
  },
});

function plan(file: object, given: object, watches: readonly object[] = []) {
  const trigger = { metadata: { name: 't', namespace: 'ns', uid: 'u1' }, spec: {} } as unknown as Trigger;
  const source = { types: ['Created'], recursive: false, includeContent: false, ...file } as never;
  const facts = { claim: undefined, volume: undefined, nodes: [], watches, ...given } as unknown as FileFacts;
  return planFileWatches(trigger, source, position, facts, digest);
}

describe('a claim', () => {
  const noVolume = (phase: string) => `the claim has no volume yet (it is ${phase})`;
  const noFolder = 'its volume is not a folder of a node: use a local or hostPath volume';
  const bound = volume({ local: { path: '/d' } });
  const cases: readonly (readonly [string, object, string, string | RegExp])[] = [
    ['that does not exist', {}, 'ClaimMissing', 'there is no such claim in the namespace'],
    [
      'that waits',
      { claim: claim({ status: { phase: 'Pending' } }), volume: bound, nodes: [node('n1')] },
      'ClaimNotBound',
      noVolume('Pending'),
    ],
    [
      'without a status',
      { claim: claim({ status: undefined }), volume: bound },
      'ClaimNotBound',
      noVolume('Pending'),
    ],
    [
      'that has lost its volume',
      { claim: claim({ status: { phase: 'Lost' } }) },
      'ClaimNotBound',
      noVolume('Lost'),
    ],
    ['whose volume does not exist', { claim: claim() }, 'ClaimNotBound', noVolume('Bound')],
    [
      'that names the volume of another claim',
      { claim: claim(), volume: volume({ claimRef: { uid: 'other' }, local: { path: '/d' } }) },
      'ClaimNotBound',
      noVolume('Bound'),
    ],
    [
      'of a share',
      { claim: claim(), volume: volume({ nfs: { path: '/d' } }) },
      'VolumeNotWatchable',
      noFolder,
    ],
    [
      'of a device',
      { claim: claim(), volume: volume({ local: { path: '/d' }, volumeMode: 'Block' }) },
      'VolumeNotWatchable',
      noFolder,
    ],
    [
      'whose node does not exist',
      { claim: claim(), volume: volume({ local: { path: '/d' }, ...on('n9') }), nodes: [node('n1')] },
      'NodeUnknown',
      /./,
    ],
    [
      'that may be on several nodes',
      { claim: claim(), volume: volume({ hostPath: { path: '/d' } }), nodes: [node('n1'), node('n2')] },
      'NodeUnknown',
      /./,
    ],
  ];
  for (const [name, given, reason, why] of cases)
    it(`${name} is not watched`, () => {
      const { make, problem, detail, waits } = plan({ claimName: 'c' }, given);
      assert.deepEqual([make.length, problem?.reason, detail, waits], [0, reason, undefined, false]);
      const start = 'spec.file.claimName: "c": ';
      const { message = '' } = problem ?? {};
      assert.ok(message.startsWith(start), message);
      if (typeof why === 'string') assert.equal(message.slice(start.length), why);
      else assert.match(message.slice(start.length), why);
    });

  it('is watched completely if the trigger has no path, also in a hostPath volume', () => {
    const given = { claim: claim(), volume: volume({ hostPath: { path: '/h' } }), nodes: [node('n1')] };
    const [draft] = plan({ claimName: 'c' }, given).make;
    assert.deepEqual([draft?.spec.folder, draft?.spec.path, draft?.spec.nodeName], ['/h', '', 'n1']);
    assert.ok(draft && !('pattern' in draft.spec));
  });

  it('is watched on the node of its volume', () => {
    const nodes = [node('n1'), node('n2')];
    const given = { claim: claim(), volume: volume({ local: { path: '/d' }, ...on('n2') }), nodes };
    const { make } = plan({ claimName: 'c', path: 'in', pattern: '*.csv' }, given);
    assert.deepEqual(
      make.map(({ spec }) => spec),
      [
        {
          ...{ trigger: 't', nodeName: 'n2', since: position.since },
          ...{ source: '/namespaces/ns/persistentvolumeclaims/c', folder: '/d', path: 'in', volumeName: 'v' },
          ...{ types: ['Created'], recursive: false, includeContent: false, pattern: '*.csv' },
        },
      ],
    );
  });
});

describe('a folder of nodes', () => {
  const nodes = [node('n1', { disk: 'big' }), node('n2'), node('n3', { disk: 'big' }, 'Unknown')];
  const file = { folder: '/srv/in', nodeSelector: { disk: 'big' } };
  /** The FolderWatches after their creation, with the statuses that the nodes report. */
  const made = (says: Readonly<Record<string, object>>) =>
    plan(file, { nodes }).make.map((draft) => ({ ...draft, status: says[draft.spec.nodeName] }));

  it('is watched on each selected node', () => {
    const { make, problem } = plan(file, { nodes });
    assert.deepEqual(
      make.map(({ spec }) => spec.nodeName),
      ['n1', 'n3'],
    );
    assert.equal(problem?.reason, 'NotWatchedYet');
    assert.equal(plan({ ...file, nodeSelector: { disk: 'no' } }, { nodes }).problem?.reason, 'NoNode');
  });

  it('is watched if at least one node watches it, and the status names the other nodes', () => {
    const watches = made({ n1: { reason: 'Watching', message: '' }, n3: { reason: 'Watching' } });
    const { make, remove, problem, detail } = plan(file, { nodes }, watches);
    assert.deepEqual([make, remove, problem], [[], [], undefined]);
    assert.equal(detail, 'watched on n1; not on n3 (the node is not ready)');
  });

  it('is not watched if no node allows it', () => {
    const watches = made({ n1: { reason: 'FolderNotAllowed', message: 'no' } });
    const { problem } = plan(file, { nodes }, watches);
    assert.deepEqual(problem, {
      reason: 'FolderNotAllowed',
      message: 'no node watches the folder: n1 (no), n3 (the node is not ready)',
    });
  });

  it('is no longer watched when its node is deselected, and a watch of another trigger is kept', () => {
    const [first] = made({});
    const foreign = { ...first, metadata: { name: 'x', ownerReferences: [{ uid: 'u2' }] } };
    const { remove, make } = plan({ ...file, nodeSelector: { is: 'no' } }, { nodes }, [first ?? {}, foreign]);
    assert.deepEqual([remove.map(({ metadata }) => metadata.name), make], [[first?.metadata.name], []]);
  });

  it('waits when a node reports that it waits', () => {
    const watches = made({ n1: { reason: 'Watching', waiting: true } });
    assert.equal(plan(file, { nodes }, watches).waits, true);
  });

  it('with several labels is watched on the nodes that have all of them', () => {
    const some = [
      node('n2', { a: '1', b: '2' }),
      node('n3', { a: '1' }),
      node('n1', { a: '1', b: '2', c: '3' }),
    ];
    const { make } = plan({ folder: '/x', nodeSelector: { a: '1', b: '2' } }, { nodes: some });
    assert.deepEqual(
      make.map(({ spec: { nodeName, source, folder, path } }) => [nodeName, source, folder, path]),
      ['n1', 'n2'].map((name) => [name, '/folders/x', '/x', '']),
    );
    const all = plan({ folder: '/x' }, { nodes: some }).make;
    assert.deepEqual(
      all.map(({ spec }) => spec.nodeName),
      ['n1', 'n2', 'n3'],
    );
    assert.deepEqual(plan({ folder: '/x', nodeSelector: { a: '2' } }, { nodes: some }).problem, {
      reason: 'NoNode',
      message: 'spec.file.nodeSelector: no node has these labels',
    });
  });

  it('in a cluster without nodes is not watched, for any nodeSelector', () => {
    for (const nodeSelector of [undefined, { a: '1' }])
      assert.deepEqual(plan({ folder: '/x', ...(nodeSelector && { nodeSelector }) }, { nodes: [] }).problem, {
        reason: 'NoNode',
        message: 'the cluster has no nodes',
      });
  });

  it('is a FolderWatch of the trigger, with the first part of a digest in its name', () => {
    const [draft] = plan(file, { nodes }).make;
    const { name = '', ...metadata } = draft?.metadata ?? {};
    assert.deepEqual([draft?.apiVersion, draft?.kind], ['minik8s.io/v1', 'FolderWatch']);
    assert.match(name, /^t-[0-9a-f]{16}$/);
    assert.deepEqual(metadata, {
      namespace: 'ns',
      labels: { 'minik8s.io/trigger': 't' },
      ownerReferences: [
        {
          ...{ apiVersion: 'minik8s.io/v1', kind: 'Trigger', name: 't', uid: 'u1' },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    });
  });

  it('is watched again after a change of the source, its start, the node or the volume', () => {
    const texts: string[] = [];
    const note = (text: string) => {
      texts.push(text);
      return digest(text);
    };
    const trigger = { metadata: { name: 't', namespace: 'ns', uid: 'u1' }, spec: {} } as unknown as Trigger;
    const given = {
      claim: claim(),
      volume: volume({ local: { path: '/d' }, ...on('n2') }),
      nodes: [node('n2')],
    };
    planFileWatches(
      trigger,
      { claimName: 'c', path: 'in', types: ['Created'], recursive: false, includeContent: false } as never,
      position,
      { watches: [], ...given } as unknown as FileFacts,
      note,
    );
    assert.deepEqual(
      texts.map((text) => JSON.parse(text)),
      [['u1', 'o', position.since, 'n2', 'v', '/d', 'in']],
    );
  });

  it('contains five nodes and the number of the remaining nodes', () => {
    const names = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'];
    const message = (count: number) =>
      plan({ folder: '/x' }, { nodes: names.slice(0, count).map((name) => node(name)) }).problem?.message;
    const not = (name: string) => `${name} (the node has not reported yet that it watches)`;
    const five = names.slice(0, 5).map(not).join(', ');
    assert.equal(message(5), `no node watches the folder: ${five}`);
    assert.equal(message(6), `no node watches the folder: ${five}, and 1 more`);
    assert.equal(message(7), `no node watches the folder: ${five}, and 2 more`);
  });

  it('on all nodes is reported as watched, and one on none has the reason', () => {
    const watches = made({ n1: { reason: 'Watching' } });
    const one = [node('n1', { disk: 'big' })];
    assert.deepEqual(plan(file, { nodes: one }, watches.slice(0, 1)), {
      ...{ make: [], remove: [], problem: undefined, detail: 'watched on n1', waits: false },
    });
    assert.deepEqual(
      plan(file, { nodes: one }, made({ n1: { reason: 'FolderMissing' } }).slice(0, 1)).problem,
      {
        reason: 'FolderMissing',
        message: 'no node watches the folder: n1',
      },
    );
    const { problem, detail } = plan(file, { nodes: [node('n1', { disk: 'big' }, 'False')] }, watches);
    assert.deepEqual(
      [problem, detail],
      [
        { reason: 'NodeNotReady', message: 'no node watches the folder: n1 (the node is not ready)' },
        undefined,
      ],
    );
  });

  it('is watched on a ready node with other conditions', () => {
    const both = {
      ...node('n1', { disk: 'big' }),
      status: {
        conditions: [
          { type: 'MemoryPressure', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      },
    };
    const watches = made({ n1: { reason: 'Watching' } }).slice(0, 1);
    assert.equal(plan(file, { nodes: [both] }, watches).detail, 'watched on n1');
    const pressed = { ...both, status: { conditions: [{ type: 'MemoryPressure', status: 'True' }] } };
    assert.equal(plan(file, { nodes: [pressed] }, watches).problem?.reason, 'NodeNotReady');
  });

  it('with further owners of its watch is watched, and foreign watches are not reported', () => {
    const [first, third] = made({ n1: { reason: 'Watching' }, n3: { reason: 'Watching', waiting: true } });
    const owners = [{ uid: 'other' }, ...(first?.metadata.ownerReferences ?? [])];
    const shared = { ...first, metadata: { ...first?.metadata, ownerReferences: owners } };
    const one = [node('n1', { disk: 'big' })];
    const { make, remove, waits, detail } = plan(file, { nodes: one }, [shared, third ?? {}]);
    assert.deepEqual([make, remove, detail], [[], [third], 'watched on n1']);
    assert.equal(waits, false, 'what is not watched any more does not wait');
  });
});
