/** Manifests, their errors, and errors of command lines: `ctl` beside the available kubectls. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { parseYaml } from '../../../src/apimachinery/yaml.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlsOf, unlessKubectl } from '../../fixtures/kubectls.ts';
import { badYaml, exactNumbers, yamlScalars } from '../../fixtures/yaml-scalars.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const readOnly = ['create', '--dry-run=client', '--validate=false', '-o', 'json', '-f', '-'];

/** Command lines, each with the exit status of kubectl 1.32: 0 or 1. */
const commandLines = [
  '',
  '--help',
  'nosuch',
  '--nosuch',
  'aply -f x.yaml',
  'get',
  'get --nosuch',
  'get -Z',
  'get pdos',
  'get pods -o',
  'get pods -o nosuch',
  'get pods/a b',
  'get pods a --all-namespaces',
  'get pods --watch=maybe',
  'get pods --context=nosuch',
  'get pods --kubeconfig=/nonexistent',
  'get -f',
  'get --raw',
  'get --raw /nosuch',
  'get pods,svc -w',
  'describe',
  'describe pods nosuch',
  'apply',
  'apply -f',
  'apply -f /nonexistent.yaml',
  'apply -f - -f -',
  'apply --dry-run=nosuch -f -',
  'create -f -',
  'delete',
  'delete pods',
  'delete pods --cascade=nosuch --all',
  'logs',
  'logs nosuch',
  'logs nosuch --tail=x',
  'exec',
  'exec nosuch',
  'exec nosuch -- true',
  'run',
  'run x',
  'scale deploy x',
  'autoscale',
  'autoscale deploy x',
  'autoscale deploy x --max=2 --min=3',
  'autoscale deploy x --max=y',
  'scale deploy x --replicas=x',
  'label',
  'label cm x',
  'annotate cm x y',
  'patch cm x',
  'patch cm x -p {',
  'rollout',
  'rollout nosuch',
  'rollout status',
  'wait pods --all',
  'wait --for=nosuch pods --all',
  'cp a b',
  'cp',
  'port-forward nosuch',
  'drain',
  'taint',
  'cordon',
  'explain',
  'explain nosuch',
  'config',
  'config nosuch',
  'config use-context nosuch',
  'version --nosuch',
  'api-resources extra',
] as const;

