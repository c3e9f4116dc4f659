/** The client under the name kubectl: what it calls itself, its version, kuberc, and KUBECONFIG lists. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CtlOptions, ctlFor, kubectlFor, type Result } from '../../fixtures/ctl.ts';
import { kubectlOf, unlessKubectl } from '../../fixtures/kubectls.ts';

const asKubectl = ctlFor(undefined, { calledAs: 'kubectl' });

describe('the client as kubectl', () => {
  it('names itself kubectl in usage and errors, and keeps its name in sentences about itself', async () => {
    const lines: [args: string[], expected: RegExp][] = [
      [['get', '--nosuch'], /^error: kubectl get: unknown flag --nosuch/],
      [['rollout', 'nosuch'], /kubectl rollout: unknown command nosuch/],
      [['scale', 'deploy', 'x'], /^error: kubectl scale: --replicas=COUNT is required/],
      [['create', 'job'], /^error: kubectl create job: exactly one NAME is required/],
      [['alpha'], /^error: kubectl: unknown command alpha: kubectl's alpha commands change/],
      [['kustomize', '--enable-helm'], /ctl runs no Helm .* \| kubectl apply -f -$/m],
    ];
    for (const [args, expected] of lines) {
      const { err, status } = await asKubectl(args);
      assert.match(err, expected);
      assert.doesNotMatch(err, /minik8s/);
      assert.equal(status, 1);
    }
    const help = await asKubectl(['get', '--help']);
    assert.match(help.out, /kubectl get/);
    assert.doesNotMatch(help.out, /minik8s ctl/);
    assert.match((await ctlFor(undefined)(['get', '--help'])).out, /minik8s ctl get/);
  });

  it('does not rename texts of objects', async () => {
    const args = 'create configmap a --dry-run=client -o yaml --from-literal=x=ctl\u00a0get'.split(' ');
    const text = args.map((word) => word.replace('\u00a0', ' '));
    assert.match((await asKubectl(text)).out, /^ {2}x: ctl get$/m);
  });

  it('prints a completion script for its name', async () => {
    const { out } = await asKubectl(['completion', 'bash']);
    assert.match(out, /^complete -F _kubectl kubectl$/m);
    assert.doesNotMatch(out, /minik8s/);
  });
});

describe('the version beside kubectl 1.32', { skip: unlessKubectl('1.32') }, () => {
  const kubectl = kubectlFor('/proc/nonexistent');
  /** Returns the shape of a version: its lines or fields without their values. */
  const shape = ({ out, status }: Result) => ({
    status,
    out: out
      .replaceAll(/(Version: v|platform: |"platform": ")[^"\n]*/g, '$1')
      .replaceAll(/(build|git|go|compiler)(\w*"?: )(.*?)(,?\n)/g, '$1$2$4'),
  });

  it('has the same lines and fields, the same level and the same kustomize', async () => {
    for (const format of ['', 'yaml', 'json']) {
      const args = ['version', '--client', ...(format ? ['-o', format] : [])];
      const [ours, theirs] = await Promise.all([asKubectl(args), kubectl(args)]);
      assert.deepEqual(shape(ours), shape(theirs));
      const kustomize = /ustomize ?Version"?: .*/.exec(theirs.out)?.[0] ?? 'none';
      assert.ok(ours.out.includes(kustomize), `${ours.out} has not ${kustomize}`);
    }
    const wrong = ['version', '--client', '-o', 'wide'];
    assert.deepEqual(await asKubectl(wrong), await kubectl(wrong));
  });
});

const head = 'apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\n';
const make = 'create configmap';
const clientYaml = '[{name: dry-run, default: client}, {name: output, default: yaml}]';

