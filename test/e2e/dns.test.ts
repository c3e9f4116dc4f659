import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { deployHello, readyPods } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { Hosts } from './harness/hosts.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

/** A name with more addresses than fit into a datagram. */
const bigName = 'big.example';
const bigCount = 120;

const objects = `
apiVersion: v1
kind: Service
metadata: { name: db }
spec:
  clusterIP: None
  selector: { app: db }
  ports: [{ name: page, port: 8080 }]
---
apiVersion: v1
kind: Service
metadata: { name: outside }
spec: { type: ExternalName, externalName: www.example }
---
apiVersion: v1
kind: Pod
metadata: { name: zero, labels: { app: db } }
spec:
  hostname: zero
  subdomain: db
  containers: [{ name: main, image: minik8s/hello:1 }]
---
apiVersion: v1
kind: Pod
metadata: { name: client }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: main, image: minik8s/hello:1, command: [sleep, "3600"] }]
---
apiVersion: v1
kind: Pod
metadata: { name: onhost }
spec:
  terminationGracePeriodSeconds: 0
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  containers: [{ name: main, image: minik8s/hello:1, command: [sleep, "3600"] }]
---
apiVersion: v1
kind: Pod
metadata: { name: own }
spec:
  terminationGracePeriodSeconds: 0
  dnsPolicy: None
  dnsConfig:
    nameservers: [169.254.20.10]
    searches: [svc.cluster.local]
    options: [{ name: ndots, value: "2" }]
  containers: [{ name: main, image: minik8s/hello:1, command: [sleep, "3600"] }]
`;

