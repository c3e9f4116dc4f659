import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  completionDirectory,
  completionPath,
  configDirectory,
  executablePath,
  kubectlPath,
  recordStep,
  unitPath,
} from '../../../../src/installation/plan/install-plan.ts';
import { parseInstalled } from '../../../../src/installation/plan/installed.ts';
import { modulesFile, sysctlFile } from '../../../../src/installation/plan/kernel.ts';
import type { Found, Machine } from '../../../../src/installation/plan/machine.ts';
import { configFileOf, type Role } from '../../../../src/installation/plan/role.ts';
import { describeStep } from '../../../../src/installation/plan/step.ts';
import { systemdUnit } from '../../../../src/installation/plan/systemd-unit.ts';
import { uninstallPlan } from '../../../../src/installation/plan/uninstall-plan.ts';
import { after, bare, kinds, planOf } from '../../../fixtures/installation.ts';

test('a bare machine gets directory, file, settings, kernel, unit, and then the service, in this order', () => {
  const { steps } = planOf();
  assert.deepEqual(kinds(steps), [
    `make-directory ${configDirectory}`,
    `copy-file ${executablePath}`,
    'write-file /etc/minik8s/master.yaml',
    `write-file ${modulesFile.path}`,
    `write-file ${sysctlFile.path}`,
    `write-file ${unitPath}`,
    'load-modules',
    'set-sysctl',
    'set-sysctl',
    'reload-services',
    'enable-service',
    'restart-service',
  ]);
  assert.equal(
    steps.find((step) => 'content' in step && step.path === '/etc/minik8s/master.yaml')?.kind,
    'write-file',
  );
});

test('the file with settings is readable only for root, since it may contain a token', () => {
  for (const role of ['up', 'master', 'node'] as const) {
    const step = planOf({}, { role }).steps.find(
      (each) => 'path' in each && each.path === configFileOf[role],
    );
    assert.ok(step?.kind === 'write-file');
    assert.equal(step.mode, 0o600);
  }
});

test('a second installation has no steps, and a change only replaces the changed file and restarts the service', () => {
  const first = planOf();
  const installed = { ...first.installed, started: first.digest };
  const machine = after(bare, first.steps, installed);
  assert.deepEqual(planOf(machine).steps, []);
  assert.deepEqual(kinds(planOf(machine, { config: 'port: 8443\n' }).steps), [
    'write-file /etc/minik8s/master.yaml',
    'reload-services',
    'restart-service',
  ]);
  assert.deepEqual(kinds(planOf(machine, { sourceDigest: 'new' }).steps), [
    `copy-file ${executablePath}`,
    'reload-services',
    'restart-service',
  ]);
  assert.deepEqual(kinds(planOf({ ...machine, serviceState: 'inactive' }).steps), [
    'reload-services',
    'restart-service',
  ]);
  assert.deepEqual(kinds(planOf({ ...machine, isServiceEnabled: false }).steps), ['enable-service']);
});

test('an installation that was interrupted after any step is completed by the next one', () => {
  const first = planOf();
  for (let done = 0; done <= first.steps.length; done++) {
    const machine = after(bare, first.steps.slice(0, done), first.installed);
    const next = planOf(machine);
    const end = after(machine, next.steps, { ...next.installed, started: next.digest });
    assert.ok(end.serviceState === 'active' && end.isServiceEnabled, `after ${done} steps`);
    assert.ok(end.found.has(unitPath) && end.found.has(configFileOf.up) && end.executableDigest === 'abc');
    assert.deepEqual(planOf(end).steps, [], `after ${done} steps`);
    assert.deepEqual(next.installed.created.toSorted(), first.installed.created.toSorted());
    assert.deepEqual(next.installed.sysctls, {
      'fs.inotify.max_user_instances': '128',
    });
  }
});

test('a service is restarted when a setting is changed back that was changed without a restart', () => {
  const first = planOf();
  const machine = after(bare, first.steps, { ...first.installed, started: first.digest });
  const other = after(
    machine,
    planOf(machine, { config: 'port: 1\n', starts: false }).steps,
    machine.installed ?? first.installed,
  );
  assert.deepEqual(kinds(planOf(other).steps), [
    'write-file /etc/minik8s/master.yaml',
    'reload-services',
    'restart-service',
  ]);
});

