/** Where the folder of a trigger is watched, and what is said of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Trigger } from '../../../../src/api/minik8s/v1/trigger.ts';
import { type FileFacts, planFileWatches } from '../../../../src/controllers/triggers/file-plan.ts';

const digest = (text: string) => Buffer.from(text).toString('hex').slice(-64).padStart(64, '0');
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
  const cases: readonly (readonly [string, object, string])[] = [
    ['that is not there', {}, 'ClaimMissing'],
    ['that waits', { claim: claim({ status: { phase: 'Pending' } }) }, 'ClaimNotBound'],
    ['whose volume is gone', { claim: claim() }, 'ClaimNotBound'],
    [
      'that names the volume of another',
      { claim: claim(), volume: volume({ claimRef: { uid: 'other' }, local: { path: '/d' } }) },
      'ClaimNotBound',
    ],
    ['of a share', { claim: claim(), volume: volume({ nfs: { path: '/d' } }) }, 'VolumeNotWatchable'],
    [
      'of a device',
      { claim: claim(), volume: volume({ local: { path: '/d' }, volumeMode: 'Block' }) },
      'VolumeNotWatchable',
    ],
    [
      'whose node is gone',
      { claim: claim(), volume: volume({ local: { path: '/d' }, ...on('n9') }), nodes: [node('n1')] },
      'NodeUnknown',
    ],
    [
      'that may be on several nodes',
      { claim: claim(), volume: volume({ hostPath: { path: '/d' } }), nodes: [node('n1'), node('n2')] },
      'NodeUnknown',
    ],
  ];
  for (const [name, given, reason] of cases)
    it(`${name} is not watched`, () => {
      const { make, problem } = plan({ claimName: 'c' }, given);
      assert.deepEqual([make.length, problem?.reason], [0, reason]);
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
  /** As they are when they were made, with what the nodes say. */
  const made = (says: Readonly<Record<string, object>>) =>
    plan(file, { nodes }).make.map((draft) => ({ ...draft, status: says[draft.spec.nodeName] }));

  it('is watched on each that is selected', () => {
    const { make, problem } = plan(file, { nodes });
    assert.deepEqual(
      make.map(({ spec }) => spec.nodeName),
      ['n1', 'n3'],
    );
    assert.equal(problem?.reason, 'NotWatchedYet');
    assert.equal(plan({ ...file, nodeSelector: { disk: 'no' } }, { nodes }).problem?.reason, 'NoNode');
  });

  it('that is watched somewhere is watched, and where not is said', () => {
    const watches = made({ n1: { reason: 'Watching', message: '' }, n3: { reason: 'Watching' } });
    const { make, remove, problem, detail } = plan(file, { nodes }, watches);
    assert.deepEqual([make, remove, problem], [[], [], undefined]);
    assert.equal(detail, 'watched on n1; not on n3 (the node is not ready)');
  });

  it('that no node allows is not', () => {
    const watches = made({ n1: { reason: 'FolderNotAllowed', message: 'no' } });
    const { problem } = plan(file, { nodes }, watches);
    assert.deepEqual(problem, {
      reason: 'FolderNotAllowed',
      message: 'it is not watched: n1 (no), n3 (the node is not ready)',
    });
  });

  it('that is not selected any more is not watched, and one of another trigger is left alone', () => {
    const [first] = made({});
    const foreign = { ...first, metadata: { name: 'x', ownerReferences: [{ uid: 'u2' }] } };
    const { remove, make } = plan({ ...file, nodeSelector: { is: 'no' } }, { nodes }, [first ?? {}, foreign]);
    assert.deepEqual([remove.map(({ metadata }) => metadata.name), make], [[first?.metadata.name], []]);
  });

  it('waits when a node says so', () => {
    const watches = made({ n1: { reason: 'Watching', waiting: true } });
    assert.equal(plan(file, { nodes }, watches).waits, true);
  });
});
