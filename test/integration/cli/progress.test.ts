/**
 * Progress that ctl displays while it waits: lines that change and disappear on a terminal, and no lines in a
 * pipe.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { patchTypes } from '../../../src/apimachinery/patch.ts';
import type { Progress } from '../../../src/terminal/live-lines.ts';
import { ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { Terminal } from '../../fixtures/terminal.ts';
import { TerminalScreen } from '../../fixtures/terminal-screen.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');
const path = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`;
const shown = /configmap\/held: waits for example\.com\/hold \(\d+ s\)/;

describe('ctl delete of an object with a finalizer', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let kubeconfig: string;
  before(async () => {
    server = await startHttpsTestServer();
    kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
  });
  after(() => server.stop());

  const hold = async () => {
    const metadata = { name: 'held', finalizers: ['example.com/hold'] };
    const made = await server.call('POST', '/api/v1/namespaces/default/configmaps', { metadata });
    assert.equal(made.status, 201, made.text);
  };
  const release = async () => {
    const headers = { 'content-type': patchTypes.merge };
    const body = { metadata: { finalizers: null } };
    assert.equal((await server.call('PATCH', path('held'), body, { headers })).status, 200);
  };
  const isDeleted = async () =>
    JSON.parse((await server.call('GET', path('held'))).text).metadata?.deletionTimestamp !== undefined;
  const command = ['delete', 'configmap', 'held'];
  const inTerminal = (environment: Readonly<Record<string, string>>) =>
    new Terminal(server.directory, [process.execPath, main, 'ctl', ...command], {
      KUBECONFIG: kubeconfig,
      TERM: 'xterm',
      ...environment,
    });
  /** Returns the content of the screen before the terminal's settings are printed. */
  const screenOf = (text: string) => {
    const screen = new TerminalScreen();
    screen.write(text.slice(0, text.indexOf('speed ')));
    return screen.text;
  };
  const said = 'configmap "held" deleted\n';

  it('shows why and for how long, and leaves the output to a pipe unchanged', async () => {
    await hold();
    const terminal = inTerminal({});
    await terminal.prints(shown);
    await release();
    assert.equal(screenOf(await terminal.end()), `${said}status 0\n`);
  });

  it('is clean again after Ctrl-C', async () => {
    await hold();
    const terminal = inTerminal({});
    await terminal.prints(shown);
    terminal.type('\x03');
    const text = await terminal.end();
    assert.match(screenOf(text), /^configmap "held" deleted\n(\^C)?status 130\n$/);
    assert.match(text, / echo /, 'the terminal echoes what is typed');
    await release();
  });

  it('prints nothing more on a terminal that cannot move its cursor', async () => {
    await hold();
    const terminal = inTerminal({ TERM: 'dumb' });
    await terminal.prints(/deleted/);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await release();
    assert.equal(
      (await terminal.end()).replace(/speed [\s\S]*/, ''),
      `${said}status 0\n`.replaceAll('\n', '\r\n'),
    );
  });

  it('prints nothing more in a pipe', async () => {
    await hold();
    const ended = new Promise<{ readonly out: string; readonly err: string }>((resolve, reject) => {
      const env = { ...process.env, KUBECONFIG: kubeconfig, TERM: 'xterm' };
      execFile(process.execPath, [main, 'ctl', ...command], { env }, (error, out, err) =>
        error ? reject(error) : resolve({ out, err }),
      );
    });
    while (!(await isDeleted())) await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await release();
    assert.deepEqual(await ended, { out: said, err: '' });
  });
});