test('a service that was not restarted after the file was replaced is restarted', () => {
  const first = planOf();
  const machine = { ...after(bare, first.steps, first.installed), serviceState: 'active' } as const;
  assert.deepEqual(kinds(planOf(machine).steps), ['reload-services', 'restart-service']);
  assert.deepEqual(planOf(machine, { starts: false }).steps, []);
});

describe('packages', () => {
  const stepOf = (machine: Partial<Machine>, role: Role = 'up') =>
    planOf(machine, { role }).steps.find(({ kind }) => kind === 'install-packages');

  test('are installed for a missing engine and missing programs, by the package manager of the machine', () => {
    assert.deepEqual(stepOf({ docker: 'missing', lackingPrograms: ['nft', 'ip'] }), {
      kind: 'install-packages',
      manager: 'apt',
      names: ['docker.io', 'ca-certificates', 'nftables', 'iproute2'],
    });
    assert.deepEqual(stepOf({ packageManager: 'dnf', lackingPrograms: ['mount', 'unshare'] }), {
      kind: 'install-packages',
      manager: 'dnf',
      names: ['util-linux'],
    });
  });

  test('include a missing parser of AppArmor, without which the engine starts no container', () => {
    assert.deepEqual(stepOf({ lackingPrograms: ['apparmor_parser'] }), {
      kind: 'install-packages',
      manager: 'apt',
      names: ['apparmor'],
    });
  });

  test('are installed before Docker is started, and recorded for uninstall', () => {
    const { steps, installed } = planOf({ docker: 'missing' });
    assert.deepEqual(kinds(steps).slice(0, 2), ['install-packages', 'start-docker']);
    assert.deepEqual(installed.packages, ['docker.io', 'ca-certificates']);
  });

  test('are not installed for a master without pods, which changes no kernel parameter either', () => {
    const { steps } = planOf({ docker: 'missing', lackingPrograms: ['nft'] }, { role: 'master' });
    assert.deepEqual(
      steps.filter(
        ({ kind }) => kind === 'install-packages' || kind === 'set-sysctl' || kind === 'load-modules',
      ),
      [],
    );
  });

  test('are not installed for an installed engine that does not answer, which is started', () => {
    const { steps } = planOf({ docker: 'installed' });
    assert.equal(steps[0]?.kind, 'start-docker');
  });

  test('cannot be installed without a known package manager, and the error names what is missing', () => {
    assert.throws(
      () => planOf({ packageManager: undefined, docker: 'missing', lackingPrograms: ['nft'] }),
      /lacks the Docker engine, nft, and has neither apt nor dnf/,
    );
  });
});

test('a foreign kubectl is no obstacle if no link is requested', () => {
  const found = new Map<string, Found>([[kubectlPath, { kind: 'file', text: 'mine', mode: 0o755 }]]);
  const { steps, installed } = planOf({ found });
  assert.ok(!kinds(steps).some((step) => step.includes('kubectl')));
  assert.ok(!installed.created.includes(kubectlPath));
});

test('the link of kubectl is made only if it does not exist', () => {
  const { steps } = planOf({}, { linksKubectl: true });
  assert.ok(kinds(steps).includes(`make-link ${kubectlPath}`));
  const found = new Map<string, Found>([[kubectlPath, { kind: 'link', target: executablePath }]]);
  assert.ok(!kinds(planOf({ found }, { linksKubectl: true }).steps).includes(`make-link ${kubectlPath}`));
});

test('a configuration file that existed before is recorded with its text, also by later installations', () => {
  const found = new Map<string, Found>([
    [configDirectory, { kind: 'other' }],
    [configFileOf.up, { kind: 'file', text: 'port: 6443\n', mode: 0o644 }],
  ]);
  const first = planOf({ found });
  assert.deepEqual(first.installed.before, { [configFileOf.up]: { text: 'port: 6443\n', mode: 0o644 } });
  assert.ok(!first.installed.created.includes(configFileOf.up));
  assert.ok(!first.installed.created.includes(configDirectory));
  const machine = after({ ...bare, found }, first.steps, first.installed);
  const second = planOf(machine, { config: 'port: 9443\n' });
  assert.deepEqual(second.installed.before, { [configFileOf.up]: { text: 'port: 6443\n', mode: 0o644 } });
});

