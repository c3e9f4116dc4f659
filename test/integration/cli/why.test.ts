/** `ctl why` against the real API server over HTTPS: what it reads, with whose rights, and what it prints. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { TerminalScreen } from '../../fixtures/terminal-screen.ts';

const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, spec: object = {}) => ({
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'x:1' }], ...spec },
});

describe('ctl why', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let admin: Ctl;
  let adminConfig: string;
  let nobody: Ctl;

  before(async () => {
    server = await startHttpsTestServer({
      nodeConnection: async () => new Response('no such table\n\u001b[2Jcleared\n'),
    });
    adminConfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    admin = ctlFor(adminConfig);
    nobody = ctlFor(await server.kubeconfigFor('nobody', ['others']));
    await server.call('POST', pods, pod('gated', { schedulingGates: [{ name: 'example.com/quota' }] }));
    await server.call('POST', pods, pod('crashed', { nodeName: 'node-1' }));
    const status = {
      phase: 'Running',
      containerStatuses: [
        {
          ...{ name: 'main', image: 'x:1', imageID: '', ready: false, restartCount: 2 },
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 3, reason: 'Error' } },
        },
      ],
    };
    await server.call(
      'PATCH',
      `${pods}/crashed/status`,
      { status },
      {
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    );
  });
  after(() => server.stop());

  it('shows the worst first, with the end of the log, which cannot control the terminal', async () => {
    const { status, out, err } = await admin(['why']);
    assert.deepEqual([status, err], [0, '']);
    assert.match(
      out,
      /^pod\/crashed: container main ends with exit code 3 .*\n {2}\| .*\n {2}> no such table\n {2}> \^\[\[2Jcleared\n/,
    );
    assert.match(out, /\n\npod\/gated: .* example\.com\/quota\n/);
    assert.match(out, / {2}mend: minik8s ctl logs crashed -n default -c main --previous {2}\(/);
  });

  it('explains named objects, those with a label, and an object that does not exist is an error', async () => {
    assert.match((await admin(['why', 'pod/gated'])).out, /^pod\/gated: /);
    const { out } = await admin(['why', 'pods', '-l', 'app=gated']);
    assert.match(out, /^pod\/gated: /);
    assert.doesNotMatch(out, /crashed/);
    const { status, err } = await admin(['why', 'pod/nothing']);
    assert.equal(status, 1);
    assert.match(err, /pods "nothing" not found/);
  });

  it('prints the explanations as JSON, and refuses formats of named objects', async () => {
    const { out } = await admin(['why', '-o', 'json']);
    const { problems } = JSON.parse(out);
    assert.deepEqual(
      problems.map(({ chain }: { chain: { rule: string }[] }) => chain.map(({ rule }) => rule)),
      [['pod-crash'], ['pod-gated']],
    );
    assert.deepEqual(problems[0].chain[0].log, ['no such table', '\u001b[2Jcleared']);
    for (const format of ['name', 'wide', 'custom-columns=A:.a']) {
      const { status, err } = await admin(['why', '-o', format]);
      assert.equal(status, 1);
      assert.match(err, /has no output format/);
    }
  });

  it('reports that a namespace does not exist', async () => {
    const { out, err } = await admin(['why', '-n', 'defautl']);
    assert.equal(out, '');
    assert.match(err, /namespace "defautl" does not exist; did you mean default\?/);
  });

  it('ends the description of an object with a problem with its first cause', async () => {
    const { out } = await admin(['describe', 'pod/crashed']);
    assert.match(out, /\nEvents: .*\nWhy: container main ends with exit code 3 \(.*restarts: 2\)\n$/);
    await server.call('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'broken' },
      spec: { selector: { app: 'gated' }, ports: [{ port: 80 }] },
    });
    const service = await admin(['describe', 'service/broken']);
    assert.match(service.out, /\nWhy: pod\/gated: .* example\.com\/quota\n$/);
    const all = await admin(['describe', 'pods']);
    assert.equal(all.out.match(/^Why: /gm)?.length, 2);
    assert.doesNotMatch((await admin(['describe', 'service/kubernetes'])).out, /Why:/);
    assert.doesNotMatch((await admin(['describe', 'pod/crashed', '--show-events=false'])).out, /Why:/);
  });

  it('adds no cause to a description that a program reads under the name kubectl', async () => {
    const named = (columns: { readonly out?: number }) =>
      ctlFor(adminConfig, { calledAs: 'kubectl', columns })(['describe', 'pod/crashed']);
    assert.doesNotMatch((await named({})).out, /Why:/);
    assert.match((await named({ out: 80 })).out, /\nWhy: container main ends with exit code 3/);
  });

  it('ctl tree shows the owners of an object and what it owns, with the cells of their kinds', async () => {
    const apps = '/apis/apps/v1/namespaces/default';
    const template = {
      metadata: { labels: { app: 'shop' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const spec = { selector: { matchLabels: { app: 'shop' } }, template };
    const uidOf = async (path: string, body: object) => {
      const { status, text } = await server.call('POST', path, body);
      assert.equal(status, 201, text);
      return (JSON.parse(text) as { readonly metadata: { readonly uid: string } }).metadata.uid;
    };
    const owner = (kind: string, name: string, uid: string) => ({
      ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
    });
    const shop = await uidOf(`${apps}/deployments`, { metadata: { name: 'shop' }, spec });
    const set = { metadata: { name: 'shop-1', ...owner('Deployment', 'shop', shop) }, spec };
    const uid = await uidOf(`${apps}/replicasets`, set);
    const own = pod('shop-1-a');
    await uidOf(pods, { ...own, metadata: { ...own.metadata, ...owner('ReplicaSet', 'shop-1', uid) } });
    const { out, err } = await admin(['tree', 'deployment/shop']);
    assert.equal(err, '');
    assert.match(
      out,
      /^NAMESPACE +NAME +READY +STATUS +AGE\ndefault +Deployment\/shop +0\/1 +- +\d+s\ndefault +└─ReplicaSet\/shop-1 +0 +- +\d+s\ndefault + {2}└─Pod\/shop-1-a +0\/1 +Pending +\d+s\n$/,
    );
    assert.equal((await admin(['tree', 'pod', 'shop-1-a', '--no-headers'])).out.split('\n').length, 4);
    assert.match((await admin(['tree', 'pods'])).err, /shows one object/);
    assert.match((await nobody(['tree', 'deployment/shop'])).err, /cannot get resource "deployments"/);
  });

  it('ctl get -w replaces its table in place on a terminal, and prints a line for each change elsewhere', async () => {
    const watch = async (own: object, showsDeletion: (printed: string) => boolean) => {
      const over = new AbortController();
      const ctl = ctlFor(adminConfig, { ...own, signal: over.signal });
      const path = '/api/v1/namespaces/default/configmaps';
      let step = 0;
      const { out } = await ctl(['get', 'configmaps', '-w', '-l', 'live=yes'], {
        signal: over.signal,
        onOut: (text) => {
          const metadata = { name: 'live', labels: { live: 'yes' } };
          if (step === 0 && text.includes('seen')) {
            step = 1;
            void server.call('POST', path, { metadata, data: { a: '1' } });
          } else if (step === 1 && /live +1/.test(text)) {
            step = 2;
            void server.call('DELETE', `${path}/live`);
          } else if (step === 2 && showsDeletion(text)) over.abort();
        },
      });
      return out;
    };
    await server.call('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'seen', labels: { live: 'yes' } },
    });
    const terminal = new TerminalScreen();
    const size = { columns: 80, rows: 24 };
    const withoutLive = (printed: string) => {
      const screen = new TerminalScreen();
      screen.write(printed);
      return !screen.text.includes('live');
    };
    terminal.write(await watch({ screen: () => size }, withoutLive));
    assert.match(terminal.text.trimEnd(), /^NAME +DATA +AGE\nseen +0 +\S+$/);
    const piped = await watch({}, (printed) => printed.split(/live +1/).length > 2);
    assert.match(piped, /^NAME +DATA +AGE\nseen +0 +\S+\nlive +1 +\S+\nlive +1 +\S+\n$/);
    assert.ok(!piped.includes('\u001b'));
  });

  it('shows a user without rights no object, and names the kinds that were not read', async () => {
    const { status, out, err } = await nobody(['why']);
    assert.deepEqual([status, out], [0, 'no problem found in the kinds that you may list\n']);
    assert.match(err, /You may not list these kinds.*pods/);
    assert.match((await nobody(['why', 'pod/gated'])).err, /cannot get resource "pods"/);
  });
});
