/**
 * Command lines of other small systems, typed as their users type them: each works, or is answered by the
 * exact line to type instead, which then works.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { otherForm } from '../../../src/cli/other-forms.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const files: Readonly<Record<string, string>> = {
  'pod.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: greet, labels: {app: greet}}\nspec: {containers: [{name: c, image: greeting}]}\n',
  'service.yaml':
    'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: greet}, ports: [{port: 80}]}\n',
  'deployment.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many}\nspec: {replicas: 0, selector: {matchLabels: {app: m}}, template: {metadata: {labels: {app: m}}, spec: {containers: [{name: c, image: i}]}}}\n',
  'scaler.yaml':
    'apiVersion: v1\nkind: Hpa\nmetadata: {name: scaler}\nspec: {minReplicas: 2, maxReplicas: 5, scaleTargetRef: {kind: Deployment, metadata: {name: many}}, interval: 15, metrics: {cpuPercent: 60, memPercent: 40}}\n',
  'names.yaml':
    'kind: Dns\nmetadata: {name: names}\nspec: {host: shop.example, paths: [{path: /a, serviceName: web, servicePort: 80}]}\n',
  'lines.txt': 'first\nIF EQUALS 1 THEN second ELSE third\n',
};

/** Lines that work as they are typed. */
const working: readonly string[] = [
  ...[
    'apply -f pod.yaml',
    'get pods',
    'get pod -o wide',
    'get all',
    'describe po greet',
    'delete -f pod.yaml',
  ],
  ...['create -f pod.yaml', 'get Pods', 'get node', 'add node', 'add node n1', 'delete node n1'],
  ...['apply -f service.yaml', 'get svc', 'get Replicaset', 'get HPA', 'get dns', 'get PV', 'get PVC'],
  ...['get pod -n default', 'describe Pod greet', 'delete pod greet', 'get Function', 'get workflow'],
];

/** Lines that fail, each with the line to type instead. */
const answered: readonly (readonly [line: string, instead: string])[] = [
  ['apply pod.yaml', 'apply -f pod.yaml'],
  ['get pod default/greet', 'get pod greet -n default'],
  ['describe pod default/greet', 'describe pod greet -n default'],
  ['update pod pod.yaml', 'apply -f pod.yaml'],
  ['update service ./service.yaml', 'apply -f ./service.yaml'],
  ['edit deployment many -f deployment.yaml', 'apply -f deployment.yaml'],
  ['create deployment -f deployment.yaml', 'create -f deployment.yaml'],
  ['create pod other --image nginx', 'run other --image nginx'],
  ['get Container', expectedColumns()],
  ['delete default Pod other', 'delete pod other -n default'],
  ['delete greet', 'delete pod greet'],
  ['create pod -f pod.yaml', 'create -f pod.yaml'],
  ['delete pod default/greet', 'delete pod greet -n default'],
  ['delete ./deployment.yaml', 'delete -f ./deployment.yaml'],
  ['get GPUJob', 'get slurmjobs'],
  ['get activity', 'get functions'],
  ['serverless get', 'get functions'],
];

function expectedColumns(): string {
  return "get pods -o 'custom-columns=POD:.metadata.name,CONTAINERS:.spec.containers[*].name,IMAGES:.spec.containers[*].image'";
}

/** Lines whose answers need a function, a Slurm cluster or an editor: the answer alone is compared. */
const decided: readonly (readonly [line: string, instead: string | undefined])[] = [
  ['update soft -f pod.yaml', 'convert -f pod.yaml | minik8s ctl apply -f -'],
  ['update hard -f pod.yaml', 'convert -f pod.yaml | minik8s ctl apply -f -'],
  ['update svc web', 'edit svc web'],
  ['update function f', undefined],
  ['get jobResult matrix', 'logs slurmjob/matrix'],
  ['execute default/f one two', `execute default/f '["one","two"]'`],
  ['serverless create -f f.yaml', 'convert -f f.yaml | minik8s ctl apply -f -'],
  ['serverless create f', 'function create f --from FOLDER'],
  ['serverless run f 3', `execute f '"3"'`],
  ['serverless delete f', 'delete function f'],
  ['serverless update f', 'update function f --from FOLDER'],
  ['serverless workflow lines.txt', 'convert --workflow-lines NAME -f lines.txt | minik8s ctl apply -f -'],
  ['serverless event on-time', 'trigger create --help'],
  ['get pods -w', undefined],
  ['delete pods --all', undefined],
];

describe('a command line of another small system', { timeout: 180_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-forms-'));
  const formerDirectory = process.cwd();
  before(async () => {
    server = await startHttpsTestServer();
    ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    process.chdir(directory);
  });
  after(async () => {
    process.chdir(formerDirectory);
    rmSync(directory, { recursive: true });
    await server.stop();
  });

  it('works as typed if Kubernetes has the form', async () => {
    for (const line of working) {
      const { status, err } = await ctl(line.split(' '));
      assert.equal(status, 0, `ctl ${line}: ${err}`);
    }
  });

  for (const [line, instead] of answered)
    it(`is answered with the line that works: ctl ${line}`, async () => {
      await ctl(['create', '-f', 'pod.yaml']);
      const { status, err } = await ctl(line.split(' '));
      assert.equal(status, 1, err);
      assert.ok(err.trimEnd().endsWith(`type instead: minik8s ctl ${instead}`), err);
      const words = [...instead.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      const [verb, flag, file = ''] = words;
      if (verb === 'create' && flag === '-f') await ctl(['delete', '-f', file, '--ignore-not-found']);
      const done = await ctl(words);
      assert.equal(done.status, 0, `ctl ${instead}: ${done.err}`);
    });

  for (const [line, instead] of decided)
    it(`has this answer, or none if the line is Kubernetes' own: ctl ${line}`, () => {
      assert.equal(otherForm(line.split(' ')), instead && `minik8s ctl ${instead}`);
    });

  for (const file of ['scaler.yaml', 'names.yaml'])
    it(`finds a manifest converted and applied: ${file}`, async () => {
      await ctl(['apply', '-f', 'deployment.yaml']);
      const refused = await ctl(['apply', '-f', file]);
      assert.equal(refused.status, 1);
      assert.match(refused.err, /convert -f/);
      const { out } = await ctl(['convert', '-f', file]);
      const applied = await ctl(['apply', '-f', '-'], { stdin: out });
      assert.equal(applied.status, 0, applied.err);
    });

  it('with a workflow in lines is converted', async () => {
    const { out } = await ctl(['convert', '--workflow-lines', 'steps', '-f', 'lines.txt']);
    const applied = await ctl(['apply', '-f', '-'], { stdin: out });
    assert.match(applied.out, /workflow\.minik8s\.io\/steps created/, applied.err);
  });
});
