import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { functionVersionLabel } from '../../../../../src/features/functions/api/function-instance.ts';
import {
  type FunctionFacts,
  planFunction,
} from '../../../../../src/features/functions/controller/function-plan.ts';
import { at, meta, pod, start } from '../../../controllers/objects.ts';

const fn = (status: Fn['status'] = {}, spec: Partial<Fn['spec']> = {}) =>
  ({
    metadata: meta('hello', { generation: 3 }),
    spec: { minScale: 0, maxScale: 10, idleSeconds: 60, ...spec },
    status,
  }) as Fn;

const instance = (version: string, name: string, options: Parameters<typeof pod>[1] = {}) =>
  pod(name, { ...options, metadata: { labels: { [functionVersionLabel]: version }, ...options.metadata } });
const ready = (version: string, name: string, created = 0) =>
  instance(version, name, { readyAt: 0, metadata: { creationTimestamp: at(created) } });
/** Instance whose program runs. */
const unready = (version: string, name: string, started: boolean) => {
  const one = instance(version, name);
  const containerStatuses = [{ name: 'function', started, state: { running: {} } }];
  const conditions = [{ type: 'Ready', status: 'False' }];
  return { ...one, status: { ...one.status, conditions, containerStatuses } } as Pod;
};

function plan(object: Fn, { pods = [], ...facts }: Partial<FunctionFacts> = {}) {
  const now = facts.now ?? start + 1000_000;
  const made = planFunction(object, {
    versions: ['v1', 'v2'],
    latest: 'v2',
    pods,
    masters: new Set(['m1', 'm2']),
    timestamp: new Date(now).toISOString(),
    ...facts,
    now,
  });
  const names = (list: readonly Pod[]) => list.map(({ metadata }) => metadata.name);
  return { ...made, remove: names(made.remove), ready: made.status.conditions?.[0] };
}

const callable = (since = 0) => ({
  conditions: [
    {
      type: 'Ready',
      status: 'True' as const,
      reason: 'Callable',
      message: '',
      lastTransitionTime: at(since),
    },
  ],
});
const active = { activeVersion: 'v2', ...callable() };

it('an instance that has ended is removed once, and not again while it is being deleted', () => {
  const over = (name: string, more: object = {}) => instance('v2', name, { phase: 'Failed', metadata: more });
  const going = { deletionTimestamp: at(1), finalizers: ['x'] };
  assert.deepEqual(plan(fn(active), { pods: [over('p1'), over('p2', going)] }).remove, ['p1']);
});

describe('a new function', () => {
  it('starts with one instance, for any number of waiting calls', () => {
    const { create, status, ready } = plan(fn({ demand: { m1: 5 } }), { versions: ['v2'] });
    assert.deepEqual(create, [{ version: 'v2', count: 1 }]);
    assert.equal(status.activeVersion, undefined);
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'Starting']);
  });
  it('is not created twice', () => {
    const { create, remove } = plan(fn(), { versions: ['v2'], pods: [instance('v2', 'a')] });
    assert.deepEqual([create, remove], [[], []]);
  });
  it('is called once an instance is ready, and keeps the instance for the idle time', () => {
    const { create, remove, status, again } = plan(fn(), { versions: ['v2'], pods: [ready('v2', 'a')] });
    assert.deepEqual([create, remove, status.activeVersion, again], [[], [], 'v2', 60_000]);
    assert.equal(status.conditions?.[0]?.status, 'True');
  });
});

it('a first version is called once one instance is ready, even if more are requested', () => {
  const { status, create } = plan(fn({ demand: { m1: 5 } }), { versions: ['v2'], pods: [ready('v2', 'a')] });
  assert.deepEqual([status.activeVersion, create], ['v2', [{ version: 'v2', count: 4 }]]);
});

it('the status omits an unset version and demand, so that an equal status is not written', () => {
  assert.deepEqual(Object.keys(plan(fn(), { versions: ['v2'] }).status).toSorted(), [
    ...['conditions', 'latestVersion', 'observedGeneration', 'readyReplicas', 'replicas'],
  ]);
  const { status, problem } = plan(fn(active), { pods: [ready('v2', 'a')] });
  assert.equal(status.conditions?.[0]?.message, 'the current version is called');
  assert.equal(problem, undefined);
});

