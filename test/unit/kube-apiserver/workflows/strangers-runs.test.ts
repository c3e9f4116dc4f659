/** How many runs strangers may have under way. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkflowRun } from '../../../../src/api/minik8s/v1/workflow-run.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import {
  checkRunsOfStrangers,
  checkRunsOfTrigger,
  mostOfStrangers,
} from '../../../../src/kube-apiserver/workflows/strangers-runs.ts';
import type { Cache, IndexDeclaration } from '../../../../src/storage/cache.ts';
import { meta } from '../../controllers/objects.ts';

const cacheOf = (objects: readonly KubeObject[]) =>
  ({
    index: ({ keysOf }: IndexDeclaration) => ({
      get: (key: string) =>
        objects.filter((object) => [...keysOf(object)].includes(key)).map((object) => ({ object })),
    }),
  }) as unknown as Cache;

describe('runs of strangers', () => {
  const run = (index: number, phase: string, over: object = {}): WorkflowRun =>
    ({
      metadata: meta(`r${index}`, { annotations: { 'minik8s.io/called-by': 'system:anonymous' }, ...over }),
      spec: { workflow: 'w' },
      status: { phase },
    }) as unknown as WorkflowRun;
  const many = (count: number, phase = 'Running', over: object = {}) =>
    Array.from({ length: count }, (_, i) => run(i, phase, over));
  const isFull = (runs: readonly WorkflowRun[], workflow = 'w') => {
    try {
      checkRunsOfStrangers(cacheOf(runs), 'default', workflow);
      return false;
    } catch {
      return true;
    }
  };
  it('count while they go on, each for its workflow', () => {
    assert.ok(isFull(many(mostOfStrangers)) && !isFull(many(mostOfStrangers - 1)));
    assert.ok(!isFull(many(mostOfStrangers, 'Succeeded')) && !isFull(many(mostOfStrangers), 'other'));
    const known = { annotations: { 'minik8s.io/called-by': 'alice' } };
    assert.ok(!isFull(many(mostOfStrangers, 'Running', known)));
    assert.ok(!isFull(many(mostOfStrangers, 'Running', { namespace: 'other' })));
  });
  it('of a trigger count while they go on, whoever began them', () => {
    const led = { labels: { 'minik8s.io/trigger': 't' }, annotations: {} };
    const check = (runs: readonly WorkflowRun[]) => checkRunsOfTrigger(cacheOf(runs), 'default', 't');
    assert.throws(() => check(many(mostOfStrangers, 'Running', led)), /1000 runs/);
    check(many(mostOfStrangers, 'Failed', led));
    check(many(mostOfStrangers - 1, 'Running', led));
  });
});
