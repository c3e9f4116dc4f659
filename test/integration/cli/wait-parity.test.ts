/** `ctl wait` beside kubectl 1.32: the same messages and exit status in all forms. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type BesideKubectl, startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Result } from '../../fixtures/ctl.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const maps = ['a', 'b'].map((name) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { set: 'maps' } },
  data: { x: '1', [name]: name, list: '[1,2]' },
}));
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'd' } },
    template: {
      metadata: { labels: { app: 'd' } },
      spec: { containers: [{ name: 'c', image: 'busybox' }] },
    },
  },
};
const status = {
  status: {
    conditions: [
      { type: 'Available', status: 'True', reason: 'Fine', message: '' },
      { type: 'Progressing', status: 'False', reason: 'Stopped', message: '' },
    ],
  },
};

/** Command lines behind `wait`; each ends at once, or after its timeout. `FILE` has the ConfigMap a. */
const lines = [
  'cm/a --for=create',
  'cm/a cm/b --for=create',
  'cm a b --for=create',
  'cm/none --for=create --timeout=1s',
  'cm/none --for=create --timeout=0',
  'cm -l set=maps --for=create',
  'cm --all --for=create',
  'cm --for=create',
  'cm -l set=none --for=create --timeout=1s',
  '-f FILE --for=create',
  'cm/none --for=delete',
  'cm/a --for=delete --timeout=1s',
  'cm/a cm/none --for=delete --timeout=1s',
  'cm -l set=none --for=delete',
  'cm --all -n kube-node-lease --for=delete --timeout=1s',
  'pods --all --for=delete',
  'cm/a --for=jsonpath={.data.x}=1',
  'cm/a --for=jsonpath={.data.x}',
  "cm/a --for=jsonpath='{.data.x}'=1",
  'cm/a --for=jsonpath=.data.x=1',
  'cm/a --for=jsonpath={.data.x}=2 --timeout=1s',
  'cm/a --for=jsonpath={.data.none} --timeout=1s',
  'cm/a --for=jsonpath={.data.none}=1 --timeout=1s',
  'cm/a --for=jsonpath={.data}=1 --timeout=1s',
  'cm/a --for=jsonpath={.data.x}= --timeout=1s',
  'cm/a --for=jsonpath={.data.x --timeout=1s',
  'cm/a --for=jsonpath= --timeout=1s',
  'cm/a --for=jsonpath={.data.x}{.data.list} --timeout=1s',
  'cm/a --for=jsonpath={.data.x}=1=1 --timeout=1s',
  'deploy/d --for=jsonpath={.spec.replicas}=2',
  'deploy/d --for=jsonpath={.spec.template.spec.containers[0].name}=c',
  'deploy/d --for=jsonpath={.status.conditions[?(@.type=="Available")].status}=True',
  'cm a b --for=jsonpath={.data.x}=1',
  'cm a b --for=jsonpath={.data.a}=a --timeout=5s',
  'cm/a --for=jsonpath={.data.x}=1 --timeout=-1s',
  'cm/a cm/none --for=jsonpath={.data.x}=1',
  'cm -l set=maps --for=jsonpath={.data.x}=1',
  'cm --field-selector metadata.name=b --for=jsonpath={.data.x}=1',
  'cm --field-selector metadata.name=none --for=jsonpath={.data.x}=1',
  'cm -l set=none --for=jsonpath={.data.x}=1',
  'cm -A -l set=maps --for=jsonpath={.data.x}=1',
  'deploy --all -A --for=condition=Available',
  'deploy/d --for=condition=Available',
  'deploy/d --for=condition=available=true',
  'deploy/d --for=condition=Progressing=False',
  'deploy/d --for=condition=Available=False --timeout=1s',
  'deploy/d --for=condition=Nosuch --timeout=1s',
  'deploy/d --for=condition=Available --timeout=0',
  'deploy/d --for=condition=Nosuch --timeout=0',
  'deploy/d --for=condition=Available=True=x --timeout=1s',
  'deploy/d --for=condition= --timeout=1s',
  'deploy/none --for=condition=Available --timeout=1s',
  'pods --all --for=condition=Ready',
  'pods -l a=b --for=condition=Ready',
  '-f FILE --for=jsonpath={.data.x}=1',
  'cm/a --for=jsonpath={.data.x}=1 -o name',
  'deploy/d --for=condition=Available -o jsonpath={.spec.replicas}',
  'cm/a --for=jsonpath={.data.x}=1 -o nosuch',
  'cm/a --for=nosuch',
  'cm/a',
  '--for=delete',
  'cm --for=delete',
  'nosuch/a --for=delete',
  'cm/a -A --for=delete',
];

