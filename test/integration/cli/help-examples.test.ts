/** The examples of the help, run unchanged against an API server. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verbs } from '../../../src/cli/commands/index.ts';
import type { Verb, VerbGroup } from '../../../src/cli/verb.ts';
import { ctlFeatures } from '../../../src/features/ctl.ts';
import { exampleParts } from '../../../src/terminal/usage-page.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { ctlCommandsIn } from '../../fixtures/example-lines.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { exampleFiles, exampleObjects } from './help-example-objects.ts';

const found = new Map<string, string>();
const collect = (path: string, verb: Verb | VerbGroup): void => {
  for (const example of verb.examples ?? []) if (!found.has(example)) found.set(example, path);
  for (const [name, one] of Object.entries('verbs' in verb ? verb.verbs : (verb.inner ?? {})))
    collect(`${path} ${name}`, one);
};
for (const [name, load] of Object.entries({ ...verbs, ...ctlFeatures.verbs })) collect(name, await load());

/** Examples that need more than an API server; test/unit/cli/verb-help.test.ts parses them. */
const needsMore: readonly [RegExp, reason: string][] = [
  [/^ctl (exec|attach|cp|logs|port-forward) /, 'a node'],
  [/^ctl (run -it|rollout (status|undo|history)|wait) /, 'a node or controllers'],
  [/ (-w|--watch|-f deployment\/web)$|logs .* -f$/, 'an end by Ctrl-C'],
  [/^(KUBE_EDITOR=|ctl edit )| --edit$|edit-last-applied/, 'an editor'],
  [/^ctl (debug|image|proxy|dashboard|cluster-info dump)\b/, 'a node, a dashboard, or an end by Ctrl-C'],
  [/^ctl kustomize /, 'a kustomization'],
  [/^ctl diff .*--server-side$/, 'objects without another manager'],
  [/ --raw /, 'the namespace default'],
  [/ --timeout=/, 'controllers'],
  [
    /^ctl (function (invoke|logs)|execute|trigger (fire|replay)|workflow (run|wait|stop|history)) /,
    'functions',
  ],
  [/^ctl (drain|slurm results) /, 'a node or Slurm'],
  [/^ctl (certificate|create secret tls) /, 'certificates'],
  [/ --wait$/, 'a node'],
  [/^ctl plugin list/, 'a plugin'],
  [/^ctl top /, 'the metrics of a node'],
  [/^ctl replace .*--force\b|^ctl delete (?!.*--wait=false)/, 'controllers that delete'],
  [/^ctl kuberc /, 'a home folder'],
  [/^ctl config |^source |^ctl completion zsh >/, 'a shell or another kubeconfig'],
];

/** Examples that create the objects which other examples use. */
const making = /^ctl (create (?!token|job now)|run |(function|trigger|workflow|slurm) create )/;
/** Commands that report by their exit status. */
const statusOf = (line: string) => (/ ctl diff |^ctl (diff|auth can-i list pods --as)/.test(line) ? 1 : 0);
/**
 * Commands that print nothing here: the server has none of the objects that they list, or nothing is to be
 * reported.
 */
const listsNothing = /^ctl (get (csr|slurmjobs)|events|trigger events|workflow runs|slurm cancel)/;

/** Commands that create further objects, which only some examples use. */
const preparations: readonly [RegExp, ...commands: string[]][] = [
  [/current-replicas=2/, 'scale deployment/web --replicas=2'],
  [/view-last-applied/, 'apply -f web.yaml'],
  [/rollout resume/, 'rollout pause deployment/web'],
  [/^ctl function |^ctl update function /, 'function create hello --from ./hello/'],
  [/^ctl trigger /, 'trigger create nightly --function report --schedule @daily'],
  [/^ctl workflow /, 'workflow create order --definition order.yaml'],
  [/^ctl slurm cancel/, 'slurm create fit --connection hpc --run-command true'],
  [
    /^ctl set .*clusterrolebinding readers/,
    'delete clusterrolebinding readers --ignore-not-found --wait=false',
    'create clusterrolebinding readers --clusterrole=view --user=eve',
  ],
];

describe('the examples of the help', { timeout: 600_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let folder: string;
  before(async () => {
    server = await startHttpsTestServer();
    ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
    folder = await mkdtemp(join(tmpdir(), 'help-examples-'));
    for (const [path, text] of Object.entries(exampleFiles)) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Puts the folder in front of the files of the examples. */
  const inFolder = (word: string) =>
    word.replace(
      /^(@|(?:--[\w-]+=)?(?:[\w.-]+=)?)?(?:\.\/)?([\w.-]+)(\/?)$/,
      (whole, prefix = '', name = '', slash = '') =>
        // A label may have the value of a folder's name.
        prefix !== 'app=' &&
        Object.keys(exampleFiles).some((path) => path === name || path.startsWith(`${name}/`)) &&
        (prefix !== '' || slash !== '' || whole.includes('.'))
          ? `${prefix}${join(folder, name)}`
          : whole,
    );

  const made = async (args: readonly string[], stdin = '') => {
    const { status, err } = await ctl(args, { stdin });
    assert.equal(status, 0, `${args.join(' ')}: ${err}`);
  };

  /** Creates the objects that an example uses. */
  const prepare = async (line: string, namespace: string) => {
    if (making.test(line)) return;
    const items = exampleObjects.items.filter(({ kind }) => kind !== 'Service' || !line.includes(' expose '));
    await made(['create', '-n', namespace, '-f', '-'], JSON.stringify({ ...exampleObjects, items }));
    for (const [pattern, ...commands] of preparations)
      if (pattern.test(line))
        for (const words of commands) await made([...words.split(' ').map(inFolder), '-n', namespace]);
  };

  let count = 0;
  const runnable = [...found.keys()].filter(
    (one) => !needsMore.some(([pattern]) => pattern.test(exampleParts(one).line)),
  );
  for (const example of runnable) {
    const { line } = exampleParts(example);
    it(line, async () => {
      const namespace = `e${++count}`;
      assert.equal((await ctl(['create', 'namespace', namespace])).status, 0);
      await prepare(line, namespace);
      let stdin = exampleFiles['web.yaml'] ?? '';
      for (const words of ctlCommandsIn(example)) {
        const end = words.indexOf('--');
        const own = ['-n', namespace];
        const at = end < 0 ? words.length : end;
        const given = [...words.slice(0, at).map(inFolder), ...own, ...words.slice(at)];
        const result = await ctl(given, { stdin });
        assert.equal(result.status, statusOf(line), `${given.join(' ')}: ${result.err}`);
        if (!listsNothing.test(line)) assert.notEqual(result.out, '', result.err);
        stdin = result.out;
      }
    });
  }

  it('runs most of the examples', () => {
    assert.ok(runnable.length > 80, `${runnable.length} of ${found.size}`);
  });
});
