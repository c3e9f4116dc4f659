/**
 * Tests that the status of a ValidatingAdmissionPolicy reports type errors of its expressions for the kinds
 * that it matches.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicyResource,
} from '../../../src/api/admissionregistration/v1/validating-admission-policy.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { startCluster } from './cluster.ts';

test('the status of a policy has the type errors of its expressions for the kinds that it names', async (t) => {
  const cluster = await startCluster({ nodeGracePeriodMs: 86_400_000 });
  t.after(() => cluster.stop());
  const policies = cluster.client.resource(validatingAdmissionPolicyResource);
  const create = (name: string, validation: object, apiVersions = ['v1']) =>
    cluster.until(
      policies.create({
        metadata: { name },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: ['apps'], apiVersions, operations: ['CREATE'], resources: ['deployments'] },
            ],
          },
          validations: [validation],
        },
      } as unknown as Draft<ValidatingAdmissionPolicy>),
    );
  const statusOf = async (name: string) =>
    (await cluster.list(validatingAdmissionPolicyResource)).find(({ metadata }) => metadata.name === name)
      ?.status;

  await create('right', { expression: 'object.spec.replicas > 1' });
  await create('anything', { expression: "object.spec.replicas > '1'" }, ['*']);
  await create('confused', {
    expression: "object.spec.replicas > '1'",
    messageExpression: "'wants more than ' + object.spec.replicas",
  });
  await cluster.eventually('all are checked', async () =>
    (await Promise.all(['right', 'anything', 'confused'].map(statusOf))).every(
      (status) => status?.observedGeneration === 1,
    ),
  );
  assert.deepEqual((await statusOf('right'))?.typeChecking, {});
  assert.deepEqual((await statusOf('anything'))?.typeChecking, {});
  const warnings = (await statusOf('confused'))?.typeChecking?.expressionWarnings ?? [];
  assert.deepEqual(
    warnings.map(({ fieldRef }) => fieldRef),
    ['spec.validations[0].expression', 'spec.validations[0].messageExpression'],
  );
  assert.match(
    String(warnings[0]?.warning),
    /^apps\/v1, Kind=Deployment: compilation failed: ERROR: .*found no matching overload for '_>_' applied to '\(int, string\)'/,
  );
  assert.match(
    String(warnings[1]?.warning),
    /found no matching overload for '_\+_' applied to '\(string, int\)'/,
  );
});
