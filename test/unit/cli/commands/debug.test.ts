/** `ctl debug`: containers in pods, copies of pods, and pods on nodes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { debug } from '../../../../src/cli/commands/debug.ts';
import type { ApiRequest } from '../../../../src/client/transport.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const core = '/api/v1/namespaces/default';
const merge = 'application/merge-patch+json';

interface Pod {
  readonly metadata: { readonly labels?: object };
  readonly spec: {
    readonly containers: Record<string, unknown>[];
    readonly ephemeralContainers?: Record<string, unknown>[];
    readonly nodeName?: string;
    readonly shareProcessNamespace?: boolean;
    readonly hostPID?: boolean;
  };
}

describe('ctl debug', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    await world.send('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  });
  after(() => world.stop());
  beforeEach(async () => {
    const { items } = (await world.send('GET', '/api/v1/pods')) as {
      items: { metadata: { name: string; namespace: string } }[];
    };
    for (const { metadata } of items)
      await world.send('DELETE', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, {
        gracePeriodSeconds: 0,
      });
    for (const name of ['web', 'other'])
      await world.send('POST', `${core}/pods`, {
        metadata: { name, labels: { app: 'web' } },
        spec: {
          nodeName: 'n1',
          containers: [{ name: 'c', image: 'x:1', livenessProbe: { exec: { command: ['true'] } } }],
        },
      });
  });

  const podOf = async (name: string, namespace = 'default') =>
    (await world.send('GET', `/api/v1/namespaces/${namespace}/pods/${name}`)) as unknown as Pod;
  const run = (...argv: readonly string[]) => world.run(debug, argv);

  it('adds a container with the image to each pod, and names it', async () => {
    const { status, out } = await run(
      'web',
      'other',
      '--image=busybox',
      '--profile=general',
      '--',
      'sh',
      '-c',
      'true',
    );
    assert.equal(status, 0);
    assert.equal(out.match(/^Defaulting debug container name to debugger-\w{5}\.$/gm)?.length, 2);
    for (const name of ['web', 'other']) {
      const [added] = (await podOf(name)).spec.ephemeralContainers ?? [];
      assert.match(String(added?.name), /^debugger-\w{5}$/);
      assert.deepEqual([added?.image, added?.command], ['busybox', ['sh', '-c', 'true']]);
    }
  });

  it('sees the processes of the target, which must be a container of the pod', async () => {
    const argv = ['web', '--image=busybox', '--profile=general', '-c', 'own', '--target=c'];
    const { out } = await run(...argv);
    assert.match(out, /^Targeting container "c"\./);
    const [added] = (await podOf('web')).spec.ephemeralContainers ?? [];
    assert.deepEqual([added?.name, added?.targetContainerName], ['own', 'c']);
    assert.equal(
      (await run('web', '--image=other', '--profile=general', '-c', 'own', '-q')).status,
      1,
      'the name is taken',
    );
    assert.equal((await run('other', '--image=b', '--profile=general', '--target=none')).status, 1);
  });

  it('warns of the profile legacy, and refuses a pod that has ended', async () => {
    const { err } = await run('web', '--image=busybox');
    assert.match(err, /^--profile=legacy is deprecated/);
    await world.send('PATCH', `${core}/pods/other/status`, { status: { phase: 'Failed' } }, merge);
    const ended = await run('other', '--image=busybox', '--profile=general');
    assert.equal(ended.status, 1);
    assert.match(
      ended.err,
      /no container can start in pod other, which has ended \(Failed\); .*--copy-to=NAME/,
    );
  });

  it('copies a pod without its labels and probes, shares processes, and keeps the original', async () => {
    const { status } = await run(
      'web',
      '--copy-to=copy',
      '--set-image=*=y:2',
      '--profile=general',
      '--image=b',
    );
    assert.equal(status, 0);
    const copy = await podOf('copy');
    assert.equal(copy.metadata.labels, undefined);
    assert.deepEqual(
      [copy.spec.shareProcessNamespace, copy.spec.nodeName, copy.spec.containers.length],
      [true, undefined, 2],
    );
    const [first] = copy.spec.containers;
    assert.deepEqual([first?.image, first?.livenessProbe], ['y:2', undefined]);
    assert.equal((await podOf('web')).spec.containers[0]?.image, 'x:1');
  });

  it('replaces the pod only if the copy was created', async () => {
    const argv = ['web', '--image=b', '--profile=general', '--replace', '--same-node', '--keep-labels'];
    const taken = await run(...argv, '--copy-to=other');
    assert.equal(taken.status, 1);
    assert.match(taken.err, /already exists/);
    await podOf('web');
    assert.equal((await run(...argv, '--copy-to=copy')).status, 0);
    const copy = await podOf('copy');
    assert.deepEqual([copy.spec.nodeName, copy.metadata.labels], ['n1', { app: 'web' }]);
    await assert.rejects(podOf('web'), /not found/);
  });

  it('puts a pod on a node, in the given namespace, and says its name', async () => {
    const { out, status } = await run('node/n1', '--image=busybox', '--profile=sysadmin', '-n', 'shop');
    assert.equal(status, 0);
    const [, name = ''] =
      /^Creating debugging pod (node-debugger-n1-\w{5}) with container debugger on node n1\.\n$/.exec(out) ??
      [];
    const { spec } = await podOf(name, 'shop');
    assert.deepEqual([spec.nodeName, spec.hostPID, spec.containers[0]?.name], ['n1', true, 'debugger']);
  });

  it('refuses other kinds and flags that do not fit, and changes nothing', async () => {
    for (const [argv, message] of [
      [['namespace/shop', '--image=b'], /Kind=Namespace" not supported by debug/],
      [['web'], /you must specify --image when not using --copy-to/],
      [['web', '--image=b', '--replace'], /--replace may only be used with --copy-to/],
      [['web', '--image=b', '--same-node'], /--same-node may only be used with --copy-to/],
      [['web', '--image=b', '--set-image=c=y'], /--set-image may only be used with --copy-to/],
      [['web', '--copy-to=x'], /you must specify --image, --set-image or command arguments/],
      [['web', '--copy-to=x', '--image=b', '--target=c'], /--target is incompatible with --copy-to/],
      [['web', '--image=b', '-t'], /-i\/--stdin is required for containers with -t/],
      [['--image=b'], /NAME or filename is required/],
      [['web', '--image=B b'], /invalid image name "B b"/],
      [['web', '--copy-to=x', '--set-image=c=B b'], /invalid image name "B b" for container "c"/],
    ] as const) {
      const { status, err, requests } = await run(...argv);
      assert.equal(status, 1, argv.join(' '));
      assert.match(err, message);
      assert.deepEqual(
        requests.filter((line) => !line.startsWith('GET')),
        [],
        argv.join(' '),
      );
    }
  });

  it('merges the fields of --custom into the container, and refuses a file without a container', async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'minik8s-debug-'));
    context.after(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'custom.yaml');
    writeFileSync(file, 'env: [{name: A, value: "1"}]\n');
    const argv = ['web', '--image=b', '--profile=general', `--custom=${file}`];
    const options = { usesMachine: true };
    assert.equal((await world.run(debug, argv, options)).status, 0);
    const [added] = (await podOf('web')).spec.ephemeralContainers ?? [];
    assert.deepEqual([added?.env, added?.image], [[{ name: 'A', value: '1' }], 'b']);
    writeFileSync(file, '- a list\n');
    const wrong = await world.run(debug, argv, options);
    assert.match(wrong.err, /does not contain a valid container spec/);
    assert.equal((await podOf('web')).spec.ephemeralContainers?.length, 1);
  });

  it('says why the container does not run, and does not attach to it', async () => {
    const status = {
      ephemeralContainerStatuses: [
        {
          name: 'own',
          image: 'b',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 128, reason: 'ContainerCannotRun', message: 'sh: not found' } },
        },
      ],
    };
    const before = async ({ method, path }: ApiRequest) => {
      if (method === 'GET' && path.includes('watch='))
        await world.send('PATCH', `${core}/pods/web/status`, { status }, merge);
    };
    const argv = ['web', '-i', '--image=b', '--profile=general', '-c', 'own'];
    const failed = await world.run(debug, argv, { before });
    assert.equal(failed.status, 1);
    assert.match(failed.err, /container own of pod web cannot run: sh: not found\n$/);
    const remove = async ({ method, path }: ApiRequest) => {
      if (method === 'GET' && path.includes('watch='))
        await world.send('DELETE', `${core}/pods/other`, { gracePeriodSeconds: 0 }).catch(() => undefined);
    };
    const gone = await world.run(debug, ['other', '-i', '--image=b', '--profile=general', '-c', 'own'], {
      before: remove,
    });
    assert.match(gone.err, /pod other was deleted before container own started\n$/);
  });
});
