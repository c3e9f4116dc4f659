import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { Cluster } from './harness/cluster.ts';

await lockMachine();

/** These commands send protobuf, while `apply` sends JSON. */
test('each form of kubectl create creates its objects', async (context) => {
  const { kubectl } = await Cluster.start(context);
  await kubectl('create', 'namespace', 'team');
  await kubectl('-n', 'team', 'create', 'configmap', 'one', '--from-literal=k=v');
  await kubectl('-n', 'team', 'create', 'secret', 'generic', 'two', '--from-literal=k=v');
  await kubectl('-n', 'team', 'create', 'deployment', 'none', '--image=minik8s/hello:1', '--replicas=0');
  await kubectl('-n', 'team', 'expose', 'deployment', 'none', '--port=80');
  const names = await kubectl('-n', 'team', 'get', 'cm,secret,deployment,service', '-o', 'name');
  assert.deepEqual(names.trim().split('\n').sort(), [
    // Every namespace has this ConfigMap.
    'configmap/kube-root-ca.crt',
    'configmap/one',
    'deployment.apps/none',
    'secret/two',
    'service/none',
  ]);
});