describe('beside kubectl', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  let kubeconfig: string;

  before(async () => {
    ({ server, kubeconfig, ctl, kubectl } = await startBesideKubectl({ clock: new FakeClock() }));
  });
  after(() => server.stop());

  for (const { version, path } of kubectlsOf(['1.27', '1.28', '1.29', '1.30', '1.31', '1.32', '1.33'])) {
    it(`kubectl ${version} reads YAML as ctl and the server do`, async () => {
      const text = `${head}x:\n${yamlScalars.map(([scalar]) => `- key: ${scalar}\n`).join('')}`;
      const { status, out, err } = await kubectlFor(kubeconfig, path)(readOnly, { stdin: text });
      assert.equal(status, 0, err);
      const theirs = (JSON.parse(out) as { readonly x: readonly { readonly key: unknown }[] }).x;
      const ours = parseYaml(text).value as { readonly x: readonly unknown[] };
      assert.deepEqual(ours.x, theirs);
      for (const [index, [scalar, value]] of yamlScalars.entries())
        assert.deepEqual(theirs[index]?.key, value, scalar);
    });
  }

  for (const number of exactNumbers) {
    it(`kubectl keeps ${number} to the last digit; ctl refuses it rather than change it`, async () => {
      const stdin = `${head}x: ${number}\n`;
      const [ours, theirs] = await Promise.all([ctl(readOnly, { stdin }), kubectl(readOnly, { stdin })]);
      assert.deepEqual([ours.status, theirs.status], [1, 0], ours.out + theirs.err);
      assert.match(ours.err, /is a whole number beyond 2\^53/);
    });
  }

  for (const bad of badYaml) {
    it(`both refuse ${bad}`, async () => {
      const stdin = `${head}x: ${bad}\n`;
      const [ours, theirs] = await Promise.all([ctl(readOnly, { stdin }), kubectl(readOnly, { stdin })]);
      assert.deepEqual([ours.status, theirs.status], [1, 1], ours.out + theirs.out);
    });
  }

  it('the server reads application/yaml the same way, and a label that is y is refused by all', async () => {
    const stdin = head.replace('a}', 'a, labels: {app: y}}');
    const [ours, theirs] = await Promise.all([
      ctl(['create', '-f', '-'], { stdin }),
      kubectl(['create', '-f', '-'], { stdin }),
    ]);
    assert.deepEqual([ours.status, theirs.status], [1, 1]);
    assert.match(ours.err, /^Warning: STDIN:3: metadata\.labels\.app: YAML reads y as true; write "y"/);
    assert.match(
      ours.err,
      /STDIN:3: metadata\.labels\.app: expected a string, got the boolean true; put it in quotes/,
    );
    assert.match(theirs.err, /cannot unmarshal bool/);
    const { status } = await server.call('POST', '/api/v1/namespaces/default/configmaps', stdin, {
      headers: { 'content-type': 'application/yaml' },
    });
    assert.equal(status, 400);
  });

  const invalid = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'bad' },
    spec: { restartPolicy: 'Sometimes', containers: [{ name: 'A_B', image: '' }, {}] },
  };
  for (const [what, object] of [
    ['several faults are a list', invalid],
    [
      'one fault is a line',
      { ...invalid, spec: { containers: [{ name: 'A_B', image: 'x', terminationMessagePolicy: 'File' }] } },
    ],
  ] as const) {
    it(what, async () => {
      const args = ['create', '--validate=false', '-f', '-'];
      const stdin = JSON.stringify(object);
      const [ours, theirs] = await Promise.all([ctl(args, { stdin }), kubectl(args, { stdin })]);
      assert.equal(ours.err, theirs.err);
      assert.match(ours.err, /^The Pod "bad" is invalid: /);
      assert.equal(ours.status, theirs.status);
    });
  }

  const map = (name: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}}`;
  for (const [what, text, status] of [
    ['two JSON objects on lines of their own', `${map('one')}\n${map('two')}\n`, 0],
    ['two JSON objects on one line', `${map('one')}${map('two')}`, 0],
    ['two JSON objects and other text after them', `${map('one')}\n${map('two')}\nend\n`, 1],
    ['two JSON objects, the second not closed', `${map('one')}\n${map('two').slice(0, -1)}`, 1],
    ['a JSON object that is closed twice', `${map('one')}}`, 1],
  ] as const) {
    it(`reads ${what} as kubectl does`, async () => {
      const args = ['create', '--dry-run=client', '--validate=false', '-o', 'name', '-f', '-'];
      const [ours, theirs] = await Promise.all([ctl(args, { stdin: text }), kubectl(args, { stdin: text })]);
      assert.deepEqual([ours.status, theirs.status], [status, status], ours.err + theirs.err);
      assert.equal(ours.out, theirs.out);
      if (status === 1)
        assert.match(ours.err, /^error: error parsing STDIN: json: offset \d+: .* \(line \d, /);
    });
  }

  for (const line of commandLines) {
    it(`ends as kubectl does: ${line || 'without a message'}`, async () => {
      const words = line.split(' ').filter(Boolean);
      const [ours, theirs] = await Promise.all([ctl(words), kubectl(words)]);
      assert.equal(ours.status, theirs.status, `${ours.err}\nkubectl: ${theirs.err}`);
    });
  }

  it('output differs from kubectl only by colour on a terminal, and in nothing elsewhere', async () => {
    const args = ['get', 'ns'];
    const [piped, theirs] = await Promise.all([ctl(args), kubectl(args)]);
    assert.deepEqual(piped, theirs);
    const onTerminal = ctlFor(kubeconfig, { columns: { out: 80, err: 80 } });
    const told = async (env: Record<string, string>, ...more: string[]) =>
      (await onTerminal([...args, ...more], { env })).out;
    const colored = await told({ TERM: 'xterm' });
    assert.ok(colored.includes('\u001b[32mActive\u001b[39m'), colored);
    assert.equal(stripVTControlCharacters(colored), theirs.out);
    assert.equal((await ctl([...args, '--color=always'])).out, colored);
    for (const plain of [told({ NO_COLOR: '1' }), told({ TERM: 'dumb' }), told({}, '--color=never')])
      assert.equal(await plain, theirs.out);
    const { err } = await onTerminal(['get', 'cm', 'nosuch']);
    assert.ok(err.startsWith('\u001b[31mError from server (NotFound):\u001b[39m'), err);
    assert.match((await ctl([...args, '--color=red'])).err, /--color: expected auto, always, never/);
  });

  it('a mistyped word gets a suggestion', async () => {
    const told = async (...args: string[]) => (await ctl(args)).err;
    assert.match(await told('get', 'pdos'), /doesn't have a resource type "pdos"\. Did you mean pods\?\n$/);
    assert.match(await told('aply', '-f', 'x'), /unknown command aply: did you mean apply\?\n$/);
    assert.match(
      await told('get', '--sort-bye', 'x'),
      /unknown flag --sort-bye: did you mean --sort-by\?\n$/,
    );
    assert.match(await told('alpha', 'x'), /unknown command alpha: kubectl's alpha commands change/);
    const kinds = [
      [
        'resource.k8s.io/v1',
        'ResourceClaim',
        /: ResourceClaim is known to Kubernetes, not served by minik8s\n$/,
      ],
      ['apps/v1', 'Replicaset', /no kind Replicaset in apps\/v1; did you mean ReplicaSet \(apps\/v1\)\?/],
      ['v1', 'pod', /no kind pod in v1; did you mean Pod \(v1\)\?/],
      ['v1', 'Dns', /no kind Dns in v1; Dns is served as minik8s\.io\/v1/],
      ['""', 'Dns', /apiVersion is missing: write apiVersion: minik8s\.io\/v1 for a Dns/],
      ['""', 'dns', /apiVersion is missing; did you mean Dns \(minik8s\.io\/v1\)\?/],
      ['""', 'Blub', /apiVersion is missing: the Blub needs one, such as v1 or apps\/v1/],
    ] as const;
    for (const [apiVersion, kind, expected] of kinds) {
      const stdin = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n`;
      const { status, err } = await ctl(['apply', '-f', '-'], { stdin });
      assert.equal(status, 1);
      assert.match(err, expected);
    }
  });
});