/** Contents of kuberc, with the command lines that are run with them. */
const kubercs: readonly [text: string, lines: readonly string[]][] = [
  [
    `${head}aliases:
- {name: mk, command: ${make}, prependArgs: [one], appendArgs: [--from-literal=a=b], flags: ${clientYaml}}
overrides: [{command: ${make}, flags: [{name: dry-run, default: client}, {name: output, default: name}]}]
`,
    [
      ...[
        'mk',
        'mk -o json',
        'mk -ojson',
        'mk --output=name',
        'mk -n other',
        `${make} x`,
        `${make} x -o json`,
      ],
      ...[`${make} x --output yaml`, 'version --client', 'mk --kuberc', 'mk --kuberc=/proc/nonexistent'],
      ...['version --client --kuberc /proc/nonexistent', 'mk --kuberc=FILE', 'mk --kuberc FILE'],
    ],
  ],
  ['kind: [', ['version --client', 'mk --kuberc=FILE']],
  ['apiVersion: v1\nkind: Other\n', ['version --client', 'mk --kuberc=FILE']],
  [
    `${head}nosuch: 1\naliases: [{name: mk, command: ${make}, flags: ${clientYaml}}]\n`,
    ['mk x --kuberc=FILE'],
  ],
  [`${head}aliases: [{name: m-k, command: get}]\n`, ['version --client']],
  [`${head}aliases: [{name: mk, command: get}, {name: mk, command: get}]\n`, ['version --client']],
  [`${head}aliases: [{name: mk, command: nosuch x}]\n`, ['mk x', 'version --client']],
  [
    `${head}aliases: [{name: mk, command: get, flags: [{name: --output, default: x}]}]\n`,
    ['version --client'],
  ],
  [
    `${head}overrides: [{command: version, flags: [{name: nosuch, default: x}]}, {command: nix, flags: []}]\n`,
    ['version --client', `${make} a --dry-run=client`],
  ],
  [`${head}aliases: [{name: version, command: get}]\n`, ['version --client']],
  ['', ['version --client']],
];

describe('kuberc beside kubectl 1.33', { skip: unlessKubectl('1.33') }, () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'minik8s-kuberc-'));
    await mkdir(join(home, '.kube'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  it('expands aliases, sets defaults, and reports faults as kubectl does', async () => {
    const file = join(home, '.kube', 'kuberc');
    const kubectl = kubectlFor('/proc/nonexistent', kubectlOf('1.33')?.path);
    const ctl = ctlFor(undefined, { calledAs: 'kubectl', homeDirectory: home });
    for (const [text, lines] of kubercs) {
      await writeFile(file, text);
      for (const line of lines) {
        const args = line.replace('FILE', file).split(' ');
        const env = { HOME: home, KUBECTL_KUBERC: 'true' };
        const [ours, theirs] = await Promise.all([ctl(args, { env }), kubectl(args, { env })]);
        assert.deepEqual(comparable(ours), comparable(theirs), `${line} with ${text}`);
      }
    }
  });

  it('is switched off by KUBERC=off, which excludes --kuberc', async () => {
    await writeFile(join(home, '.kube', 'kuberc'), kubercs[0]?.[0] ?? '');
    const kubectl = kubectlFor('/proc/nonexistent', kubectlOf('1.33')?.path);
    const ctl = ctlFor(undefined, { calledAs: 'kubectl', homeDirectory: home });
    const env = { HOME: home, KUBECTL_KUBERC: 'true', KUBERC: 'off' };
    for (const args of [
      ['version', '--client', '--kuberc=/x'],
      ['version', '--client'],
    ])
      assert.deepEqual(comparable(await ctl(args, { env })), comparable(await kubectl(args, { env })));
    assert.match((await ctl(['mk'], { env })).err, /unknown command mk/);
  });

  it('is ignored only with KUBECTL_KUBERC=false', async () => {
    await writeFile(join(home, '.kube', 'kuberc'), kubercs[0]?.[0] ?? '');
    const ctl = ctlFor(undefined, { calledAs: 'kubectl', homeDirectory: home });
    const env = { KUBECTL_KUBERC: 'False' };
    assert.match((await ctl(['mk'], { env })).err, /unknown command mk/);
    assert.match((await ctl(['version', '--client', '--kuberc=/x'], { env })).err, /unknown flag --kuberc/);
    assert.doesNotMatch((await ctl(['mk'])).err, /unknown command mk/);
    assert.match((await ctl(['version', '--client', '--kuberc=/x'])).err, /open \/x: no such file/);
  });

  /** Errors of ctl begin with `error: ` and end with a line feed; versions differ. */
  const comparable = ({ status, out, err }: Result) => ({
    status,
    out: out.replaceAll(/Version: .*/g, 'Version: X'),
    err: err
      .replace(/^error: (?=error occurred)/, '')
      .replace(/, use --v=5 to see details/, '')
      .trimEnd(),
  });
});

