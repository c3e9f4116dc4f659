/** The pod that is an instance of a function. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Fn } from '../../../../src/api/minik8s/v1/function.ts';
import type { FunctionVersion } from '../../../../src/api/minik8s/v1/function-version.ts';
import { instanceOf, waitingInstance } from '../../../../src/controllers/functions/instance-plan.ts';
import { meta } from '../objects.ts';

it('has no token of an account, whose rights would be its callers’', () => {
  const version = {
    metadata: meta('f-1'),
    spec: { function: 'f', runtime: 'python', image: 'i', timeoutSeconds: 30, concurrency: 1 },
  } as unknown as FunctionVersion;
  for (const pod of [instanceOf({ metadata: meta('f') } as Fn, version), waitingInstance(version, ['n1'])])
    assert.equal(pod.spec.automountServiceAccountToken, false);
});
