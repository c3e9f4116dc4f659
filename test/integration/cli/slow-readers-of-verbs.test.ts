/**
 * Every verb of ctl in a pipe, with a reader that sleeps and with one that ends early. A verb without a case
 * in the table below is tested with the output of its help.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verbs } from '../../../src/cli/commands/index.ts';
import { ctlFeatures } from '../../../src/features/ctl.ts';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { type Ctl, ctlFor, noHome } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');
/** Size of a pipe's buffer in Linux: a process that exits too early loses the output beyond it. */
const pipeSize = 65_536;
/** Less than the maximum length of one argument of a program. */
const text = 'x'.repeat(100_000);
const annotations = { text };
const log = Buffer.from('a line of a log\n'.repeat(10_000));

/**
 * Commands with more output than a pipe holds. `FILE` is a manifest of the ConfigMap `big`.
 */
const large: Readonly<Record<string, readonly string[]>> = {
  get: ['configmap', 'big', '-o', 'json'],
  describe: ['configmap', 'big'],
  apply: ['-f', 'FILE', '--dry-run=server', '-o', 'json'],
  replace: ['-f', 'FILE', '--dry-run=server', '-o', 'json'],
  diff: ['-f', 'FILE'],
  create: ['-f', 'FILE', '--dry-run=client', '-o', 'yaml'],
  logs: ['p'],
  label: ['configmap', 'big', 'a=b', '--dry-run=server', '-o', 'json'],
  annotate: ['configmap', 'big', 'a=b', '--dry-run=server', '-o', 'yaml'],
  patch: ['configmap', 'big', '-p', '{"data":{"b":"c"}}', '--dry-run=server', '-o', 'json'],
  scale: ['deployment', 'web', '--replicas=2', '--dry-run=server', '-o', 'json'],
  set: ['image', 'deployment/web', 'web=nginx:2', '--dry-run=server', '-o', 'yaml'],
  run: ['x', '--image=x', `--env=LONG=${text}`, '--dry-run=client', '-o', 'yaml'],
  taint: ['node', 'n', 'a=b:NoSchedule', '--dry-run=server', '-o', 'json'],
};

/** Commands with less output. */
const small: Readonly<Record<string, readonly string[]>> = {
  explain: ['pod', '--recursive'],
  delete: ['configmap', 'big', '--dry-run=server'],
  expose: ['deployment', 'web', '--port=80', '--dry-run=client', '-o', 'yaml'],
  autoscale: ['deployment', 'web', '--max=2', '--dry-run=client', '-o', 'yaml'],
  cordon: ['n', '--dry-run=server'],
  uncordon: ['n', '--dry-run=server'],
  wait: ['configmap/big', '--for=jsonpath={.metadata.name}=big'],
  auth: ['can-i', '--list'],
  'api-resources': [],
  'api-versions': [],
  config: ['view', '--raw'],
  completion: ['bash'],
  options: [],
  version: ['--client'],
};

describe('the output of each verb to a pipe', { timeout: 600_000, concurrency: 3 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let env: Record<string, string>;
  let files: Readonly<Record<string, string>>;

  before(async () => {
    server = await startHttpsTestServer({ nodeConnection: async () => new Response(new Blob([log])) });
    const kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
    ctl = ctlFor(kubeconfig, { env: { KUBECONFIG: kubeconfig, PATH: process.env.PATH } });
    env = { KUBECONFIG: kubeconfig, HOME: noHome, PATH: process.env.PATH ?? '', ...compileCache };
    const pod = { nodeName: 'n', containers: [{ name: 'web', image: 'nginx' }] };
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: pod.containers } };
    const deployment = { selector: { matchLabels: labels }, template };
    const objects: readonly (readonly [string, object])[] = [
      ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'big' }, data: { text } }],
      ['/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: pod }],
      ['/api/v1/nodes', { metadata: { name: 'n', annotations } }],
      [
        '/apis/apps/v1/namespaces/default/deployments',
        { metadata: { name: 'web', annotations }, spec: deployment },
      ],
    ];
    for (const [path, object] of objects) {
      const answer = await server.call('POST', path, object);
      assert.equal(answer.status, 201, answer.text);
    }
    const manifest = async (name: string, data: object) => {
      const path = join(server.directory, `${name}.json`);
      await writeFile(
        path,
        JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'big' }, data }),
      );
      return path;
    };
    files = {
      FILE: await manifest('large', { text: `${text}y` }),
    };
  });
  after(() => server.stop());

  /** Runs `minik8s ARGS | READER` in bash, and resolves to both outputs and the status of minik8s. */
  const piped = (args: readonly string[], reader: string) =>
    new Promise<{ readonly out: string; readonly err: string; readonly status: number }>(
      (resolve, reject) => {
        const script = `"$0" "$@" | ${reader}; echo "\${PIPESTATUS[0]}" >&2`;
        const words = ['-c', script, process.execPath, main, ...args];
        execFile('bash', words, { env, maxBuffer: 64 * 1024 * 1024 }, (error, out, said) => {
          if (error) return reject(error);
          const lines = said.trimEnd().split('\n');
          const status = Number(lines.pop());
          resolve({ out, err: lines.map((line) => `${line}\n`).join(''), status });
        });
      },
    );

  /** Removes what differs in each run: ages, versions, times, and names of temporary files. */
  const steady = (output: string) =>
    output
      .replaceAll(/\d+[smhd](?= ago)|\b(?:LIVE|MERGED)-\d+\/|resourceVersion"?: "\d+"/g, '')
      .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+ ?Z?(?:[+]\d+)?/g, '');

  for (const verb of Object.keys({ ...verbs, ...ctlFeatures.verbs })) {
    const words = large[verb] ?? small[verb] ?? ['--help'];
    it(`of ${verb} reaches a reader that sleeps, and ends quietly when the reader ends`, async () => {
      const args = ['ctl', verb, ...words.map((word) => files[word] ?? word)];
      const whole = await ctl(args.slice(1));
      assert.ok(whole.out.length > (large[verb] ? pipeSize : 0), `${verb}: ${whole.out.length} characters`);
      const [slow, early] = await Promise.all([
        piped(args, '(head -c 1; sleep 1; cat)'),
        piped(args, 'head -n 1'),
      ]);
      assert.deepEqual([slow.status, slow.err], [whole.status, whole.err]);
      assert.equal(steady(slow.out).length, steady(whole.out).length);
      assert.equal(early.err, whole.err);
      // A command that has ended before its reader has its usual status.
      assert.ok([0, whole.status].includes(early.status), `status ${early.status}`);
    });
  }

  it('has cases for verbs that exist', () => {
    for (const verb of [...Object.keys(large), ...Object.keys(small)])
      assert.ok(Object.hasOwn(verbs, verb), verb);
  });
});
