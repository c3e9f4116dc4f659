/** Init containers, sidecars and hooks on the real engine: the order that programs observe. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { testAuthority } from '../../fixtures/certificates.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, nodeIP, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('containers with init containers, sidecars and hooks', () => {
  let node: NodeHarness;
  let directory = '';
  const servers: Server[] = [];
  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
    directory = await mkdtemp(join(tmpdir(), 'minik8s-hooks-'));
  });
  beforeEach(() => writeFile(join(directory, 'log'), ''));
  after(async () => {
    for (const server of servers) server.close();
    await node.close();
    await rm(directory, { recursive: true, force: true });
  });

  const story = async () => (await readFile(join(directory, 'log'), 'utf8')).trim().split('\n');
  const say = (word: string) => `echo ${word} >> /log/log`;
  /** A container that logs its name, and logs again when it is asked to stop. */
  const serving = (name: string, more: object = {}) =>
    container(
      name,
      `trap '${say(`-${name}`)}; exit 0' TERM; ${say(`+${name}`)}; while true; do sleep 0.05; done`,
      more,
    );
  const container = (name: string, script: string, more: object = {}) => ({
    name,
    image: node.images.busybox,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', script],
    volumeMounts: [{ name: 'log', mountPath: '/log' }],
    ...more,
  });
  const exec = (script: string) => ({ exec: { command: ['sh', '-c', script] } });
  const create = (name: string, spec: object) =>
    node.createPod(name, {
      terminationGracePeriodSeconds: 20,
      volumes: [{ name: 'log', hostPath: { path: directory } }],
      ...spec,
    });
  const remove = async (name: string, gracePeriodSeconds = 20) => {
    await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}`, { gracePeriodSeconds });
    await node.waitForGone(name);
  };

  it('start and end in the required order', async () => {
    await create('ordered', {
      initContainers: [
        container('one', `${say('one')}; test -e /log/again || { touch /log/again; exit 1; }`),
        serving('net', { restartPolicy: 'Always' }),
        serving('log', { restartPolicy: 'Always' }),
        container('two', say('two')),
      ],
      containers: [serving('main')],
    });
    const { status } = await node.waitFor('ordered', isReady);
    assert.deepEqual(
      status?.initContainerStatuses?.map(({ name, ready, restartCount }) => [name, ready, restartCount]),
      [
        ['one', true, 1],
        ['net', true, 0],
        ['log', true, 0],
        ['two', true, 0],
      ],
    );
    await eventually(async () => assert.ok((await story()).includes('+main')));
    await remove('ordered');
    assert.deepEqual(await story(), ['one', 'one', '+net', '+log', 'two', '+main', '-main', '-log', '-net']);
  });

  it('have their hooks run once, also when the agent restarts', async () => {
    const lifecycle = {
      postStart: exec(`${say('begins')}; while ! test -e /log/go; do sleep 0.05; done; ${say('began')}`),
      preStop: exec(say('ends')),
    };
    await create('hooked', { containers: [serving('main', { lifecycle }), serving('next')] });
    await eventually(async () => assert.deepEqual((await story()).toSorted(), ['+main', 'begins']));
    const { status } = await node.waitFor('hooked', (pod) => pod.status?.containerStatuses !== undefined);
    assert.equal(status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
    await writeFile(join(directory, 'go'), '');
    await node.waitFor('hooked', isReady);
    await node.stopAgent();
    await node.startAgent();
    await node.waitFor('hooked', isReady);
    await eventually(async () => assert.ok((await story()).includes('+next')));
    await remove('hooked');
    const told = await story();
    assert.deepEqual(
      told.filter((word) => !word.includes('next')),
      [...told.slice(0, 2), 'began', 'ends', '-main'],
    );
    assert.ok(told.indexOf('began') < told.indexOf('+next'));
  });

  it('end even if their hook never ends', async () => {
    const lifecycle = { preStop: exec(`${say('hangs')}; sleep 1000`) };
    await create('hanging', { containers: [serving('main', { lifecycle })] });
    await node.waitFor('hanging', isReady);
    await remove('hanging', 3);
    assert.deepEqual(await story(), ['+main', 'hangs', '-main']);
    const never = { postStart: exec(`${say('hangs')}; sleep 1000`) };
    await create('starting', { containers: [serving('main', { lifecycle: never })] });
    await eventually(async () => assert.equal((await story()).at(-1), 'hangs'));
    await remove('starting');
    assert.equal((await story()).at(-1), '-main');
  });

  it('are ended by a hook that fails', async () => {
    const lifecycle = { postStart: exec('echo why; exit 7') };
    await create('failing', { restartPolicy: 'Never', containers: [serving('main', { lifecycle })] });
    const { status } = await node.waitFor(
      'failing',
      (pod) => pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded',
    );
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
    assert.ok(node.events.includes('FailedPostStartHook PostStartHook failed'));
    assert.ok(node.events.some((event) => /^Killing .*FailedPostStartHook$/.test(event)));
    await remove('failing');
  });

  it('are stopped by the signal that they name', async () => {
    const script = `trap '${say('USR1')}; exit 0' USR1; ${say('+main')}; while true; do sleep 0.05; done`;
    const lifecycle = { stopSignal: 'SIGUSR1' };
    await create('signalled', {
      os: { name: 'linux' },
      containers: [container('main', script, { lifecycle })],
    });
    const { status } = await node.waitFor('signalled', isReady);
    assert.equal(status?.containerStatuses?.[0]?.stopSignal, 'SIGUSR1');
    await eventually(async () => assert.deepEqual(await story(), ['+main']));
    await remove('signalled');
    assert.deepEqual(await story(), ['+main', 'USR1']);
  });

  describe('with httpGet hooks', () => {
    const requests: IncomingMessage[] = [];
    const listen = async (server: Server) => {
      server.on('request', (request, response) => {
        requests.push(request);
        response.writeHead(500).end('whatever');
      });
      servers.push(server);
      server.listen(0, nodeIP);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    };

    it('run their hooks as requests, whatever the server answers', async () => {
      requests.length = 0;
      const plain = await listen(createServer());
      const { key, certificate: cert } = await testAuthority();
      const encrypted = await listen(createHttps({ key, cert }) as unknown as Server);
      const httpGet = { host: nodeIP, path: '/hook?a=b', port: plain };
      const lifecycle = {
        postStart: {
          httpGet: {
            ...httpGet,
            httpHeaders: [
              { name: 'Host', value: 'web.test' },
              { name: 'X-A', value: '1' },
            ],
          },
        },
        preStop: { httpGet: { ...httpGet, port: encrypted, scheme: 'HTTPS' } },
      };
      await create('asking', { containers: [serving('main', { lifecycle })] });
      await node.waitFor('asking', isReady);
      await remove('asking');
      assert.deepEqual(
        requests.map(({ method, url, headers }) => [method, url, headers.host, headers['x-a']]),
        [
          ['GET', '/hook?a=b', 'web.test', '1'],
          ['GET', '/hook?a=b', `${nodeIP}:${encrypted}`, undefined],
        ],
      );
      assert.match(requests[0]?.headers['user-agent'] ?? '', /^kube-lifecycle\//);
    });

    it('request their hooks by plain HTTP, without secrets, if the server does not encrypt', async () => {
      requests.length = 0;
      const port = await listen(createServer());
      const httpHeaders = [{ name: 'Authorization', value: 'Bearer a' }];
      const postStart = { httpGet: { host: nodeIP, path: '/', port, scheme: 'HTTPS', httpHeaders } };
      await create('clear', { containers: [serving('main', { lifecycle: { postStart } })] });
      await node.waitFor('clear', isReady);
      assert.deepEqual(
        requests.map(({ headers }) => headers.authorization),
        [undefined],
      );
      assert.ok(
        node.events.some((event) =>
          event.startsWith('LifecycleHTTPFallback request to HTTPS lifecycle hook'),
        ),
      );
      await remove('clear');
    });
  });
});
