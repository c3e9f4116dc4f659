/** Output of ctl for a manifest that the server cannot read. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

let server: HttpsTestServer;
let ctl: Ctl;
let directory: string;
before(async () => {
  server = await startHttpsTestServer();
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
  directory = await mkdtemp(join(tmpdir(), 'minik8s-faults-'));
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx
        command: ["ls"]
`;

/** Returns the names of the lines, in the order in which they are printed. */
async function errorsOf(text: string, ...args: string[]): Promise<string[]> {
  const file = join(directory, 'web.yaml');
  await writeFile(file, text);
  const { status, err } = await ctl([...args, '-f', file]);
  assert.equal(status, 1);
  return err.trimEnd().replaceAll(`${directory}/`, '').split('\n');
}

const wrong = deployment
  .replace('replicas: 2', 'replicas: "two"')
  .replace('{app: web}}\n    spec', '{app: 7}}\n    spec')
  .replace('["ls"]', 'ls -l');
const wrongLines = [
  'error: web.yaml:7: spec.replicas: expected a whole number, got "two"',
  'error: web.yaml:10: spec.template.metadata.labels.app: expected a string, got the number 7; put it in quotes',
  'error: web.yaml:15: spec.template.spec.containers[0].command: expected a list, got a string; write command: ["ls", "-l"]',
];

describe('a manifest with values of the wrong type', () => {
  for (const verb of ['apply', 'create'])
    it(`${verb} names file, line, field, expected value and correction for each fault`, async () =>
      assert.deepEqual(await errorsOf(wrong, verb), wrongLines));
  it('apply and replace of an object that exists do so too', async () => {
    await writeFile(join(directory, 'right.yaml'), deployment);
    assert.equal((await ctl(['apply', '-f', join(directory, 'right.yaml')])).err, '');
    assert.deepEqual(await errorsOf(wrong, 'replace'), wrongLines);
    assert.deepEqual(await errorsOf(wrong, 'apply'), wrongLines);
    assert.deepEqual(await errorsOf(wrong, 'apply', '--server-side'), wrongLines);
  });
  for (const [what, text, line] of [
    [
      'a mapping for a list',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: {name: c}\n',
      'web.yaml:5: spec.containers: expected a list, got a mapping; begin each item with "- "',
    ],
    [
      'a number in data',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  name: x\n  level: 7\n',
      'web.yaml:6: data.level: expected a string, got the number 7; put it in quotes',
    ],
    [
      'a fault in the second document',
      `# first\n---\n${deployment.replace('replicas: 2', 'replicas: 1.5')}`,
      'web.yaml:9: spec.replicas: expected a whole number, got the number 1.5',
    ],
    [
      'a fault in an item of a List',
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data:\n    a: true\n',
      'web.yaml:8: data.a: expected a string, got the boolean true; put it in quotes',
    ],
    [
      'a number in quotes',
      deployment.replace('replicas: 2', 'replicas: "2"'),
      'web.yaml:7: spec.replicas: expected a whole number, got "2"; leave the quotes out',
    ],
    [
      'a misspelt field',
      deployment.replace('replicas: 2', 'replics: 2'),
      'web.yaml:7: unknown field "spec.replics"; did you mean replicas?',
    ],
  ] as const)
    it(`${what}: the line is that of the field`, async () =>
      assert.deepEqual(await errorsOf(text, 'create', '--dry-run=server'), [`error: ${line}`]));
  it('a quantity in the words of another program has a line and a suggestion', async () => {
    const text = deployment.replace(
      'command: ["ls"]',
      'resources:\n          limits:\n            cpu: 2 cores',
    );
    const [line = ''] = await errorsOf(text, 'create', '--dry-run=server');
    assert.match(
      line,
      /^error: web\.yaml:17: spec\.template\.\S+\.limits\.cpu: quantities .*; did you mean 2\?$/,
    );
  });
});

describe('an endless file', () => {
  for (const [what, args] of [
    ['apply -f', ['apply', '-f', '/dev/zero']],
    ['patch --patch-file', ['patch', 'cm', 'a', '--patch-file', '/dev/zero']],
    ['convert --workflow-lines', ['convert', '--workflow-lines', 'a', '-f', '/dev/zero']],
    ['-o custom-columns-file', ['get', 'cm', '-o', 'custom-columns-file=/dev/zero']],
    ['KUBECONFIG', ['get', 'cm', '--kubeconfig', '/dev/zero']],
  ] as const)
    it(`${what} reads at most 64 MiB of it, and reports this`, async () => {
      const { status, err } = await ctl([...args]);
      assert.equal(status, 1, err);
      assert.match(err, /\/dev\/zero.* has more than 64 MiB/);
    });

  it('a named pipe is read like a file', async () => {
    const pipe = join(directory, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-a-pipe}\n';
    const [{ out, err }] = await Promise.all([ctl(['apply', '-f', pipe]), writeFile(pipe, text)]);
    assert.deepEqual([out, err], ['configmap/from-a-pipe created\n', '']);
  });
});

