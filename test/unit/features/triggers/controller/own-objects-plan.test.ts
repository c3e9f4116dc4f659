import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import { chainOf } from '../../../../../src/features/triggers/api/trigger-chain.ts';
import { isOwn } from '../../../../../src/features/triggers/controller/own-objects-plan.ts';

const trigger = (kind: string) =>
  ({ metadata: { namespace: 'a', name: 't' }, spec: { target: { kind, name: 'f' } } }) as unknown as Trigger;
const source = (apiVersion: string, kind: string) => ({ apiVersion, kind, types: ['Created' as const] });
const runs = source('minik8s.io/v1', 'WorkflowRun');
const pods = source('v1', 'Pod');
const marked = (chain: string) =>
  ({
    metadata: { namespace: 'a', annotations: { 'minik8s.io/trigger-chain': chain } },
  }) as unknown as KubeObject;
const instance = (over: object = {}, namespace = 'a') => {
  const owner = { apiVersion: 'minik8s.io/v1', kind: 'Function', name: 'f', controller: true, ...over };
  return { metadata: { namespace, ownerReferences: [owner] } } as unknown as KubeObject;
};

describe('the objects that a trigger itself caused', () => {
  it('are runs and Jobs with the trigger anywhere in their chain', () => {
    for (const kind of [runs, source('batch/v1', 'Job')])
      for (const chain of ['a/t', 'b/x,a/t', 'a/t,b/x'])
        assert.equal(isOwn(trigger('Workflow'), kind, marked(chain)), true);
  });
  it('exclude other objects and kinds, whose chain any user may write', () => {
    for (const chain of ['', 'b/t', 'a/tt', 'a/t,,', 'A/t,a/t', ' a/t'])
      assert.equal(isOwn(trigger('Workflow'), runs, marked(chain)), false, chain);
    assert.equal(isOwn(trigger('Workflow'), source('v1', 'ConfigMap'), marked('a/t')), false);
    assert.equal(isOwn(trigger('Workflow'), source('other.io/v1', 'WorkflowRun'), marked('a/t')), false);
  });
  it('are the instances of the function that it calls', () => {
    assert.equal(isOwn(trigger('Function'), pods, instance()), true);
    assert.equal(isOwn(trigger('Workflow'), pods, instance()), false);
    assert.equal(isOwn(trigger('Function'), pods, instance({}, 'b')), false);
    for (const over of [{ name: 'g' }, { kind: 'ReplicaSet' }, { apiVersion: 'v1' }, { controller: false }])
      assert.equal(isOwn(trigger('Function'), pods, instance(over)), false, JSON.stringify(over));
  });
  it('have a chain of limited length', () => {
    assert.equal(chainOf(Array.from({ length: 40 }, (_, n) => `a/t${n}`).join(',')).length, 17);
    assert.deepEqual(chainOf(null), []);
  });
});
