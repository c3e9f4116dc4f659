/**
 * Changes after which the controller reconciles a trigger, obstacles for a trigger, and the rate of its
 * status writes.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { serviceAccountResource } from '../../../../../src/api/core/v1/service-account/service-account.ts';
import { persistentVolumeResource } from '../../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { functionResource } from '../../../../../src/features/functions/api/function.ts';
import { folderWatchResource } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { type Trigger, triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import { triggerEventResource } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { event, key, trigger, world } from './trigger-world.ts';

const http = { http: { path: '/x' } };
const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', types: ['Created'] };
const folder = { folder: '/srv', types: ['Created'], recursive: false, includeContent: false };

describe('a trigger is reconciled', () => {
  const begin = () => {
    const { server } = world();
    for (const [name, spec] of Object.entries({
      'of-path': http,
      'of-same-path': http,
      'of-other-path': { http: { path: '/y' } },
      'of-maps': { object: configMaps, serviceAccountName: 'other' },
      'of-secrets': { object: { ...configMaps, kind: 'Secret' } },
      'of-folder': { file: folder },
      'of-claim': { file: { ...folder, folder: undefined, claimName: 'c' } },
      'of-result': { result: { function: 'g', outcomes: ['Failure'] } },
      'to-workflow': { ...http, http: { path: '/w' }, target: { kind: 'Workflow', name: 'w' } },
    }))
      server.put(triggerResource, trigger(spec, {}, name));
    return server;
  };
  const keys = (...names: readonly string[]) => names.map((name) => `default/${name}`);
  const named = (name: string, more: object = {}) => ({ metadata: meta(name), ...more }) as never;

  it('when it changes, with others of its path', () => {
    const server = begin();
    const of = (name: string, spec: object) =>
      server.keysOf(triggerResource, trigger(spec, {}, name)).toSorted();
    assert.deepEqual(of('new', http), keys('new', 'of-path', 'of-same-path'));
    assert.deepEqual(of('of-maps', { object: configMaps }), keys('of-maps'));
  });

  it('when its target, its account, its volume or a node changes', () => {
    const server = begin();
    const of = (ref: object, object: object) => server.keysOf(ref as never, object as never).toSorted();
    assert.deepEqual(of(functionResource, named('g')), keys('of-result'));
    assert.equal(of(functionResource, named('f')).length, 8);
    assert.deepEqual(of(workflowResource, named('w')), keys('to-workflow'));
    assert.deepEqual(of(serviceAccountResource, named('other')), keys('of-maps'));
    assert.deepEqual(of(serviceAccountResource, named('default')), keys('of-secrets'));
    assert.deepEqual(of(persistentVolumeClaimResource, named('c')), keys('of-claim'));
    assert.deepEqual(of(persistentVolumeClaimResource, named('d')), []);
    const claimRef = { namespace: 'default', name: 'c' };
    assert.deepEqual(of(persistentVolumeResource, named('v', { spec: { claimRef } })), keys('of-claim'));
    assert.deepEqual(
      of(persistentVolumeResource, named('v', { spec: { claimRef: { ...claimRef, namespace: 'other' } } })),
      [],
    );
    assert.deepEqual(of(persistentVolumeResource, named('v', { spec: {} })), []);
    assert.deepEqual(of(nodeResource, named('n1')), keys('of-claim', 'of-folder'));
    assert.deepEqual(of(triggerEventResource, event('e')), keys('t'));
    assert.deepEqual(
      of(folderWatchResource, named('x', { spec: { trigger: 'of-folder' } })),
      keys('of-folder'),
    );
  });

  it('when the watched kind is added', () => {
    const server = begin();
    server.enqueued.length = 0;
    server.controller.watchOf?.({ kind: 'ConfigMap' } as never);
    assert.deepEqual(server.enqueued, keys('of-maps'));
  });
});

describe('a trigger', () => {
  const problem = (one: Trigger) => {
    const ready = one.status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'False' ? [ready.reason, ready.message] : undefined;
  };
  const cases: readonly (readonly [string, object, string, string | RegExp])[] = [
    [
      'without a target',
      { ...http, target: { kind: 'Function', name: 'none' } },
      'TargetMissing',
      'there is no function "none" in the namespace "default"',
    ],
    [
      'of results of a function that does not exist',
      { result: { function: 'g', outcomes: ['Failure'] } },
      'FunctionMissing',
      'spec.result.function: there is no function "g" in the namespace',
    ],
    [
      'with a schedule that is never due',
      { cron: { schedule: '0 0 31 2 *' } },
      'NeverDue',
      'spec.cron.schedule: "0 0 31 2 *" is never due',
    ],
    ...(
      [
        ['apps/v1', 'ConfigMap'],
        ['v1', 'Deployment'],
        ['authorization.k8s.io/v1', 'SubjectAccessReview'],
        ['metrics.k8s.io/v1beta1', 'NodeMetrics'],
      ] as const
    ).map(
      ([apiVersion, kind]) =>
        [
          `of objects ${apiVersion} ${kind}`,
          { object: { ...configMaps, apiVersion, kind } },
          'KindNotServed',
          `spec.object: ${apiVersion} ${kind} is not served, or cannot be watched`,
        ] as const,
    ),
    [
      'without its account',
      { object: configMaps, serviceAccountName: 'none' },
      'AccountMissing',
      'spec.serviceAccountName: there is no account "none" in the namespace',
    ],
  ];
  for (const [name, spec, reason, message] of cases)
    it(`${name} is not ready, and has one event`, async () => {
      const { server, put, look } = world();
      const one = await put(trigger(spec));
      assert.deepEqual(problem(one), [reason, message]);
      for (let i = 0; i < 3; i++) {
        await server.clock.advance(2000);
        await look();
        server.sync(triggerResource);
      }
      assert.deepEqual(server.told, [`Warning ${reason} t: ${message}`]);
    });

  it('is not ready while an older one has its path', async () => {
    const { server, put } = world();
    server.put(triggerResource, trigger(http, { creationTimestamp: at(-60) }, 'older'));
    assert.deepEqual(problem(await put(trigger(http))), ['PathTaken', 'trigger "older" has the path /x']);
    const other = await put(trigger({ http: { path: '/y' } }, { uid: 'another' }));
    assert.equal(problem(other), undefined);
  });

  it('is not ready while it is suspended, and has no event', async () => {
    const { server, put } = world();
    const one = await put(trigger({ ...http, suspend: true }));
    assert.deepEqual(problem(one), ['Suspended', 'spec.suspend is true: no event is recorded or delivered']);
    assert.deepEqual([server.told, one.status?.position], [[], undefined]);
  });

  it('without a problem has no event', async () => {
    const { server, put } = world();
    assert.equal(problem(await put(trigger(http))), undefined);
    assert.deepEqual(server.told, []);
  });
});

describe('a schedule', () => {
  it('that was due too long ago is reported as missed, and continues from there', async () => {
    const { server, put, look } = world();
    await put(trigger({ cron: { schedule: '0 * * * *', startingDeadlineSeconds: 10 } }));
    await server.clock.advance(3_600_000 + 20_000);
    await look();
    server.sync(triggerResource);
    assert.deepEqual(server.told, [`Warning MissSchedule t: the deadline has passed for ${at(3600)}`]);
    const { position, conditions } = server.stored(triggerResource, key)?.status ?? {};
    assert.deepEqual([position?.since, position?.lastScheduleTime], [at(0), at(3600)]);
    assert.equal(typeof position?.of, 'string');
    assert.equal(conditions?.[0]?.status, 'True');
    assert.deepEqual(server.names(triggerEventResource), []);
    assert.deepEqual(await look(), { requeueAfter: 3_580_000 });
  });
});

describe('the status', () => {
  const writes = (server: { readonly asked: readonly string[] }) =>
    server.asked.filter((one) => one === 'updateStatus Trigger t').length;

  it('is written once if nothing changes, and then causes no reconcile', async () => {
    const { server, put, look } = world();
    await put(trigger(http));
    for (let i = 0; i < 3; i++) {
      await server.clock.advance(5000);
      assert.equal(await look(), undefined);
    }
    assert.equal(writes(server), 1);
  });

  it('is written at most once a second, and after that second at the latest', async () => {
    const { server, put, look } = world();
    await put(trigger(http));
    server.put(triggerEventResource, event('one'));
    await server.clock.advance(300);
    await look();
    server.sync(triggerEventResource);
    assert.deepEqual([await look(), writes(server)], [{ requeueAfter: 700 }, 1]);
    await server.clock.advance(700);
    await look();
    assert.equal(writes(server), 2);
  });

  it('of a trigger that is created again is written at once', async () => {
    const { server, put, look } = world();
    await put(trigger(http));
    server.seen.remove(triggerResource, key);
    server.take(triggerResource, key);
    await look();
    await put(trigger(http, { uid: 'another', resourceVersion: '200' }));
    assert.equal(writes(server), 2);
  });

  it('of a source of objects has the position in their history', async () => {
    const { put } = world();
    const { status } = await put(trigger({ object: configMaps }));
    const { of, ...position } = status?.position ?? assert.fail();
    assert.match(of, /^[0-9a-f]{16}$/);
    assert.deepEqual(position, { since: at(0), resourceVersion: '1', resourceTime: at(0) });
  });
});

describe('a folder', () => {
  it('of a claim is watched on the node of its volume, and stays watched', async () => {
    const { server, put, look } = world();
    const hostname = { 'kubernetes.io/hostname': 'n1' };
    const conditions = [{ type: 'Ready', status: 'True' }];
    server.put(nodeResource, {
      ...{ metadata: { ...meta('n1'), labels: hostname, namespace: undefined }, status: { conditions } },
    } as never);
    server.put(persistentVolumeClaimResource, {
      ...{ metadata: meta('c'), spec: { volumeName: 'v' }, status: { phase: 'Bound' } },
    } as never);
    const claimRef = { namespace: 'default', name: 'c', uid: 'uid-c' };
    server.put(persistentVolumeResource, {
      ...{ metadata: { ...meta('v'), namespace: undefined }, spec: { claimRef, hostPath: { path: '/d' } } },
    } as never);
    await put(trigger({ file: { ...folder, folder: undefined, claimName: 'c' } }));
    const made = () => server.all(folderWatchResource).map(({ spec }) => [spec.nodeName, spec.folder]);
    assert.deepEqual(made(), [['n1', '/d']]);
    server.sync(folderWatchResource);
    await look();
    assert.deepEqual(
      server.asked.filter((one) => one.includes('FolderWatch')).length,
      1,
      'the FolderWatch is created once, and not removed',
    );
    server.seen.remove(persistentVolumeClaimResource, 'default/c');
    await look();
    assert.deepEqual(made(), []);
  });
});
