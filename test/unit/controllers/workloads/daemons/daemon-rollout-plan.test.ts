/** Rolling update of a DaemonSet: pods of an older template are replaced. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planRollout } from '../../../../../src/controllers/workloads/daemons/daemon-rollout-plan.ts';
import type { Daemons } from '../../../../../src/controllers/workloads/daemons/daemons-plan.ts';
import { at, node } from '../../objects.ts';
import { daemon, daemonSet, daemons, surging } from './daemon-objects.ts';

const changes = (decided: Daemons) => {
  const { create, remove } = planRollout(decided);
  return [create, remove.map(({ metadata }) => metadata.name)];
};
const replacing = (maxUnavailable: number | string) =>
  daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge: 0 } } });
const nodes = ['n1', 'n2', 'n3', 'n4'];
const old = (on: string, options = {}) => daemon(`old-${on}`, on, 'old', options);
const fresh = (on: string, options = {}) => daemon(`new-${on}`, on, 'new', options);
const unready = { readyAt: undefined };
const { labels } = daemon('x', 'n1', 'old').metadata;
const ending = { metadata: { labels, deletionTimestamp: at(1) } };

describe('a rolling update without a surge', () => {
  const four = nodes.map((name) => old(name));

  it('removes as many old pods as may be unavailable, and rounds a percentage up', () => {
    assert.deepEqual(changes(daemons(replacing(1), nodes, ...four)), [[], ['old-n1']]);
    assert.deepEqual(changes(daemons(replacing(3), nodes, ...four))[1]?.length, 3);
    assert.deepEqual(changes(daemons(replacing('30%'), nodes, ...four))[1]?.length, 2);
  });

  it('removes one pod if the rounded numbers would allow none', () => {
    assert.deepEqual(changes(daemons(replacing(0), nodes, ...four))[1], ['old-n1']);
    const repelling = node('n1', { taints: [{ key: 'a', effect: 'NoSchedule' }] });
    assert.deepEqual(changes(daemons(replacing('10%'), [repelling], old('n1')))[1], []);
  });

  it('counts a new pod that is not available, and a node without a pod, as unavailable', () => {
    const rest = [old('n2'), old('n3'), old('n4')];
    assert.deepEqual(changes(daemons(replacing(1), nodes, fresh('n1', unready), ...rest)), [[], []]);
    assert.deepEqual(changes(daemons(replacing(1), nodes, ...rest)), [[], []]);
    assert.deepEqual(changes(daemons(replacing(1), nodes, old('n1', ending), ...rest)), [[], []]);
    assert.deepEqual(changes(daemons(replacing(1), nodes, fresh('n1'), ...rest)), [[], ['old-n2']]);
  });

  it('counts a node with too many pods as unavailable, and leaves these pods to another plan', () => {
    const twice = [old('n1'), daemon('again', 'n1', 'old'), old('n2')];
    assert.deepEqual(changes(daemons(replacing(1), ['n1', 'n2'], ...twice)), [[], []]);
    assert.deepEqual(changes(daemons(replacing(1), ['n1', 'n2'], old('n1'), fresh('n1'), old('n2'))), [
      [],
      [],
    ]);
  });

  it('removes all old pods that are not available at once', () => {
    const broken = [old('n1', unready), old('n2', unready), old('n3'), old('n4')];
    assert.deepEqual(changes(daemons(replacing(1), nodes, ...broken)), [[], ['old-n1', 'old-n2']]);
  });

  it('replaces no pod with OnDelete', () => {
    const set = daemonSet({ updateStrategy: { type: 'OnDelete' } });
    assert.deepEqual(changes(daemons(set, nodes, ...four)), [[], []]);
  });
});

describe('a rolling update with a surge', () => {
  const set = daemonSet(surging(2));

  it('creates a second pod on at most as many nodes as the surge allows', () => {
    const four = nodes.map((name) => old(name));
    assert.deepEqual(changes(daemons(set, nodes, ...four)), [['n1', 'n2'], []]);
    const share = daemonSet(surging('75%'));
    assert.deepEqual(changes(daemons(share, nodes, ...four)), [['n1', 'n2', 'n3'], []]);
  });

  it('counts a second pod as surge until it is available, and then removes the old pod', () => {
    const rest = [old('n2'), old('n3'), old('n4')];
    const pods = [old('n1'), fresh('n1', unready), ...rest];
    assert.deepEqual(changes(daemons(set, nodes, ...pods)), [['n2'], []]);
    assert.deepEqual(changes(daemons(set, nodes, old('n1'), fresh('n1'), ...rest)), [
      ['n2', 'n3'],
      ['old-n1'],
    ]);
  });

  it('creates a pod in addition to the surge on a node whose old pod is not available', () => {
    const pods = [old('n1', unready), old('n2', unready), old('n3', unready), old('n4')];
    assert.deepEqual(changes(daemons(set, nodes, ...pods)), [['n1', 'n2', 'n3', 'n4'], []]);
  });

  it('counts a node with excess pods as surge', () => {
    const pods = [old('n1'), daemon('again', 'n1', 'old'), old('n2'), old('n3')];
    assert.deepEqual(changes(daemons(set, ['n1', 'n2', 'n3'], ...pods)), [['n2'], []]);
  });

  it('removes an old pod on an ineligible node at once if it is unavailable, and otherwise when enough others are available', () => {
    const left = node('n1', { taints: [{ key: 'a', effect: 'NoSchedule' }] });
    assert.deepEqual(changes(daemons(set, [left, 'n2'], old('n1', unready), fresh('n2'))), [[], ['old-n1']]);
    assert.deepEqual(changes(daemons(set, [left, 'n2'], old('n1'), fresh('n2', unready))), [[], []]);
    assert.deepEqual(changes(daemons(set, [left, 'n2'], old('n1'), fresh('n2'))), [[], ['old-n1']]);
    // A pod on a removed node is not replaced either.
    assert.deepEqual(changes(daemons(set, ['n2'], old('n1'), fresh('n2'))), [[], ['old-n1']]);
  });
});