describe('a file in which a later document is wrong', () => {
  const configMapOf = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

  /** Returns the lines of both streams in the order in which ctl writes them. */
  async function linesOf(name: string, text: string, verb: string): Promise<string[]> {
    const file = join(directory, name);
    await writeFile(file, text);
    const written: string[] = [];
    const write = (part: string) => {
      written.push(part);
    };
    const own = ctlFor(await server.kubeconfigFor('admin', ['system:masters']), { out: write, err: write });
    assert.equal((await own([verb, '-f', file])).status, 1);
    return written.join('').trimEnd().replaceAll(`${directory}/`, '').split('\n');
  }

  for (const [verb, prefix] of [
    ['apply', 'a'],
    ['create', 'c'],
  ] as const) {
    it(`${verb} of one that is not YAML: success of the first is printed before the error`, async () => {
      const text = `${configMapOf(`${prefix}-one`)}---\nkind: ConfigMap\nmetadata: {name: x\n---\n${configMapOf('x')}`;
      const [first, second, ...more] = await linesOf('brace.yaml', text, verb);
      assert.equal(first, `configmap/${prefix}-one created`);
      assert.match(second ?? '', /^error: error parsing brace\.yaml:\d: /);
      assert.deepEqual(more, []);
    });
    it(`${verb} of an unknown kind, of no kind and of no name: each error is printed in order`, async () => {
      const documents = [
        configMapOf(`${prefix}-two`),
        'apiVersion: v1\nkind: Nope\nmetadata: {name: x}\n',
        configMapOf(`${prefix}-three`),
        'apiVersion: v1\nmetadata: {name: x}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n',
        configMapOf(`${prefix}-four`),
      ];
      assert.deepEqual(
        (await linesOf('half.yaml', documents.join('---\n'), verb)).map((line) => line.split(/;|, /)[0]),
        [
          `configmap/${prefix}-two created`,
          'error: half.yaml:5: the server has no kind Nope in v1',
          `configmap/${prefix}-three created`,
          'error: half.yaml:13: kind is missing: say what it is',
          'error: half.yaml:16: metadata.name is missing: the ConfigMap needs a name',
          `configmap/${prefix}-four created`,
        ],
      );
    });
  }

  it("JSON with a comma too many is refused with kubectl's offset, and nothing is created", async () => {
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j"},}';
    const [line, ...more] = await linesOf('comma.json', text, 'apply');
    assert.match(line ?? '', /^error: error parsing comma\.json: json: offset 63: expected a key/);
    assert.deepEqual(more, []);
    assert.equal((await server.call('GET', '/api/v1/namespaces/default/configmaps/j')).status, 404);
  });
});

describe("a hint follows an error in Kubernetes' words", () => {
  const pod = (more: string, container = '') =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: hinted}\nspec:\n  containers:\n  - {name: c, image: i${container}}\n${more}`;
  const mount = ', volumeMounts: [{name: data, mountPath: /d}]';
  for (const [what, text, note] of [
    [
      'plain text in the data of a Secret',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: hinted}\ndata:\n  a: YQ==\n  password: "let me in!"\n',
      'web.yaml:6: data takes base64, such as the output of base64 -w0; write plain text under stringData',
    ],
    [
      'plain text in the binaryData of a ConfigMap',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hinted}\nbinaryData: {a: "let me in!"}\n',
      'web.yaml:4: binaryData takes base64, such as the output of base64 -w0; write plain text under data',
    ],
    [
      'a mount in a pod without volumes',
      pod('', mount),
      'web.yaml:6: this pod has no volumes; define "data" under spec.volumes',
    ],
    [
      'a mount of a volume of another name',
      pod('  volumes: [{name: tmp, emptyDir: {}}, {name: dta, emptyDir: {}}]\n', mount),
      'web.yaml:6: volumes of this pod: tmp, dta; did you mean dta?',
    ],
    [
      'a selector that is not that of the template',
      deployment.replace('metadata: {labels: {app: web}}', 'metadata: {labels: {app: other}}'),
      'web.yaml:10: spec.template.metadata.labels must include the labels of the selector: {app: web}',
    ],
    [
      'a Deployment whose pods may end',
      `${deployment}      restartPolicy: Never\n`,
      'web.yaml:16: pods that run to completion belong to a Job or a CronJob',
    ],
    [
      'a namespace that does not exist',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hinted\n  namespace: nowhere\n',
      'web.yaml:5: create the namespace first: minik8s ctl create namespace nowhere',
    ],
  ] as const) {
    for (const verb of ['apply', 'create'])
      it(`to ${verb} ${what}`, async () => {
        const lines = await errorsOf(text, verb);
        assert.deepEqual(
          lines.filter((line) => line.startsWith('Note: ')),
          [`Note: ${note}`],
          lines.join('\n'),
        );
        assert.notEqual(lines[0], `Note: ${note}`);
      });
  }

  it('names the deletion for a field that cannot be changed, except for a kind whose deletion deletes data', async () => {
    const file = join(directory, 'web.yaml');
    await writeFile(file, deployment);
    assert.equal((await ctl(['apply', '-f', file])).status, 0);
    const changed = deployment
      .replaceAll('{app: web}}', '{app: changed}}')
      .replace('matchLabels: {app: web}', 'matchLabels: {app: changed}');
    const lines = await errorsOf(changed, 'apply');
    assert.deepEqual(lines.slice(1), [
      'Note: web.yaml:8: this cannot be changed in place; minik8s ctl replace --force deletes the object and creates it again',
    ]);
    const claim = (size: string, mode: string) =>
      `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: hinted}\nspec:\n  storageClassName: ""\n  accessModes: [${mode}]\n  resources: {requests: {storage: ${size}}}\n`;
    await writeFile(file, claim('1Mi', 'ReadWriteOnce'));
    assert.equal((await ctl(['apply', '-f', file])).status, 0);
    assert.doesNotMatch((await errorsOf(claim('1Mi', 'ReadWriteMany'), 'apply')).join('\n'), /Note:/);
  });
});

it("other clients still get Kubernetes' words", async () => {
  const answer = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'x' },
    spec: { replicas: 'two' },
  });
  assert.match(
    answer.text,
    /cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32/,
  );
});
