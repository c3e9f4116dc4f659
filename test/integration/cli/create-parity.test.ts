/**
 * `ctl create KIND --dry-run=client` beside kubectl 1.32: the same bytes, for each generator, in each format;
 * and the same objects on the server.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const words = (line: string) => line.split(' ').map((word) => word.replaceAll('~', ' '));

/** Command lines behind `create`; `DIR` is a directory of files, and `~` a blank. */
const lines = [
  'namespace one',
  'ns one -n other',
  'configmap one --from-literal=b=<2>&~x --from-literal=a=1',
  'cm one --from-file=DIR/text --from-file=other=DIR/bytes --append-hash',
  'cm one --from-file=DIR/folder -n other',
  'cm one --from-env-file=DIR/lines',
  'cm one',
  'cm one --append-hash --from-literal=a=b --from-literal=c=<',
  'cm one --from-literal=a=b --save-config',
  'secret generic one --from-literal=user=ann --from-file=DIR/bytes',
  'secret generic one --type=example.com/x --from-env-file=DIR/lines --append-hash',
  'secret generic one',
  'secret docker-registry one --docker-username=u --docker-password=p<&> --docker-email=e@x --docker-server=r.example',
  'secret docker-registry one --docker-username=u --docker-password=p',
  'secret docker-registry one --from-file=.dockerconfigjson=DIR/registry --append-hash',
  'deployment one --image=nginx',
  'deploy one --image=registry.example:5000/a/nginx:1.2@sha256:abc --replicas=3 --port=80 -n other',
  'deployment one --image=a --image=b,c -r 2',
  'deployment one --image=busybox -- sh -c date',
  'job one --image=busybox',
  'job one --image=busybox -n other -- date -u',
  'cronjob one --image=busybox --schedule=*/5~*~*~*~*',
  'cj one --image=busybox --schedule=0~3~*~*~* --restart=Never -- date',
  'service clusterip one --tcp=80 --tcp=443:https',
  'svc clusterip one --clusterip=None',
  'service clusterip one --tcp=80:8080 --clusterip=10.0.0.9',
  'service nodeport one --tcp=80:8080 --node-port=30080',
  'service nodeport one --tcp=80',
  'service loadbalancer one --tcp=80:8080,81:8081',
  'service externalname one --external-name=shop.example.com --tcp=80',
  'serviceaccount one',
  'sa one -n other',
  'ingress one --rule=/=web:80',
  'ingress one --class=main --rule=a.example/x*=web:80,tls=cert --rule=a.example/y=web:http --annotation=b=2 --annotation=a=1',
  'ing one --default-backend=web:http --rule=a.example/*=web:80,tls --rule=b.example/*=web:80,tls=cert --rule=c.example/=web:8,tls=cert',
  'role one --verb=get,list --resource=pods,deployments.apps --resource-name=a',
  'clusterrole one --verb=get --non-resource-url=/metrics',
  'clusterrole one --aggregation-rule=a=b',
  'rolebinding one --role=look --user=jane --group=devs --serviceaccount=default:robot -n other',
  'clusterrolebinding one --clusterrole=view --user=jane',
  'quota one --hard=pods=10,limits.memory=1Gi --scopes=NotTerminating,BestEffort',
  'quota one',
  'pdb one --selector=app=web --min-available=50%',
  'pdb one --selector=app~in~(a,b) --max-unavailable=1',
  'priorityclass one --value=1000 --description=x~y --global-default',
  'pc one --value=-5 --preemption-policy=Never',
];

const outputs = [
  'yaml',
  'json',
  'name',
  'jsonpath={.metadata}',
  'go-template={{.kind}} {{.metadata.name}}',
  '',
];

/** Command lines behind `create` that both reject. */
const wrong = [
  'cm one --from-literal=a',
  'cm one --from-literal=a=1 --from-literal=a=2',
  'cm one --from-literal=a/b=1',
  'cm one --from-file=a=b=c',
  'cm one --from-file=DIR/none',
  'cm one --from-file=x=DIR/folder',
  'cm one --from-literal=a=1 --from-env-file=DIR/lines',
  'cm one two',
  'cm',
  'secret docker-registry one --docker-username=u',
  'secret tls one --cert=DIR/text --key=DIR/text',
  'secret tls one',
  'secret nosuch one',
  'deployment one',
  'deployment one --image=a --image=b -- date',
  'cronjob one --image=busybox',
  'cronjob one --schedule=*~*~*~*~*',
  'service clusterip one',
  'service clusterip one --tcp=x',
  'service clusterip one --tcp=80:70000',
  'service clusterip one --tcp=80:-',
  'service nodeport one',
  'service externalname one',
  'service externalname one --external-name=No_Name',
  'ingress one',
  'ingress one --rule=web:80',
  'ingress one --default-backend=web',
  'ingress one --rule=/=web:80 --annotation=x',
  'sa',
  'cm one -o nosuch',
  'cm one --dry-run=nosuch',
];

