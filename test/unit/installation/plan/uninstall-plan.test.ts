import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configDirectory,
  executablePath,
  kubectlPath,
  unitPath,
} from '../../../../src/installation/plan/install-plan.ts';
import { type Installed, parseInstalled } from '../../../../src/installation/plan/installed.ts';
import type { Found } from '../../../../src/installation/plan/machine.ts';
import { leftoverPlan, uninstallPlan } from '../../../../src/installation/plan/uninstall-plan.ts';

const installed: Installed = {
  role: 'node',
  dataDir: '/srv/minik8s',
  dockerSocket: '/run/other.sock',
  created: [configDirectory, executablePath, '/etc/minik8s/node.yaml', unitPath],
  before: {},
  sysctls: { 'net.ipv4.ip_forward': '0', 'fs.inotify.max_user_instances': '128' },
  packages: [],
};
const there: Found = { kind: 'file', text: '', mode: 0o644 };
const all = new Map<string, Found>(installed.created.map((path) => [path, there]));
const sysctls = new Map([
  ['net.ipv4.ip_forward', '1'],
  ['fs.inotify.max_user_instances', '1024'],
]);
const machine = { sysctls, serviceManager: 'systemd' } as const;

test('the created parts are removed in reverse order: the service first, the directory last', () => {
  assert.deepEqual(uninstallPlan({ found: all, ...machine }, installed, false), [
    { kind: 'remove-service', manager: 'systemd' },
    {
      kind: 'reset',
      keepData: false,
      dataDir: '/srv/minik8s',
      dockerSocket: '/run/other.sock',
      config: '/etc/minik8s/node.yaml',
    },
    { kind: 'remove-path', path: unitPath },
    { kind: 'remove-path', path: '/etc/minik8s/node.yaml' },
    { kind: 'reload-services' },
    { kind: 'set-sysctl', name: 'fs.inotify.max_user_instances', value: '128' },
    { kind: 'remove-path', path: executablePath },
    { kind: 'remove-path', path: '/etc/minik8s/installed.json' },
    { kind: 'remove-empty-directory', path: configDirectory },
  ]);
});

test('with --keep-data the settings stay as well, for the next installation', () => {
  const changed = {
    ...installed,
    before: { '/etc/minik8s/node.yaml': { text: 'server: x\n', mode: 0o600 } },
  };
  const steps = uninstallPlan({ found: all, ...machine }, changed, true);
  const [, reset] = steps;
  assert.ok(reset?.kind === 'reset' && reset.keepData);
  const paths = steps.flatMap((step) => ('path' in step ? [step.path] : []));
  assert.deepEqual(paths, [unitPath, executablePath, '/etc/minik8s/installed.json']);
});

test('the record of kept files stays, so that the next removal does not take them for files of the user', () => {
  const path = '/etc/minik8s/node.yaml';
  const earlier = { ...installed, started: 'digest', packages: ['docker.io'] };
  const steps = uninstallPlan({ found: all, ...machine }, earlier, true);
  const record = steps.find((step) => step.kind === 'write-file');
  assert.ok(record?.kind === 'write-file' && record.path === '/etc/minik8s/installed.json');
  const kept = parseInstalled(record.content);
  const { started: _, ...others } = earlier;
  assert.deepEqual(kept, { ...others, created: [configDirectory, path], sysctls: {} });
  const left = new Map<string, Found>([configDirectory, path, '/srv/minik8s'].map((each) => [each, there]));
  const last = uninstallPlan({ found: left, ...machine }, kept, false);
  assert.deepEqual(
    last.map((step) => ('path' in step ? `${step.kind} ${step.path}` : step.kind)),
    [
      'reset',
      `remove-path ${path}`,
      'reload-services',
      'remove-path /etc/minik8s/installed.json',
      `remove-empty-directory ${configDirectory}`,
    ],
  );
});

test('settings that existed before are restored, with their mode', () => {
  const path = '/etc/minik8s/node.yaml';
  const before = {
    ...installed,
    created: [unitPath],
    before: { [path]: { text: 'token: x\n', mode: 0o640 } },
  };
  const steps = uninstallPlan({ found: all, ...machine }, before, false);
  assert.deepEqual(
    steps.filter((step) => 'path' in step && step.path === path),
    [{ kind: 'write-file', path, content: 'token: x\n', mode: 0o640 }],
  );
});

test('files that do not exist and kernel parameters that were reset already are skipped', () => {
  const steps = uninstallPlan(
    { found: new Map(), ...machine, sysctls: new Map([['net.ipv4.ip_forward', '0']]) },
    installed,
    false,
  );
  assert.deepEqual(
    steps.map(({ kind }) => kind),
    ['reload-services', 'remove-path'],
  );
});

test('nothing is reset without a unit and data, and a reset names the configuration file only if it exists', () => {
  const resetWith = (...paths: readonly string[]) =>
    uninstallPlan({ found: new Map(paths.map((path) => [path, there])), ...machine }, installed, false).find(
      ({ kind }) => kind === 'reset',
    );
  assert.equal(resetWith('/etc/minik8s/node.yaml'), undefined);
  const reset = resetWith('/srv/minik8s');
  assert.ok(reset?.kind === 'reset' && reset.config === undefined);
  assert.ok(resetWith(unitPath));
});

test('a control plane without a data directory needs no reset, which would need Docker', () => {
  const master: Installed = { ...installed, role: 'master' };
  const kinds = (found: ReadonlyMap<string, Found>) =>
    uninstallPlan({ found, ...machine }, master, false).map(({ kind }) => kind);
  assert.ok(!kinds(all).includes('reset'));
  assert.ok(kinds(new Map<string, Found>([...all, ['/srv/minik8s', { kind: 'other' }]])).includes('reset'));
});

test('forwarding is not switched off, even if an earlier version recorded it', () => {
  const names = uninstallPlan({ found: all, ...machine }, installed, false).flatMap((step) =>
    step.kind === 'set-sysctl' ? [step.name] : [],
  );
  assert.deepEqual(names, ['fs.inotify.max_user_instances']);
});

test('kubectl is removed only while it is still the link of the installation', () => {
  const linked = { ...installed, created: [kubectlPath] };
  const removes = (entry: Found) =>
    uninstallPlan({ found: new Map<string, Found>([[kubectlPath, entry]]), ...machine }, linked, false).some(
      (step) => step.kind === 'remove-path' && step.path === kubectlPath,
    );
  assert.ok(removes({ kind: 'link', target: executablePath }));
  assert.ok(!removes({ kind: 'link', target: '/opt/kubectl' }));
  assert.ok(!removes(there));
});

test('without a record, only an empty directory of minik8s is removed, with a draft of the record', () => {
  const steps = (kind: Found['kind']) =>
    leftoverPlan(new Map<string, Found>([[configDirectory, { kind } as Found]]));
  assert.deepEqual(steps('empty-directory'), [
    { kind: 'remove-path', path: '/etc/minik8s/installed.json' },
    { kind: 'remove-empty-directory', path: configDirectory },
  ]);
  // A link, or a directory with the settings of a user.
  for (const kind of ['link', 'other', 'file'] as const) assert.deepEqual(steps(kind), []);
  assert.deepEqual(leftoverPlan(new Map()), []);
});
