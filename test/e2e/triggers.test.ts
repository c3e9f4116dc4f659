/**
 * Triggers of the built file with real functions: events of each source arrive, also after the master was
 * killed.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { Cluster } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { firstCause } from './harness/first-cause.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/triggers-python:${process.pid}`;

interface Got {
  readonly id: string;
  readonly type: string;
  readonly trigger: string;
  readonly subject?: string;
  readonly data: {
    readonly body?: unknown;
    readonly status?: number;
    readonly path?: string;
    readonly content?: string;
  };
}

test('events of each source of a Trigger are delivered', async (context) => {
  await makeRuntimeImage('python', image);
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  const host = await Host.start(context, { images: [image] });
  const inbox = await mkdtemp(join(host.directory, 'inbox-'));
  const flags = ['--python-image', image, '--watch-folder', inbox];
  const cluster = await Cluster.start(context, { host, flags });
  const { kubectl } = cluster;
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  const made = async (name: string, program: string, verb: 'create' | 'update' = 'create') => {
    const folder = join(host.directory, `source-${name}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'main.py'), program);
    const always = ['--idle-seconds', '600', '--max-scale', '1'];
    await ctl('function', verb, name, '--from', folder, '--wait', ...always);
  };
  /** Returns the events with which the current instances were called. */
  const got = async (name: string): Promise<Got[]> => {
    const { stdout } = await kubectl.attempt(['logs', '-l', `minik8s.io/function=${name}`, '--tail=-1']);
    return stdout
      .split('\n')
      .flatMap((line) => (line.startsWith('got ') ? [JSON.parse(line.slice(4)) as Got] : []));
  };
  const gotOf = (name: string, trigger: string, count = 1) =>
    waitFor(
      `${name} to be called by ${trigger}`,
      async () => {
        const found = (await got(name)).filter((event) => event.trigger === trigger);
        return found.length >= count && found;
      },
      { timeoutMs: 90_000 },
    );
  const noting =
    'import json\ndef handler(event):\n    print("got", json.dumps(event), flush=True)\n    return {"ok": True}\n';
  await made('recorder', noting);

  await context.test('a schedule causes events', async () => {
    await ctl('trigger', 'create', 'tick', '--function', 'recorder', '--schedule', '@every 2s');
    const events = await gotOf('recorder', 'tick', 2);
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    await ctl('trigger', 'delete', 'tick');
  });

  await context.test(
    'a file in an allowed folder of the node, and a file in a volume, cause events',
    async () => {
      const watches = ['--function', 'recorder', '--pattern', '*.csv', '--include-content'];
      await ctl('trigger', 'create', 'inbox', ...watches, '--file-folder', inbox);
      await kubectl('wait', 'trigger', 'inbox', '--for=condition=Ready', '--timeout=60s');
      await writeFile(join(inbox, 'note.txt'), 'of another name');
      await writeFile(join(inbox, 'one.csv'), 'a,b');
      const [event] = await gotOf('recorder', 'inbox');
      assert.deepEqual(
        [event?.type, event?.data.path, event?.data.content],
        ['minik8s.io/file.created', 'one.csv', 'a,b'],
      );

      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'papers' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
      };
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'writer' },
        spec: {
          terminationGracePeriodSeconds: 0,
          volumes: [{ name: 'papers', persistentVolumeClaim: { claimName: 'papers' } }],
          containers: [
            {
              name: 'main',
              image,
              imagePullPolicy: 'Never',
              command: ['sh', '-c', 'sleep 600'],
              volumeMounts: [{ name: 'papers', mountPath: '/papers' }],
            },
          ],
        },
      };
      for (const object of [claim, pod]) {
        const { code, stderr } = await kubectl.attempt(['apply', '-f', '-'], {
          input: JSON.stringify(object),
        });
        assert.equal(code, 0, stderr);
      }
      await ctl('trigger', 'create', 'papers', ...watches, '--file-claim', 'papers');
      await kubectl('wait', 'trigger', 'papers', '--for=condition=Ready', '--timeout=60s');
      await kubectl('wait', 'pod', 'writer', '--for=condition=Ready', '--timeout=60s');
      await kubectl('exec', 'writer', '--', 'sh', '-c', 'echo c,d > /papers/two.csv');
      const [written] = await gotOf('recorder', 'papers');
      assert.deepEqual([written?.data.path, written?.data.content], ['two.csv', 'c,d\n']);
    },
  );

  await context.test('an anonymous request to the gateway causes an event', async () => {
    await ctl('trigger', 'create', 'door', '--function', 'recorder', '--path', '/door', '--public');
    const url = `https://${host.address}:8070/trigger/default/door`;
    const send = () =>
      systemExec(
        ...host.command('curl', [
          '-sk',
          '--max-time',
          '10',
          '-H',
          'content-type: application/json',
          '-d',
          '{"n":1}',
          url,
        ]),
      );
    const { id } = await waitFor('the gateway to take it', async () => {
      const { stdout } = await send().catch(() => ({ stdout: '' }));
      return stdout.includes('"id"') && (JSON.parse(stdout) as { id: string });
    });
    const events = await gotOf('recorder', 'door');
    const event = events.find((one) => one.id === id);
    assert.deepEqual(event?.data.body, { n: 1 });
  });

  await context.test('a change of an object causes an event', async () => {
    await kubectl('create', 'role', 'maps', '--verb=list,watch', '--resource=configmaps');
    await kubectl('create', 'rolebinding', 'maps', '--role=maps', '--serviceaccount=default:default');
    const which = [
      '--object',
      'v1/ConfigMap',
      '-l',
      'app=shop',
      '--change',
      'Created',
      '--change',
      'Deleted',
    ];
    await ctl('trigger', 'create', 'maps', '--function', 'recorder', ...which);
    await kubectl('wait', 'trigger', 'maps', '--for=condition=Ready', '--timeout=60s');
    const map = join(host.directory, 'map.json');
    const metadata = { name: 'shop', labels: { app: 'shop' } };
    await writeFile(map, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }));
    await kubectl('create', '-f', map);
    await kubectl('delete', 'configmap', 'shop');
    const events = await gotOf('recorder', 'maps', 2);
    assert.deepEqual(events.map(({ type, subject }) => [type, subject]).sort(), [
      ['minik8s.io/object.created', 'shop'],
      ['minik8s.io/object.deleted', 'shop'],
    ]);
  });

  await context.test(
    'the result of a function causes an event, and dead letters can be replayed',
    async () => {
      await made('failing', 'def handler(event):\n    raise ValueError("not yet")\n');
      await ctl(
        'trigger',
        'create',
        'after',
        '--function',
        'recorder',
        '--result-of',
        'failing',
        '--outcome',
        'Failure',
      );
      await ctl('trigger', 'create', 'try', '--function', 'failing', '--path', '/try', '--max-attempts', '2');
      await kubectl('wait', 'trigger', 'after', 'try', '--for=condition=Ready', '--timeout=60s');
      await ctl('trigger', 'fire', 'try', '{"n":7}');
      const [dead] = await waitFor('it to be given up', async () => {
        const text = await ctl('trigger', 'events', 'try', '--no-headers');
        return /Failed +2/.test(text) && text.split(/\s+/);
      });
      assert.equal((await gotOf('recorder', 'after'))[0]?.data.status, 500);
      const cause = await waitFor('ctl why to name the dead letter', async () => {
        const found = await firstCause(ctl, 'trigger/try');
        return found?.rule === 'trigger-dead-letters' && found;
      });
      assert.match(cause.says, /one event could not be delivered to function failing/);
      await made('failing', noting, 'update');
      assert.equal(
        await ctl(...(cause.commands[0] ?? '').split(' ')),
        `triggerevent/${dead} is delivered again\n`,
      );
      const [event] = await gotOf('failing', 'try');
      assert.deepEqual(event?.data.body, { n: 7 });
      await waitFor(
        'the event to go',
        async () => !(await ctl('trigger', 'events', 'try', '-o', 'name')).includes('/'),
      );
      await waitFor('the trigger in its desired state', async () => !(await firstCause(ctl, 'trigger/try')));
    },
  );

  await context.test('an event that was stored before the master was killed is delivered', async () => {
    // The first instance has to be started, which takes longer than the kill.
    const folder = join(host.directory, 'source-cold');
    await mkdir(folder);
    await writeFile(join(folder, 'main.py'), noting);
    await ctl('function', 'create', 'cold', '--from', folder, '--idle-seconds', '600');
    await ctl('trigger', 'create', 'killed', '--function', 'cold', '--path', '/killed');
    const said = await ctl('trigger', 'fire', 'killed', '{"n":9}');
    await cluster.end('SIGKILL');
    await cluster.up();
    const events = await gotOf('cold', 'killed');
    assert.deepEqual(new Set(events.map(({ id }) => id)), new Set([said.split(' ')[1]]));
    await waitFor(
      'the event to go',
      async () => !(await ctl('trigger', 'events', 'killed', '-o', 'name')).includes('/'),
    );
  });
});