describe('the version that is called', () => {
  it('has no instance after its idle time, and keeps one until the last millisecond before', () => {
    const pods = [ready('v2', 'a')];
    const unset = { idleSeconds: undefined } as unknown as Partial<Fn['spec']>;
    assert.equal(plan(fn({}, unset), { versions: ['v2'], pods }).again, 0);
    const over = plan(fn({ activeVersion: 'v2', ...callable(1000) }, unset), { pods });
    assert.deepEqual([over.again, over.remove], [undefined, ['a']]);
    const last = plan(fn({ activeVersion: 'v2', ...callable(940) }), { pods, now: start + 999_999 });
    assert.deepEqual([last.again, last.remove], [1, []]);
  });
  it('has no fewer instances for a master that requests a negative number', () =>
    assert.deepEqual(plan(fn({ ...active, demand: { m1: 2, m2: -3 } })).create, [
      { version: 'v2', count: 2 },
    ]));
  it('has no instances without demand', () => {
    const { remove, again } = plan(fn(active), { pods: [ready('v2', 'a')] });
    assert.deepEqual([remove, again], [['a'], undefined]);
  });
  it('keeps its first instance for the idle time', () => {
    const { remove, again } = plan(fn({ activeVersion: 'v2', ...callable(990) }), {
      pods: [ready('v2', 'a')],
    });
    assert.deepEqual([remove, again], [[], 50_000]);
  });
  it('has the sum of the instances that all live masters request', () => {
    const demand = { m1: 2, m2: 3, gone: 4, below: -2 };
    const { create, status } = plan(fn({ ...active, demand }));
    assert.deepEqual(create, [{ version: 'v2', count: 5 }]);
    assert.deepEqual(status.demand, { m1: 2, m2: 3 });
  });
  it('has at most maxScale', () =>
    assert.deepEqual(plan(fn({ ...active, demand: { m1: 50 } }, { maxScale: 4 })).create, [
      { version: 'v2', count: 4 },
    ]));
  it('has no fewer than minScale', () =>
    assert.deepEqual(plan(fn(active, { minScale: 2 })).create, [{ version: 'v2', count: 2 }]));
  it('removes instances that are not ready first, then the youngest', () => {
    const pods = [ready('v2', 'old', 1), instance('v2', 'starting'), ready('v2', 'young', 9)];
    assert.deepEqual(plan(fn({ ...active, demand: { m1: 1 } }), { pods }).remove, ['starting', 'young']);
  });
  it('ignores terminating and ended instances, and removes ended ones', () => {
    const going = instance('v2', 'going', { readyAt: 0, metadata: { deletionTimestamp: at(1) } });
    const pods = [going, instance('v2', 'dead', { phase: 'Failed' })];
    const { create, remove, status } = plan(fn({ ...active, demand: { m1: 1 } }), { pods });
    assert.deepEqual([create, remove], [[{ version: 'v2', count: 1 }], ['dead']]);
    assert.deepEqual([status.replicas, status.readyReplicas], [0, 0]);
  });
  it('removes an instance of a lost node, and creates another', () => {
    const lost = unready('v2', 'lost', true);
    const { create, remove } = plan(fn({ ...active, demand: { m1: 1 } }), { pods: [lost] });
    assert.deepEqual([create, remove], [[{ version: 'v2', count: 1 }], ['lost']]);
  });
  it('keeps an instance that is just starting', () => {
    const starting = unready('v2', 'starting', false);
    const { create, remove } = plan(fn({ ...active, demand: { m1: 1 } }), { pods: [starting] });
    assert.deepEqual([create, remove], [[], []]);
  });
});

