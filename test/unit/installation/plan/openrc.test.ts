import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { configDirectory, executablePath } from '../../../../src/installation/plan/install-plan.ts';
import { modulesFile, sysctlFile } from '../../../../src/installation/plan/kernel.ts';
import type { Machine } from '../../../../src/installation/plan/machine.ts';
import { logDirectory, openrcScript, scriptPath } from '../../../../src/installation/plan/openrc-script.ts';
import { describeStep } from '../../../../src/installation/plan/step.ts';
import { uninstallPlan } from '../../../../src/installation/plan/uninstall-plan.ts';
import { besideService } from '../../../../src/roles/upgrade/beside-service.ts';
import { after, bare, kinds, planOf } from '../../../fixtures/installation.ts';

const machine: Machine = { ...bare, serviceManager: 'openrc' };
const first = planOf(machine);
const installed = { ...first.installed, started: first.digest };
const done = after(machine, first.steps, installed);

describe('an installation on a machine with OpenRC', () => {
  test('makes a directory for logs and a script, and starts the service without systemd', () => {
    assert.deepEqual(kinds(first.steps), [
      `make-directory ${configDirectory}`,
      `make-directory ${logDirectory}`,
      `copy-file ${executablePath}`,
      'write-file /etc/minik8s/master.yaml',
      `write-file ${modulesFile.path}`,
      `write-file ${sysctlFile.path}`,
      `write-file ${scriptPath}`,
      'load-modules',
      'set-sysctl',
      'set-sysctl',
      'enable-service',
      'restart-service',
    ]);
    const script = first.steps.find((step) => 'path' in step && step.path === scriptPath);
    assert.ok(script?.kind === 'write-file' && script.mode === 0o755);
    assert.doesNotMatch(first.steps.map(describeStep).join('\n'), /systemd|\.service/);
  });

  test('does nothing the second time, and restarts the service for another setting', () => {
    assert.deepEqual(planOf(done).steps, []);
    assert.deepEqual(kinds(planOf(done, { config: 'port: 8443\n' }).steps), [
      'write-file /etc/minik8s/master.yaml',
      'restart-service',
    ]);
  });

  test('is removed with its logs, which stay if the data stay', () => {
    const steps = uninstallPlan(done, installed, false);
    assert.deepEqual(kinds(steps), [
      'remove-service',
      'reset',
      `remove-path ${scriptPath}`,
      `remove-path ${sysctlFile.path}`,
      `remove-path ${modulesFile.path}`,
      'remove-path /etc/minik8s/master.yaml',
      `remove-directory ${logDirectory}`,
      'set-sysctl',
      `remove-path ${executablePath}`,
      'remove-path /etc/minik8s/installed.json',
      `remove-empty-directory ${configDirectory}`,
    ]);
    assert.ok(steps.every((step) => !('manager' in step) || step.manager === 'openrc'));
    assert.ok(!kinds(uninstallPlan(done, installed, true)).some((kind) => kind.includes(logDirectory)));
  });

  test('adopts a script whose record is lost, and refuses one that another program wrote', () => {
    assert.ok(planOf({ ...done, installed: undefined }).installed.created.includes(scriptPath));
    const found = new Map(done.found).set(scriptPath, { kind: 'file', text: '#!/bin/sh\n', mode: 0o755 });
    assert.throws(() => planOf({ ...machine, found }), /init.d\/minik8s exists and was not written/);
  });

  test('makes the directories of kernel settings that the system lacks, and removes them if they are empty', () => {
    const lacking = { ...machine, missingDirectories: ['/etc/modules-load.d'] };
    const plan = planOf(lacking);
    assert.ok(kinds(plan.steps).indexOf('make-directory /etc/modules-load.d') < 3);
    const undone = kinds(uninstallPlan(after(lacking, plan.steps, plan.installed), plan.installed, false));
    const [file, directory] = [
      `remove-path ${modulesFile.path}`,
      'remove-empty-directory /etc/modules-load.d',
    ];
    assert.ok(
      undone.indexOf(file) >= 0 && undone.indexOf(file) < undone.indexOf(directory),
      undone.join('\n'),
    );
    assert.ok(
      !kinds(planOf(lacking, { role: 'master' }).steps).includes('make-directory /etc/modules-load.d'),
    );
  });

  test('starts Docker by OpenRC if it does not answer', () => {
    const [step] = planOf({ ...machine, docker: 'installed' }).steps;
    assert.deepEqual(step, { kind: 'start-docker', manager: 'openrc' });
  });
});

describe('the script for OpenRC', () => {
  const request = { role: 'up', executable: executablePath, stopSeconds: 90, hasLogFile: false } as const;
  const text = openrcScript(request);

  test('has a syntax that the shell accepts', () => {
    execFileSync('sh', ['-n'], { input: text });
  });

  test('starts the role under a supervisor without a limit of restarts, after Docker if the role runs pods', () => {
    assert.match(text, /^#!\/sbin\/openrc-run\n/);
    assert.match(text, /^supervisor=supervise-daemon\ncommand=\/usr\/local\/bin\/minik8s\n/m);
    assert.match(text, /^respawn_max=0$/m);
    assert.match(text, /^retry="SIGTERM\/90\/SIGKILL\/5"$/m);
    assert.match(text, /^ {2}want docker\n {2}use net\n {2}after docker net firewall$/m);
    assert.doesNotMatch(openrcScript({ ...request, role: 'master' }), /docker/);
  });

  test('names a log file unless the settings name one', () => {
    assert.match(text, /^command_args="up --log-file \/var\/log\/minik8s\/minik8s.log"$/m);
    assert.match(openrcScript({ ...request, hasLogFile: true }), /^command_args="up"$/m);
  });
});

test('an ordered upgrade runs outside of the service: by systemd-run, or with OpenRC in a new session', () => {
  const [program, ...words] = besideService('/var/lib/x', ['/bin/a', 'b c'], 'openrc');
  assert.equal(program, 'setsid');
  assert.deepEqual(words.slice(0, 3), ['--fork', 'sh', '-c']);
  assert.deepEqual(words.slice(-3), ['/var/lib/x', '/bin/a', 'b c']);
  assert.deepEqual(besideService('/var/lib/x', ['/bin/a'], 'systemd').slice(-3), [
    '--property=StandardOutput=append:/var/lib/x',
    '--property=StandardError=append:/var/lib/x',
    '/bin/a',
  ]);
});
