/** Order in which the pods of a StatefulSet are created, removed and replaced. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatefulSet } from '../../../../../src/api/apps/v1/stateful-set.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { Members } from '../../../../../src/controllers/workloads/stateful/stateful-members-plan.ts';
import { planSteps } from '../../../../../src/controllers/workloads/stateful/stateful-set-plan.ts';
import { at, meta } from '../../objects.ts';
import { claim, member, members, parallel, statefulSet, told, withData } from './stateful-objects.ts';

const steps = (set: StatefulSet, pods: readonly Pod[], ...claims: Parameters<typeof members>[2][]) =>
  told(planSteps(members(set, pods, ...claims)));
const unready = { readyAt: undefined };
const ending = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: at(1) } });
const all = (count: number, revision = 'new') =>
  Array.from({ length: count }, (_, ordinal) => member(ordinal, revision));
const created = (one: Members, ordinal: number) =>
  planSteps(one)
    .flat()
    .flatMap((step) => (step.type === 'create' ? step.pod : []))
    .find(({ metadata }) => metadata.name === `web-${ordinal}`);

describe('with OrderedReady', () => {
  it('the first missing pod is created when the earlier ones are ready and available', () => {
    assert.deepEqual(steps(statefulSet(3), []), [['create web-0']]);
    assert.deepEqual(steps(statefulSet(3), all(2)), [['create web-2']]);
    assert.deepEqual(steps(statefulSet(3), [member(0), member(2)]), [['create web-1']]);
    assert.deepEqual(steps(statefulSet(3), [member(0), member(1, 'new', unready)]), []);
    assert.deepEqual(steps(statefulSet(3), [ending(member(0))]), []);
    assert.deepEqual(steps(statefulSet(3, { minReadySeconds: 61 }), [member(0)]), []);
    assert.deepEqual(steps(statefulSet(3, { minReadySeconds: 60 }), [member(0)]), [['create web-1']]);
  });

  it('only the ended pod is deleted', () => {
    for (const phase of ['Failed', 'Succeeded'] as const) {
      const pods = [member(0, 'new', { phase, ...unready }), member(2)];
      assert.deepEqual(steps(statefulSet(2), pods), [['remove web-0']]);
      assert.deepEqual(steps(statefulSet(2), pods.map(ending)), []);
    }
  });

  it('the last of the excess pods is deleted first, one at a time', () => {
    assert.deepEqual(steps(statefulSet(1), all(3)), [['remove web-2']]);
    assert.deepEqual(steps(statefulSet(1), [member(0), member(1), ending(member(2))]), []);
    assert.deepEqual(steps(statefulSet(0), all(1)), [['remove web-0']]);
    assert.deepEqual(steps(statefulSet(1), [member(0, 'new', unready), member(1)]), []);
  });

  it('a surplus pod is not removed while one with a lower ordinal is unhealthy', () => {
    const broken = member(1, 'new', unready);
    assert.deepEqual(steps(statefulSet(1), [member(0), broken, member(2)]), [['remove web-2']]);
    assert.deepEqual(steps(statefulSet(1), [member(0), broken, member(2, 'new', unready)]), []);
    assert.deepEqual(steps(statefulSet(1), [member(0), member(1), member(2, 'new', unready)]), [
      ['remove web-2'],
    ]);
    const late = member(2, 'new', { readyAt: 30 });
    assert.deepEqual(steps(statefulSet(1, { minReadySeconds: 40 }), [member(0), member(1), late]), []);
  });

  it('after a change of the range pods outside it are deleted, from the highest', () => {
    const set = statefulSet(2, { ordinals: { start: 1 } });
    assert.deepEqual(steps(set, [member(0), member(1), member(2)]), [['remove web-0']]);
    assert.deepEqual(steps(set, [member(0), member(1)]), [['create web-2']]);
  });

  it('a set of two billion pods creates the first one', () => {
    assert.deepEqual(steps(statefulSet(2 ** 31 - 1), all(1)), [['create web-1']]);
  });
});

describe('with Parallel', () => {
  it('all missing pods are created and all excess pods deleted, in any state of the other pods', () => {
    const pods = [member(0, 'new', unready), ending(member(2)), member(5), member(6, 'new', unready)];
    assert.deepEqual(steps(statefulSet(4, parallel), pods), [
      ['create web-1', 'create web-3'],
      ['remove web-6', 'remove web-5'],
    ]);
  });

  it('a pod that ended is deleted, once', () => {
    const pods = [member(0), member(1, 'old', { phase: 'Failed', ...unready })];
    assert.deepEqual(steps(statefulSet(2, parallel), pods), [['remove web-1']]);
  });

  it('claims are counted in the same batch as pods, and no pod is created without all of its claims', () => {
    const [data] = withData().volumeClaimTemplates ?? assert.fail();
    const templates = Array.from({ length: 110 }, (_, index) => ({
      ...(data ?? assert.fail()),
      metadata: meta(`data${index}`),
    }));
    const [group] = planSteps(
      members(statefulSet(500, { ...parallel, volumeClaimTemplates: templates }), []),
    );
    assert.deepEqual(
      group?.map((step) => step.type === 'create' && [step.pod.metadata.name, step.claims.length]),
      ['web-0', 'web-1', 'web-2', 'web-3', 'web-4'].map((name) => [name, 110]),
    );
  });

  it('five hundred pods are created at once, and further ones take no time', () => {
    const [group] = steps(statefulSet(2 ** 31 - 1, parallel), []);
    assert.equal(group?.length, 500);
    const [beside] = steps(statefulSet(2 ** 31 - 1, parallel), all(3));
    assert.deepEqual([beside?.length, beside?.[0], beside?.at(-1)], [500, 'create web-3', 'create web-502']);
  });
});

describe('another template', () => {
  it('replaces the pods from the last to the first, one at a time, each when the others are ready', () => {
    assert.deepEqual(steps(statefulSet(3), all(3, 'old')), [['remove web-2']]);
    assert.deepEqual(steps(statefulSet(3), [...all(2, 'old'), member(2)]), [['remove web-1']]);
    assert.deepEqual(steps(statefulSet(3), [...all(2, 'old'), member(2, 'new', unready)]), []);
    assert.deepEqual(steps(statefulSet(3), all(3)), []);
    const broken = [member(0, 'old'), member(1, 'old', unready), member(2)];
    assert.deepEqual(steps(statefulSet(3, parallel), broken), [['remove web-1']]);
  });

  it('stops at the partition; missing pods below it get the previous template', () => {
    const partition = (at: number) =>
      statefulSet(3, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: at } } });
    assert.deepEqual(steps(partition(1), [member(0, 'old'), member(1), member(2)]), []);
    assert.deepEqual(steps(partition(9), all(3, 'old')), []);
    const revisions = [0, 1, 2].map((ordinal) => {
      const others = all(3).filter(({ metadata }) => metadata.name !== `web-${ordinal}`);
      const labels = created(members(partition(1), others), ordinal)?.metadata.labels;
      return [labels?.['controller-revision-hash'], labels?.was];
    });
    assert.deepEqual(revisions, [
      ['old', 'old'],
      ['new', undefined],
      ['new', undefined],
    ]);
  });

  it('without a partition keeps as many pods of the previous template as its status counts', () => {
    const set = statefulSet(3, { updateStrategy: { type: 'RollingUpdate' } });
    const status = { replicas: 3, availableReplicas: 3, currentReplicas: 2 };
    const revision = (ordinal: number, pods: Pod[]) =>
      created(members({ ...set, status }, pods), ordinal)?.metadata.labels?.['controller-revision-hash'];
    assert.deepEqual([revision(1, all(1)), revision(2, all(2))], ['old', 'new']);
  });

  it('with maxUnavailable replaces that many pods at once, from the last ordinal; every unavailable pod is counted', () => {
    const rolling = (maxUnavailable: number | string, over = {}) =>
      statefulSet(5, {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, partition: 0, ...over } },
        ...parallel,
      });
    const names = (set: StatefulSet, pods: readonly Pod[]) => steps(set, pods).flat();
    assert.deepEqual(names(rolling(2), all(5, 'old')), ['remove web-4', 'remove web-3']);
    assert.deepEqual(names(rolling('50%'), all(5, 'old')), ['remove web-4', 'remove web-3']);
    assert.deepEqual(names(rolling('1%'), all(5, 'old')), ['remove web-4']);
    assert.deepEqual(names(rolling(3, { partition: 3 }), all(5, 'old')), ['remove web-4', 'remove web-3']);
    const renewed = [...all(3, 'old'), member(3), member(4, 'new', unready)];
    assert.deepEqual(names(rolling(2), renewed), ['remove web-2']);
    assert.deepEqual(names(rolling(1), renewed), []);
    assert.deepEqual(names(rolling(2), [...all(4, 'old'), ending(member(4, 'old'))]), ['remove web-3']);
    const brokenBelow = [member(0, 'old', unready), ...all(5, 'old').slice(1)];
    assert.deepEqual(names(rolling(2), brokenBelow), ['remove web-4']);
    const broken = all(5, 'old').map((_, ordinal) => member(ordinal, 'old', unready));
    assert.equal(names(rolling(2), broken).length, 5, 'one that is not ready costs nothing');
    const patient = { ...rolling(2), spec: { ...rolling(2).spec, minReadySeconds: 90 } };
    assert.deepEqual(names(patient, [...all(3, 'old'), member(3), member(4)]), []);
    const ordered = statefulSet(5, { updateStrategy: rolling(2).spec.updateStrategy });
    assert.deepEqual(names(ordered, all(5, 'old')), ['remove web-4', 'remove web-3']);
    assert.deepEqual(names(ordered, all(3, 'old')), ['create web-3']);
  });

  it('replaces no pod with OnDelete', () => {
    assert.deepEqual(steps(statefulSet(3, { updateStrategy: { type: 'OnDelete' } }), all(3, 'old')), []);
  });
});

describe('the claims of a pod', () => {
  it('are created with it if missing, and again while it waits', () => {
    const set = statefulSet(1, withData());
    const [create] = planSteps(members(set, [])).flat();
    assert.ok(create?.type === 'create');
    assert.deepEqual(
      create.claims.map(({ metadata, spec }) => [
        metadata.name,
        metadata.labels,
        metadata.ownerReferences,
        spec.accessModes,
      ]),
      [['data-web-0', { app: 'web' }, undefined, ['ReadWriteOnce']]],
    );
    assert.deepEqual(create.pod.spec.volumes, [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } },
    ]);
    const [reused] = planSteps(members(set, [], claim('data-web-0'))).flat();
    assert.ok(reused?.type === 'create' && reused.claims.length === 0);
    const pending = member(0, 'new', { phase: 'Pending', ...unready });
    assert.deepEqual(steps(set, [pending]), [['claims data-web-0']]);
    assert.deepEqual(steps(set, [pending], claim('data-web-0')), []);
  });

  it('delay its creation while they are being deleted, which is reported, or while they will be deleted', () => {
    const going = claim('data-web-0', [], { deletionTimestamp: at(1) });
    const why = 'wait web-0: pvc data-web-0 is being deleted';
    assert.deepEqual(steps(statefulSet(2, withData()), [], going), [[why]]);
    assert.deepEqual(steps(statefulSet(2, { ...withData(), ...parallel }), [], going), [
      [why, 'create web-1'],
    ]);
    const before = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'before' };
    assert.deepEqual(
      steps(statefulSet(2, withData({ whenScaled: 'Delete' })), [], claim('data-web-0', [before])),
      [],
    );
    assert.deepEqual(steps(statefulSet(2, withData()), [], claim('data-web-0', [before])), [
      ['create web-0'],
    ]);
  });

  it('become owned by the pod before it is deleted', () => {
    const set = statefulSet(0, withData({ whenScaled: 'Delete' }));
    assert.deepEqual(steps(set, all(1), claim('data-web-0')), [
      ['owners data-web-0: Pod web-0'],
      ['remove web-0'],
    ]);
  });
});

describe('a pod of the set', () => {
  it('is named by its ordinal, and has its own volumes before those of the template', () => {
    const set = statefulSet(1, withData());
    const volumes = [
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ];
    const template = { ...set.spec.template, spec: { ...set.spec.template.spec, volumes } };
    const pod = created(members({ ...set, spec: { ...set.spec, template } }, []), 0);
    assert.deepEqual([pod?.spec.hostname, pod?.spec.subdomain], ['web-0', 'www']);
    assert.deepEqual(pod?.spec.volumes, [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } },
      { name: 'tmp', emptyDir: {} },
    ]);
    const lone = created(members(statefulSet(1, { serviceName: undefined }), []), 0);
    assert.deepEqual([lone?.spec.hostname, lone && 'subdomain' in lone.spec], ['web-0', false]);
  });

  it('is counted only by a name that the set would assign', () => {
    const named = (name: string) => {
      const one = member(0);
      return { ...one, metadata: { ...one.metadata, name } };
    };
    for (const name of ['web-00', 'web-x', 'web-', 'webs-0', 'web-0-0', 'db-0'])
      assert.deepEqual(steps(statefulSet(1), [named(name)]), [['create web-0']], name);
  });

  it('gets back its labels', () => {
    const bare = member(0, 'new', { metadata: { labels: { app: 'web' } } });
    const [step] = planSteps(members(statefulSet(1), [{ ...bare }])).flat();
    assert.ok(step?.type === 'update');
    assert.deepEqual(step.pod.metadata.labels, {
      app: 'web',
      'statefulset.kubernetes.io/pod-name': 'web-0',
      'apps.kubernetes.io/pod-index': '0',
    });
  });

  it('without volumes gets an update, which the server rejects', () => {
    const [step] = planSteps(
      members(statefulSet(1, withData()), [member(0, 'new', { spec: { volumes: [] } })], claim('data-web-0')),
    ).flat();
    assert.ok(step?.type === 'update');
    assert.deepEqual(
      step.pod.spec.volumes?.map(({ name }) => name),
      ['data'],
    );
  });
});
