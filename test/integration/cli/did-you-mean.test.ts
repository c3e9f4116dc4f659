/** Names that ctl proposes for mistyped ones: commands, plugins, kinds, flags, namespaces and objects. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

let server: HttpsTestServer;
/** `person` has a terminal, `script` has none. */
let [person, script]: Ctl[] = [];
let kubeconfig: string;
before(async () => {
  server = await startHttpsTestServer();
  kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
  person = ctlFor(kubeconfig, { columns: { err: 200 } });
  script = ctlFor(kubeconfig);
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  for (const name of ['settings', 'web-1', 'web-2'])
    await server.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } });
});
after(() => server.stop());

const cases: readonly [command: string, advice: RegExp][] = [
  ['gett pods', /unknown command gett: did you mean get\?/],
  ['rollout statsu deployment/web', /unknown command statsu: did you mean status\?/],
  ['get podz', /Did you mean pod or pods\?/],
  ['get pods --al-namespaces', /unknown flag --al-namespaces: did you mean --all-namespaces\?/],
  ['get configmaps -n shpo', /Note: namespace "shpo" does not exist; did you mean shop\?/],
  ['get configmap settigns', /Note: did you mean configmaps "settings"\?\n$/],
  ['delete configmap web-3', /Note: did you mean configmaps "web-1" or configmaps "web-2"\?\n$/],
  ['get configmap settings -n defualt', /namespace default; use -n default\n$/],
  [
    'get configmap settigns -n defualt',
    /Note: namespace "defualt" does not exist; did you mean default\?\n$/,
  ],
  ['get namespace shp', /Note: did you mean namespaces "shop"\?\n$/],
  ['create configmap x -n shpo', /Note: did you mean namespaces "shop"\?\n$/],
];
for (const [command, advice] of cases)
  it(`ctl ${command} proposes the name that was meant`, async () => {
    const { err, out } = (await person?.(command.split(' '))) ?? assert.fail();
    assert.match(err, advice);
    assert.equal(out, '');
  });

it('a script gets the message of kubectl alone, and no request for other names', async () => {
  const { err } = (await script?.(['get', 'configmap', 'settigns'])) ?? assert.fail();
  assert.equal(err, 'Error from server (NotFound): configmaps "settigns" not found\n');
});

it('a user who may not list the objects gets no candidates', async () => {
  const own = ctlFor(await server.kubeconfigFor('eve', []), { columns: { err: 200 } });
  const { err } = await own(['get', 'configmap', 'settigns']);
  assert.match(err, /Forbidden/);
  assert.doesNotMatch(err, /settings/);
});

it('a mistyped plugin has the name of the plugin proposed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plugins-'));
  try {
    const file = join(folder, 'kubectl-node_shell');
    await writeFile(file, '#!/bin/sh\n');
    await chmod(file, 0o755);
    const { err } = await ctlFor(kubeconfig)(['node-shel'], { env: { PATH: folder } });
    assert.match(err, /unknown command node-shel: did you mean node-shell\?/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('a plugin with the name of a command does not run in its place', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plugins-'));
  try {
    for (const name of ['kubectl-version', 'minik8s-version', 'kubectl-version-client', 'kubectl-own']) {
      await writeFile(join(folder, name), `#!/bin/sh\ntouch ${folder}/ran-$(basename $0)\n`);
      await chmod(join(folder, name), 0o755);
    }
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    const { out } = await ctlFor(kubeconfig)(['version', '--client'], { env });
    assert.match(out, /^Client Version: /);
    await ctlFor(kubeconfig)(['own'], { env });
    const ran = (await readdir(folder)).filter((name) => name.startsWith('ran-'));
    assert.deepEqual(ran, ['ran-kubectl-own']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
