/**
 * The shipped monitoring: a real Prometheus with config/monitoring scrapes a cluster with working pods, with
 * the account of access.yaml. It discovers new and removed targets without a restart; the queries of the
 * boards, of the rules and of well-known dashboards return data.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { boards } from '../../config/monitoring/boards/index.ts';
import { monitoringDirectory } from '../../config/monitoring/generated.ts';
import { busyPod, loadNamespace, monitoringLoad } from '../fixtures/monitoring-load.ts';
import { unlessPrometheus } from '../fixtures/prometheus.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { type ShippedPrometheus, startShippedPrometheus } from '../fixtures/shipped-prometheus.ts';
import { type BoardQuery, boardQueries, stockQueries } from '../fixtures/stock-boards.ts';
import { Cluster } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

/** Jobs of the parts that every cluster has. */
const parts = [
  ...['apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-state-metrics'],
  ...['kubelet', 'kube-proxy', 'kube-dns'],
];

/**
 * Metrics without data: version 1 control groups of kernels with another I/O scheduler have no counts in the
 * files that the agent reads.
 */
const untold = existsSync('/sys/fs/cgroup/cgroup.controllers') ? [] : [/container_fs_(reads|writes)/];

const patience = { timeoutMs: 150_000, intervalMs: 500 };

const python = `minik8s-test/monitoring-python:${process.pid}`;

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
}

const rules = readdirSync(join(monitoringDirectory, 'rules')).flatMap((name) => {
  const { groups } = parse(readFileSync(join(monitoringDirectory, 'rules', name), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
});

/**
 * Returns queries for the series of an alert. An alert of a healthy cluster has no result, so only the
 * existence of its series can be tested.
 */
const seriesOf = (expr: string): readonly string[] =>
  [...expr.matchAll(/\b([a-z_:][\w:]*)\{([^}]*)\}/gi)].map(([, name = '', matchers = '']) => {
    const kept = matchers.split(/, ?/).filter((one) => /^(job|metrics_path)=/.test(one));
    return `count(${name}{${kept.join(', ')}})`;
  });

/** Creates a function and calls it continuously; every third call fails. */
async function callFunction(cluster: Cluster, folder: string): Promise<{ stop(): Promise<void> }> {
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'main.py'),
    'def handler(event, context):\n    if event["n"] % 3 == 0:\n        raise ValueError("a third")\n    return event\n',
  );
  await ctl('function', 'create', 'pay', '--from', folder, '--wait');
  const ended = new AbortController();
  const calling = (async () => {
    // ctl exits with the error of the function.
    for (let n = 0; !ended.signal.aborted; n++) {
      await ctl('execute', 'default/pay', JSON.stringify({ n })).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      ended.abort();
      await calling;
    },
  };
}