test('a file that an installation has created is not recorded as an earlier one when its text changes', () => {
  const first = planOf();
  const machine = after(bare, first.steps, first.installed);
  const { steps, installed } = planOf(machine, { config: 'port: 8443\n', stopSeconds: 120 });
  assert.deepEqual(kinds(steps).slice(0, 2), [
    'write-file /etc/minik8s/master.yaml',
    `write-file ${unitPath}`,
  ]);
  assert.deepEqual(installed.before, {});
  const removed = uninstallPlan(after(machine, steps, installed), installed, false);
  assert.deepEqual(
    removed.filter(({ kind }) => kind === 'write-file'),
    [],
  );
});

test('the mode of a file with settings is corrected, and so is a link in the place of the executable', () => {
  const first = planOf();
  const installed = { ...first.installed, started: first.digest };
  const machine = after(bare, first.steps, installed);
  const withEntry = (path: string, entry: Found) => ({
    ...machine,
    found: new Map([...machine.found, [path, entry] as const]),
  });
  const readable: Found = { kind: 'file', text: 'port: 7443\n', mode: 0o644 };
  assert.equal(
    kinds(planOf(withEntry('/etc/minik8s/master.yaml', readable)).steps)[0],
    'write-file /etc/minik8s/master.yaml',
  );
  // The content is the same, but the link would be broken once the build is removed.
  const link: Found = { kind: 'link', target: '/root/minik8s' };
  assert.equal(kinds(planOf(withEntry(executablePath, link)).steps)[0], `copy-file ${executablePath}`);
});

test('a kernel parameter is raised, never lowered', () => {
  const sysctls = new Map([
    ['net.ipv4.ip_forward', '1'],
    ['fs.inotify.max_user_instances', '8192'],
  ]);
  const { steps, installed } = planOf({ sysctls });
  assert.ok(!kinds(steps).includes('set-sysctl'));
  assert.deepEqual(installed.sysctls, {});
});

test('a kernel parameter that was lowered since an installation is raised, and its value before that one kept', () => {
  const first = planOf();
  const sysctls = new Map([
    ['net.ipv4.ip_forward', '1'],
    ['fs.inotify.max_user_instances', '256'],
  ]);
  const { steps, installed } = planOf({ ...after(bare, first.steps, first.installed), sysctls });
  assert.deepEqual(
    steps.filter(({ kind }) => kind === 'set-sysctl'),
    [{ kind: 'set-sysctl', name: 'fs.inotify.max_user_instances', value: '1024' }],
  );
  assert.deepEqual(installed.sysctls, { 'fs.inotify.max_user_instances': '128' });
});

test('the record is read back as written, and is readable for root alone', () => {
  const { installed } = planOf();
  const { content, mode } = recordStep({ ...installed, started: 'x' });
  assert.deepEqual(parseInstalled(content), { ...installed, started: 'x' });
  assert.equal(mode, 0o600);
  for (const [field, value] of Object.entries({
    role: 'queen',
    dataDir: 'relative',
    dockerSocket: 3,
    created: 'x',
    before: { '/etc/x': 'text' },
    sysctls: { a: 1 },
    packages: [1],
  }))
    assert.throws(
      () => parseInstalled(JSON.stringify({ ...installed, [field]: value })),
      new RegExp(`^Error: ${field}`),
    );
  assert.throws(() => parseInstalled('[]'), /expected an object/);
});

test('the unit starts the role, does not stop child processes, and waits for Docker only with pods', () => {
  const lines = systemdUnit('node', executablePath, 630).split('\n');
  for (const line of [
    'Type=notify',
    'ExecStart=/usr/local/bin/minik8s node',
    'Restart=always',
    'KillMode=process',
    'TimeoutStopSec=630',
    'RestartPreventExitStatus=2',
    'Wants=network-online.target docker.service',
    'WantedBy=multi-user.target',
  ])
    assert.ok(lines.includes(line), line);
  assert.ok(!systemdUnit('master', executablePath, 90).includes('docker'));
  assert.ok(!systemdUnit('up', executablePath, 90).includes('Requires='));
});

