/**
 * `ctl why` on a real node: each fault is made, its rule is named as the first cause, and the change that it
 * names mends the object.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { Cluster } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';
import { type Fault, faults } from './harness/why-faults.ts';

interface Answer {
  readonly problems: readonly {
    readonly subjects: readonly { readonly kind: string; readonly namespace?: string }[];
    readonly chain: readonly {
      readonly rule: string;
      readonly says: string;
      readonly log?: readonly string[];
      readonly mend: readonly { readonly command?: string }[];
    }[];
  }[];
}

const nginxImage = `minik8s-test/nginx-why:${process.pid}`;
const slowly = { intervalMs: 2000, timeoutMs: 150_000 };

test('ctl why names the cause of each fault first, and the named change mends the object', async (context) => {
  // An Ingress has no problem only if a node serves it.
  context.after(() => docker('image', 'rm', '-f', nginxImage).then(() => undefined));
  await makeNginxImage(nginxImage);
  const host = await Host.start(context, { images: [helloImage, nginxImage] });
  const cluster = await Cluster.start(context, { host, flags: [`--nginx-image=${nginxImage}`] });
  const ctl = (...words: string[]) => cluster.run('ctl', ...words, '--kubeconfig', cluster.kubeconfig);
  const ask = async (...words: string[]) => JSON.parse(await ctl('why', ...words, '-o', 'json')) as Answer;
  const make = async ({ namespace, objects }: Fault) => {
    const items = objects.map((object) => ({ ...object, metadata: { namespace, ...object.metadata } }));
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [space, ...items] });
    const { code, stderr } = await cluster.kubectl.attempt(['create', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
  };
  /** Returns the problems of the whole cluster that begin with an object of the namespace. */
  const inNamespace = ({ problems }: Answer, namespace: string) =>
    problems.filter(({ subjects }) => subjects.some((one) => one.namespace === namespace));

  await Promise.all(faults.map(make));
  await waitFor(
    'all causes',
    async () => {
      const answer = await ask('-A');
      const missing = faults.filter(({ namespace, rule, says }) => {
        const first = inNamespace(answer, namespace)[0]?.chain.at(-1);
        return first?.rule !== rule || !says.test(first.says);
      });
      const seen = missing.map(({ namespace, rule }) => [namespace, rule, inNamespace(answer, namespace)]);
      if (missing.length > 0) throw new Error(JSON.stringify(seen));
      return true;
    },
    slowly,
  );
  for (const { namespace, subject, says, log, mend, words } of faults) {
    // A container that fails again and again runs for a moment in between.
    const first = await waitFor(
      `the cause in ${namespace}`,
      async () => {
        const [problem] = (await ask(subject, '-n', namespace)).problems;
        const cause = problem?.chain.at(-1);
        if (!says.test(cause?.says ?? '')) throw new Error(JSON.stringify(problem));
        return cause;
      },
      slowly,
    );
    if (log) assert.match((first?.log ?? []).join('\n'), log);
    const command = first?.mend[0]?.command ?? '';
    if (mend) for (const line of mend) await ctl(...line, '-n', namespace);
    else {
      assert.match(command, /^minik8s ctl /, `${namespace}: a change is named as a command`);
      await ctl(...words(command.slice('minik8s ctl '.length).replace('IMAGE', helloImage)));
    }
  }
  await waitFor(
    'no problem found',
    async () => {
      const { problems } = await ask('-A');
      if (problems.length > 0) throw new Error(JSON.stringify(problems));
      return true;
    },
    slowly,
  );
  assert.equal(await ctl('why', '-A'), 'no problem found\n');
  assert.match(await ctl('why', 'deployment/web', '-n', 'why-image'), /^deployment\/web has no problem$/m);
});
