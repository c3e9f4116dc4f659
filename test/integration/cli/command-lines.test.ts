/** Selection of the server, rejection of wrong command lines, and exit of `ctl`. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { type Ctl, ctlFor, noHome } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

describe('ctl', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let kubeconfig: string;
  let ctl: Ctl;

  before(async () => {
    server = await startHttpsTestServer();
    kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    ctl = ctlFor(kubeconfig);
  });
  after(() => server.stop());

  it('describe -A of a kind without objects names no namespace', async () => {
    const none = (...args: string[]) => ctl(['describe', 'configmaps', '-l', 'no=such', ...args]);
    assert.deepEqual(await none('-A'), { status: 0, out: '', err: 'No resources found\n' });
    const inOne = 'No resources found in kube-public namespace.\n';
    assert.deepEqual(await none('-n', 'kube-public'), { status: 0, out: '', err: inOne });
  });

  for (const command of ['get pods', 'get pods,svc', 'describe pods', 'logs -l a=b'])
    it(`${command} in a missing namespace reports it, after kubectl's message`, async () => {
      const { status, out, err } = await ctl([...command.split(' '), '-n', 'nowhere']);
      const note = 'Note: namespace "nowhere" does not exist; minik8s ctl get namespaces lists those that do';
      assert.deepEqual([status, out, err], [0, '', `No resources found in nowhere namespace.\n${note}\n`]);
    });

  it('describe shows the endpoints of a Service, or why it has none', async () => {
    const lineOf = async () => /^Endpoints: +(.*)$/m.exec((await ctl(['describe', 'svc', 'shown'])).out)?.[1];
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'shown' } };
    const spec = { selector: { app: 'shown' }, ports: [{ port: 80 }] };
    await ctl(['apply', '-f', '-'], { stdin: JSON.stringify({ ...service, spec }) });
    assert.equal(await lineOf(), '<none> (no running pod has the labels app=shown)');
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'shown-1', labels: { 'kubernetes.io/service-name': 'shown' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.244.0.9'] }],
      ports: [{ port: 9999 }],
    };
    const made = await ctl(['apply', '-f', '-'], { stdin: JSON.stringify(slice) });
    assert.equal(made.status, 0, made.err);
    assert.equal(await lineOf(), '10.244.0.9:9999');
  });

  it('config: the current context and its namespace are changed in the file, and nothing else', async () => {
    const file = join(server.directory, 'two.conf');
    const text = JSON.parse(readFileSync(kubeconfig, 'utf8'));
    text.contexts.push({ name: 'other', context: { ...text.contexts[0].context, namespace: 'kube-system' } });
    text.extra = { kept: true };
    await writeFile(file, JSON.stringify(text));
    const other = ctlFor(file);
    assert.equal((await other(['config', 'use-context', 'other'])).out, 'Switched to context "other".\n');
    assert.equal((await other(['config', 'current-context'])).out, 'other\n');
    assert.match((await other(['get', 'pods'])).err, /No resources found in kube-system namespace/);
    await other(['config', 'set-context', '--current', '--namespace=kube-public']);
    assert.match((await other(['get', 'svc'])).err, /No resources found in kube-public namespace/);
    assert.match(
      (await other(['config', 'get-contexts'])).out,
      /^\* +other +test +kubernetes-admin +kube-public$/m,
    );
    assert.match(readFileSync(file, 'utf8'), /kept: true/);
    assert.match(
      (await other(['config', 'use-context', 'nope'])).err,
      /no context exists with the name: "nope"/,
    );
  });

  it('the kubeconfig is found at each of its places', async () => {
    const data = join(server.directory, 'data');
    await mkdir(data);
    await writeFile(join(data, 'admin.conf'), readFileSync(kubeconfig));
    const env = { MINIK8S_DATA_DIR: data };
    assert.equal((await ctlFor(undefined)(['get', 'ns', '-o', 'name'], { env })).status, 0);
    const nowhere = await ctlFor(undefined)(['get', 'ns'], { env: { MINIK8S_DATA_DIR: '/nonexistent' } });
    assert.equal(nowhere.status, 1);
    assert.match(nowhere.err, /no kubeconfig found \(looked at .*admin\.conf\): name one with --kubeconfig/);
  });

  it('a server that is down is named by its address', async () => {
    const file = join(server.directory, 'down.conf');
    await writeFile(file, readFileSync(kubeconfig, 'utf8').replace(`:${server.port}`, ':1'));
    const { status, err } = await ctlFor(file)(['get', 'pods']);
    assert.equal(status, 1);
    assert.match(
      err,
      /^error: cannot reach the API server at https:\/\/127\.0\.0\.1:1: connection refused.*\n$/,
    );
  });

  const usage: [args: string[], err: RegExp][] = [
    [['get'], /say which resource/],
    [['get', 'pods', '--nope'], /unknown flag --nope; see minik8s ctl get --help/],
    [['get', 'pods', '-o', 'xml'], /unable to match a printer suitable for the output format "xml"/],
    [['get', 'pods', 'pod/x'], /must be TYPE\/NAME each/],
    [['get', 'pods', 'x', '-l', 'a=b'], /cannot be combined with a selector/],
    [['get', 'pods,svc', '-w'], /you may only specify a single resource type$/m],
    [['get', 'all,cm', 'x'], /you must specify only one resource: all stands for several/],
    [['get', 'pods', '-z'], /unknown flag -z/],
    [['get', 'pods', '--sort-by'], /option '--sort-by <value>' argument missing/],
    [['get', 'pods', '--watch=maybe'], /--watch takes no value but true or false, as in --watch=false/],
    [['get', 'pods', '-o', 'json=x'], /unable to match a printer .* "json=x"/],
    [
      ['get', 'pods', '-o', 'jsonpath-file=/nonexistent'],
      /^error: error reading template \/nonexistent, open \/nonexistent: no such file or directory$/m,
    ],
    [
      ['patch', 'pod', 'x', '--patch-file=/nonexistent'],
      /^error: unable to read patch file: open \/nonexistent: no such file or directory$/m,
    ],
    [['get', 'pods', '--subresource=status'], /needs the names of the objects/],
    [['get', 'pods', '--raw', '/readyz'], /arguments may not be passed when --raw is specified/],
    [['get', '--raw', 'readyz'], /must be a path of the API/],
    [['get', 'pods', '--chunk-size=-1'], /--chunk-size must be 0 or more, got -1/],
    [['get', '-f', 'a.yaml', 'pods'], /-f says which objects: leave out the resource type/],
    [['apply', '-f', '-', '-f', '-'], /standard input cannot be used for multiple arguments/],
    [['apply', '-f', ''], /-f: the name of a file is missing/],
    [['apply', '-f', 'http://127.0.0.1:1/web.yaml'], /unable to read URL "http:\S+": .*ECONNREFUSED/],
    [['run', '--image=a:1', '--', 'x'], /give the pod a name/],
    [['run', 'x'], /--image is required/],
    [['run', 'x', '--image=a:1', '-t'], /-t needs -i/],
    [['run', 'x', '--image=a:1', '--rm'], /--rm needs --attach or -i/],
    [['run', 'x', '--image=a:1', '-i', '--dry-run=client'], /leave out --attach and -i/],
    [['run', 'x', '--image=a:1', '--env=A'], /invalid env: "A": say KEY=VALUE/],
    [['run', 'x', '--image=a:1', '--restart=Sometimes'], /--restart: expected Always, OnFailure, Never/],
    [['delete'], /say which objects: TYPE NAME, TYPE\/NAME, or -f FILE/],
    [['apply'], /^error: must specify one of -f and -k\n$/],
    [['delete', 'pods'], /no name was specified/],
    [['delete', 'pod', 'x', '-o', 'yaml'], /unexpected -o output mode: yaml/],
    [['delete', 'pods', '--all', '-l', 'a=b'], /'all' parameter but found a non empty selector/],
    [['get', 'pods', '-n', 'a%b'], /^error: invalid namespace "a%b": \[may not contain '%'\]$/m],
    [['scale', 'deploy', 'web'], /--replicas=COUNT is required/],
    [['scale', 'deploy', 'web', '--replicas', '-1'], /--replicas=COUNT is required, and COUNT must be 0/],
    [['logs'], /say which pod/],
    [['create', 'deployment', 'x'], /required flag\(s\) "image" not set/],
    [['create', 'nonsense'], /ctl create: unexpected argument 'nonsense'/],
    [['apply', '-k', '.', '-f', '.'], /^error: only one of -f or -k can be specified\n$/],
    [['delete', '--kustomize=.', '-R'], /^error: the -k flag can't be used with -f or -R\n$/],
    [['get', 'resourceclaims'], /^error: resourceclaims are known to Kubernetes, not served by minik8s\n$/],
    [
      ['get', 'resourceclaim,pods'],
      /^error: resourceclaims are known to Kubernetes, not served by minik8s\n$/,
    ],
    [['top', 'things'], /ctl top: unknown command things; known: /],
    [['workflow', 'list'], /ctl workflow: unknown command list: did you mean minik8s ctl workflow get\?$/m],
    [['alpha', 'events'], /unknown command alpha: kubectl's alpha commands change/],
    [['autoscale', 'deploy/x'], /--max=MAXPODS is required and must be at least 1, max: -1/],
    [['autoscale', 'deploy/x', '--max=2', '--min=3'], /larger or equal to --min=MINPODS, max: 2, min: 3/],
    [['autoscale', 'deploy', '--max=2'], /no name was specified/],
    [['rollout', 'restart'], /say which objects: TYPE NAME, TYPE\/NAME, or -f FILE/],
    [['create', 'deployment', 'x', 'y', '--image=a:1'], /exactly one NAME is required, got 2/],
    [['completion', 'csh'], /expected one SHELL, bash, zsh, fish; got "csh"/],
    [['bogus'], /unknown command bogus; see minik8s ctl --help/],
    [['nope'], /unknown command nope; see minik8s ctl --help/],
    [['rollout', 'nope'], /unknown command nope; known: status/],
  ];
  for (const [args, message] of usage) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { status, out, err } = await ctl(args);
      assert.deepEqual([status, out], [1, '']);
      assert.match(err, message);
      assert.equal(err.split('\n').length, 2, err);
    });
  }

  const program = (args: string[], stdio: 'pipe' | ['ignore', 'pipe', 'pipe'] = 'pipe') =>
    spawn(process.execPath, [join(import.meta.dirname, '../../../src/main.ts'), 'ctl', ...args], {
      env: { KUBECONFIG: kubeconfig, HOME: noHome, ...compileCache },
      stdio,
    });

  for (const [name, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    it(`${name} ends a watch with status ${status} and prints nothing`, async () => {
      const child = program(['get', 'ns', '-w']);
      let err = '';
      child.stderr?.on('data', (chunk) => {
        err += chunk;
      });
      if (child.stdout) await once(child.stdout, 'data');
      child.kill(name);
      assert.deepEqual([...(await once(child, 'exit')), err], [status, null, '']);
    });

  it('Ctrl-C ends proxy with the status of an interrupted program, and its socket is removed', async () => {
    const socket = join(server.directory, 'proxy.sock');
    const child = program(['proxy', `--unix-socket=${socket}`]);
    if (child.stdout) await once(child.stdout, 'data');
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'exit'), [130, null]);
    assert.equal(existsSync(socket), false);
  });

  it('one Ctrl-C ends a command that reads standard input, or a named pipe whose writer is silent', async () => {
    const reading = program(['create', '-f', '-']);
    // More than a pipe holds: the command has begun to read.
    await new Promise((resolve) => reading.stdin?.write('#'.repeat(2 ** 20), resolve));
    reading.kill('SIGINT');
    assert.deepEqual(await once(reading, 'exit'), [130, null]);
    const pipe = join(server.directory, 'silent.yaml');
    execFileSync('mkfifo', [pipe]);
    const waiting = program(['create', '-f', pipe], ['ignore', 'pipe', 'pipe']);
    const writer = await open(pipe, 'w');
    waiting.kill('SIGINT');
    assert.deepEqual(await once(waiting, 'exit'), [130, null]);
    await writer.close();
  });

  it('a reader that closes the pipe causes no failure', async () => {
    const child = program(['get', 'ns', '-w', '-o', 'name']);
    let err = '';
    child.stderr?.on('data', (chunk) => {
      err += chunk;
    });
    if (child.stdout) await once(child.stdout, 'data');
    child.stdout?.destroy();
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'unread' } });
    assert.deepEqual([...(await once(child, 'exit')), err], [0, null, '']);
  });
});
