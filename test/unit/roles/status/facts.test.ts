import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownServiceOf } from '../../../../src/installation/plan/service-manager.ts';
import { faultsOf, healthOf, nextSteps, type RunningFacts } from '../../../../src/roles/status/facts.ts';
import { reportJson, reportText } from '../../../../src/roles/status/report.ts';

const now = Date.parse('2026-01-02T05:00:00Z');
const healthy: RunningFacts = {
  ...{ role: 'up', pid: 42, dataDir: '/var/lib/minik8s', startedAt: '2026-01-02T03:00:00Z' },
  ...{ version: '0.1.0', fileVersion: '0.1.0', executable: '/usr/local/bin/minik8s' },
  ...{ kubeconfig: '/var/lib/minik8s/admin.conf', server: 'https://127.0.0.1:6443' },
  log: { kind: 'rotated', path: '/var/log/minik8s.log' },
  api: { value: 'ready' },
  nodes: { value: { ready: 1, total: 1, notReady: [] } },
  pods: { value: { running: 3, total: 4, isPartial: false } },
  engine: { value: '26.1.5' },
  etcdBytes: 3 * 2 ** 20,
  certificate: {
    path: '/var/lib/minik8s/pki/admin.crt',
    notAfter: '2026-06-01T00:00:00.000Z',
    daysLeft: 149,
  },
};

describe('the facts about a running minik8s', () => {
  it('show that it is healthy without a fault, and suggest commands that list pods and follow the log', () => {
    assert.equal(healthOf(healthy), 'healthy');
    assert.deepEqual(
      nextSteps(healthy).map(([command]) => command),
      ['minik8s ctl get pods -A', 'minik8s logs -f'],
    );
  });

  const faults: readonly (readonly [string, Partial<RunningFacts>, RegExp])[] = [
    [
      'an API server that is not ready',
      { api: { problem: 'etcd failed' } },
      /API server is not ready: etcd failed/,
    ],
    [
      'an engine that does not answer',
      { engine: { problem: 'no answer' } },
      /Docker engine does not answer: no answer/,
    ],
    [
      'a node that is not Ready',
      { nodes: { value: { ready: 0, total: 1, notReady: ['n1 is not Ready: Docker stopped'] } } },
      /node n1 is not Ready: Docker stopped/,
    ],
    ['nodes that cannot be listed', { nodes: { problem: 'forbidden' } }, /nodes are unknown: forbidden/],
    [
      'a certificate that has expired',
      { certificate: { path: '/p', notAfter: '2026-01-01T00:00:00Z', daysLeft: -1 } },
      /certificate \/p expired/,
    ],
  ];
  for (const [what, change, expected] of faults)
    it(`show that it is unhealthy with ${what}, and suggest commands that find the cause`, () => {
      const facts = { ...healthy, ...change };
      assert.match(faultsOf(facts).join('\n'), expected);
      assert.equal(healthOf(facts), 'unhealthy');
      const commands = nextSteps(facts).map(([command]) => command);
      assert.deepEqual(commands, ['minik8s doctor', 'minik8s logs --level warn --since 1h']);
      assert.match(reportText(facts, now), /not healthy \(1 fault\)[\s\S]*\n {2}! /);
    });

  it('suggest commands with the data directory unless it is the default one', () => {
    const facts = { ...healthy, dataDir: '/srv/a', kubeconfig: '/srv/a/admin.conf' };
    for (const [command] of nextSteps(facts)) assert.match(command, /\/srv\/a/);
  });

  it('suggest a restart if the file has another version than the process', () => {
    const [first] = nextSteps({ ...healthy, fileVersion: '0.2.0' });
    assert.equal(first?.[0], 'minik8s stop');
    const [ofService] = nextSteps({ ...healthy, fileVersion: '0.2.0', service: ownServiceOf.systemd });
    assert.equal(ofService?.[0], 'systemctl restart minik8s.service');
  });

  it('are printed with paths, versions and ages', () => {
    const text = reportText(healthy, now);
    for (const part of [
      /^minik8s up: running, healthy\n/,
      /process +42, since 2026-01-02T03:00:00Z \(120m\)/,
      /version +0\.1\.0, \/usr\/local\/bin\/minik8s/,
      /data +\/var\/lib\/minik8s\n/,
      /log +\/var\/log\/minik8s\.log\n/,
      /API +https:\/\/127\.0\.0\.1:6443 ready/,
      /nodes +1 of 1 ready/,
      /pods +3 of 4 running/,
      /engine +Docker 26\.1\.5/,
      /etcd +3\.0 MiB/,
      /certificates +the next one ends on 2026-06-01, in 149 days/,
    ])
      assert.match(text, part);
    assert.ok(text.split('\n').every((line) => line === line.trimEnd()));
  });

  it('are printed as JSON with the health of all processes together, which is the worst of them', () => {
    const document = JSON.parse(reportJson([healthy, { ...healthy, api: { problem: 'x' } }]));
    assert.equal(document.health, 'unhealthy');
    assert.deepEqual(document.processes[0].faults, []);
    assert.equal(JSON.parse(reportJson([])).health, 'not running');
  });
});