test('each change of the machine is described for the user, except implied ones', () => {
  const { steps } = planOf({ docker: 'missing' }, { linksKubectl: true });
  assert.deepEqual(
    steps.map(describeStep).filter((line) => line !== undefined),
    [
      'install docker.io, ca-certificates with apt',
      'start docker.service, now and at every boot',
      'copy this file to /usr/local/bin/minik8s',
      'write /etc/minik8s/master.yaml',
      'write /etc/modules-load.d/minik8s.conf',
      'write /etc/sysctl.d/10-minik8s.conf',
      'write /etc/systemd/system/minik8s.service',
      'load the kernel modules vxlan',
      'set net.ipv4.ip_forward to 1',
      'set fs.inotify.max_user_instances to 1024',
      'link /usr/local/bin/kubectl to /usr/local/bin/minik8s',
      'enable minik8s.service, so that it starts at every boot',
      'start minik8s.service',
    ],
  );
});

test('files of an installation whose record is lost are adopted: uninstall removes them', () => {
  const first = planOf();
  const { steps, installed } = planOf({ ...after(bare, first.steps, first.installed), installed: undefined });
  assert.deepEqual(kinds(steps), ['reload-services', 'restart-service']);
  assert.deepEqual(installed.created, [modulesFile.path, sysctlFile.path, unitPath]);
  const old: Found = { kind: 'file', text: '# Written by minik8s install, long ago\n', mode: 0o644 };
  const upgraded = planOf({ found: new Map([[unitPath, old]]) });
  assert.ok(kinds(upgraded.steps).includes(`write-file ${unitPath}`));
  assert.ok(upgraded.installed.created.includes(unitPath));
  assert.deepEqual(upgraded.installed.before, {});
});

test('a service that still starts is restarted', () => {
  const first = planOf();
  const machine = after(bare, first.steps, { ...first.installed, started: first.digest });
  assert.deepEqual(planOf(machine).steps, []);
  assert.deepEqual(kinds(planOf({ ...machine, serviceState: 'activating' }).steps), [
    'reload-services',
    'restart-service',
  ]);
});

test('a start counts as the first one until an installation has started the service', () => {
  const first = planOf();
  assert.ok(first.isFirstStart);
  assert.ok(!planOf({}, { starts: false }).isFirstStart);
  const interrupted = after(bare, first.steps, first.installed);
  assert.ok(planOf(interrupted).isFirstStart);
  const done = { ...interrupted, installed: { ...first.installed, started: first.digest } };
  assert.ok(!planOf(done).isFirstStart);
  const changed = planOf(done, { config: 'port: 8443\n' });
  assert.ok(changed.steps.some(({ kind }) => kind === 'restart-service') && !changed.isFirstStart);
});

describe('completion of bash', () => {
  const found = new Map<string, Found>([[completionDirectory, { kind: 'other' }]]);
  const writes = `write-file ${completionPath}`;

  test('is written where bash-completion is installed, and removed with the installation', () => {
    assert.ok(!kinds(planOf().steps).includes(writes));
    const { steps, installed } = planOf({ found });
    const step = steps.find((each) => 'path' in each && each.path === completionPath);
    const content = 'complete -F _minik8s minik8s\n';
    assert.deepEqual(step, { kind: 'write-file', path: completionPath, content, mode: 0o644 });
    const machine = after({ ...bare, found }, steps, installed);
    assert.ok(kinds(uninstallPlan(machine, installed, false)).includes(`remove-path ${completionPath}`));
  });

  test('is replaced by the earlier completion of the user at the removal', () => {
    const own: Found = { kind: 'file', text: 'own\n', mode: 0o600 };
    const { steps, installed } = planOf({ found: new Map([...found, [completionPath, own]]) });
    const machine = after({ ...bare, found }, steps, installed);
    const undone = uninstallPlan(machine, installed, false);
    assert.deepEqual(
      undone.filter((step) => 'path' in step && step.path === completionPath),
      [{ kind: 'write-file', path: completionPath, content: 'own\n', mode: 0o600 }],
    );
  });

  test('does not restart the service if nothing else is written', () => {
    const first = planOf();
    const machine = after(bare, first.steps, { ...first.installed, started: first.digest });
    const later = { ...machine, found: new Map([...machine.found, ...found]) };
    assert.deepEqual(kinds(planOf(later).steps), [writes]);
  });
});
