import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedPath } from '../../../../src/installation/plan/changed-path.ts';
import { inSequence } from '../../../../src/installation/plan/sequence.ts';
import { planOf } from '../../../fixtures/installation.ts';

const changedBy = (serviceManager: 'systemd' | 'openrc') =>
  inSequence(planOf({ serviceManager }, { linksKubectl: true }))
    .map(changedPath)
    .filter((path) => path !== undefined);

test('an installation changes the files that it writes, and the link by which a boot starts the service', () => {
  const both = [
    '/etc/minik8s',
    '/etc/minik8s/installed.json',
    '/usr/local/bin/minik8s',
    '/usr/local/bin/kubectl',
  ];
  for (const path of [...both, '/etc/systemd/system/minik8s.service'])
    assert.ok(changedBy('systemd').includes(path), path);
  for (const path of [...both, '/etc/init.d/minik8s', '/etc/runlevels/default/minik8s'])
    assert.ok(changedBy('openrc').includes(path), path);
});

test('a removal of the service changes its link, and a restart changes nothing', () => {
  const path = '/etc/runlevels/default/minik8s';
  assert.equal(changedPath({ kind: 'remove-service', manager: 'openrc' }), path);
  assert.equal(changedPath({ kind: 'restart-service', manager: 'openrc' }), undefined);
  assert.equal(changedPath({ kind: 'set-sysctl', name: 'a.b', value: '1' }), undefined);
});
