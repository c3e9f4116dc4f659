/** The pod that is an instance of a function. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Fn } from '../../../../src/api/minik8s/v1/function.ts';
import type { FunctionVersion } from '../../../../src/api/minik8s/v1/function-version.ts';
import { instanceOf, waitingInstance } from '../../../../src/controllers/functions/instance-plan.ts';
import { meta } from '../objects.ts';

const versionWith = (program: object) =>
  ({
    metadata: meta('f-1'),
    spec: { function: 'f', image: 'i', timeoutSeconds: 30, concurrency: 1, ...program },
  }) as unknown as FunctionVersion;
const owner = { metadata: meta('f') } as Fn;

it('has no token of an account, whose rights would be its callers’', () => {
  const version = versionWith({ runtime: 'python' });
  for (const pod of [instanceOf(owner, version), waitingInstance(version, ['n1'])])
    assert.equal(pod.spec.automountServiceAccountToken, false);
});

it('is process 1 of its pod only where it is an image of its own', () => {
  const shares = (program: object) => instanceOf(owner, versionWith(program)).spec.shareProcessNamespace;
  assert.equal(shares({ runtime: 'nodejs' }), true);
  assert.equal(waitingInstance(versionWith({ runtime: 'python' }), ['n1']).spec.shareProcessNamespace, true);
  assert.equal(shares({}), undefined);
});