test('cluster DNS answers pods and nodes', async (context) => {
  const hosts = await Hosts.start(context, 2);
  const [host, stranger] = [hosts.at(0), hosts.at(1)];
  // A name server as others run them, for names outside of the cluster.
  host.spawn('dnsmasq', [
    ...['--keep-in-foreground', '--port=5300', '--listen-address=127.0.0.1', '--bind-interfaces'],
    ...['--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--local=/example/'],
    `--pid-file=${host.directory}/dnsmasq.pid`,
    '--host-record=www.example,192.0.2.80',
    '--txt-record=text.example,hello',
    ...Array.from({ length: bigCount }, (_, n) => `--host-record=${bigName},192.0.2.${n + 1}`),
  ]);
  const cluster = await Cluster.start(context, { host, flags: ['--dns-upstream=127.0.0.1:5300'] });
  await deployHello(cluster);
  await systemExec('kubectl', ['--kubeconfig', cluster.kubeconfig, 'apply', '-f', '-'], { input: objects });
  await readyPods(cluster, 3);
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s');

  /** Returns the output of dig with +short, sorted. */
  const short = async (...args: string[]) => (await host.run('dig', '+short', ...args)).split('\n').sort();
  const full = (...args: string[]) => host.run('dig', ...args);
  const inPod = async (pod: string, ...command: string[]) => {
    const filters = [`io.kubernetes.pod.name=${pod}`, 'io.kubernetes.container.name=main'];
    const id = await host.docker('ps', '-q', ...filters.flatMap((label) => ['--filter', `label=${label}`]));
    return host.docker('exec', id, ...command);
  };
  const addressOf = async (pod: string) =>
    (await cluster.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.podIP}')).trim();

  await context.test(
    'DNS is served at the address of the cluster and at the address of each node',
    async () => {
      for (const server of ['10.96.0.10', '169.254.20.10']) {
        for (const transport of ['+notcp', '+tcp']) {
          const name = 'kubernetes.default.svc.cluster.local';
          assert.deepEqual(await short(`@${server}`, transport, name), ['10.96.0.1'], server + transport);
        }
      }
      assert.match(await cluster.kubectl('cluster-info'), /KubeDNS.* is running at .*\/kube-dns/);
    },
  );

  await context.test('names of Services, ports, endpoints, pods and addresses are resolved', async () => {
    const cidr = (
      await cluster.kubectl('get', 'service', 'hello', '-o', 'jsonpath={.spec.clusterIP}')
    ).trim();
    const zero = await addressOf('zero');
    const at = '@10.96.0.10';
    assert.deepEqual(await short(at, 'hello.default.svc.cluster.local'), [cidr]);
    assert.deepEqual(await short(at, '-x', cidr), ['hello.default.svc.cluster.local.']);
    await waitFor(
      'the endpoint of db',
      async () => (await short(at, 'db.default.svc.cluster.local'))[0] === zero,
    );
    assert.deepEqual(await short(at, 'zero.db.default.svc.cluster.local'), [zero]);
    assert.deepEqual(await short(at, 'SRV', '_page._tcp.db.default.svc.cluster.local'), [
      '0 100 8080 zero.db.default.svc.cluster.local.',
    ]);
    assert.deepEqual(await short(at, 'SRV', '_https._tcp.kubernetes.default.svc.cluster.local'), [
      '0 100 443 kubernetes.default.svc.cluster.local.',
    ]);
    assert.deepEqual(await short(at, '-x', zero), ['zero.db.default.svc.cluster.local.']);
    assert.deepEqual(await short(at, `${zero.replaceAll('.', '-')}.default.pod.cluster.local`), [zero]);
    assert.deepEqual(await short(at, 'TXT', 'dns-version.cluster.local'), ['"1.1.0"']);
  });

  await context.test(
    'the answer for a missing name differs from that for a name without such records',
    async () => {
      const none = await full('@10.96.0.10', 'no.default.svc.cluster.local');
      assert.match(none, /status: NXDOMAIN/);
      assert.match(none, /^cluster\.local\.\s+5\s+IN\s+SOA\s+ns\.dns\.cluster\.local\./m);
      const empty = await full('@10.96.0.10', 'AAAA', 'kubernetes.default.svc.cluster.local');
      assert.match(empty, /status: NOERROR.*ANSWER: 0, AUTHORITY: 1/s);
    },
  );

  await context.test(
    "other names are resolved by the machine's name servers, by TCP if the answer is long",
    async () => {
      assert.deepEqual(await short('@10.96.0.10', 'www.example'), ['192.0.2.80']);
      assert.deepEqual(await short('@10.96.0.10', 'TXT', 'text.example'), ['"hello"']);
      assert.deepEqual(await short('@10.96.0.10', 'outside.default.svc.cluster.local'), [
        '192.0.2.80',
        'www.example.',
      ]);
      assert.equal((await short('@10.96.0.10', '+tcp', bigName)).length, bigCount);
      assert.match(await full('@10.96.0.10', '+notcp', '+ignore', bigName), /flags: [a-z ]*\btc\b/);
      assert.equal((await short('@10.96.0.10', bigName)).length, bigCount);
    },
  );

  await context.test('pods resolve short names by the search list', async () => {
    const hello = (
      await cluster.kubectl('get', 'service', 'hello', '-o', 'jsonpath={.spec.clusterIP}')
    ).trim();
    for (const [pod, name, address] of [
      ['client', 'hello.default.svc.cluster.local', hello],
      ['client', 'www.example', '192.0.2.80'],
      ['onhost', 'hello.default.svc.cluster.local', hello],
    ] as const) {
      assert.match(
        await inPod(pod, 'nslookup', name),
        new RegExp(`Address: ?\\d* ?${address}`),
        `${pod} ${name}`,
      );
    }
    assert.match(await inPod('client', 'wget', '-q', '-O', '-', 'http://hello'), /^hello from hello-/);
    assert.match(await inPod('own', 'wget', '-q', '-O', '-', 'http://hello.default'), /^hello from hello-/);
    assert.match(
      await inPod('zero', 'cat', '/etc/hosts'),
      /^10\.244\.0\.\d+\tzero\.db\.default\.svc\.cluster\.local\tzero$/m,
    );
    assert.equal(
      await inPod('own', 'cat', '/etc/resolv.conf'),
      'search svc.cluster.local\nnameserver 169.254.20.10\noptions ndots:2',
    );
  });

  await context.test('the address of an endpoint is removed as soon as the endpoint is deleted', async () => {
    await cluster.kubectl('delete', 'pod', 'zero', '--grace-period=0', '--force', '--wait=false');
    const at = ['@10.96.0.10', 'db.default.svc.cluster.local'];
    await waitFor('no address of db', async () => (await short(...at)).join() === '');
  });

  await context.test('queries of machines other than pods and the node itself are not answered', async () => {
    await stranger.run('ip', 'route', 'add', '10.96.0.10', 'via', host.address);
    await stranger.run('ip', 'route', 'add', '169.254.20.10', 'via', host.address);
    for (const server of ['10.96.0.10', '169.254.20.10']) {
      for (const transport of ['+notcp', '+tcp']) {
        await assert.rejects(
          stranger.run(
            'dig',
            `@${server}`,
            transport,
            '+tries=1',
            '+time=1',
            'kubernetes.default.svc.cluster.local',
          ),
          /exit status 9/,
        );
      }
    }
  });

  await context.test('a reset removes the links of DNS', async () => {
    const links = () => host.run('ip', '-o', 'link');
    assert.match(await links(), /minik8s\.dns/);
    await cluster.end('SIGTERM');
    const flags = ['--data-dir', cluster.dataDir, '--docker-socket', host.dockerSocket, '--yes'];
    await host.run(executable, 'reset', ...flags);
    assert.doesNotMatch(await links(), /minik8s/);
    assert.equal(await host.run('nft', 'list', 'tables').then((text) => /minik8s/.test(text)), false);
    assert.equal(existsSync(cluster.kubeconfig), false);
  });
});

