/** `ctl logs` of many pods at once: which pods are followed, and that lines stay whole. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const pods = ['a', 'b', 'c', 'd'];
const lines = 50;

describe('ctl logs of many pods', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;

  before(async () => {
    server = await startHttpsTestServer({
      // Agents of two nodes that send a few bytes at a time, so that the output of all containers is
      // interleaved.
      nodeConnection: async (node, path) => {
        const [, , , name = '', container = ''] = path.split('?')[0]?.split('/') ?? [];
        const text = Array.from(
          { length: lines },
          (_, index) => `${node} ${name} ${container} ${index} ü\n`,
        ).join('');
        const bytes = Buffer.from(text);
        let at = 0;
        return new Response(
          new ReadableStream({
            async pull(controller) {
              await new Promise((resolve) => setImmediate(resolve));
              controller.enqueue(bytes.subarray(at, at + 7));
              at += 7;
              if (at >= bytes.length) controller.close();
            },
          }),
        );
      },
    });
    ctl = ctlFor(await server.kubeconfigFor('kubernetes-admin', ['system:masters']));
    for (const [index, name] of pods.entries())
      await server.call('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name, labels: { app: 'x', ...(name < 'c' && { half: 'first' }) } },
        spec: {
          nodeName: `n${index % 2}`,
          containers: ['one', 'two'].map((c) => ({ name: c, image: 'x:1' })),
        },
      });
    await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: {
          metadata: { labels: { app: 'x' } },
          spec: { containers: [{ name: 'one', image: 'x:1' }] },
        },
      },
    });
  });
  after(() => server.stop());

  const wanted = (names: readonly string[], containers: readonly string[]) =>
    names
      .flatMap((name) =>
        containers.flatMap((container) =>
          Array.from({ length: lines }, (_, index) => {
            const node = `n${pods.indexOf(name) % 2}`;
            return `[pod/${name}/${container}] ${node} ${name} ${container} ${index} ü`;
          }),
        ),
      )
      .toSorted();
  const sorted = (out: string) => out.trimEnd().split('\n').toSorted();

  it('are followed together on all nodes, and no line is torn', async () => {
    const args =
      'logs -l app=x --all-containers --all-nodes --prefix -f --max-log-requests=8 --tail=-1'.split(' ');
    const { status, out, err } = await ctl(args);
    assert.equal(status, 0, err);
    assert.deepEqual(sorted(out), wanted(pods, ['one', 'two']));
    // Lines are printed as they arrive: no log waits for the end of another.
    const first = out
      .split('\n')
      .slice(0, 100)
      .map((line) => line.split(' ')[0]);
    assert.ok(new Set(first).size > 4, out.slice(0, 2000));
  });

  it('are limited by --max-log-requests', async () => {
    const few = await ctl(['logs', '-l', 'app=x', '--all-containers', '-f']);
    assert.equal(few.status, 1);
    assert.equal(
      few.err,
      'error: you are attempting to follow 8 log streams, but maximum allowed concurrency is 5, use --max-log-requests to increase the limit\n',
    );
    assert.equal((await ctl(['logs', '-l', 'half=first', '--all-containers', '-f'])).status, 0);
    assert.equal((await ctl(['logs', '-l', 'app=x', '--all-containers'])).status, 0);
    assert.match(
      (await ctl(['logs', 'a', '-c', 'one', '--max-log-requests=0'])).err,
      /must be 1 or more, got 0/,
    );
  });

  it('include all pods of a Deployment with --all-pods', async () => {
    const { out } = await ctl(['logs', 'deployment/x', '--all-pods', '-c', 'two']);
    assert.deepEqual(sorted(out), wanted(pods, ['two']));
  });

  it('are taken from all nodes: --all-nodes=false is rejected', async () => {
    const { status, err } = await ctl(['logs', '-l', 'app=x', '--all-nodes=false']);
    assert.equal(status, 1);
    assert.match(err, /pods of all nodes are always included/);
  });
});
