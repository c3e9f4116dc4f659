/** `ctl run`: what it creates, how it ends, and what --rm leaves behind. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { run as verb } from '../../../../src/cli/commands/run.ts';
import type { ApiRequest } from '../../../../src/client/transport.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const core = '/api/v1/namespaces/default';
const merge = 'application/merge-patch+json';

describe('ctl run', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld({ nodeConnection: async () => new Response('hello\n') });
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  });
  after(() => world.stop());

  const exists = (path: string) =>
    world.send('GET', path).then(
      () => true,
      () => false,
    );

  const attached = (name: string) => [
    ...[name, '--image=x:1', '--restart=Never', '--attach', '--rm', '--expose', '--port=80'],
    '--overrides={"spec":{"nodeName":"n1"}}',
  ];

  /** Ends the pod with this exit code once the verb watches it. */
  const ending = (name: string, exitCode: number) => {
    const containerStatuses = [
      {
        name,
        image: 'x',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode, reason: exitCode ? 'Error' : 'Completed' } },
      },
    ];
    const status = { phase: exitCode ? 'Failed' : 'Succeeded', containerStatuses };
    let done = false;
    return async ({ method, path }: ApiRequest) => {
      if (done || method !== 'GET' || !path.includes('watch=')) return;
      done = true;
      await world.send('PATCH', `${core}/pods/${name}/status`, { status }, merge);
    };
  };

  it('creates a pod in the given namespace alone, with arguments or a command', async () => {
    const { status, out } = await world.run(verb, ['web', '--image=x:1', '-n', 'shop', '--', 'a', 'b']);
    assert.deepEqual([status, out], [0, 'pod/web created\n']);
    assert.equal(await exists(`${core}/pods/web`), false);
    const shop = (await world.send('GET', '/api/v1/namespaces/shop/pods/web')) as {
      metadata: { labels: object };
      spec: { containers: { args?: object; command?: object }[]; restartPolicy: string };
    };
    assert.deepEqual(shop.metadata.labels, { run: 'web' });
    assert.deepEqual([shop.spec.containers[0]?.args, shop.spec.restartPolicy], [['a', 'b'], 'Always']);
    const dry = ['cmd', '--image=x:1', '--command', '--dry-run=client', '-o', 'json', '--', 'sh'];
    const [container] = JSON.parse((await world.run(verb, dry)).out).spec.containers;
    assert.deepEqual([container.command, container.args], [['sh'], undefined]);
    assert.equal(await exists(`${core}/pods/cmd`), false, 'a dry run creates nothing');
  });

  it('creates a Service for the labels of the pod with --expose', async () => {
    const argv = ['front', '--image=x:1', '--port=80', '--expose', '--labels=app=front'];
    const { out } = await world.run(verb, argv);
    assert.equal(out, 'service/front created\npod/front created\n');
    const { spec } = (await world.send('GET', `${core}/services/front`)) as {
      spec: { selector: object; ports: { port: number; targetPort: number }[] };
    };
    assert.deepEqual(spec.selector, { app: 'front' });
    assert.deepEqual([spec.ports[0]?.port, spec.ports[0]?.targetPort], [80, 80]);
  });

  it('refuses flags that need others, and creates nothing', async () => {
    for (const [argv, message] of [
      [['x'], /--image is required/],
      [['--image=x:1', '--', 'x'], /give the pod a name/],
      [['x', '--image=x:1', '-t'], /-t needs -i/],
      [['x', '--image=x:1', '--rm'], /--rm needs --attach or -i/],
      [['x', '--image=x:1', '--expose'], /--port must be set when exposing a service/],
      [['x', '--image=x:1', '-i', '--dry-run=client'], /--dry-run creates no pod to attach to/],
      [['x', '--image=x:1', '-i', '--rm', '--force', '--grace-period=5'], /cannot be specified together/],
      [['x', '--image=X Y'], /Invalid image name "X Y"/],
    ] as const) {
      const { status, err, requests } = await world.run(verb, argv);
      assert.equal(status, 1, argv.join(' '));
      assert.match(err, message);
      assert.deepEqual(
        requests.filter((line) => line.startsWith('POST')),
        [],
      );
    }
  });

  for (const [code, expected] of [
    [0, 0],
    [3, 3],
  ] as const)
    it(`ends with ${expected} after a program that ended with ${code}, and removes what it made with --rm`, async () => {
      const name = `once-${code}`;
      const { status, err, out } = await world.run(verb, attached(name), { before: ending(name, code) });
      assert.equal(status, expected, err);
      if (code > 0) assert.match(err, new RegExp(`pod default/${name} terminated \\(Error\\)`));
      assert.match(out, new RegExp(`hello\npod "${name}" deleted\nservice "${name}" deleted\n$`));
      assert.deepEqual(
        await Promise.all(['pods', 'services'].map((plural) => exists(`${core}/${plural}/${name}`))),
        [false, false],
      );
    });

  it('removes the Service although the pod cannot be removed, and fails', async () => {
    const name = 'held';
    const end = ending(name, 0);
    const before = async (request: ApiRequest) => {
      if (request.method === 'DELETE' && request.path.includes('/pods/')) throw new Error('connection lost');
      await end(request);
    };
    const { status, err } = await world.run(verb, attached(name), { before });
    assert.equal(status, 1);
    assert.match(err, /connection lost/);
    assert.equal(await exists(`${core}/services/${name}`), false);
  });

  /** Runs `run --rm`, which is interrupted while it waits for the pod to start. */
  const interrupted = (name: string, before: (request: ApiRequest) => Promise<void> = async () => {}) => {
    const stop = new AbortController();
    return world.run(verb, attached(name), {
      signal: stop.signal,
      before: async (request) => {
        if (request.path.includes('watch=')) stop.abort(new DOMException('stopped', 'AbortError'));
        await before(request);
      },
    });
  };

  it('removes what it made with --rm when it is interrupted, and announces it', async () => {
    const { out, err } = await interrupted('stopped');
    const lines = ['pod', 'service'].map(
      (kind) => `Stopped: deleting ${kind} "stopped"; another Ctrl-C leaves it\n`,
    );
    assert.equal(err, `${lines.join('')}error: stopped\n`);
    assert.match(out, /\npod "stopped" deleted\nservice "stopped" deleted\n$/);
    // The pod has no kubelet that reports its end.
    const { metadata } = (await world.send('GET', `${core}/pods/stopped`)) as {
      metadata: { deletionTimestamp?: string };
    };
    assert.notEqual(metadata.deletionTimestamp, undefined);
    assert.equal(await exists(`${core}/services/stopped`), false);
  });

  it('names what an interrupted command could not remove', async () => {
    const { err } = await interrupted('stays', async ({ method, path }) => {
      if (method === 'DELETE' && path.includes('/pods/')) throw new Error('connection lost');
    });
    assert.match(err, /^error: pod "stays" was not deleted/m);
    assert.equal(await exists(`${core}/services/stays`), false, 'the Service is removed');
  });

  it('stops to wait when the pod is deleted, and after the timeout', async () => {
    const remove = async ({ method, path }: ApiRequest) => {
      if (method === 'GET' && path.includes('watch='))
        await world.send('DELETE', `${core}/pods/gone`).catch(() => undefined);
    };
    const gone = await world.run(verb, ['gone', '--image=x:1', '--attach'], { before: remove });
    assert.deepEqual([gone.status, gone.err], [1, 'error: pod gone was deleted\n']);
    const start = world.server.clock.now();
    const late = await world.run(verb, ['late', '--image=x:1', '--attach', '--pod-running-timeout=30s']);
    assert.match(late.err, /^error: timed out waiting for the condition\n$/);
    assert.equal(world.server.clock.now() - start, 30_000);
  });
});
