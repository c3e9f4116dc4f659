/** `minik8s certs rotate-ca` beside a cluster whose nodes follow, or do not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiRequest, Transport } from '../../../../src/client/transport.ts';
import { type RotateOptions, rotateAuthority, rotateOver } from '../../../../src/roles/certs/rotate-ca.ts';
import type { RotationState } from '../../../../src/roles/certs/rotate-plan.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const noTrust = 'does not trust the next authority';
const formerOnly = 'has certificates of the former authority';

interface World {
  /** Phase before the command. */
  readonly phase?: RotationState['phase'];
  /** Seconds after a step until the node has followed it; never without an entry. */
  readonly nodes: Readonly<Record<string, number>>;
  /** Answer to every step instead of the step. */
  readonly refusal?: { readonly status: number; readonly text: string };
}

/** A master that does each step at once, and nodes that follow it later. */
function clusterOf({ phase: first, nodes, refusal }: World) {
  const clock = new FakeClock();
  const requests: string[] = [];
  const said: string[] = [];
  let [phase, since] = [first, clock.now()];
  const standing = (seconds: number | undefined) => {
    const followed = seconds !== undefined && clock.now() >= since + seconds * 1000;
    if (phase === 'trust') return followed ? formerOnly : noTrust;
    return followed ? 'done' : formerOnly;
  };
  const state = (): RotationState => ({
    ...(phase && { phase, former: 'sha256:1', next: 'sha256:2' }),
    nodes: Object.entries(nodes).map(([name, seconds]) => ({ name, standing: standing(seconds) })),
  });
  const answer = ({ method, path }: ApiRequest) => {
    const step = new URL(path, 'https://localhost').searchParams.get('step');
    if (method !== 'POST') return { status: 200, text: JSON.stringify(state()) };
    if (refusal) return refusal;
    [phase, since] = [step as RotationState['phase'], clock.now()];
    return { status: 200, text: JSON.stringify(state()) };
  };
  const transport: Transport = {
    async request(request) {
      requests.push(`${request.method} ${request.path}`);
      const { status, text } = answer(request);
      const body = (async function* () {
        yield Buffer.from(text);
      })();
      return { status, body, header: () => undefined };
    },
    close() {},
  };
  const run = (
    action: RotateOptions['action'],
    { force = false, signal = new AbortController().signal } = {},
  ) => {
    const say = (text: string) => void said.push(text);
    return clock.until(rotateOver(transport, { action, force, clock, say }, signal));
  };
  const steps = () => requests.filter((line) => line.startsWith('POST')).map((line) => line.slice(5));
  return { run, requests, steps, said, clock, phase: () => phase };
}

const place = '/minik8s/certificate-authority';

