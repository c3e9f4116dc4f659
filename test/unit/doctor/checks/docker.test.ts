import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DockerFacts, dockerChecks, type EngineFacts } from '../../../../src/doctor/checks/docker.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const engine: EngineFacts = {
  ...{
    version: '26.1',
    apiVersion: '1.45',
    cgroupDriver: 'systemd',
    cgroupVersion: '2',
    isLiveRestore: true,
  },
  ...{ logDriver: 'json-file', storageDriver: 'overlay2', securityOptions: ['name=seccomp,profile=builtin'] },
  firewallBackend: 'iptables',
};
const facts: DockerFacts = {
  ...{ engine, isInstalled: true, hasSystemd: true, daemonJson: '' },
  hasFirewallRules: true,
};

const at = (name: string, change: Partial<EngineFacts> = {}, more: Partial<DockerFacts> = {}) =>
  linesOf(observe(dockerChecks, name, { ...facts, ...more, engine: { ...engine, ...change } }));

describe('checks of Docker', () => {
  it('find nothing wrong with an engine in its usual state', () => {
    for (const { name } of dockerChecks) for (const line of at(name)) assert.match(line, /^ok: /, name);
  });

  it('name the program with which the engine writes its rules', () =>
    assert.deepEqual(at('docker-iptables', { firewallBackend: 'nftables' }), [
      'ok: Docker sets up its firewall rules by nftables',
    ]));

  it('advise restarting an engine whose rules were deleted, unless its settings want none', () => {
    const deleted = { hasFirewallRules: false };
    assert.deepEqual(at('docker-iptables', {}, deleted), [
      'warning: another program deleted the firewall rules of Docker # systemctl restart docker',
    ]);
    const [unwanted] = at('docker-iptables', {}, { ...deleted, daemonJson: '{"iptables":false}' });
    assert.match(unwanted ?? '', /^note: /);
  });

  it('advise starting or installing an engine that does not answer', () => {
    const problem = { problem: 'ENOENT' };
    const mend = (more: Partial<DockerFacts>) =>
      observe(dockerChecks, 'docker-answers', { ...facts, engine: problem, ...more })[0]?.mend;
    assert.equal(mend({}), 'systemctl start docker');
    assert.equal(mend({ hasSystemd: false }), '(setsid dockerd >/var/log/dockerd.log 2>&1 &)');
    assert.match(
      mend({ isInstalled: false }) ?? '',
      /apt-get .* docker\.io ca-certificates && systemctl enable --now docker$/,
    );
    assert.deepEqual(observe(dockerChecks, 'docker-version', { ...facts, engine: problem }), []);
  });

  it('name no command of systemd on a machine without it', () => {
    const without = { hasSystemd: false };
    const absent = { engine: { problem: 'ENOENT' }, isInstalled: false };
    const [install] = linesOf(observe(dockerChecks, 'docker-answers', { ...facts, ...without, ...absent }));
    const [reload] = at('docker-live-restore', { isLiveRestore: false }, without);
    const [restart] = at('docker-storage-driver', { storageDriver: 'vfs' }, without);
    const [damaged] = at('docker-daemon-json', {}, { ...without, daemonJson: '{' });
    const [rootless] = at('docker-user-namespaces', { securityOptions: ['name=rootless'] }, without);
    for (const line of [install, restart, damaged, rootless])
      assert.match(line ?? '', /\(setsid dockerd >\/var\/log\/dockerd\.log 2>&1 &\)/);
    for (const line of [restart, damaged]) assert.match(line ?? '', /&& \{ pkill -x dockerd; while pgrep /);
    assert.match(reload ?? '', />\/etc\/docker\/daemon\.json && pkill -HUP -x dockerd$/);
    for (const line of [install, reload, restart, damaged, rootless])
      assert.doesNotMatch(line ?? '', /systemctl/);
  });

  it('refuse an engine before 20.10', () => {
    assert.deepEqual(at('docker-version', { apiVersion: '1.41' }), ['ok: Docker 26.1 (API 1.41)']);
    assert.match(
      at('docker-version', { apiVersion: '1.40', version: '19.03' })[0] ?? '',
      /^fault: Docker 19\.03 /,
    );
  });

  it('warn about the driver cgroupfs with systemd on cgroup v2 only', () => {
    assert.deepEqual(at('docker-cgroup-driver', { cgroupDriver: 'cgroupfs' }), [
      `warning: cgroup driver cgroupfs beside systemd on cgroup v2 # printf '%s\\n' '{"exec-opts":["native.cgroupdriver=systemd"]}' >/etc/docker/daemon.json && systemctl restart docker`,
    ]);
    for (const [change, more] of [
      [{ cgroupVersion: '1' }, {}],
      [{}, { hasSystemd: false }],
    ] as const)
      assert.deepEqual(at('docker-cgroup-driver', { cgroupDriver: 'cgroupfs', ...change }, more), [
        'ok: cgroup driver cgroupfs',
      ]);
  });

  it('advise adding an option to the existing ones of daemon.json', () => {
    const daemonJson = `{"data-root": "/it's", "live-restore": false}`;
    assert.deepEqual(at('docker-live-restore', { isLiveRestore: false }, { daemonJson }), [
      `note: live-restore is off # printf '%s\\n' '{"data-root":"/it'\\''s","live-restore":true}' >/etc/docker/daemon.json && systemctl reload docker`,
    ]);
  });

  it('give no command that overwrites a damaged daemon.json', () => {
    for (const daemonJson of ['{"a"', '[]', '7']) {
      assert.deepEqual(at('docker-live-restore', { isLiveRestore: false }, { daemonJson }), [
        'note: live-restore is off',
      ]);
      assert.match(at('docker-daemon-json', {}, { daemonJson })[0] ?? '', /^fault: .* is not JSON # mv /);
    }
  });

  it('warn about vfs, disabled iptables and mapped users', () => {
    assert.match(at('docker-storage-driver', { storageDriver: 'vfs' })[0] ?? '', /^warning: .*"overlay2"/);
    assert.match(
      at('docker-iptables', {}, { daemonJson: '{"iptables":false}' })[0] ?? '',
      /^note: .*"iptables":true/,
    );
    assert.match(
      at('docker-user-namespaces', { securityOptions: ['name=userns'] })[0] ?? '',
      /^fault: .*"userns-remap":""/,
    );
    assert.match(
      at('docker-user-namespaces', { securityOptions: ['name=rootless'] })[0] ?? '',
      /^fault: the engine runs without root/,
    );
  });
});
