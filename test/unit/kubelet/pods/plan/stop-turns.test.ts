/** Order in which containers are signaled to stop, and containers that are not signaled twice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { Draft } from '../../../../../src/kubelet/pods/plan/draft.ts';
import { pastStartHooks, pendingStart } from '../../../../../src/kubelet/pods/plan/hooks.ts';
import { planStops } from '../../../../../src/kubelet/pods/plan/stop-containers.ts';
import type { ContainerState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  seconds,
  short,
} from '../../builders.ts';

const hook = { exec: { command: ['a'] } };

describe('containers that are to stop', () => {
  const plan = (running: readonly ContainerState[], memory: Partial<PodMemory> = {}) => {
    const draft = new Draft();
    planStops(running, () => 30, 'all go', { memory: makeMemory(memory), now }, draft);
    const { actions, requeueAfter } = draft.finish();
    return { actions: actions.map(short), requeueAfter };
  };
  const of = (name: string, stopTurn: number | undefined, more: Partial<ContainerState> = {}) =>
    makeContainer({ name, stopTurn, ...more });

  it('are stopped in turns; containers without a turn are independent', () => {
    const ask = (name: string) => `terminate ${name} ${name}-0: all go`;
    const begin = (name: string) => `begin to stop ${name} ${name}-0: all go`;
    assert.deepEqual(plan([of('side', 1), of('main', 0), of('old', undefined)]).actions, [
      begin('side'),
      ask('main'),
      ask('old'),
    ]);
    assert.deepEqual(plan([of('side', 1), of('old', undefined)]).actions, [ask('side'), ask('old')]);
  });

  it('are not stopped again, and their hook is not run again', () => {
    const preStop = { handler: hook, ports: [] };
    const asked = { stopping: new Map([['main-0', now - seconds(10)]]) };
    assert.deepEqual(plan([of('main', 0, { preStop })], asked), { actions: [], requeueAfter: 20_000 });
    assert.deepEqual(
      plan([of('side', 1), of('main', 0)], { stopping: new Map([['side-0', now - seconds(29)]]) }),
      {
        actions: ['terminate main main-0: all go'],
        requeueAfter: 1_000,
      },
    );
  });
});

describe('a postStart hook', () => {
  const lifecycle = { postStart: hook };
  it('is pending only for a running container', () => {
    for (const [state, pending] of [
      ['created', undefined],
      ['running', { at: 'due' }],
      ['exited', undefined],
    ] as const)
      assert.deepEqual(pendingStart(makeContainer({ state }), { lifecycle }, { hooks: new Map() }), pending);
  });
  it('hides only its container in the status of the pod', () => {
    const pod = makePod({
      containers: [
        { name: 'main', image: 'app:1', lifecycle },
        { name: 'other', image: 'app:1' },
      ],
    });
    const other = makeContainer({ name: 'other' });
    const seen = observed(makeSandbox(), makeContainer(), other, makeContainer({ name: 'stranger' }));
    assert.deepEqual(pastStartHooks(pod, seen, { hooks: new Map() }), {
      sandboxes: seen.sandboxes,
      containers: seen.containers.slice(1),
    });
  });
});
