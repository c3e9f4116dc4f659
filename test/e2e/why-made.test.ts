/** Sixty faults that a real node makes: `ctl why` names the first cause of at least 55 of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { Cluster } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import type { MadeFault } from './harness/made-faults/made-fault.ts';
import { labelsOf, madeFaults } from './harness/made-faults.ts';
import { waitFor } from './harness/wait-for.ts';

interface Answer {
  readonly problems: readonly {
    readonly chain: readonly {
      readonly says: string;
      readonly evidence?: readonly string[];
      readonly log?: readonly string[];
    }[];
  }[];
}

/** Number of faults whose first cause must be named. */
const least = 55;
const nginxImage = `minik8s-test/nginx-made:${process.pid}`;
const [total, waitMs] = [60, 300_000];

test('ctl why names the first cause of at least 55 of 60 faults on a real node', async (context) => {
  assert.equal(madeFaults.length, total);
  // An Ingress has causes of its own only if a node serves Ingresses.
  context.after(() => docker('image', 'rm', '-f', nginxImage).then(() => undefined));
  await makeNginxImage(nginxImage);
  const host = await Host.start(context, { images: [helloImage, nginxImage] });
  const cluster = await Cluster.start(context, { host, flags: [`--nginx-image=${nginxImage}`] });
  const ctl = (...words: string[]) => cluster.run('ctl', ...words, '--kubeconfig', cluster.kubeconfig);
  const namespaceOf = (fault: MadeFault) => `made-${madeFaults.indexOf(fault) + 1}`;

  async function make(fault: MadeFault): Promise<void> {
    const namespace = namespaceOf(fault);
    const space = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: labelsOf(fault) },
    };
    const objects = fault.objects.map((one) => ({
      ...one,
      metadata: { ...(one as { metadata: object }).metadata, namespace },
    }));
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [space, ...objects] });
    const { code, stderr } = await cluster.kubectl.attempt(['create', '-f', '-'], { input });
    assert.equal(code, 0, `${fault.mistake}: ${stderr}`);
    if (fault.next) await ctl(...fault.next, '-n', namespace);
  }

  /** Returns what `ctl why` names as the first cause: its sentence, its evidence and the log. */
  async function causeOf(fault: MadeFault): Promise<string> {
    const answer = JSON.parse(await ctl('why', fault.ask, '-n', namespaceOf(fault), '-o', 'json')) as Answer;
    const cause = answer.problems[0]?.chain.at(-1);
    return cause ? [cause.says, ...(cause.evidence ?? []), ...(cause.log ?? [])].join('\n') : 'nothing';
  }

  for (const fault of madeFaults) await make(fault);
  const last = new Map<MadeFault, string>();
  let open = [...madeFaults];
  const isNamed = async (fault: MadeFault) => {
    const cause = await causeOf(fault).catch(String);
    last.set(fault, cause);
    return fault.words.every((word) => word.test(cause));
  };
  await waitFor(
    'the causes of all faults',
    async () => {
      const left: MadeFault[] = [];
      for (const fault of open) if (!(await isNamed(fault))) left.push(fault);
      open = left;
      return open.length === 0;
    },
    { intervalMs: 5_000, timeoutMs: waitMs },
  ).catch(() => undefined);
  const missed = open.map((fault) => `${fault.mistake}: ${last.get(fault)}`);
  context.diagnostic(`named: ${total - missed.length} of ${total}`);
  for (const one of missed) context.diagnostic(`not named: ${one}`);
  assert.ok(total - missed.length >= least, missed.join('\n'));
});