describe('ctl create KIND beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  let directory: string;

  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    directory = await mkdtemp(join(tmpdir(), 'create-parity-'));
    const { mkdir } = await import('node:fs/promises');
    await mkdir(join(directory, 'folder'));
    for (const [name, bytes] of [
      ['text', 'one\ntwo <&>\n'],
      ['bytes', Buffer.from([0, 255, 254, 1])],
      ['lines', '# comment\n  A=1\n\nB=x=y\nC\n'],
      ['registry', '{"auths":{}}'],
      ['folder/b', 'in b'],
      ['folder/a', 'in a'],
    ] as const)
      await writeFile(join(directory, name), bytes);
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const wordsOf = (line: string) => ['create', ...words(line.replaceAll('DIR', directory))];
  const dry = (line: string, flags: readonly string[]) => {
    const args = wordsOf(line);
    const at = args.indexOf('--');
    return at < 0 ? [...args, ...flags] : [...args.slice(0, at), ...flags, ...args.slice(at)];
  };

  for (const line of lines)
    it(`create ${line} prints the same`, async () => {
      const checks = outputs.map(async (output) => {
        const args = dry(line, ['--dry-run=client', ...(output ? ['-o', output] : [])]);
        const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
        assert.equal(ours.out, theirs.out, `-o ${output}: ${ours.err}`);
        assert.equal(ours.status, theirs.status);
      });
      await Promise.all(checks);
    });

  for (const line of wrong)
    it(`create ${line} is rejected`, async () => {
      const args = dry(line, line.includes('dry-run') ? [] : ['--dry-run=client']);
      const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      assert.equal(ours.out, '');
      assert.equal(ours.status, 1, ours.err);
      assert.equal(theirs.status, 1);
      assert.match(ours.err, /^error: /);
    });

  it('makes objects without a server and without a kubeconfig', async () => {
    const args = [
      'create',
      'secret',
      'generic',
      'one',
      '--from-literal=a=b',
      '--dry-run=client',
      '-o',
      'yaml',
    ];
    const [ours, theirs] = [await ctlFor(undefined)(args), await kubectlFor('/proc/nonexistent')(args)];
    assert.equal(ours.status, 0, ours.err);
    assert.equal(ours.out, theirs.out);
  });

  it('gives a container a random suffix if the name of its image has a dot', async () => {
    const args = [
      'create',
      'deployment',
      'one',
      '--image=a/my_app.v1:2',
      '--dry-run=client',
      '-o',
      'jsonpath={..name}',
    ];
    assert.match((await ctl(args)).out, /my-app-v1-[a-z0-9]{5}/);
    assert.match((await kubectl(args)).out, /my-app-v1-[a-z0-9]{5}/);
  });

  it('creates objects that kubectl apply can change after --save-config', async () => {
    const made = await ctl(['create', 'cm', 'saved', '--from-literal=a=1', '--save-config']);
    assert.deepEqual(made, { status: 0, err: '', out: 'configmap/saved created\n' });
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: saved}\ndata: {b: "2"}\n';
    const applied = await kubectl(['apply', '-f', '-'], { stdin: manifest });
    assert.deepEqual(applied, { status: 0, err: '', out: 'configmap/saved configured\n' });
    const { out } = await ctl(['get', 'cm', 'saved', '-o', 'jsonpath={.data}']);
    assert.equal(out, '{"b":"2"}');
  });

  it('creates the same Service, Deployment and Secret on the server as kubectl', async () => {
    const created = [
      'service nodeport NAME --tcp=80:8080',
      'deployment NAME --image=nginx --replicas=2',
      'secret generic NAME --from-literal=a=b',
      'cronjob NAME --image=busybox --schedule=0~0~*~*~* -- date',
      'ingress NAME --rule=a.example/*=web:80',
    ];
    for (const line of created) {
      const kind = line.split(' ').slice(0, line.startsWith('se') ? 2 : 1)[0] ?? '';
      for (const [tool, name] of [
        [ctl, 'ours'],
        [kubectl, 'theirs'],
      ] as const) {
        const { status, err } = await tool(wordsOf(line.replace('NAME', name)));
        assert.equal(status, 0, err);
      }
      const spec = async (name: string) =>
        (await ctl(['get', kind, name, '-o', 'json'])).out
          .replaceAll(name, 'NAME')
          .replaceAll(
            /"(uid|resourceVersion|creationTimestamp|clusterIP|nodePort)": [^\n]*\n|"clusterIPs": \[[^\]]*\],?/g,
            '',
          );
      assert.equal(await spec('ours'), await spec('theirs'));
    }
  });
});