describe('certs rotate-ca', () => {
  it('trusts, waits for every node, and signs only then; it does not finish by itself', async () => {
    const cluster = clusterOf({ nodes: { a: 10, b: 40 } });
    const start = cluster.clock.now();
    await cluster.run('rotate');
    assert.deepEqual(cluster.steps(), [`${place}?step=trust`, `${place}?step=issue`]);
    assert.equal(cluster.phase(), 'issue');
    assert.ok(cluster.clock.now() - start >= 80_000, 'each phase waits for the slowest node');
    const text = cluster.said.join('');
    assert.match(text, /^phase {4}trust: .*\nformer {3}sha256:1\nnext {5}sha256:2\n/);
    assert.match(text, new RegExp(`\\nwaiting: a ${noTrust}, b ${noTrust}\nwaiting: b ${noTrust}\n`));
    assert.match(text, /trusted until\n {2}minik8s certs rotate-ca --finish\n/);
    assert.match(text, /phase {4}issue: .*\n(.*\n)*node {5}a: done\nnode {5}b: done\nThe next authority/);
  });

  it('says what it waits for once, not at each look', async () => {
    const cluster = clusterOf({ nodes: { a: 100 } });
    await cluster.run('rotate');
    const waiting = cluster.said.filter((line) => line.startsWith('waiting: '));
    assert.deepEqual(waiting, [`waiting: a ${noTrust}\n`, `waiting: a ${formerOnly}\n`]);
  });

  it('continues a rotation that was interrupted, once its nodes have followed the phase', async () => {
    const cluster = clusterOf({ phase: 'trust', nodes: { a: 30 } });
    await cluster.run('rotate');
    assert.deepEqual(cluster.steps(), [`${place}?step=issue`]);
    const at = cluster.requests.indexOf(`POST ${place}?step=issue`);
    assert.ok(at > 10, `${at} looks before the next authority signs`);
  });

  it('gives up after five minutes with the nodes that have not followed, and signs nothing', async () => {
    const cluster = clusterOf({ nodes: { a: 10, gone: Number.POSITIVE_INFINITY } });
    const start = cluster.clock.now();
    await assert.rejects(
      cluster.run('rotate'),
      /^Error: not all nodes have followed: gone does not trust the next authority; start them or delete their Nodes, and run this again, or give --force/,
    );
    const seconds = (cluster.clock.now() - start) / 1000;
    assert.ok(seconds > 300 && seconds < 310, `${seconds} s`);
    assert.deepEqual(cluster.steps(), [`${place}?step=trust`]);
  });

  it('leaves nodes behind with --force, without a wait', async () => {
    const cluster = clusterOf({ nodes: { gone: Number.POSITIVE_INFINITY } });
    const start = cluster.clock.now();
    await cluster.run('rotate', { force: true });
    assert.deepEqual(cluster.steps(), [`${place}?step=trust&force=true`, `${place}?step=issue&force=true`]);
    assert.equal(cluster.clock.now(), start);
  });

  it('changes nothing with --status', async () => {
    const cluster = clusterOf({ phase: 'issue', nodes: { a: 0 } });
    await cluster.run('status');
    assert.deepEqual(cluster.requests, [`GET ${place}`]);
    assert.match(cluster.said.join(''), /^phase {4}issue: .*\nformer .*\nnext .*\nnode {5}a: done\n$/);
  });

  it('finishes with --finish alone, and prints the state after it', async () => {
    const cluster = clusterOf({ phase: 'issue', nodes: { a: 0 } });
    await cluster.run('finish');
    assert.deepEqual(cluster.requests, [`POST ${place}?step=finish`]);
    assert.match(cluster.said.join(''), /^phase {4}finish: the former authority is no longer trusted\n/);
  });

  it('fails with the reason of the master if a step is refused, and with the status of another answer', async () => {
    const refusal = { status: 409, text: 'the next authority does not sign yet\n' };
    const early = clusterOf({ phase: 'trust', nodes: {}, refusal });
    await assert.rejects(early.run('finish'), /^Error: the next authority does not sign yet$/);
    const broken = clusterOf({ nodes: {}, refusal: { status: 503, text: '<html>' } });
    await assert.rejects(broken.run('rotate'), /^Error: the API server answers 503$/);
    assert.deepEqual([early.said, broken.said], [[], []]);
  });

  it('ends with the signal while it waits', async () => {
    const cluster = clusterOf({ nodes: { gone: Number.POSITIVE_INFINITY } });
    const stop = new AbortController();
    cluster.clock.after(20_000, () => stop.abort(new Error('interrupted')));
    await assert.rejects(cluster.run('rotate', { signal: stop.signal }), /^Error: interrupted$/);
  });

  it('names the file that a machine without a master lacks', async () => {
    const options = { action: 'status', force: false, clock: new FakeClock(), say: assert.fail } as const;
    await assert.rejects(
      rotateAuthority({ ...options, dataDir: '/proc/none' }, new AbortController().signal),
      /^Error: there is no \/proc\/none\/admin.conf: run this on a master, with its --data-dir$/,
    );
  });
});
