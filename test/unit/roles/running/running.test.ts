import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownServiceOf } from '../../../../src/installation/plan/service-manager.ts';
import { noneText } from '../../../../src/roles/running/absence.ts';
import { type OwnProcess, roleOf, supervisedBy } from '../../../../src/roles/running/processes.ts';
import { parseRunRecord, unitIn } from '../../../../src/roles/running/run-record.ts';
import { settingsIn, startCommand } from '../../../../src/roles/running/start-command.ts';
import { commandFor, ofOtherRoles, onlyOne, otherRoleText } from '../../../../src/roles/running/targets.ts';

const master: OwnProcess = {
  ...{ pid: 7, identity: '7 1', role: 'master', uid: 0, dataDir: '/srv/a' },
  words: ['/opt/minik8s', 'master', '--data-dir', '/srv/a'],
};

test('the role is the word after the program, never a value of a flag', () => {
  assert.equal(roleOf(['/opt/minik8s', 'up', '--node-name', 'node']), 'up');
  assert.equal(roleOf(['/opt/minik8s', 'ctl', 'delete', 'node', 'master']), undefined);
  assert.equal(roleOf(['node', '/x/src/main.ts', 'master']), 'master');
  assert.equal(roleOf(['vi', 'up']), 'up', 'the pid file decides then');
  assert.equal(roleOf([]), undefined);
});

test('a service is recognized in cgroups of both versions, and a session is not a service', () => {
  assert.equal(unitIn('0::/system.slice/minik8s.service\n'), 'minik8s.service');
  assert.equal(unitIn('3:cpu:/x.service\n1:name=systemd:/system.slice/minik8s.service\n'), 'minik8s.service');
  assert.equal(unitIn('0::/user.slice/user-0.slice/session-1.scope\n'), undefined);
});

test('the start command repeats flags and settings of the environment, without secrets', () => {
  const environment = settingsIn(
    [
      'PATH=/bin',
      'MINIK8S_OTHER=1',
      'MINIK8S_DATA_DIR=/srv/a b',
      'MINIK8S_TOKEN=abcdef.0123456789abcdef',
    ].join('\0'),
  );
  assert.equal(
    startCommand(master, environment, { kind: 'file', path: '/var/log/m.log' }),
    "'MINIK8S_DATA_DIR=/srv/a b' setsid /opt/minik8s master --data-dir /srv/a >>/var/log/m.log 2>&1 </dev/null &".replace(
      "'MINIK8S_DATA_DIR=/srv/a b'",
      "MINIK8S_DATA_DIR='/srv/a b'",
    ),
  );
  assert.equal(
    startCommand(master, [], { kind: 'elsewhere', what: 'the terminal /dev/pts/1' }),
    '/opt/minik8s master --data-dir /srv/a',
  );
  assert.equal(
    startCommand({ ...master, service: ownServiceOf.systemd }, environment, undefined),
    'systemctl start minik8s.service',
  );
  assert.equal(
    startCommand({ ...master, service: ownServiceOf.openrc }, environment, undefined),
    'rc-service minik8s start',
  );
});

test('several running processes are an error with a command for each, unless a flag selects one', () => {
  const node: OwnProcess = { ...master, pid: 8, role: 'node', dataDir: '/srv/b' };
  assert.throws(
    () => onlyOne([master, node], {}, 'stop'),
    /2 minik8s run on this machine; say which: minik8s stop --data-dir \/srv\/a, or minik8s stop --data-dir \/srv\/b/,
  );
  assert.equal(onlyOne([master, node], { role: 'node' }, 'stop')?.pid, 8);
  assert.equal(onlyOne([master, node], { dataDir: '/srv/a' }, 'stop')?.pid, 7);
  assert.equal(onlyOne([master], { dataDir: '/srv/c' }, 'stop'), undefined);
});

test('the record of a run is ignored if it is damaged or has another form', () => {
  const record = {
    ...{ process: '1 2', role: 'up', version: 'v', startedAt: 't', configFile: 'f' },
    log: { kind: 'journal', unit: 'minik8s.service' },
  };
  assert.deepEqual(parseRunRecord(JSON.stringify(record)), record);
  const damaged = [
    '',
    '{',
    'null',
    '[]',
    JSON.stringify({ ...record, version: 1 }),
    JSON.stringify({ ...record, log: { kind: 'x' } }),
  ];
  for (const text of [...damaged, JSON.stringify({ ...record, role: 'ctl' })])
    assert.equal(parseRunRecord(text), undefined, text);
});

test('a minik8s that does not run is reported with the command that starts it', () => {
  const absence = { target: {}, dataDir: '/srv/a', hasData: true };
  assert.match(
    noneText(absence),
    /not running\n.*holds a cluster's data\nnext:\n {2}minik8s up --data-dir \/srv\/a\n$/,
  );
  const lastError = '/etc/minik8s/master.yaml: line 2: prot: no such setting';
  assert.ok(noneText({ ...absence, lastError }).includes(`\n  last error ${lastError}\nnext:\n`));
  const { systemd, openrc } = ownServiceOf;
  assert.match(noneText({ ...absence, service: systemd }), /systemctl start minik8s\.service\n$/);
  assert.match(noneText({ ...absence, service: openrc }), /rc-service minik8s start\n$/);
});

test('a process belongs to the service of OpenRC whose supervisor is its parent', () => {
  assert.equal(supervisedBy(['supervise-daemon', 'minik8s', '--start', '/usr/local/bin/minik8s']), 'minik8s');
  assert.equal(supervisedBy(['/sbin/supervise-daemon', 'other']), 'other');
  assert.equal(supervisedBy(['bash', 'supervise-daemon']), undefined);
  assert.equal(supervisedBy([]), undefined);
});

test('an error about the role master names a running minik8s up, and the command for it', () => {
  const up: OwnProcess = { ...master, role: 'up' };
  const { dataDir, ...hidden } = up;
  assert.deepEqual(ofOtherRoles([up], { role: 'master' }), [up]);
  assert.deepEqual(ofOtherRoles([up], { role: 'master', dataDir: '/srv/b' }), [], 'another directory');
  assert.deepEqual(ofOtherRoles([up], { role: 'up' }), [], 'its own role');
  assert.equal(otherRoleText(up, 'master'), 'minik8s up (process 7) in /srv/a, which holds the role master');
  assert.equal(otherRoleText(master, 'node'), 'minik8s master (process 7) in /srv/a');
  assert.equal(commandFor('stop', up), `minik8s stop --data-dir ${dataDir}`);
  assert.equal(commandFor('stop', hidden), 'minik8s stop --role up');
  const absence = {
    target: { role: 'master' },
    dataDir: '/srv/a',
    hasData: true,
    isInstalled: true,
  } as const;
  assert.match(
    noneText(absence, [up]),
    /not running\n.*\n {2}runs here {2}minik8s up .*the role master\nnext:\n {2}minik8s status --data-dir \/srv\/a\n$/,
  );
});
