/** Table of the users who may set the chain of triggers that led to an object. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ResourceDefinition } from '../../../../../src/apimachinery/resource-definition.ts';
import { isForbidden, type StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../../src/apiserver/admission/plugin.ts';
import { triggerChains } from '../../../../../src/features/triggers/server/trigger-chain.ts';
import { workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import { meta } from '../../../controllers/objects.ts';

const account = (name: string, namespace = 'kube-system') => `system:serviceaccount:${namespace}:${name}`;
const withChain = (chain?: string) => ({
  metadata: meta(
    'o',
    chain === undefined ? {} : { annotations: { 'minik8s.io/trigger-chain': chain, a: 'b' } },
  ),
});
const check = async (
  user: string,
  definition: unknown,
  next: object | undefined,
  before: object | undefined,
  subresource = '',
) => {
  const admission = { definition, name: 'o', object: next, old: before, subresource, user: { name: user } };
  await triggerChains.validate?.(admission as unknown as Admission);
};
const kinds: readonly (readonly [string, unknown])[] = [
  ['Job', jobResource],
  ['WorkflowRun', workflowRunResource],
];

describe('the chain of triggers of an object', () => {
  for (const [kind, definition] of kinds) {
    for (const user of ['admin', account('trigger-controller', 'default'), account('job-controller')])
      for (const [what, next, before] of [
        ['set in a new object', withChain('default/t'), undefined],
        ['added', withChain('default/t'), withChain()],
        ['changed', withChain('default/u'), withChain('default/t')],
        ['removed', withChain(), withChain('default/t')],
      ] as const)
        it(`of a ${kind} may not be ${what} by ${user}`, async () => {
          await assert.rejects(check(user, definition, next, before), (error: StatusError) => {
            assert.ok(isForbidden(error));
            const { plural, group } = definition as ResourceDefinition;
            assert.equal(
              error.message,
              `${plural}.${group} "o" is forbidden: the annotation minik8s.io/trigger-chain is set by the cluster: leave it as it is`,
            );
            return true;
          });
        });
    it(`of a ${kind} may be set by the controllers of triggers and workflows, and kept by all writers`, async () => {
      for (const name of ['trigger-controller', 'workflow-controller'])
        await check(account(name), definition, withChain('default/t'), undefined);
      await check('admin', definition, withChain('default/t'), withChain('default/t'));
      await check('admin', definition, withChain(), undefined);
    });
    it(`of a ${kind} concerns no deletion and no subresource`, async () => {
      await check('admin', definition, undefined, withChain('default/t'));
      await check('admin', definition, withChain('default/t'), withChain(), 'status');
    });
  }
  it('is only an annotation for other kinds', async () => {
    await check('admin', podResource, withChain('default/t'), undefined);
    await check('admin', { group: 'other.io', plural: 'jobs' }, withChain('default/t'), undefined);
    await check('admin', { group: 'batch', plural: 'others' }, withChain('default/t'), undefined);
  });
  it('is reserved by a plugin with a name', () => assert.equal(triggerChains.name, 'TriggerChains'));
});