/** Lines for which ctl adds a note with the first cause after the timeout. */
const withCause: ReadonlySet<string> = new Set([
  'deploy/d --for=condition=Available=False --timeout=1s',
  'deploy/d --for=condition=Nosuch --timeout=1s',
  'deploy/d --for=condition=Available=True=x --timeout=1s',
]);

/** Faults for which the message of ctl is longer, or comes at once instead of after the timeout. */
const inOwnWords: ReadonlySet<string> = new Set([
  'cm --for=create',
  'cm --for=delete',
  '--for=delete',
  'cm/a',
  'cm/a --for=nosuch',
  'cm/a --for=jsonpath={.data.x}=1 -o nosuch',
  'cm/a --for=jsonpath={.data}=1 --timeout=1s',
  'deploy/d --for=condition= --timeout=1s',
  'nosuch/a --for=delete',
]);

const withoutCause = (line: string, result: Result): Result =>
  withCause.has(line) ? { ...result, err: result.err.replace(/^Note: deployments\/d: .*\n/, '') } : result;

describe('ctl wait beside kubectl 1.32', { skip: unlessKubectl('1.32') }, () => {
  let beside: BesideKubectl;
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'minik8s-wait-'));
    beside = await startBesideKubectl();
    await writeFile(join(root, 'a.json'), JSON.stringify(maps[0]));
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...maps, deployment] });
    const created = await beside.kubectl(['create', '-f', '-'], { stdin });
    assert.equal(created.status, 0, created.err);
    const patch = ['patch', 'deploy/d', '--subresource=status', '--type=merge', '-p', JSON.stringify(status)];
    const patched = await beside.kubectl(patch);
    assert.equal(patched.status, 0, patched.err);
  });
  after(async () => {
    await beside.server.stop();
    await rm(root, { recursive: true, force: true });
  });

  it('prints the same and ends with the same status', async () => {
    const compare = async (line: string) => {
      const args = ['wait', ...line.replace('FILE', join(root, 'a.json')).split(' ')];
      const [ours, theirs] = await Promise.all([beside.ctl(args), beside.kubectl(args)]);
      return { line, ours: comparable(withoutCause(line, ours)), theirs: comparable(theirs) };
    };
    // On a busy machine kubectl reports the end of its time as a failed request.
    const isOwn = (line: string, { err }: Result) => inOwnWords.has(line) || /deadline/.test(err);
    const isSame = ({ line, ours, theirs }: Awaited<ReturnType<typeof compare>>) =>
      ours.status === theirs.status &&
      ours.out === theirs.out &&
      (isOwn(line, theirs) ? ours.err !== '' && theirs.err !== '' : ours.err === theirs.err);
    const different: unknown[] = [];
    for (let at = 0; at < lines.length; at += 8) {
      const done = await Promise.all(lines.slice(at, at + 8).map(compare));
      different.push(...done.filter((each) => !isSame(each)));
    }
    assert.deepEqual(different, []);
  });
});

/**
 * Returns the result without the log lines of kubectl, which it writes for a watch that it has ended itself.
 */
const comparable = ({ status, out, err }: Result) => ({
  status,
  out,
  err: err.replaceAll(/^[EWI]\d{4} .*\n/gm, '').trimEnd(),
});
