/** `minik8s doctor` on two machines: it finds each fault, and the command that it prints mends it. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { executable } from './harness/cluster.ts';
import { attempt, examine, faultsIn, findingsOf, found, type Report, type } from './harness/doctor-report.ts';
import type { Host } from './harness/host.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

test('doctor finds faults on two machines, and prints the commands that mend them', {
  timeout: 600_000,
}, async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 2, images: [] });
  const [first, second] = [cluster.hosts.at(0), cluster.hosts.at(1)];
  const hostOf = (node = '') => cluster.node(node).host;
  const flags = (node: string) => [
    '--kubeconfig',
    cluster.kubeconfig,
    '--data-dir',
    cluster.node(node).dataDir,
  ];

  await context.test(
    'finds no fault in a cluster that works, and reads the findings of every node',
    async () => {
      const report = await waitFor('both directions', async () => {
        const one = await examine(second, flags('node-1'));
        return (
          found(one, 'reachability').every((text) => /through the overlay with 1450 bytes$/.test(text)) && one
        );
      });
      assert.deepEqual(faultsIn(report), []);
      assert.deepEqual(
        found(report, 'reachability')
          .map((text) => text.split(':')[0])
          .sort(),
        ['node-0 to node-1', 'node-1 to node-0'],
      );
      for (const node of ['node-0', 'node-1'])
        for (const check of [
          'node-ready',
          'clock-node',
          'kernel-features',
          'docker-version',
          'dns-cluster',
          'ports',
        ])
          assert.ok(
            report.findings.some((one) => one.node === node && one.check === check && one.severity === 'ok'),
            `${check} of ${node}: ${JSON.stringify(findingsOf(report, check))}`,
          );
      const { stdout, code } = await attempt(second, executable, 'doctor', ...flags('node-1'));
      assert.match(stdout, /^ok {6}node-0: reachability: node-0 to node-1: reached/m);
      assert.match(stdout, /^0 faults, \d+ warnings?, \d+ notes?, \d+ ok$/m);
      assert.ok(code <= 1, String(code));
    },
  );

  await context.test('--node selects nodes, and a node that does not exist is an error', async () => {
    const report = await examine(second, ['--node', 'node-0', ...flags('node-1')]);
    assert.deepEqual([...new Set(report.findings.flatMap(({ node }) => node ?? []))], ['node-0']);
    const { code, stderr } = await attempt(
      second,
      executable,
      'doctor',
      '--node',
      'none',
      ...flags('node-1'),
    );
    assert.equal(code, 2);
    assert.match(stderr, /^error: --node: there is no node none; minik8s ctl get nodes shows all nodes\n$/);
  });

  await context.test('only administrators may read the answers of agents', async () => {
    const path = '/api/v1/nodes/node-1/proxy/doctor';
    assert.match(await cluster.kubectl('get', '--raw', path), /^\{"findings":\[/);
    const { code, stderr } = await cluster.kubectl.attempt(['--as=jane', 'get', '--raw', path]);
    assert.notEqual(code, 0);
    assert.match(stderr, /forbidden/i);
  });

  /**
   * Provokes one fault, which the printed command must mend. It is provoked up to `times` times, for faults
   * that an agent may mend before the doctor has read them.
   */
  async function mends(
    provoke: () => Promise<unknown>,
    check: string,
    expected: RegExp,
    command: RegExp,
    times = 1,
  ): Promise<void> {
    await provoke();
    const report = await examine(first, flags('node-0'));
    const [fault, ...others] = faultsIn(report).filter((one) => one.check === check);
    if (!fault && times > 1) return mends(provoke, check, expected, command, times - 1);
    assert.equal(report.exitStatus, 2);
    assert.ok(fault, `no fault of ${check}: ${JSON.stringify(faultsIn(report))}`);
    // Both directions fail if answers are dropped too; one command mends them.
    for (const other of others) assert.equal(other.mend, fault.mend);
    assert.match(fault.found, expected);
    assert.match(fault.mend ?? '', command);
    await type(hostOf(fault.node), fault.mend ?? 'false');
    assert.deepEqual(faultsIn(await examine(first, flags('node-0'))), []);
  }

  await context.test('names a rule of nftables that blocks one direction', async () => {
    const rules = `nft add table inet cut
      nft 'add chain inet cut in { type filter hook input priority 0; }'
      nft add rule inet cut in ip saddr ${second.address} tcp dport 10250 drop`;
    await mends(
      () => type(first, rules),
      'reachability',
      new RegExp(
        `^node-1 to node-0: ${RegExp.escape(first.address)} does not answer \\(no answer within 2 s\\)$`,
      ),
      /^nft delete rule inet cut in handle \d+$/,
    );
  });

  await context.test('names a rule of iptables that blocks one direction', () =>
    mends(
      () =>
        first.run(
          'iptables',
          '-I',
          'INPUT',
          '--source',
          second.address,
          '--protocol',
          'udp',
          '--dport',
          '8472',
          '--jump',
          'DROP',
        ),
      'reachability',
      /^(?:node-0 to node-1|node-1 to node-0): no packet arrives through the overlay/,
      /^nft delete rule ip filter INPUT handle \d+$/,
    ),
  );

  await context.test('finds a link with a smaller MTU', () =>
    mends(
      () => second.run('ip', 'link', 'set', 'dev', 'eth0', 'mtu', '1400'),
      'reachability',
      /^node-0 to node-1: packets of 1450 bytes do not arrive through the overlay, smaller ones do: eth0 of node-1 has MTU 1400, eth0 of node-0 1500$/,
      /^ip link set dev eth0 mtu 1500$/,
    ),
  );

  await context.test('finds that forwarding is switched off', () =>
    mends(
      () => second.run('sysctl', '-w', 'net.ipv4.ip_forward=0'),
      'sysctls',
      /^net\.ipv4\.ip_forward = 0$/,
      /^sysctl -w net\.ipv4\.ip_forward=1$/,
      // Each agent switches forwarding on once a minute.
      3,
    ),
  );

  await context.test('finds a firewall that drops forwarded packets by default', async () => {
    const rules = `nft add table inet own
      nft 'add chain inet own forward { type filter hook forward priority 0; policy drop; }'`;
    await mends(
      () => type(second, rules),
      'forwarding-rules',
      /^chain forward of inet own drops forwarded packets by default, also those of pods$/,
      /^nft insert rule inet own forward ip saddr \S+ accept && nft insert rule inet own forward ip daddr \S+ accept$/,
    );
    await second.run('nft', 'delete', 'table', 'inet', 'own');
  });

  await context.test('finds a port of a load balancer that another program uses', async () => {
    const spec = { type: 'LoadBalancer', ports: [{ port: 8088, protocol: 'TCP' }] };
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'held', namespace: 'default' },
      spec,
    };
    const slice = {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
      metadata: { name: 'held', namespace: 'default', labels: { 'kubernetes.io/service-name': 'held' } },
      endpoints: [{ addresses: ['198.51.100.7'], conditions: { ready: true } }],
      ports: [{ name: '', port: 8088, protocol: 'TCP' }],
    };
    const script = "require('node:net').createServer().listen(8088)";
    second.spawn(process.execPath, ['--eval', script]);
    await waitFor('a listener', () => second.run('ss', '-Hltn', 'sport = :8088').then(Boolean));
    const { code } = await cluster.kubectl.attempt(['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [service, slice] }),
    });
    assert.equal(code, 0);
    // The node's own process examines its machine too: what only the agent knows is reported once.
    const held = async (host: Host, node: string) =>
      faultsIn(await examine(host, flags(node))).filter(({ check }) => check === 'load-balancer-ports');
    const fault = await waitFor('the fault', async () => {
      const found = await held(second, 'node-1');
      assert.ok(found.length < 2, JSON.stringify(found));
      return found[0];
    });
    assert.equal(fault.node, 'node-1');
    assert.match(fault.found, /^port 8088\/tcp of the Service default\/held is held by \S+, process \d+$/);
    assert.match(fault.mend ?? '', /^kill \d+$/);
    await type(second, fault.mend ?? 'false');
    await waitFor('no fault', async () => (await held(first, 'node-0')).length === 0);
    await cluster.kubectl('delete', 'service', 'held');
  });

  await context.test(
    'warns of rules that another program deleted and that the node wrote again',
    async () => {
      await second.run('nft', 'delete', 'table', 'ip', 'minik8s-proxy');
      const [warning] = await waitFor('the warning', async () => {
        const found = findingsOf(await examine(first, flags('node-0')), 'deleted-rules');
        return found.length > 0 && found;
      });
      assert.equal(warning?.node, 'node-1');
      assert.match(
        warning?.found ?? '',
        /^another program deleted the nft rules of Services once, last at \S+Z$/,
      );
      assert.match(await second.run('nft', 'list', 'table', 'ip', 'minik8s-proxy'), /dispatch/);
      const report = await examine(second, flags('node-1'));
      assert.deepEqual(found(report, 'own-rules'), [
        ...['the nft tables of Services, pods and DNS are in the kernel'],
        ...['the nft tables of Services, pods and DNS are in the kernel'],
      ]);
    },
  );

  await context.test(
    '--fix sets kernel parameters, restricts access to key files, and prints both',
    async () => {
      const key = join(cluster.masterDataDir, 'pki/ca.key');
      const inotify = join(first.directory, 'max_user_instances');
      writeFileSync(inotify, '128\n');
      await type(first, `chmod 644 ${key}; sysctl -w net.ipv4.ip_forward=0`);
      const args = [
        'doctor',
        '--json',
        '--fix',
        '--kubeconfig',
        cluster.kubeconfig,
        '--data-dir',
        cluster.masterDataDir,
      ];
      // The parameter belongs to the whole machine: the doctor gets a file of its own in its place.
      const script = `mount --bind ${inotify} /proc/sys/fs/inotify/max_user_instances; exec ${[executable, ...args].join(' ')}`;
      const report: Report = JSON.parse(
        (await attempt(first, 'unshare', '--mount', 'sh', '-c', script)).stdout,
      );
      assert.deepEqual(report.fixed, [
        { command: 'sysctl -w net.ipv4.ip_forward=1' },
        { command: 'sysctl -w fs.inotify.max_user_instances=1024' },
        { command: `chmod 600 '${key}'` },
      ]);
      assert.deepEqual(faultsIn(report), []);
      assert.equal(readFileSync(inotify, 'utf8'), '1024\n');
      assert.equal(await first.run('sysctl', '-n', 'net.ipv4.ip_forward'), '1');
      assert.equal(await first.run('stat', '-c', '%a', key), '600');
    },
  );

  await context.test('finds a port that another program uses while the node is stopped', async () => {
    const node = cluster.node('node-1');
    await node.role.end('SIGTERM');
    // The agent of the other node connects to the port too, so the listener must continue after a connection.
    second.spawn(process.execPath, ['--eval', "require('node:net').createServer().listen(10250)"]);
    await waitFor('a listener', () => second.run('ss', '-Hltn', 'sport = :10250').then(Boolean));
    const report = await examine(second, flags('node-1'));
    const fault = findingsOf(report, 'ports').find(({ severity }) => severity === 'fault');
    assert.match(fault?.found ?? '', /^port 10250\/tcp \(node agent\) is held by \S+, process \d+$/);
    assert.match(fault?.mend ?? '', /^kill \d+$/);
    await type(second, fault?.mend ?? 'false');
    const after = await examine(second, flags('node-1'));
    assert.deepEqual(
      findingsOf(after, 'ports').filter(({ severity }) => severity === 'fault'),
      [],
    );
    await node.role.start();
    await cluster.untilReady(node);
  });

  await context.test('finds a full disk on a machine on which minik8s was never started', async () => {
    const directory = join(second.directory, 'never');
    mkdirSync(directory, { mode: 0o700 });
    await systemExec('mount', ['-t', 'tmpfs', '-o', 'size=600m', 'tmpfs', directory]);
    const place = [
      '--data-dir',
      directory,
      '--docker-socket',
      second.dockerSocket,
      '--kubeconfig',
      '/nonexistent',
    ];
    try {
      const before = await examine(second, place);
      assert.deepEqual(
        faultsIn(before).filter(({ check }) => check === 'disk-space'),
        [],
      );
      assert.match(
        found(before, 'api-server')[0] ?? '',
        /were not examined: kubeconfig \/nonexistent does not exist/,
      );
      const filler = join(directory, 'filler');
      await second.run('fallocate', '-l', '500m', filler);
      const [fault] = faultsIn(await examine(second, place)).filter(({ check }) => check === 'disk-space');
      assert.match(
        fault?.found ?? '',
        new RegExp(`^${RegExp.escape(directory)} \\(data\\) has \\d+ MB of 629 MB free$`),
      );
      assert.match(await type(second, fault?.mend ?? 'false'), new RegExp(`${RegExp.escape(filler)}$`, 'm'));
      await second.run('rm', filler);
      assert.deepEqual(
        faultsIn(await examine(second, place)).filter(({ check }) => check === 'disk-space'),
        [],
      );
    } finally {
      await systemExec('umount', [directory]);
    }
  });

  await context.test('finds a master that does not answer', async () => {
    cluster.master.freeze();
    const place = ['--kubeconfig', cluster.kubeconfig, '--data-dir', cluster.masterDataDir];
    const report = await examine(first, place).finally(() => cluster.master.thaw());
    const [fault] = faultsIn(report).filter(({ check }) => check === 'api-server');
    assert.match(fault?.found ?? '', /the API server gives no answer within 10 s$/);
    assert.match(
      fault?.mend ?? '',
      new RegExp(`^kill ${cluster.master.pid}; .*setsid .*minik8s master --data-dir `),
    );
    const again = await examine(first, place);
    assert.deepEqual(faultsIn(again), []);
    for (const check of ['etcd-size', 'ports', 'certificate-expiry', 'permissions'])
      assert.ok(
        findingsOf(again, check).some(({ severity }) => severity === 'ok'),
        check,
      );
  });

  await context.test(
    'reports a stopped master, its etcd and its API server as notes and not as faults',
    async () => {
      await cluster.master.end('SIGTERM');
      const report = await examine(first, [
        '--kubeconfig',
        cluster.kubeconfig,
        '--data-dir',
        cluster.masterDataDir,
      ]);
      assert.deepEqual(
        findingsOf(report, 'etcd-answers').map(({ severity, found: text }) => [severity, text]),
        [['note', 'etcd does not run']],
      );
      assert.match(found(report, 'api-server')[0] ?? '', /^the nodes of the cluster were not examined: /);
      assert.equal(findingsOf(report, 'api-server')[0]?.severity, 'note');
    },
  );

  await context.test('without root, lists the checks that it could not run', async () => {
    const place = ['--data-dir', cluster.masterDataDir, '--docker-socket', second.dockerSocket];
    const nobody = [
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      executable,
      'doctor',
      '--json',
      ...place,
    ];
    const { stdout, stderr } = await attempt(second, 'setpriv', ...nobody);
    assert.equal(stderr, '');
    const report: Report = JSON.parse(stdout);
    const notes = report.findings.filter(({ found: text }) =>
      /; run it as root \(sudo minik8s doctor\)$/.test(text),
    );
    assert.deepEqual(notes.map(({ check }) => check).sort(), ['certificates', 'docker', 'files', 'firewall']);
  });
});
