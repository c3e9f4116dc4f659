/**
 * `up` is stopped and another version of the file is started on its data: pods continue to run, and
 * clients of a Service, of a function and of the API have no failed request.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1NodeList } from '@kubernetes/client-node';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { Cluster } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { deployHello, nameOf, readyPods, restartsOf, service } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { writeOtherVersion } from './harness/other-version.ts';
import { SteadyClient, type Tally } from './harness/steady-client.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/restart-python:${process.pid}`;
const gatewayPort = 8070;

/** Number of requests that each client must have sent after the restart. */
const enough = 20;

test('a restart with another file fails no request', { timeout: 300_000 }, async (context) => {
  await makeRuntimeImage('python', image);
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  const closers: (() => Promise<void>)[] = [];
  const host = await Host.start({ after: (fn) => closers.push(fn) }, { images: [helloImage, image] });
  try {
    const cluster = await Cluster.start(context, { host, flags: ['--python-image', image] });
    const { kubectl } = cluster;
    await deployHello(cluster);
    const before = await readyPods(cluster, 3);
    const folder = join(host.directory, 'source');
    await mkdir(folder);
    await writeFile(join(folder, 'main.py'), 'def handler(event):\n    return {"n": event["n"]}\n');
    const own = ['--kubeconfig', cluster.kubeconfig];
    await cluster.run('ctl', ...own, 'function', 'create', 'echo', '--from', folder, '--wait');
    const clients = await startClients(cluster, host);
    const { metadata } = await kubectl.json<V1NodeList>('get', 'nodes');
    for (const client of Object.values(clients))
      await waitFor('requests before the restart', () => client.answered > enough);
    cluster.program = join(host.directory, 'minik8s-new');
    const version = await writeOtherVersion(cluster.program, 'x');
    await cluster.end('SIGTERM');
    const startMs = Math.round(await cluster.up());
    for (const client of Object.values(clients)) {
      const from = client.answered;
      await waitFor('requests after the restart', () => client.answered > from + enough, {
        timeoutMs: 60_000,
      });
    }
    const tallies: Record<string, Tally> = {};
    for (const [name, client] of Object.entries(clients)) tallies[name] = await client.stop();
    context.diagnostic(`start ${startMs} ms; ${JSON.stringify(tallies, undefined, 1)}`);
    for (const [name, { failures }] of Object.entries(tallies))
      assert.deepEqual(failures, [], `requests by ${name}`);
    const nodes = await kubectl.json<V1NodeList>('get', 'nodes');
    const running = nodes.items[0]?.status?.nodeInfo?.kubeletVersion ?? '';
    assert.ok(running.endsWith(version), running);
    const after = await readyPods(cluster, 3);
    const about = (pods: typeof after) => pods.map((pod) => [nameOf(pod), restartsOf(pod)]).sort();
    assert.deepEqual(about(after), about(before));
    const since = `/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=5&resourceVersion=${metadata?.resourceVersion}`;
    await kubectl('create', 'configmap', 'after');
    const events = await kubectl('get', '--raw', since);
    assert.match(events, /"type":"ADDED".*"name":"after"/, 'a watch from a revision before the restart');
  } finally {
    for (const close of closers.reverse()) await close();
  }
});

/** Clients of a Service, of a function and of the API; each opens new connections or keeps one. */
async function startClients(cluster: Cluster, host: Host): Promise<Readonly<Record<string, SteadyClient>>> {
  const config = cluster.kubeConfig();
  const [user, server] = [config.getCurrentUser(), config.getCurrentCluster()];
  const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
  const tls = {
    ca: decoded(server?.caData),
    key: decoded(user?.keyData),
    cert: decoded(user?.certData),
  };
  const send = (port: number, agent: Agent, path: string, body?: object) =>
    new Promise<void>((resolve, reject) => {
      const headers = body ? { 'content-type': 'application/json' } : {};
      const method = body ? 'POST' : 'GET';
      const sent = request({ host: host.address, port, path, method, agent, headers }, (answer) => {
        answer.resume();
        answer.on('error', reject);
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve();
          else reject(new Error(`status ${answer.statusCode}`));
        });
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  const fresh = new Agent({ ...tls, keepAlive: false });
  const kept = new Agent({ ...tls, keepAlive: true, maxSockets: 1 });
  const keptByApi = new Agent({ ...tls, keepAlive: true, maxSockets: 1 });
  host.after(async () => {
    for (const agent of [fresh, kept, keptByApi]) agent.destroy();
  });
  const clusterIP = (await service(cluster)).spec?.clusterIP ?? '';
  const call = (agent: Agent) => () => send(gatewayPort, agent, '/function/echo', { n: 1 });
  return {
    'a Service, new connections': new SteadyClient(() => host.page(clusterIP)),
    'a function, new connections': new SteadyClient(call(fresh)),
    'a function, one connection': new SteadyClient(call(kept)),
    'the API, new connections': new SteadyClient(() => send(6443, fresh, '/api/v1/nodes')),
    'the API, one connection': new SteadyClient(() => send(6443, keptByApi, '/api/v1/nodes')),
  };
}
