import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { firstCause } from './harness/first-cause.ts';
import { deployHello, readyPods } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

/** Unique to this run, since the hosts file belongs to the whole machine. */
const shop = `shop-${process.pid}.example`;
const other = `other-${process.pid}.example`;
const image = `minik8s-test/nginx:${process.pid}`;

/** Returns a Dns object; paths are given as `/api=api:80`. */
const dnsObject = (name: string, host: string, ...paths: string[]) => ({
  apiVersion: 'minik8s.io/v1',
  kind: 'Dns',
  metadata: { name },
  spec: {
    host,
    paths: paths.map((entry) => {
      const [path, serviceName, port] = entry.split(/[=:]/);
      return { path, serviceName, servicePort: Number(port) };
    }),
  },
});

test('Dns objects route host names and paths to Services', async (context) => {
  /** Each test builds on the previous tests. */
  let failed = false;
  const step = (name: string, work: () => Promise<void>) =>
    context.test(name, async () => {
      if (failed) throw new Error('a step before it failed');
      failed = true;
      await work();
      failed = false;
    });
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  await makeNginxImage(image);
  const host = await Host.start(context, { images: ['minik8s/hello:1', image] });
  const cluster = await Cluster.start(context, {
    host,
    flags: [`--nginx-image=${image}`, '--write-etc-hosts=true'],
  });
  const { kubectl } = cluster;
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  const apply = (...objects: object[]) =>
    kubectl.attempt(['apply', '-f', '-'], {
      input: objects.map((one) => JSON.stringify(one)).join('\n---\n'),
    });
  const applied = async (...objects: object[]) => {
    const { code, stderr } = await apply(...objects);
    assert.equal(code, 0, stderr);
  };
  const curl = (url: string) =>
    host.run('curl', '-sS', '--max-time', '3', '-o', '-', '-w', ' %{http_code}', `http://${url}`);
  const answers = (url: string, pattern: RegExp) =>
    waitFor(`${url} answers ${pattern}`, async () => {
      const answer = await curl(url);
      if (!pattern.test(answer)) throw new Error(answer);
      return true;
    });
  const routingContainers = () => host.docker('ps', '-aq', '--filter', 'name=minik8s-routing');
  const hosts = () => readFileSync('/etc/hosts', 'utf8');
  const events = (reason: string) => kubectl('get', 'events', '-A', '--field-selector', `reason=${reason}`);
  /** Sends one request over a connection of its own and returns the status. */
  const request = (name: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = { host: host.address, port: 80, path, headers: { host: name }, agent: false };
      const call = get(options, (response) =>
        text(response).then(() => resolve(response.statusCode), reject),
      );
      call.once('error', reject);
    });

  await deployHello(cluster);
  await kubectl('create', 'deployment', 'api', '--image=minik8s/hello:1');
  await kubectl('expose', 'deployment', 'api', '--port=8000', '--target-port=8080');
  await readyPods(cluster, 3);
  await kubectl('rollout', 'status', 'deployment/api', '--timeout=60s');
  const before = hosts();

  await step('no web server runs while no Dns exists', async () => {
    assert.equal(await routingContainers(), '');
    await assert.rejects(request(shop, '/'), /ECONNREFUSED/);
  });

  await step(
    'a port that another program uses is reported by an event and a condition, and used once it is free',
    async () => {
      const release = await host.take('80');
      await applied(dnsObject('shop', shop, '/=hello:80', '/api=api:8000'));
      await waitFor('the event', async () =>
        /node\/e2e .*port 80 of this node is taken by another process; free it/.test(
          await events('RoutingFailed'),
        ),
      );
      const ready = '{range .status.conditions[*]}{.status} {.reason} {.message}{end}';
      await waitFor('the condition PortTaken', async () =>
        /^False PortTaken 1 of 1 nodes do not serve Dns objects: e2e: port 80 of this node is taken/.test(
          await kubectl('get', 'dns', 'shop', '-o', `jsonpath=${ready}`),
        ),
      );
      await release();
      await answers(`${shop}/`, /^hello from hello-.* 200$/s);
      await kubectl('wait', 'dns/shop', '--for=condition=Ready', '--timeout=60s');
    },
  );

  await step('names and paths lead to Services, from the node and from pods', async () => {
    await applied(dnsObject('other', other, '/=api:8000'));
    await answers(`${shop}/api`, /^hello from api-.* 200$/s);
    await answers(`${shop}/api/`, /^hello from api-.* 200$/s);
    await answers(`${other}/`, /^hello from api-.* 200$/s);
    assert.match(
      await kubectl('get', 'dns'),
      new RegExp(`^shop +${shop} +/=hello:80,/api=api:8000 +True `, 'm'),
    );
    const [pod] = await readyPods(cluster, 3);
    const filters = [`io.kubernetes.pod.name=${pod?.metadata?.name}`, 'io.kubernetes.container.name=hello'];
    const id = await host.docker('ps', '-q', ...filters.flatMap((label) => ['--filter', `label=${label}`]));
    assert.match(
      await host.docker('exec', id, 'wget', '-q', '-O', '-', `http://${shop}/`),
      /^hello from hello-/,
    );
    assert.match(
      await host.docker('exec', id, 'wget', '-q', '-O', '-', `http://${other}/`),
      /^hello from api-/,
    );
    assert.match(hosts(), new RegExp(`^${host.address}\\t${shop}$`, 'm'));
    assert.equal(await host.run('dig', '+short', '@10.96.0.10', shop), host.address);
    assert.match(await curl(`${host.address}/`), / 404$/);
  });

  await step('a path that another Dns serves is rejected', async () => {
    const { code, stderr } = await apply(dnsObject('copy', shop, '/api=hello:80'));
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`another Dns serves ${shop}/api`));
    await applied(dnsObject('copy', shop, '/copy=hello:80'));
    await answers(`${shop}/copy`, /^hello from hello-.* 200$/s);
    await kubectl('delete', 'dns', 'copy');
    await answers(`${shop}/copy/x`, /^(?!hello from hello-.* 200$)/s);
  });

  await step('a change drops no request', async () => {
    let stop = false;
    const statuses = new Map<unknown, number>();
    const client = async () => {
      while (!stop) {
        const status = await request(shop, '/').catch((error: Error) => error.message);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const clients = Array.from({ length: 4 }, client);
    for (let round = 0; round < 8; round++) {
      await applied(dnsObject('shop', shop, '/=hello:80', '/api=api:8000', `/round-${round}=api:8000`));
      await answers(`${shop}/round-${round}`, /^hello from api-.* 200$/s);
    }
    stop = true;
    await Promise.all(clients);
    assert.deepEqual([...statuses.keys()], [200]);
    assert.ok((statuses.get(200) ?? 0) > 100, `${statuses.get(200)} requests`);
  });

  await step('a missing Service is reported, and its path answers 503', async () => {
    await applied(dnsObject('shop', shop, '/=hello:80', '/late=late:80'));
    await answers(`${shop}/late`, /not available\s+503$/);
    await answers(`${shop}/`, /^hello from hello-.* 200$/s);
    await kubectl('wait', '--for=condition=Ready=false', 'dns/shop', '--timeout=60s');
    await waitFor('the event', async () =>
      /dns\/shop .*"late" not found/.test(await events('ServiceNotFound')),
    );
    const cause = await firstCause(ctl, 'dns/shop');
    assert.deepEqual(
      [cause?.rule, cause?.commands[0]],
      ['dns-service', 'create service clusterip late -n default --tcp=80'],
    );
    await kubectl('expose', 'deployment', 'api', '--name=late', '--port=80', '--target-port=8080');
    await kubectl('wait', '--for=condition=Ready', 'dns/shop', '--timeout=60s');
    await answers(`${shop}/late`, /^hello from api-.* 200$/s);
    assert.match(await ctl('why', 'dns/shop'), /^dns\/shop has no problem$/m);
    await kubectl('scale', 'deployment', 'api', '--replicas=0');
    await answers(`${shop}/late`, /not available\s+503$/);
    assert.equal((await firstCause(ctl, 'dns/shop'))?.rule, 'service-selector');
  });

  await step('a killed web server is restarted', async () => {
    const [id] = (await routingContainers()).split('\n');
    assert.ok(id);
    const pid = await host.docker('inspect', '--format', '{{.State.Pid}}', id);
    process.kill(Number(pid), 'SIGKILL');
    await answers(`${shop}/`, /^hello from hello-.* 200$/s);
  });

  await step(
    'the web server serves while minik8s restarts, and the host names are written again',
    async () => {
      const id = await routingContainers();
      await cluster.end('SIGTERM');
      assert.equal(hosts(), before);
      assert.equal(await request(shop, '/'), 200);
      await cluster.up();
      await answers(`${shop}/`, /^hello from hello-.* 200$/s);
      assert.equal(await routingContainers(), id);
    },
  );

  await step('deleting the last Dns removes the web server and the host names', async () => {
    await kubectl('delete', 'dns', '--all');
    await waitFor('no container', async () => (await routingContainers()) === '');
    await waitFor('no names', () => hosts() === before);
    await assert.rejects(request(shop, '/'), /ECONNREFUSED/);
  });

  await step('a reset removes the web server and the host names', async () => {
    await applied(dnsObject('shop', shop, '/=hello:80'));
    await answers(`${shop}/`, /^hello from hello-.* 200$/s);
    await cluster.end('SIGKILL');
    const flags = ['--data-dir', cluster.dataDir, '--docker-socket', host.dockerSocket, '--yes'];
    await systemExec(...host.command(executable, ['reset', ...flags]), { timeoutMs: 60_000 });
    assert.equal(await routingContainers(), '');
    assert.equal(hosts(), before);
  });
});