test('DNS with another domain and address answers while no master does', async (context) => {
  const names = { 'cluster-domain': 'lab.internal', 'cluster-dns': '10.96.7.7' };
  const cluster = await MultiCluster.start(context, {
    hosts: 2,
    nodes: [1],
    masterFlags: Object.entries(names).map(([name, value]) => `--${name}=${value}`),
    nodeConfig: names,
  });
  const { host, role } = cluster.node('node-1');
  const at = ['+time=3', '+tries=3', '@10.96.7.7'];
  const ask = (name: string) => host.run('dig', '+short', ...at, name);
  const name = 'kubernetes.default.svc.lab.internal';
  await waitFor('an answer on the node', async () => (await ask(name)) === '10.96.0.1');

  await cluster.master.end('SIGKILL');
  assert.equal(await ask(name), '10.96.0.1');

  // A node that starts now has no data of the cluster: it reports that, instead of reporting that the name
  // does not exist.
  await role.end('SIGTERM');
  await role.start();
  await waitFor('the server', async () => /status: SERVFAIL/.test(await host.run('dig', ...at, name)));

  await cluster.master.start(/^minik8s is ready: https:/m);
  await cluster.kubectl('create', 'service', 'clusterip', 'late', '--clusterip=10.96.0.77', '--tcp=80:80');
  await waitFor(
    'the name of a new service',
    async () => (await ask('late.default.svc.lab.internal')) === '10.96.0.77',
  );
});

test('another name server that listens on every address is reported, and nothing is left behind', async (context) => {
  const host = await Host.start(context, { images: [] });
  const cluster = await Cluster.start(context, { host, stopped: true });
  const release = await host.take('53');
  const { code, stdout, stderr } = await endOf(cluster.command());
  await release();
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^error: port 53 of 169\.254\.20\.10 is taken by another process [^\n]+\n$/m);
  assert.doesNotMatch(await host.run('ip', '-o', 'link'), /minik8s\.dns/);
  assert.doesNotMatch(await host.run('nft', 'list', 'tables'), /minik8s-dns/);
});
