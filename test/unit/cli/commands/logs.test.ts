/** `ctl logs`: the request for each log, its lines, and its failures. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { logs } from '../../../../src/cli/commands/logs.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

describe('ctl logs', () => {
  let world: VerbWorld;
  /** Logs by pod; a log that is missing is an error of the node. */
  const stored = new Map<string, () => string | ReadableStream>();

  before(async () => {
    world = await startVerbWorld({
      nodeConnection: async (_node, path) => {
        const [, name = ''] = /^\/containerLogs\/default\/([^/]+)\//.exec(path) ?? [];
        const log = stored.get(name);
        return log ? new Response(log()) : new Response('the engine has no such container', { status: 500 });
      },
    });
    for (const name of ['a', 'b', 'c'])
      await world.send('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name, labels: { app: 'web' } },
        spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x:1' }] },
      });
  });
  after(() => world.stop());

  const setAll = (text: string) => {
    for (const name of ['a', 'b', 'c']) stored.set(name, () => text);
  };

  it('prints a last line without a newline, and the lines of all pods', async () => {
    setAll('one\ntwo');
    const { status, out } = await world.run(logs, ['-l', 'app=web', '--prefix']);
    assert.equal(status, 0);
    assert.equal(
      out,
      ['a', 'b', 'c'].map((pod) => `[pod/${pod}/main] one\n[pod/${pod}/main] two\n`).join(''),
    );
  });

  it('waits for room after each line of several logs', async () => {
    setAll('1\n2\n3\n');
    const seen: string[] = [];
    let printed = '';
    const room = async () => void seen.push(printed);
    await world.run(logs, ['-l', 'app=web'], {
      io: { room },
      onOut: (out) => {
        printed = out;
      },
    });
    assert.deepEqual(seen.slice(0, 4), ['1\n', '1\n2\n', '1\n2\n3\n', '1\n2\n3\n1\n']);
    assert.equal(seen.length, 9);
  });

  it('asks for the last ten lines of each selected pod, unless --tail says otherwise', async () => {
    setAll('x\n');
    const linesOf = async (...flags: readonly string[]) => {
      const { requests } = await world.run(logs, ['-l', 'app=web', ...flags]);
      return requests.filter((one) => one.includes('/log')).map((one) => /tailLines=(\d+)/.exec(one)?.[1]);
    };
    assert.deepEqual(await linesOf(), ['10', '10', '10']);
    assert.deepEqual(await linesOf('--tail=3'), ['3', '3', '3']);
    assert.deepEqual(await linesOf('--tail=-1'), [undefined, undefined, undefined]);
  });

  it('prints the logs of init containers first with --all-containers', async () => {
    await world.send('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'several' },
      spec: {
        nodeName: 'n',
        initContainers: [{ name: 'first', image: 'x:1' }],
        containers: [
          { name: 'main', image: 'x:1' },
          { name: 'side', image: 'x:1' },
        ],
      },
    });
    stored.set('several', () => 'x\n');
    const { requests } = await world.run(logs, ['several', '--all-containers']);
    const asked = requests.flatMap((one) => /[?&]container=(\w+)/.exec(one)?.[1] ?? []);
    assert.deepEqual(asked, ['first', 'main', 'side']);
  });

  it('rounds --since up to whole seconds', async () => {
    setAll('x\n');
    const { requests } = await world.run(logs, ['a', '--since=1500ms']);
    assert.match(requests.at(-1) ?? '', /[?&]sinceSeconds=2(&|$)/);
  });

  it('reads ten lines of each pod of a selector, and all lines of one pod', async () => {
    setAll('x\n');
    const several = await world.run(logs, ['-l', 'app=web']);
    assert.match(several.requests.at(-1) ?? '', /tailLines=10/);
    const one = await world.run(logs, ['a']);
    assert.doesNotMatch(one.requests.at(-1) ?? '', /tailLines/);
    const all = await world.run(logs, ['-l', 'app=web', '--tail=-1']);
    assert.doesNotMatch(all.requests.at(-1) ?? '', /tailLines/);
  });

  it('follows several logs at the same time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    // The first log ends only after the last one has begun.
    const held = new ReadableStream({
      async start(controller) {
        await promise;
        controller.close();
      },
    });
    stored.set('a', () => held);
    stored.set('b', () => 'from b\n');
    stored.set('c', () => {
      resolve();
      return 'from c\n';
    });
    const { status, out } = await world.run(logs, ['-l', 'app=web', '-f']);
    assert.equal(status, 0);
    assert.deepEqual(out.split('\n').filter(Boolean).sort(), ['from b', 'from c']);
  });

  it('follows as many logs as --max-log-requests allows, and no more', async () => {
    setAll('x\n');
    const allowed = await world.run(logs, ['-l', 'app=web', '-f', '--max-log-requests=3']);
    assert.deepEqual([allowed.status, allowed.out], [0, 'x\nx\nx\n']);
    const refused = await world.run(logs, ['-l', 'app=web', '-f', '--max-log-requests=2']);
    assert.deepEqual([refused.status, refused.out], [1, '']);
    assert.match(refused.err, /attempting to follow 3 log streams, but maximum allowed concurrency is 2/);
  });

  it('prints the other logs after one that fails, and fails unless --ignore-errors is given', async () => {
    setAll('x\n');
    stored.delete('b');
    const failed = await world.run(logs, ['-l', 'app=web']);
    assert.deepEqual([failed.status, failed.out], [1, 'x\nx\n']);
    assert.match(failed.err, /the engine has no such container/);
    const ignored = await world.run(logs, ['-l', 'app=web', '--ignore-errors']);
    assert.equal(ignored.status, 0);
    assert.match(ignored.out, /^x\nerror: .*the engine has no such container.*\nx\n$/);
  });

  it('prints the log of the oldest of the ready pods of a workload', async () => {
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    world.server.clock.spend(60_000);
    await world.send('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: '0-young', labels: { app: 'web' } },
      spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x:1' }] },
    });
    for (const name of ['b', 'c', '0-young'])
      await world.send(
        'PATCH',
        `/api/v1/namespaces/default/pods/${name}/status`,
        { status: ready },
        'application/merge-patch+json',
      );
    await world.send('POST', '/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'm', image: 'x:1' }] },
        },
      },
    });
    setAll('x\n');
    const { err } = await world.run(logs, ['deployment/web']);
    assert.match(err, /^Found 4 pods, using pod\/[bc]\n/);
  });
});
