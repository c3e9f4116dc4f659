/**
 * ctl apply, create and replace name the converter for a manifest that ctl can read and the server rejects.
 */
import assert from 'node:assert/strict';
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
  directory = await mkdtemp(join(tmpdir(), 'minik8s-advice-'));
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

async function linesOf(verb: string, text: string, name = 'web.yaml'): Promise<string[]> {
  const file = join(directory, name);
  await writeFile(file, text);
  const { status, err } = await ctl([verb, '-f', file]);
  assert.equal(status, 1, err);
  return err.trimEnd().replaceAll(`${directory}/`, '').split('\n');
}

const pod = (spec: string) => `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: ${spec}\n`;
const note =
  'Note: web.yaml:1 is in another form than Kubernetes has now; convert it: minik8s ctl convert -f';

/** Part of the error itself, and the manifest. */
const forms: readonly (readonly [form: string, error: RegExp, text: string])[] = [
  [
    'a kind that is not served',
    /^error: .*no kind HPA in v1/,
    'apiVersion: v1\nkind: HPA\nmetadata: {name: h}\n',
  ],
  ['a version that is missing', /^error: .*apiVersion is missing/, 'kind: GPUJob\nname: x\nslurm: {}\n'],
  ['a kind that is missing', /^error: .*kind is missing/, 'name: f\nhostPath: /srv\ncommand: python f.py\n'],
  [
    'a name beside the kind',
    /^error: .*metadata\.name is missing/,
    'apiVersion: v1\nkind: Service\nname: web\nspec: {ports: [{port: 80}]}\n',
  ],
  [
    'a value that cannot be decoded',
    /^error: .*memory: quantities must/,
    pod('{nodeSelector: {with: q}, containers: [{name: c, image: i, resources: {limits: {memory: 64MB}}}]}'),
  ],
  [
    'an unknown field',
    /unknown field "spec\.containers\[0\]\.ports\[0\]\.metrics"/,
    pod('{containers: [{name: c, image: i, ports: [{containerPort: 80, metrics: /m}]}]}'),
  ],
  [
    'an object that is not valid',
    /^The Service "web" is invalid/,
    'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, nodePort: 8080}]}\n',
  ],
];

describe('a manifest of another system', () => {
  for (const [form, error, text] of forms)
    for (const verb of ['apply', 'create'])
      it(`is refused by ctl ${verb} with the command that converts it: ${form}`, async () => {
        const lines = await linesOf(verb, text);
        assert.match(lines[0] ?? '', error);
        assert.equal(lines.at(-1), `${note} web.yaml | minik8s ctl apply -f -`);
      });

  it('is refused by ctl replace with the command that converts it', async () => {
    const lines = await linesOf('replace', 'apiVersion: v1\nkind: Hpa\nmetadata: {name: h}\n');
    assert.equal(lines.at(-1), `${note} web.yaml | minik8s ctl apply -f -`);
  });

  it('is named as standard input, and a file as a shell word', async () => {
    const hpa = 'apiVersion: v1\nkind: Hpa\nmetadata: {name: h}\n';
    const { err } = await ctl(['apply', '-f', '-'], { stdin: hpa });
    assert.match(err, /convert it: minik8s ctl convert -f - \| minik8s ctl apply -f -$/m);
    const lines = await linesOf('apply', hpa, "it's one.yaml");
    assert.match(lines.at(-1) ?? '', /ctl convert -f '.*it'\\''s one\.yaml' \| minik8s ctl apply -f -$/);
  });
});

describe("a mistake in a manifest of Kubernetes' own", () => {
  for (const [what, text] of [
    ['a mistyped field', pod('{containers: [{name: c, image: i}], restartPolcy: Never}')],
    ['a mistyped kind', 'apiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: web}\n'],
    ['a value that is not valid', pod('{containers: [{name: c, image: i}], restartPolicy: Sometimes}')],
    [
      'a wrong unit of memory',
      pod('{containers: [{name: c, image: i, resources: {limits: {memory: 64mb}}}]}'),
    ],
    [
      'a port that no node gives',
      'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: NodePort, ports: [{port: 80, nodePort: 80}]}\n',
    ],
    ['no kind', 'apiVersion: v1\nmetadata: {name: web}\n'],
  ] as const)
    it(`gets no advice to convert it: ${what}`, async () => {
      assert.doesNotMatch((await linesOf('apply', text)).join('\n'), /convert/);
    });

  it('gets no hint if the server refuses the user', async () => {
    const other = ctlFor(await server.kubeconfigFor('nobody', []));
    const { status, err } = await other(['create', '-f', '-'], {
      stdin: pod(
        '{containers: [{name: c, image: i, resources: {limits: {memory: 64M}}}], nodeSelector: {with: q}}',
      ),
    });
    assert.equal(status, 1);
    assert.match(err, /Forbidden/);
    assert.doesNotMatch(err, /convert/);
  });
});