/** Returns the entries of a merged kubeconfig by name, without the paths of files. */
const merged = (text: string): unknown =>
  JSON.parse(text, (key: string, value: unknown) => {
    if (/^(certificate|client|tokenFile)/.test(key)) return undefined;
    if (!Array.isArray(value)) return value;
    return value.toSorted((one: Named, other: Named) => (one.name < other.name ? -1 : 1));
  });

interface Named {
  readonly name: string;
}

/** Entries of a kubeconfig: names of a cluster, a user and a context, which point at `server`. */
const config = (name: string, server: string, current = '', context = name) => `apiVersion: v1
kind: Config
current-context: "${current}"
clusters:
- {name: ${name}, cluster: {server: "${server}", certificate-authority: ca/${name}.crt}}
users:
- {name: ${name}, user: {client-certificate: ../${name}.crt, client-key: /keys/${name}.key, tokenFile: t}}
contexts:
- {name: ${context}, context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}}
`;

describe('KUBECONFIG lists beside kubectl 1.32', { skip: unlessKubectl('1.32') }, () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'minik8s-kubeconfig-'));
    await mkdir(join(root, 'deep'));
    await writeFile(join(root, 'a'), config('a', 'https://a:1', 'a'));
    await writeFile(join(root, 'deep/b'), config('b', 'https://b:2', 'b'));
    await writeFile(join(root, 'a2'), config('a', 'https://other:3', 'late', 'late'));
    await writeFile(join(root, 'empty'), '');
    await writeFile(join(root, 'bare'), 'apiVersion: v1\nkind: Config\n');
    await writeFile(join(root, 'broken'), 'clusters: [\n');
    await writeFile(
      join(root, 'json'),
      JSON.stringify({ 'current-context': 'j', clusters: null, users: [] }),
    );
  });
  after(() => rm(root, { recursive: true, force: true }));

  const lists = [
    ...['a', 'a:deep/b', 'deep/b:a', 'a:a2', 'a2:a', 'a:a', 'a:a2:deep/b', ':a:', 'a::deep/b'],
    ...['nosuch:a', 'a:nosuch:deep/b', 'empty:a', 'a:empty', 'bare:a', 'a:bare', 'json:a', 'a:json'],
  ];

  it('merges duplicates, and skips missing and empty files', async () => {
    const kubectl = kubectlFor('');
    for (const list of lists) {
      const KUBECONFIG = list.replaceAll(/(?<=^|:)(?=[a-z])/g, `${root}/`);
      const options: CtlOptions = { env: { KUBECONFIG } };
      for (const line of ['config current-context', 'config get-contexts -o name']) {
        const [ours, theirs] = [
          await asKubectl(line.split(' '), options),
          await kubectl(line.split(' '), options),
        ];
        assert.deepEqual(ours, theirs, `${line} of ${list}`);
      }
      const view = ['config', 'view', '-o', 'json', '--raw'];
      const [ours, theirs] = await Promise.all([asKubectl(view, options), kubectl(view, options)]);
      assert.deepEqual(merged(ours.out), merged(theirs.out), `config view of ${list}`);
    }
  });

  it('refuses a list with a broken file', async () => {
    const kubectl = kubectlFor('');
    for (const list of ['broken', 'a:broken', 'broken:a']) {
      const KUBECONFIG = list.replaceAll(/(?<=^|:)(?=[a-z])/g, `${root}/`);
      const [ours, theirs] = [
        await asKubectl(['config', 'view'], { env: { KUBECONFIG } }),
        await kubectl(['config', 'view'], { env: { KUBECONFIG } }),
      ];
      assert.equal(ours.status, theirs.status);
      assert.match(ours.err, new RegExp(`^error: kubeconfig ${root}/broken is not YAML`));
    }
  });
});