describe('ctl rollout status without a terminal', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let kubeconfig: string;
  before(async () => {
    server = await startHttpsTestServer();
    kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
  });
  after(() => server.stop());

  it('reports why the pods wait, after a delay, if there is no progress', async () => {
    const containers = [{ name: 'c', image: 'no/such' }];
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
    const selector = { matchLabels: { app: 'web' } };
    const made = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'web' },
      spec: { selector, template },
    });
    assert.equal(made.status, 201, made.text);
    const pods = '/api/v1/namespaces/default/pods';
    const metadata = { name: 'web-1', labels: { app: 'web' } };
    const pod = await server.call('POST', pods, { metadata, spec: template.spec });
    assert.equal(pod.status, 201, pod.text);
    const waiting = {
      name: 'c',
      state: { waiting: { reason: 'ErrImagePull' } },
      ready: false,
      image: '',
      imageID: '',
    };
    const status = { containerStatuses: [{ ...waiting, restartCount: 0 }] };
    const headers = { 'content-type': patchTypes.merge };
    assert.equal((await server.call('PATCH', `${pods}/web-1/status`, { status }, { headers })).status, 200);
    const stop = new AbortController();
    const said: string[] = [];
    const say = (text: string) => {
      said.push(text);
      if (text.includes('Err')) stop.abort();
    };
    const progress: Progress = { delayMs: 1, begin: () => ({ say, [Symbol.dispose]() {} }) };
    await ctlFor(kubeconfig, { progress })(['rollout', 'status', 'deployment', 'web'], {
      signal: stop.signal,
    });
    assert.equal(said.at(-1), '0 of 1 pods ready, ErrImagePull');
  });

  it('has a display that waits before its first note', async () => {
    const module = join(main, '../cli/ctl.ts');
    const script = `import { processIo } from ${JSON.stringify(module)};
      console.log(processIo({}).progress.delayMs >= 10_000);
      process.exit();`;
    const out = await new Promise<string>((resolve, reject) =>
      execFile(process.execPath, ['--input-type=module', '-e', script], (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      ),
    );
    assert.equal(out, 'true\n');
  });
});

describe('ctl get pods --watch', { timeout: 120_000 }, () => {
  const pulls = [{ image: 'big:1', totalBytes: 2e8, doneBytes: 5e7, layers: 4, doneLayers: 1 }];
  const shownPull = /images: pulling 1\/4 layers, 50\.0\/200\.0 MB: big:1/;
  let server: HttpsTestServer;
  let agent: Server;
  let kubeconfig: string;
  before(async () => {
    agent = createServer((_incoming, outgoing) => outgoing.end(JSON.stringify({ pulls })));
    await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
    const { port } = agent.address() as AddressInfo;
    const nodeConnection = Object.assign(async () => new Response(undefined, { status: 404 }), {
      dial: async () => connect(port, '127.0.0.1'),
    });
    server = await startHttpsTestServer({ nodeConnection });
    kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
    assert.equal((await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })).status, 201);
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'big:1' }] };
    const made = await server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'web' },
      spec,
    });
    assert.equal(made.status, 201, made.text);
    await setState({ waiting: { reason: 'ContainerCreating' } }, 'False');
  });
  after(async () => {
    await server.stop();
    agent.closeAllConnections();
    agent.close();
  });

  const setState = async (state: object, ready: 'True' | 'False') => {
    const one = { name: 'c', state, ready: ready === 'True', image: '', imageID: '', restartCount: 0 };
    const conditions = [{ type: 'Ready', status: ready }];
    const answer = await server.call(
      'PATCH',
      '/api/v1/namespaces/default/pods/web/status',
      { status: { phase: ready === 'True' ? 'Running' : 'Pending', conditions, containerStatuses: [one] } },
      { headers: { 'content-type': patchTypes.merge } },
    );
    assert.equal(answer.status, 200, answer.text);
  };

  it('shows the bytes of a pull below the table in place, and leaves the table alone', async () => {
    const terminal = new Terminal(
      server.directory,
      [process.execPath, main, 'ctl', 'get', 'pods', '-w', '--color=never'],
      { KUBECONFIG: kubeconfig, TERM: 'xterm' },
    );
    await terminal.prints(shownPull);
    await setState({ running: {} }, 'True');
    await terminal.prints(/Running/);
    terminal.type('\x03');
    const text = await terminal.end();
    const screen = new TerminalScreen();
    screen.write(text.slice(0, text.indexOf('speed ')));
    assert.match(screen.text, /^NAME +READY +STATUS .*\nweb +1\/1 +Running .*\n(\^C)?status \d+\n$/);
  });

  it('prints the rows alone in a pipe', async () => {
    await setState({ waiting: { reason: 'ContainerCreating' } }, 'False');
    const stop = new AbortController();
    const begun: string[] = [];
    const progress: Progress = {
      delayMs: 10_000,
      begin: (what) => {
        begun.push(what);
        return { say() {}, [Symbol.dispose]() {} };
      },
    };
    const { out, err } = await ctlFor(kubeconfig, { progress })(['get', 'pods', '-w'], {
      signal: stop.signal,
      onOut: (text) => text.includes('web') && stop.abort(),
    });
    assert.match(out, /^NAME .*\nweb +0\/1 +ContainerCreating .*\n$/);
    assert.deepEqual([err, begun], ['', []]);
  });
});
