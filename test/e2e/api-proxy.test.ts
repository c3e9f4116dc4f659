/** HTTP to pods, services and nodes through an API server whose machine has no route to any pod. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreV1Api, type V1Pod } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { kubectlsOf } from '../fixtures/kubectls.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { executable } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { deployHello, isReady, nameOf, readyPods } from './harness/hello.ts';
import { end } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const namespace = '/api/v1/namespaces/default';
const image = `minik8s-test/proxy-python:${process.pid}`;

/** A server whose page is only on the pod's own address, at a port that the pod does not declare. */
const ownAddress = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'own-address' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'page',
        image: 'minik8s/hello:1',
        readinessProbe: { tcpSocket: { port: 8081 }, periodSeconds: 1 },
        command: [
          'sh',
          '-c',
          `echo '<a href="/next">' > /www/index.html; httpd -p $(hostname -i):8081 -h /www; exec sleep 100000`,
        ],
      },
    ],
  },
};

/** A pod in the network of its machine. */
const hostNetwork = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'host-network' },
  spec: {
    hostNetwork: true,
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'page',
        image: 'minik8s/hello:1',
        ports: [{ containerPort: 8080 }],
        readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
        env: [{ name: 'GREETING', value: 'machine' }],
      },
    ],
  },
};

