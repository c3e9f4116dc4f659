/** Conditions of a node, and the events about their changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition } from '../../../../../src/apimachinery/schema.ts';
import {
  changeEvents,
  type NodeHealth,
  nodeConditions,
} from '../../../../../src/kubelet/node/plan/node-conditions.ts';
import { now } from '../../builders.ts';

const nowText = '2026-01-01T12:00:00Z';
const before = '2025-12-31T00:00:00Z';
const none = { MemoryPressure: false, DiskPressure: false, PIDPressure: false };
const all = { MemoryPressure: true, DiskPressure: true, PIDPressure: true };
const times = { lastHeartbeatTime: nowText, lastTransitionTime: nowText };

const conditionsOf = (health: Partial<NodeHealth> = {}, previous: readonly Condition[] = []) =>
  nodeConditions({ problem: undefined, pressures: none, reported: {}, now, ...health }, previous);

describe('the conditions of a node', () => {
  it('report a healthy node', () => {
    assert.deepEqual(conditionsOf(), [
      {
        type: 'MemoryPressure',
        status: 'False',
        reason: 'KubeletHasSufficientMemory',
        message: 'kubelet has sufficient memory available',
        ...times,
      },
      {
        type: 'DiskPressure',
        status: 'False',
        reason: 'KubeletHasNoDiskPressure',
        message: 'kubelet has no disk pressure',
        ...times,
      },
      {
        type: 'PIDPressure',
        status: 'False',
        reason: 'KubeletHasSufficientPID',
        message: 'kubelet has sufficient PID available',
        ...times,
      },
      {
        type: 'Ready',
        status: 'True',
        reason: 'KubeletReady',
        message: 'kubelet is posting ready status',
        ...times,
      },
    ]);
  });

  it('report a shortage, which does not make the node unready', () => {
    const [memory, disk, pids, ready] = conditionsOf({ pressures: all });
    for (const [found, reason, message] of [
      [memory, 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
      [disk, 'KubeletHasDiskPressure', 'kubelet has disk pressure'],
      [pids, 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    ] as const) {
      assert.deepEqual([found?.status, found?.reason, found?.message], ['True', reason, message]);
    }
    assert.equal(ready?.status, 'True');
    const [, onlyDisk, notPids] = conditionsOf({ pressures: { ...none, DiskPressure: true } });
    assert.deepEqual([onlyDisk?.status, notPids?.status], ['True', 'False']);
  });

  it('report why no pod can run', () => {
    assert.deepEqual(conditionsOf({ problem: 'the engine does not answer' }).at(-1), {
      type: 'Ready',
      status: 'False',
      reason: 'KubeletNotReady',
      message: 'the engine does not answer',
      ...times,
    });
  });

  it('are Unknown for resources that could not be measured', () => {
    const said = conditionsOf({ pressures: undefined, unmeasured: 'no /proc' });
    for (const type of Object.keys(none)) {
      assert.deepEqual(
        said.find((condition) => condition.type === type),
        { type, status: 'Unknown', reason: 'KubeletCannotMeasure', message: 'no /proc', ...times },
      );
    }
    assert.equal(conditionsOf({ pressures: undefined })[0]?.message, '');
  });

  it('have the transition time of their last change, and the heartbeat time of this report', () => {
    const was = (type: string, status: Condition['status']) => ({
      type,
      status,
      lastHeartbeatTime: before,
      lastTransitionTime: before,
    });
    const said = conditionsOf({}, [was('Ready', 'True'), was('DiskPressure', 'Unknown')]);
    assert.deepEqual(
      said.map(({ type, lastHeartbeatTime, lastTransitionTime }) => [
        type,
        lastHeartbeatTime,
        lastTransitionTime,
      ]),
      [
        ['MemoryPressure', nowText, nowText],
        ['DiskPressure', nowText, nowText],
        ['PIDPressure', nowText, nowText],
        ['Ready', nowText, before],
      ],
    );
  });

  it('come after the conditions of other clients, which stay unchanged', () => {
    const gpu: Condition = { type: 'example.com/gpu', status: 'True', lastHeartbeatTime: before };
    const said = conditionsOf({}, [{ type: 'Ready', status: 'Unknown' }, gpu]);
    assert.deepEqual(said[0], gpu);
    assert.deepEqual(
      said.map(({ type }) => type),
      ['example.com/gpu', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
    );
  });

  it('include the conditions of other parts of the node, which may also remove them', () => {
    const network: Condition = {
      type: 'NetworkUnavailable',
      status: 'True',
      reason: 'NoRange',
      message: 'm',
    };
    const reported = { NetworkUnavailable: network, ProxyStale: null };
    const previous: readonly Condition[] = [
      { type: 'ProxyStale', status: 'True' },
      { type: 'NetworkUnavailable', status: 'False', lastTransitionTime: before },
    ];
    const [first, ...rest] = conditionsOf({ reported }, previous);
    assert.deepEqual(first, { ...network, ...times });
    assert.deepEqual(
      rest.map(({ type }) => type),
      ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
    );
  });
});

describe('a pressure that begins or ends', () => {
  type Status = Condition['status'] | undefined;
  const other: Condition = { type: 'MemoryPressure', status: 'True' };
  const disk = (status: Status): readonly Condition[] =>
    status === undefined ? [other] : [other, { type: 'DiskPressure', status }];
  const rows: readonly [was: Status, is: Status, event: string | undefined][] = [
    ['False', 'True', 'NodeHasDiskPressure'],
    ['Unknown', 'True', 'NodeHasDiskPressure'],
    [undefined, 'True', 'NodeHasDiskPressure'],
    ['True', 'False', 'NodeHasNoDiskPressure'],
    ['Unknown', 'False', 'NodeHasNoDiskPressure'],
    // A new node has no events about resources that it does not lack.
    [undefined, 'False', undefined],
    ['True', 'True', undefined],
    ['False', 'False', undefined],
    ['True', 'Unknown', undefined],
    [undefined, 'Unknown', undefined],
    ['True', undefined, undefined],
    [undefined, undefined, undefined],
  ];
  for (const [was, is, event] of rows) {
    it(`from ${was} to ${is} has ${event === undefined ? 'no event' : `the event ${event}`}`, () => {
      assert.deepEqual(changeEvents(disk(was), disk(is)), event === undefined ? [] : [event]);
    });
  }

  it('has an event of its own for memory and for processes', () => {
    const told = (type: 'MemoryPressure' | 'PIDPressure', status: Condition['status']) =>
      changeEvents([], [{ type, status }])[0];
    assert.equal(told('MemoryPressure', 'True'), 'NodeHasInsufficientMemory');
    assert.equal(told('PIDPressure', 'True'), 'NodeHasInsufficientPID');
  });

  it('has an event about the readiness only if the earlier readiness is known', () => {
    const ready = (status: Condition['status']): readonly Condition[] => [{ type: 'Ready', status }];
    assert.deepEqual(changeEvents(ready('False'), ready('True')), ['NodeReady']);
    assert.deepEqual(changeEvents(ready('Unknown'), ready('True')), ['NodeReady']);
    assert.deepEqual(changeEvents(ready('True'), ready('False')), ['NodeNotReady']);
    assert.deepEqual(changeEvents(ready('True'), ready('True')), []);
    assert.deepEqual(changeEvents([], ready('True')), []);
  });
});