test('a Prometheus with the shipped configuration monitors the cluster', {
  skip: unlessPrometheus,
}, async (context) => {
  context.after(() => docker('image', 'rm', '-f', python).then(() => undefined));
  await makeRuntimeImage('python', python);
  const host = await Host.start(context, { images: [helloImage, python] });
  const cluster = await Cluster.start(context, { host, flags: ['--python-image', python] });
  const { kubectl, nodeName } = cluster;
  const apply = async (name: string, items: readonly object[]) => {
    const file = join(host.directory, `${name}.json`);
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await kubectl('apply', '-f', file);
  };
  await kubectl('apply', '-f', join(monitoringDirectory, 'access.yaml'));
  const token = (await kubectl('create', 'token', 'prometheus', '-n', 'monitoring')).trim();
  const authority = await kubectl(
    'get',
    'configmap',
    'kube-root-ca.crt',
    '-n',
    'monitoring',
    '-o',
    'jsonpath={.data.ca\\.crt}',
  );

  const start = async (file: 'prometheus-http-sd.yml' | 'prometheus.yml', port: number) => {
    const address = `${host.address}:${port}`;
    const command = (program: string, args: readonly string[]) => host.command(program, args);
    const started = await startShippedPrometheus({ file, token, authority, address, command });
    host.after(() => started.stop());
    return started;
  };
  const watching = await start('prometheus.yml', 9090);
  const listing = await start('prometheus-http-sd.yml', 9091);
  const scraped = async (one: ShippedPrometheus, pool: string) =>
    (await one.targets()).filter(({ scrapePool }) => scrapePool === pool);
  const untilUp = (one: ShippedPrometheus, pool: string, count: number) =>
    waitFor(
      `${count} of ${pool}`,
      async () => {
        const found = await scraped(one, pool);
        if (found.length === count && found.every(({ health }) => health === 'up')) return true;
        throw new Error(JSON.stringify(found));
      },
      patience,
    );

  await apply('load', monitoringLoad(helloImage));
  const calls = await callFunction(cluster, join(host.directory, 'pay'));
  host.after(() => calls.stop());

  await context.test(
    'Prometheus finds the node, pods and Services, and reads them with the rights of its account',
    async () => {
      for (const one of [watching, listing]) {
        for (const pool of ['kubelet', 'kubelet-cadvisor', 'kubelet-resource', 'kubelet-probes']) {
          await untilUp(one, pool, 1);
        }
        await untilUp(one, 'pod-ports', 1);
        await untilUp(one, 'services', 2);
      }
      const [node] = await scraped(watching, 'kubelet-cadvisor');
      assert.deepEqual(node?.labels, {
        job: 'kubelet',
        instance: nodeName,
        node: nodeName,
        metrics_path: '/metrics/cadvisor',
      });
      const [busy] = await watching.query('busy_work');
      assert.deepEqual(
        [busy?.metric.namespace, busy?.metric.pod, busy?.metric.container, busy?.metric.node],
        [loadNamespace, busyPod, 'main', nodeName],
      );
    },
  );

  await context.test('the account of Prometheus has no other rights', async () => {
    const mayI = (...args: string[]) =>
      kubectl.attempt([
        'auth',
        'can-i',
        ...args,
        '--as',
        'system:serviceaccount:monitoring:prometheus',
        '-A',
      ]);
    for (const args of [
      ['get', 'secrets'],
      ['get', 'nodes', '--subresource', 'proxy'],
      ['create', 'pods'],
      ['get', 'pods', '--subresource', 'log'],
      ['get', 'configmaps'],
    ])
      assert.equal((await mayI(...args)).stdout.trim(), 'no', args.join(' '));
    const raw = (path: string) =>
      kubectl.attempt(['get', '--raw', path, '--as', 'system:serviceaccount:monitoring:prometheus']);
    assert.equal((await raw(`/api/v1/nodes/${nodeName}/proxy/metrics/resource`)).code, 0);
    assert.match((await raw(`/api/v1/nodes/${nodeName}/proxy/pods`)).stderr, /cannot get .*nodes\/proxy/);
  });

  await context.test('Prometheus discovers new targets and drops removed ones', async () => {
    await kubectl('scale', 'statefulset', 'busy', '-n', loadNamespace, '--replicas', '2');
    await kubectl('scale', 'deployment', 'served', '-n', loadNamespace, '--replicas', '1');
    const phantom = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'phantom' } };
    await apply('phantom', [phantom]);
    await kubectl(
      'patch',
      'node',
      'phantom',
      '--subresource',
      'status',
      '--type',
      'merge',
      '-p',
      JSON.stringify({
        status: {
          addresses: [{ type: 'InternalIP', address: '192.0.2.77' }],
          daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
        },
      }),
    );
    for (const one of [watching, listing]) {
      await untilUp(one, 'pod-ports', 2);
      await untilUp(one, 'services', 1);
      await waitFor('a second node', async () => (await scraped(one, 'kubelet')).length === 2, patience);
    }
    await kubectl('delete', 'node', 'phantom');
    await kubectl('scale', 'statefulset', 'busy', '-n', loadNamespace, '--replicas', '1');
    await kubectl('delete', 'service', 'served', '-n', loadNamespace);
    for (const one of [watching, listing]) {
      await untilUp(one, 'kubelet', 1);
      await untilUp(one, 'pod-ports', 1);
      await untilUp(one, 'services', 0);
    }
  });

  const isMissing = (expr: string) => untold.some((names) => names.test(expr));
  const values = { namespace: loadNamespace, pod: busyPod, node: nodeName, function: '.*' };
  const queries: readonly BoardQuery[] = [
    ...boards.flatMap((board) =>
      boardQueries(board, board.uid === 'minik8s-functions' ? { ...values, namespace: '.*' } : values),
    ),
    ...rules.flatMap(({ record, alert, expr }) =>
      record !== undefined
        ? [{ board: `rule ${record}`, expr }]
        : seriesOf(expr).map((one) => ({ board: `alert ${alert}`, expr: one })),
    ),
    ...stockQueries(values),
  ];

  await context.test('the queries of boards, rules and well-known dashboards return data', async () => {
    const empty = async () => {
      const found: string[] = [];
      for (const { board, expr } of queries) {
        const samples = await watching.query(expr);
        const isThere = samples.some(({ value: [, text] }) => text !== 'NaN');
        if (!isThere && !isMissing(expr)) found.push(`${board}: ${expr}`);
      }
      return found;
    };
    await waitFor(
      'no query is empty',
      async () => {
        const found = await empty();
        if (found.length > 0) throw new Error(`\n${found.join('\n')}`);
        return true;
      },
      { timeoutMs: 120_000, intervalMs: 3000 },
    );
  });

  await context.test('each part of the cluster is scraped', async () => {
    for (const job of parts) {
      assert.notDeepEqual(await watching.query(`up{job="${job}"}`), [], job);
      // The last values of a removed target are returned for a little longer.
      await waitFor(
        `all of ${job} are up`,
        async () => (await watching.query(`up{job="${job}"} == 0`)).length === 0,
        patience,
      );
    }
  });
});
