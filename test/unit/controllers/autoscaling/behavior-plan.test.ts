import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type History,
  type Limits,
  limit,
  noHistory,
  remember,
} from '../../../../src/controllers/autoscaling/behavior-plan.ts';

const now = 1_000_000;
const ago = (seconds: number, replicas: number) => ({ at: now - seconds * 1000, replicas });
const policy = (type: string, value: number, periodSeconds = 60) => ({ type, value, periodSeconds });
const free: Limits = {
  min: 1,
  max: 100,
  up: { stabilizationWindowSeconds: 0, policies: [policy('Percent', 1000)] },
  down: { stabilizationWindowSeconds: 0, policies: [policy('Percent', 100)] },
};
const history = (over: Partial<History>): History => ({ ...noHistory, ...over });

describe('the behaviour of an autoscaler permits', () => {
  const up = (policies: object[], selectPolicy?: string) =>
    ({ up: { ...free.up, policies, selectPolicy } }) as never;
  const down = (policies: object[], selectPolicy?: string) =>
    ({ down: { ...free.down, policies, selectPolicy } }) as never;
  const pods = (value: number) => policy('Pods', value);
  const percent = (value: number) => policy('Percent', value);
  const table: [string, number, number, History, Partial<Limits>, number, string][] = [
    ['the recommended number if nothing limits it', 2, 5, noHistory, {}, 5, 'DesiredWithinRange'],
    ['the current number if it is recommended', 4, 4, noHistory, {}, 4, 'DesiredWithinRange'],
    ['at most the maximum', 5, 9, noHistory, { max: 7 }, 7, 'TooManyReplicas'],
    ['at least the minimum', 5, 1, noHistory, { min: 3 }, 3, 'TooFewReplicas'],
    ['up by the pods of a policy', 2, 9, noHistory, up([pods(3)]), 5, 'ScaleUpLimit'],
    ['up by the percentage of a policy, rounded up', 3, 9, noHistory, up([percent(50)]), 5, 'ScaleUpLimit'],
    [
      'up by the policy that allows the largest change',
      10,
      99,
      noHistory,
      up([pods(3), percent(100)]),
      20,
      'ScaleUpLimit',
    ],
    [
      'up by the policy that allows the smallest change, with selectPolicy Min',
      10,
      99,
      noHistory,
      up([pods(3), percent(100)], 'Min'),
      13,
      'ScaleUpLimit',
    ],
    [
      'no scale-up with selectPolicy Disabled',
      10,
      99,
      noHistory,
      up([pods(3)], 'Disabled'),
      10,
      'ScaleUpLimit',
    ],
    ['down by the pods of a policy', 9, 1, noHistory, down([pods(2)]), 7, 'ScaleDownLimit'],
    ['down by the percentage of a policy', 9, 1, noHistory, down([percent(50)]), 4, 'ScaleDownLimit'],
    [
      'down by the policy that allows the largest change',
      10,
      1,
      noHistory,
      down([pods(2), percent(50)]),
      5,
      'ScaleDownLimit',
    ],
    [
      'down by the policy that allows the smallest change, with selectPolicy Min',
      10,
      1,
      noHistory,
      down([pods(2), percent(50)], 'Min'),
      8,
      'ScaleDownLimit',
    ],
    [
      'no scale-down with selectPolicy Disabled',
      10,
      1,
      noHistory,
      down([pods(2)], 'Disabled'),
      10,
      'ScaleDownLimit',
    ],
    [
      'pods added in the period count',
      6,
      20,
      history({ added: [ago(30, 4), ago(90, 2)] }),
      up([pods(5)]),
      7,
      'ScaleUpLimit',
    ],
    [
      'pods removed in the period count',
      6,
      1,
      history({ removed: [ago(59, 2), ago(61, 2)] }),
      down([pods(3)]),
      5,
      'ScaleDownLimit',
    ],
    [
      'pods added in the period do not allow a larger scale-down',
      8,
      1,
      history({ added: [ago(10, 4)] }),
      down([pods(2)]),
      2,
      'ScaleDownLimit',
    ],
  ];
  for (const [what, current, wanted, past, over, replicas, reason] of table)
    it(what, () => {
      const limited = limit(current, wanted, past, { ...free, ...over }, now);
      assert.deepEqual([limited.replicas, limited.reason, limited.stabilized], [replicas, reason, undefined]);
    });
});

describe('a window of time', () => {
  const windows = (upSeconds: number, downSeconds: number): Limits => ({
    ...free,
    up: { ...free.up, stabilizationWindowSeconds: upSeconds },
    down: { ...free.down, stabilizationWindowSeconds: downSeconds },
  });
  it('lowers the number only to the maximum of the whole window', () => {
    const past = history({ asked: [ago(200, 5), ago(301, 9)] });
    const limited = limit(8, 2, past, windows(0, 300), now);
    assert.deepEqual([limited.replicas, limited.stabilized], [5, 'down']);
  });

  it('raises the number only to the minimum of the whole window', () => {
    const past = history({ asked: [ago(20, 4), ago(61, 1)] });
    const limited = limit(3, 9, past, windows(60, 0), now);
    assert.deepEqual([limited.replicas, limited.stabilized], [4, 'up']);
  });

  it('keeps the number between the lowest and the highest recommendation of the window', () => {
    const past = history({ asked: [ago(10, 2), ago(20, 9)] });
    assert.equal(limit(5, 5, past, windows(60, 60), now).replicas, 5);
  });

  it('defaults to five minutes for scaling down', () => {
    const said: Limits = { ...free, down: { policies: [policy('Percent', 100)] } };
    assert.equal(limit(8, 2, history({ asked: [ago(299, 8)] }), said, now).replicas, 8);
    assert.equal(limit(8, 2, history({ asked: [ago(300, 8)] }), said, now).replicas, 2);
  });
});

it('the history drops entries that are older than every window', () => {
  const past = history({
    asked: [ago(299, 3), ago(301, 4)],
    added: [ago(59, 1), ago(61, 1)],
    removed: [ago(61, 1)],
  });
  const limits: Limits = { ...free, down: { policies: [policy('Pods', 1)] } };
  assert.deepEqual(remember(past, { asked: 6, from: 3, to: 5 }, limits, now), {
    asked: [ago(299, 3), ago(0, 6)],
    added: [ago(59, 1), ago(0, 2)],
    removed: [],
  });
  assert.deepEqual(remember(noHistory, { asked: 1, from: 3, to: 1 }, limits, now).removed, [ago(0, 2)]);
});