describe('a version that takes over', () => {
  const before = { activeVersion: 'v1', ...callable(), demand: { m1: 2 } };
  const old = [ready('v1', 'a'), ready('v1', 'b')];
  it('is tried while the previous one continues to scale', () => {
    const { create, remove, status } = plan(fn({ ...before, demand: { m1: 3 } }), { pods: old });
    assert.deepEqual(create, [
      { version: 'v1', count: 1 },
      { version: 'v2', count: 1 },
    ]);
    assert.deepEqual([remove, status.activeVersion], [[], 'v1']);
  });
  it('gets as many instances as are needed once the first is ready', () => {
    const { create, status } = plan(fn(before), { pods: [...old, ready('v2', 'c')] });
    assert.deepEqual([create, status.activeVersion], [[{ version: 'v2', count: 1 }], 'v1']);
  });
  it('is called when all its instances are ready, and instances of the previous version are removed after that', () => {
    const pods = [...old, ready('v2', 'c'), ready('v2', 'd')];
    const { create, remove, status, obsolete } = plan(fn(before), { pods });
    assert.deepEqual([create, status.activeVersion, obsolete], [[], 'v2', []]);
    assert.deepEqual(remove.toSorted(), ['a', 'b']);
  });
  it('is not called for an instance that is ready and ends', () => {
    const ending = ready('v2', 'c');
    ending.metadata.deletionTimestamp = at(1);
    const { status } = plan(fn({ activeVersion: 'v1', ...callable() }), { pods: [ending] });
    assert.equal(status.activeVersion, 'v1');
  });
  it('is called with one ready instance without demand', () =>
    assert.equal(
      plan(fn({ activeVersion: 'v1', ...callable() }), { pods: [ready('v2', 'c')] }).status.activeVersion,
      'v2',
    ));
  it('does not keep the previous version for an idle time', () => {
    const seldom = fn({ activeVersion: 'v1', ...callable(990) });
    const { create, remove, again } = plan(seldom, { pods: [ready('v1', 'a')] });
    assert.deepEqual([create, remove, again], [[{ version: 'v2', count: 1 }], ['a'], undefined]);
    assert.deepEqual(plan(seldom).obsolete, [], 'the version that is called stays');
  });
  it('leaves no unused version', () =>
    assert.deepEqual(plan(fn(active), { versions: ['v0', 'v1', 'v2'], pods: [ready('v1', 'a')] }).obsolete, [
      'v0',
    ]));
  it('is the only one if the previous one was deleted', () => {
    const { create, status } = plan(fn(before), { versions: ['v2'] });
    assert.deepEqual([create, status.activeVersion], [[{ version: 'v2', count: 1 }], undefined]);
  });
});

