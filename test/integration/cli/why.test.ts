/** `ctl why` against the real API server over HTTPS: what it reads, with whose rights, and what it prints. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, spec: object = {}) => ({
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'x:1' }], ...spec },
});

describe('ctl why', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let admin: Ctl;
  let nobody: Ctl;

  before(async () => {
    server = await startHttpsTestServer({
      nodeConnection: async () => new Response('no such table\n\u001b[2Jcleared\n'),
    });
    admin = ctlFor(await server.kubeconfigFor('kubernetes-admin', ['system:masters']));
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

  it('says that a namespace does not exist', async () => {
    const { out, err } = await admin(['why', '-n', 'defautl']);
    assert.equal(out, '');
    assert.match(err, /namespace "defautl" does not exist; did you mean default\?/);
  });

  it('shows nothing of the objects to a user without rights, and lists the kinds that were not read', async () => {
    const { status, out, err } = await nobody(['why']);
    assert.deepEqual([status, out], [0, 'nothing is wrong in what you may list\n']);
    assert.match(err, /You may not list these kinds.*pods/);
    assert.match((await nobody(['why', 'pod/gated'])).err, /cannot get resource "pods"/);
  });
});