test('the API server forwards HTTP requests to pods, Services and nodes', async (context) => {
  await makeRuntimeImage('python', image);
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  const cluster = await MultiCluster.start(context, {
    hosts: 2,
    nodes: [1],
    images: [helloImage, image],
    masterFlags: ['--python-image', image],
  });
  const { kubectl, kubeconfig } = cluster;
  await deployHello(cluster);
  await kubectl('scale', 'deployment', 'hello', '--replicas=2');
  for (const pod of [ownAddress, hostNetwork]) {
    const { code, stderr } = await kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(pod) });
    assert.equal(code, 0, stderr);
  }
  const pods = await readyPods(cluster, 2);
  for (const { metadata } of [ownAddress, hostNetwork]) {
    await waitFor(`pod ${metadata.name}`, async () =>
      isReady(await kubectl.json<V1Pod>('get', 'pod', metadata.name)),
    );
  }
  const address = pods[0]?.status?.podIP ?? '';
  await assert.rejects(cluster.hosts.at(0).page(`${address}:8080`), 'the master itself has no way to pods');

  const first = pods[0] && nameOf(pods[0]);
  const expected = `hello from ${first}\n`;
  const raw = (...path: string[]) => kubectl('get', '--raw', path.join(''));
  await waitFor('the endpoints of the Service', () => raw(namespace, '/services/hello:http/proxy/'));
  for (const { version, path } of kubectlsOf(['1.20', '1.32'])) {
    const get = async (of: string) =>
      (await systemExec(path, ['--kubeconfig', kubeconfig, 'get', '--raw', of], { timeoutMs: 60_000 }))
        .stdout;
    assert.equal(await get(`${namespace}/pods/${first}/proxy/`), expected, `kubectl ${version}`);
    assert.equal(
      await get(`${namespace}/pods/${first}:8080/proxy`),
      expected,
      `kubectl ${version} follows to the slash`,
    );
    assert.match(
      await get(`${namespace}/services/hello:http/proxy/`),
      /^hello from hello-/,
      `kubectl ${version}`,
    );
  }

  await context.test('the proxy of a Service uses all of its endpoints', async () => {
    const seen = new Set<string>();
    await waitFor('an answer of each pod', async () => {
      seen.add((await raw(namespace, '/services/hello:80/proxy/')).trim());
      return seen.size === 2;
    });
    assert.deepEqual([...seen].sort(), pods.map((pod) => `hello from ${nameOf(pod)}`).sort());
  });

  await context.test(
    "the proxy of a pod reaches a server that listens only on the pod's address, or in the network of the machine",
    async () => {
      const prefix = `${namespace}/pods/own-address:8081/proxy`;
      assert.equal(await raw(prefix, '/'), `<a href="${prefix}/next">\n`);
      assert.match(await raw(namespace, '/pods/host-network/proxy/'), /^machine from /);
    },
  );

  await context.test('the proxy of a node reaches its agent', async () => {
    assert.equal(await raw('/api/v1/nodes/node-1/proxy/healthz'), 'ok');
    const { items } = JSON.parse(await raw('/api/v1/nodes/node-1:10250/proxy/pods')) as { items: V1Pod[] };
    assert.ok(items.some(({ metadata }) => metadata?.name === first));
    assert.match(await raw(`/api/v1/nodes/node-1:8080/proxy/`), /^machine from /, 'another port of the node');
  });

  await context.test('the agent of a node serves metrics of its pods through the proxy', async () => {
    const agent = '/api/v1/nodes/node-1/proxy';
    const summary = JSON.parse(await raw(agent, '/stats/summary')) as {
      node: { nodeName: string };
      pods: { podRef: { name: string }; memory: { workingSetBytes: number } }[];
    };
    assert.equal(summary.node.nodeName, 'node-1');
    const used = summary.pods.find(({ podRef }) => podRef.name === first);
    assert.ok((used?.memory.workingSetBytes ?? 0) > 0);
    const metrics = await raw(agent, '/metrics/resource');
    assert.match(
      metrics,
      new RegExp(`^pod_memory_working_set_bytes\\{pod="${first}",namespace="default"\\} \\d`, 'm'),
    );
    assert.match(await raw(agent, '/metrics'), /^kubelet_running_pods \d/m);
    assert.match(await raw(agent, '/configz'), /"kubeletconfig":\{/);
  });

  await context.test('a function is called although its instance is on another node', async () => {
    const folder = join(cluster.masterDataDir, 'source');
    await mkdir(folder);
    await writeFile(join(folder, 'main.py'), 'def handler(event):\n    return {"far": event["n"]}\n');
    const ctl = async (...args: string[]) => {
      const command = cluster.hosts.at(0).command(executable, ['ctl', '--kubeconfig', kubeconfig, ...args]);
      return (await systemExec(...command, { timeoutMs: 120_000 })).stdout;
    };
    await ctl('function', 'create', 'far', '--from', folder, '--idle-seconds', '600', '--wait');
    assert.deepEqual(JSON.parse(await ctl('function', 'invoke', 'far', '{"n":7}')), { far: 7 });
    const nodes = '{.items[*].spec.nodeName}';
    assert.match(
      await kubectl('get', 'pods', '-l', 'minik8s.io/function=far', '-o', `jsonpath=${nodes}`),
      /^node-1( node-1)*$/,
    );
  });

  await context.test('a client library reads a pod through the proxy', async () => {
    const api = cluster.kubeConfig().makeApiClient(CoreV1Api);
    const path = { namespace: 'default', path: 'index.html' };
    assert.equal(
      await api.connectGetNamespacedPodProxyWithPath({ ...path, name: `${first}:8080` }),
      expected,
    );
    const page = await api.connectGetNamespacedServiceProxyWithPath({ ...path, name: 'hello:http' });
    assert.match(page, /^hello from hello-/);
  });

  await context.test('a failed request through the proxy is answered with the reason', async () => {
    const why = async (path: string) => (await kubectl.attempt(['get', '--raw', path])).stderr.trim();
    assert.match(
      await why(`${namespace}/pods/own-address:81/proxy/`),
      /ServiceUnavailable.*error trying to reach service: connect ECONNREFUSED/,
    );
    assert.match(
      await why(`${namespace}/services/hello:8080/proxy/`),
      /no service port 8080 found for service "hello"/,
    );
    assert.match(await why(`${namespace}/services/none/proxy/`), /services "none" not found/);
  });

  await context.test('kubectl proxy forwards requests to pods through the API server’s proxy', async () => {
    for (const { version, path } of kubectlsOf(['1.20', '1.32'])) {
      const proxy = spawn(path, ['--kubeconfig', kubeconfig, 'proxy', '--port=0'], { stdio: 'pipe' });
      try {
        let text = '';
        proxy.stdout.on('data', (chunk) => (text += chunk));
        const at = await waitFor(
          'kubectl proxy',
          () => /serve on (127\.0\.0\.1:\d+)/.exec(text)?.[1] ?? false,
        );
        const curl = async (of: string) =>
          (await systemExec('curl', ['-sSL', '--max-time', '5', `http://${at}${of}`])).stdout;
        assert.match(await curl(`${namespace}/services/hello:http/proxy/`), /^hello from hello-/, version);
        assert.match(await curl(`${namespace}/services/hello:http/proxy`), /^hello from hello-/, version);
        assert.equal(
          await curl(`${namespace}/pods/own-address:8081/proxy/`),
          `<a href="${namespace}/pods/own-address:8081/proxy/next">\n`,
        );
      } finally {
        await end(proxy, 'SIGTERM');
      }
    }
  });
});
