/**
 * Sixty faults that a real node makes: `ctl why` names the first cause of at least 55 of them, and each
 * object is healthy once the named change is made.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testAuthority } from '../fixtures/certificates.ts';
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
      readonly mend?: readonly { readonly command?: string }[];
    }[];
  }[];
}

/** Number of faults whose first cause must be named. */
const least = 55;
const nginxImage = `minik8s-test/nginx-made:${process.pid}`;
const [total, waitMs] = [60, 300_000];

test('ctl why names the first cause of at least 55 of 60 faults on a real node, and the named change mends each', async (context) => {
  assert.equal(madeFaults.length, total);
  // An Ingress has causes of its own only if a node serves Ingresses.
  context.after(() => docker('image', 'rm', '-f', nginxImage).then(() => undefined));
  await makeNginxImage(nginxImage);
  const host = await Host.start(context, { images: [helloImage, nginxImage] });
  const cluster = await Cluster.start(context, { host, flags: [`--nginx-image=${nginxImage}`] });
  const ctl = (...words: string[]) => cluster.run('ctl', ...words, '--kubeconfig', cluster.kubeconfig);
  const namespaceOf = (fault: MadeFault) => `made-${madeFaults.indexOf(fault) + 1}`;

  /** Runs a kubectl with the objects of a fault, in its namespace, as input. */
  async function send(fault: MadeFault, objects: readonly object[], ...words: string[]): Promise<void> {
    const namespace = namespaceOf(fault);
    const items = objects.map((one) => ({
      ...one,
      metadata: { ...(one as { metadata: object }).metadata, namespace },
    }));
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stderr } = await cluster.kubectl.attempt([...words, '-f', '-'], { input });
    assert.equal(code, 0, `${fault.mistake}: ${stderr}`);
  }

  async function make(fault: MadeFault): Promise<void> {
    const namespace = namespaceOf(fault);
    const metadata = { name: namespace, labels: labelsOf(fault) };
    const space = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata });
    const { code, stderr } = await cluster.kubectl.attempt(['create', '-f', '-'], { input: space });
    assert.equal(code, 0, stderr);
    await send(fault, fault.objects, 'create');
    if (fault.next) await ctl(...fault.next, '-n', namespace);
  }

  const why = async (fault: MadeFault) =>
    JSON.parse(await ctl('why', fault.ask, '-n', namespaceOf(fault), '-o', 'json')) as Answer;
  /** Changes that were named together with the right cause. */
  const named = new Map<MadeFault, readonly string[]>();

  /** Returns what `ctl why` names as the first cause: its sentence, its evidence and the log. */
  async function causeOf(fault: MadeFault): Promise<string> {
    const cause = (await why(fault)).problems[0]?.chain.at(-1);
    named.set(
      fault,
      (cause?.mend ?? []).flatMap(({ command }) => command ?? []),
    );
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

  const files = await certificateFiles(host.directory);
  for (const fault of madeFaults) await mend(fault);
  const unwell = new Map<MadeFault, string>();
  await waitFor(
    'all objects are healthy',
    async () => {
      // All of them each time: a container that fails again and again runs for a moment in between.
      unwell.clear();
      for (const fault of madeFaults) {
        const problem = await problemOf(fault);
        if (problem !== undefined) unwell.set(fault, problem);
      }
      if (unwell.size > 0)
        throw new Error([...unwell].map(([{ mistake }, problem]) => `${mistake}: ${problem}`).join('\n'));
      return true;
    },
    { intervalMs: 3_000, timeoutMs: waitMs },
  );

  async function mend(fault: MadeFault): Promise<void> {
    const { run = [], named: change, again = [], add = [] } = fault.mend;
    for (const line of run) await ctl(...line, '-n', namespaceOf(fault));
    if (change) await ctl(...filled(fault, change));
    if (again.length > 0) await send(fault, again, 'replace', '--force', '--grace-period=1');
    if (add.length > 0) await send(fault, add, 'create');
  }

  /** Returns the words of the named command, with its gaps filled. */
  function filled(fault: MadeFault, { of, gaps = {} }: NonNullable<MadeFault['mend']['named']>): string[] {
    const line = named.get(fault)?.find((command) => !of || of.test(command));
    assert.match(line ?? '', /^minik8s ctl /, `${fault.mistake}: ${named.get(fault)?.join()}`);
    let text = (line ?? '').replace('minik8s ctl ', '');
    for (const [gap, value] of Object.entries({ ...gaps, ...files })) {
      if (gap in gaps) assert.match(text, new RegExp(gap), fault.mistake);
      text = text.replace(new RegExp(gap), value);
    }
    return shellWords(text);
  }

  /** Returns the problem of the object; undefined if it has none, or is gone as it should be. */
  async function problemOf(fault: MadeFault): Promise<string | undefined> {
    try {
      const { problems } = await why(fault);
      const chain = problems.flatMap((one) => one.chain.map(({ says }) => says));
      return chain.length === 0 ? undefined : chain.join();
    } catch (error) {
      if (fault.mend.removes && /not found/.test(String(error))) return undefined;
      throw error;
    }
  }
});

/** Splits a line as a shell does that has no variables: at blanks that stand in no single quotes. */
const shellWords = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|\\.|[^\s'])+/g)].map(([word]) =>
    word.replace(
      /'([^']*)'|\\(.)/g,
      (_, quoted: string | undefined, escaped: string | undefined) => quoted ?? escaped ?? '',
    ),
  );

/** Writes a certificate of its own authority; returns the paths by the words that stand for them. */
async function certificateFiles(directory: string): Promise<Readonly<Record<string, string>>> {
  const { certificate, key } = await testAuthority();
  const paths = { MADE_CERTIFICATE: join(directory, 'made.crt'), MADE_KEY: join(directory, 'made.key') };
  await writeFile(paths.MADE_CERTIFICATE, certificate);
  await writeFile(paths.MADE_KEY, key);
  return paths;
}
