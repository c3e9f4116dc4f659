/**
 * Diagnostics for operators on a running cluster: its own log, container logs, a node's metrics pages, the
 * support bundle.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1NodeList, V1Pod } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { troubleText } from '../fixtures/troubleshooting.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

const lines = 5000;
const secret = 'planted-secret-8261';
/** Prints more than the kept part of a log, and then ends. */
const talker = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'talker', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'main',
        image: helloImage,
        env: [{ name: 'PASSWORD', value: secret }],
        command: ['sh', '-c', `i=0; while [ $i -lt ${lines} ]; do echo "line $i"; i=$((i+1)); done; sleep 1`],
      },
    ],
  },
};

test('operators can diagnose a running cluster by logs, metrics and the support bundle', async (context) => {
  const host = await Host.start(context);
  const flags = ['--log-format=json', '--log-level=info,apiserver=debug,deployment=info,kubelt=debug'];
  const rotation = ['--container-log-max-size=64Ki', '--container-log-max-files=2'];
  const cluster = await Cluster.start(context, { host, flags: [...flags, ...rotation] });
  const { kubectl } = cluster;
  const ctl = (...args: string[]) =>
    systemExec(executable, ['ctl', '--kubeconfig', cluster.kubeconfig, ...args], { timeoutMs: 60_000 });
  await systemExec('sh', [
    '-c',
    `echo '${JSON.stringify(talker)}' | ${executable} ctl --kubeconfig ${cluster.kubeconfig} apply -f -`,
  ]);

  await context.test(
    "the end of a container's long log is kept, also of the previous container",
    async () => {
      await waitFor('a second container', async () => {
        const { status } = await kubectl.json<V1Pod>('get', 'pod', 'talker');
        return (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 1;
      });
      const before = (await kubectl('logs', 'talker', '--previous')).trimEnd().split('\n');
      assert.equal(before.at(-1), `line ${lines - 1}`);
      assert.ok(before.length < lines, `${before.length}`);
      assert.equal(before[0], `line ${lines - before.length}`, 'no line between is missing');
      const { stdout } = await ctl('logs', 'talker', '--previous', '--tail=3');
      assert.equal(stdout, [3, 2, 1].map((back) => `line ${lines - back}\n`).join(''));
      const config = JSON.parse(
        await kubectl('get', '--raw', `/api/v1/nodes/${cluster.nodeName}/proxy/configz`),
      );
      assert.deepEqual(
        [config.kubeletconfig.containerLogMaxSize, config.kubeletconfig.containerLogMaxFiles],
        ['64Ki', 2],
      );
    },
  );

  const noComponent = troubleText('no component is named');
  await context.test(
    'a component of --log-level that does not exist is reported in one warning',
    async () => {
      const warnings = await waitFor('the warning', () => {
        const lines = cluster.log.split('\n').filter((line) => line.startsWith('{'));
        const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => noComponent.test(msg));
        return found.length > 0 && found;
      });
      assert.deepEqual(
        warnings.map(({ level, msg }) => [level, msg]),
        [['warn', '--log-level: no component is named "kubelt"; did you mean kubelet?']],
      );
    },
  );

  await context.test(
    'each line of the log of minik8s is JSON, and a request is found by its id',
    async () => {
      const said = await ctl('get', 'pod', 'nobody', '-v=1').then(
        () => assert.fail('there is no such pod'),
        ({ failure }) => String(failure.stderr),
      );
      const id = /request id: (\S+)/.exec(said)?.[1] ?? assert.fail(said);
      const told = await waitFor('the request in the log', () => {
        const known = cluster.log.split('\n').filter((line) => line.startsWith('{'));
        return known
          .map((line) => JSON.parse(line))
          .find((line) => JSON.stringify(line).includes(id) && line.status === 404);
      });
      assert.deepEqual(
        [told.component, told.level, told.method, told.status],
        ['apiserver', 'debug', 'GET', 404],
      );
      const others = cluster.log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      assert.ok(
        others.every((line) => /minik8s|kubeconfig|https:/.test(line)),
        others.join('\n'),
      );
      assert.equal(cluster.log.includes(secret), false);
    },
  );

  await context.test('the API server serves all metrics pages of the node', async () => {
    for (const [page, name] of [
      ['', 'kubelet_running_pods'],
      ['/cadvisor', 'container_cpu_usage_seconds_total'],
      ['/resource', 'node_cpu_usage_seconds_total'],
      ['/probes', ''],
      ['/proxy', 'kubeproxy_sync_proxy_rules_duration_seconds_count'],
      ['/dns', 'process_cpu_seconds_total'],
    ] as const) {
      const text = await kubectl('get', '--raw', `/api/v1/nodes/${cluster.nodeName}/proxy/metrics${page}`);
      assert.ok(text.includes(name), `${page}: ${text.slice(0, 200)}`);
    }
    for (const [page, name] of [
      ['', 'apiserver_request_total'],
      ['/controllers', 'workqueue_adds_total'],
      ['/scheduler', 'scheduler_schedule_attempts_total'],
      ['/objects', 'kube_pod_info'],
      ['/etcd', 'etcd_server_has_leader 1'],
    ] as const)
      assert.ok((await kubectl('get', '--raw', `/metrics${page}`)).includes(name), page);
  });

  await context.test(
    'programs on other machines and in pods reach the pages at the Node’s own address',
    async () => {
      const [node] = (await kubectl.json<V1NodeList>('get', 'nodes')).items;
      const { addresses = [], daemonEndpoints } = node?.status ?? {};
      const address = addresses.find(({ type }) => type === 'InternalIP')?.address;
      const page = `https://${address}:${daemonEndpoints?.kubeletEndpoint?.Port}/metrics/resource`;
      const certificate = join(cluster.dataDir, 'pki/ca.crt');
      const get = async (...more: string[]) => {
        const options = ['-sS', '--cacert', certificate, '-w', '%{http_code}', ...more, page];
        return (await systemExec('curl', options, { timeoutMs: 60_000 })).stdout;
      };
      const getAs = async (account: string) => {
        const token = (await kubectl('create', 'token', account)).trim();
        return get('-H', `authorization: Bearer ${token}`);
      };
      const role = ['--clusterrole=scraper', '--serviceaccount=default:scraper'];
      await kubectl('create', 'clusterrole', 'scraper', '--verb=get', '--resource=nodes/metrics');
      await kubectl('create', 'clusterrolebinding', 'scraper', ...role);
      for (const account of ['scraper', 'other']) await kubectl('create', 'serviceaccount', account);
      assert.match(await get(), /401$/);
      assert.match(await getAs('other'), /403$/);
      assert.match(await getAs('scraper'), /node_cpu_usage_seconds_total[\s\S]*200$/);
    },
  );

  await context.test(
    'the support bundle describes the cluster and contains none of its secrets',
    async () => {
      await kubectl('create', 'secret', 'generic', 'planted', `--from-literal=key=${secret}`);
      const file = join(host.directory, 'bundle.tar.gz');
      await systemExec(
        executable,
        [
          'support-bundle',
          '-o',
          file,
          '--kubeconfig',
          cluster.kubeconfig,
          '--data-dir',
          cluster.dataDir,
          '--docker-socket',
          host.dockerSocket,
        ],
        { timeoutMs: 120_000 },
      );
      const folder = join(host.directory, 'bundle');
      await systemExec('sh', ['-c', `mkdir ${folder} && tar -xzf ${file} -C ${folder}`]);
      const { stdout: files } = await systemExec('find', [folder, '-type', 'f']);
      for (const name of ['pods', 'events', 'nodes', 'metrics']) assert.ok(files.includes(name), files);
      const { stdout: found } = await systemExec('sh', ['-c', `grep -rlaF ${secret} ${folder} || true`]);
      assert.equal(found, '');
    },
  );
});
