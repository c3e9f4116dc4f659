import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { registry } from '../../../../src/features/kinds.ts';

const warned = ['ReplicaSet', 'Deployment', 'ReplicationController', 'Job', 'CronJob'];
const template = { spec: { containers: [] } };
const spec = { template, jobTemplate: { spec: { template } } };
const named = (name: string) => ({ metadata: { name }, spec }) as unknown as KubeObject;

for (const { kind, strategy } of registry.filter(({ kind }) => warned.includes(kind)))
  test(`a warning reports once that the name of a ${kind} is not a host name`, () => {
    const ofName = (...given: Parameters<NonNullable<typeof strategy.warnings>>) =>
      strategy.warnings?.(...given).filter((text) => !text.includes('not acted on yet'));
    const [told = '', ...more] = ofName(named('a.b'), undefined) ?? [];
    assert.match(
      told,
      /^metadata\.name: this is used in Pod names and hostnames, .*; a DNS label is recommended: \[a lowercase RFC 1123 label /,
    );
    assert.deepEqual(more, []);
    assert.deepEqual(ofName(named('a-b'), undefined), []);
    assert.deepEqual(ofName(named('a.b'), named('a.b')), []);
  });

test('the kinds with this warning are served', () => {
  const kinds = registry.map(({ kind }) => kind);
  assert.deepEqual(
    warned.filter((kind) => !kinds.includes(kind)),
    [],
  );
});