describe('the reason why a version is not called', () => {
  const waiting = (reason: string, message: string) => {
    const one = instance('v2', 'c', { phase: 'Pending' });
    one.status = {
      ...one.status,
      containerStatuses: [{ name: 'function', state: { waiting: { reason, message } } }],
    } as Pod['status'];
    return one;
  };
  it('has the last lines of the build', () => {
    const failed = plan(fn({ activeVersion: 'v1' }), {
      pods: [waiting('FunctionBuildFailed', 'no such package')],
    });
    assert.equal(failed.ready?.reason, 'FunctionBuildFailed');
    assert.equal(failed.ready?.message, 'no such package\n(v1 is called meanwhile)');
    assert.deepEqual(failed.problem, { reason: 'FunctionBuildFailed', message: 'no such package' });
  });
  it('is reported once', () => {
    const pods = [waiting('FunctionBuildFailed', 'no such package')];
    const { status } = plan(fn(), { pods });
    assert.equal(plan(fn(status), { pods }).problem, undefined);
  });
  it('is the last output of its program', () => {
    const crashed = waiting('CrashLoopBackOff', 'back-off');
    const [container] = crashed.status?.containerStatuses ?? [];
    Object.assign(container ?? {}, { lastState: { terminated: { exitCode: 1, message: 'SyntaxError' } } });
    const { ready: said } = plan(fn(), { pods: [crashed] });
    assert.equal(said?.reason, 'StartFailed');
    assert.match(said?.message ?? '', /cannot be started: SyntaxError$/);
  });
  it('is the end of the output of its program or its build, if that is long', () => {
    const long = `first ${'x'.repeat(3000)} last`;
    const crashed = waiting('CrashLoopBackOff', 'back-off');
    const [container] = crashed.status?.containerStatuses ?? [];
    Object.assign(container ?? {}, { lastState: { terminated: { exitCode: 1, message: long } } });
    for (const one of [crashed, waiting('FunctionBuildFailed', long)]) {
      const { message = '' } = plan(fn(), { pods: [one] }).problem ?? {};
      assert.match(message, /x last$/);
      const from = message.startsWith('the program') ? 'the program cannot be started: '.length : 0;
      assert.equal(message.length - from, 2000);
    }
  });
  it('is the exit code of a program that ended without output, and nothing if it succeeded', () => {
    const ended = (exitCode: number) => {
      const one = waiting('', '');
      Object.assign(one.status?.containerStatuses?.[0] ?? {}, { state: { terminated: { exitCode } } });
      return plan(fn(), { pods: [one] }).problem?.message;
    };
    assert.deepEqual(
      [ended(3), ended(0)],
      ['the program cannot be started: it ended with code 3', undefined],
    );
  });
  it('begins with file, line and cause if the runtime wrote them first, even if the rest is long', () => {
    const crashed = waiting('CrashLoopBackOff', 'back-off');
    const [container] = crashed.status?.containerStatuses ?? [];
    const message = `main.py:3: SyntaxError: expected ':'\n${'x'.repeat(4000)}`;
    Object.assign(container ?? {}, { lastState: { terminated: { exitCode: 1, message } } });
    const { ready: said } = plan(fn(), { pods: [crashed] });
    assert.equal(said?.reason, 'StartFailed');
    assert.match(said?.message ?? '', /^main\.py:3: SyntaxError: expected ':'\nx/);
  });
  it('is absent while a container is created', () => {
    const { problem, ready: said } = plan(fn(), { pods: [waiting('ContainerCreating', '')] });
    assert.equal(problem, undefined);
    assert.equal(said?.reason, 'Starting');
    assert.match(said?.message ?? '', /being built or started; no version can be called/);
  });
  it('is a missing node', () => {
    const pending = instance('v2', 'c', { phase: 'Pending' });
    const why = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' };
    pending.status = { ...pending.status, conditions: [why] } as Pod['status'];
    assert.deepEqual(plan(fn(), { pods: [pending] }).problem, {
      reason: 'Unschedulable',
      message: '0/1 nodes',
    });
    const unsaid = { type: 'PodScheduled', status: 'False' };
    pending.status = { ...pending.status, conditions: [unsaid] } as Pod['status'];
    assert.deepEqual(plan(fn(), { pods: [pending] }).problem, { reason: 'Unschedulable', message: '' });
  });
  it('is absent for the version that is called already', () => {
    const { ready: said, problem } = plan(fn(active), { pods: [waiting('FunctionBuildFailed', 'x')] });
    assert.deepEqual([said?.status, problem], ['True', undefined]);
    const older = waiting('FunctionBuildFailed', 'x');
    older.metadata.labels = { [functionVersionLabel]: 'v1' };
    assert.equal(plan(fn({ activeVersion: 'v1' }), { pods: [older] }).problem, undefined);
  });
  it('is the message of a container, or its reason, cut to 2000 characters', () => {
    assert.deepEqual(plan(fn(), { pods: [waiting('InvalidImageName', '')] }).problem, {
      ...{ reason: 'InvalidImageName', message: '' },
    });
    const bare = waiting('', '');
    const states = [
      { waiting: { reason: 'ErrImagePull' } },
      { terminated: { exitCode: 1, message: 'it fails\n' } },
      { terminated: { exitCode: 1, message: `main.py:3: ${'x'.repeat(4000)}` } },
    ];
    const messages = states.map((state) => {
      Object.assign(bare.status?.containerStatuses?.[0] ?? {}, { state });
      return plan(fn(), { pods: [bare] }).problem?.message;
    });
    assert.deepEqual(messages.slice(0, 2), ['', 'the program cannot be started: it fails']);
    assert.equal(messages[2]?.length, 2000);
  });
});

it('is in a status that counts the running instances and the ready ones of the called version', () => {
  const pods = [
    ...[ready('v1', 'a'), instance('v1', 'b'), ready('v2', 'c'), instance('v1', 'd', { phase: 'Failed' })],
  ];
  const { status } = plan(fn({ activeVersion: 'v1', demand: { m1: 3 } }), { pods });
  assert.deepEqual([status.replicas, status.readyReplicas, status.observedGeneration], [3, 1, 3]);
});

it('has the time of the last change of its status, not of its message', () => {
  const first = plan(fn(), { now: start }).status;
  const again = plan(fn(first), { now: start + 5000, pods: [ready('v1', 'x')] });
  assert.equal(again.ready?.lastTransitionTime, first.conditions?.[0]?.lastTransitionTime);
});
