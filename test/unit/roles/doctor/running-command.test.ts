import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownServiceOf } from '../../../../src/installation/plan/service-manager.ts';
import { flagsIn, restartCommand, roleIn } from '../../../../src/roles/doctor/running-command.ts';

describe('the command line of a running minik8s', () => {
  it('names the role before its flags, whatever the values of flags are', () => {
    assert.equal(roleIn(['/usr/local/bin/minik8s', 'node', '--node-name', 'up']), 'node');
    assert.equal(roleIn(['node-26', 'src/main.ts', 'up', '--node-name', 'node']), 'up');
    assert.equal(roleIn(['minik8s']), undefined);
    assert.equal(roleIn([]), undefined);
  });

  it('has flags with a space or an equals sign, and only the requested flags are returned', () => {
    const words = [
      'minik8s',
      'up',
      '--port',
      '7000',
      '--overlay=vxlan',
      '--other',
      'x',
      '--cluster-cidr=',
      '--node-ip',
    ];
    assert.deepEqual(flagsIn(words, ['port', 'overlay', 'cluster-cidr', 'node-ip']), {
      ...{ port: '7000', overlay: 'vxlan', 'cluster-cidr': '' },
    });
  });

  it('is repeated unchanged for a restart, unless a service manager restarts the process', () => {
    const running = { pid: 7, words: ['/opt/minik8s', 'up', '--data-dir', "/it's"] };
    assert.equal(restartCommand(ownServiceOf.systemd, running, 'up'), 'systemctl restart minik8s.service');
    assert.equal(restartCommand(ownServiceOf.openrc, running, 'up'), 'rc-service minik8s restart');
    assert.equal(
      restartCommand(undefined, running, 'up'),
      "kill 7; while kill -0 7 2>/dev/null; do sleep 1; done; (setsid /opt/minik8s up --data-dir '/it'\\''s' >/var/log/minik8s.log 2>&1 </dev/null &)",
    );
    assert.equal(restartCommand(undefined, undefined, 'node'), 'minik8s node');
    assert.equal(restartCommand(undefined, { pid: 7, words: [] }, undefined), 'minik8s up');
  });
});
